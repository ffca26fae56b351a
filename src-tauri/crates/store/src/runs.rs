//! Runs: all that is needed to go on with one, in this process or another. The calls of its current turn are in
//! [`crate::calls`], its transcript in [`crate::messages`].

use rusqlite::{Row, params};
use sayso_domain::run::{Limit, Run, Status, Usage};
use sayso_domain::{RunId, SourceId, Time};

use crate::{Conn, StoreError, Tx, calls, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE runs (
    id            TEXT PRIMARY KEY,
    source        TEXT NOT NULL REFERENCES sources (id),
    agent         TEXT NOT NULL,
    task          TEXT NOT NULL,
    config        TEXT NOT NULL CHECK (json_valid(config)),
    status        TEXT NOT NULL
        CHECK (status IN ('running', 'pending', 'done', 'incomplete', 'interrupted', 'error')),
    detail        TEXT CHECK ((detail IS NOT NULL) = (status IN ('incomplete', 'error'))),
    turn          INTEGER NOT NULL CHECK (turn >= 0),
    told_at       INTEGER NOT NULL CHECK (told_at BETWEEN 0 AND turn),
    max_turns     INTEGER NOT NULL CHECK (max_turns >= 0),
    input_tokens  INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens INTEGER NOT NULL CHECK (output_tokens >= 0),
    queued        TEXT NOT NULL CHECK (json_valid(queued)),
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_active ON runs (id) WHERE status IN ('running', 'pending');
CREATE INDEX runs_newest ON runs (created_at DESC, id DESC);
";

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// What it asks as.
    pub source: SourceId,
    /// The agent's name.
    pub agent: String,
    /// What it was told first.
    pub task: String,
    /// The agent's setup when it began: JSON text.
    pub config: String,
    /// Where it stands, with the calls of its current turn.
    pub run: Run,
    /// When it began.
    pub created_at: Time,
    /// When it last changed.
    pub updated_at: Time,
}

/// Adds a run, with the calls of its current turn.
pub fn insert(tx: &Tx<'_>, row: &RunRow) -> Result<(), StoreError> {
    column::check_json(&row.config, "a run's setup")?;
    let (status, detail) = status_names(&row.run.status);
    tx.run(
        "INSERT INTO runs (id, source, agent, task, config, status, detail, turn, told_at, max_turns,
                           input_tokens, output_tokens, queued, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        params![
            row.id.to_string(),
            row.source.to_string(),
            row.agent,
            row.task,
            row.config,
            status,
            detail,
            row.run.turn,
            row.run.told_at,
            row.run.max_turns,
            column::count(row.run.usage.input_tokens),
            column::count(row.run.usage.output_tokens),
            column::to_json(&row.run.queued)?,
            row.created_at.as_millis(),
            row.updated_at.as_millis(),
        ],
    )?;
    row.run.slots.iter().try_for_each(|slot| calls::put(tx, row.id, slot, row.updated_at))
}

/// Saves where a run stands, with the calls of its current turn; those of earlier turns stay as they were. A run never
/// goes back to an earlier turn: that would be [`StoreError::Conflict`].
pub fn save(tx: &Tx<'_>, run: &Run, now: Time) -> Result<(), StoreError> {
    let (status, detail) = status_names(&run.status);
    let saved = tx.run_one(
        "UPDATE runs
         SET status = ?2, detail = ?3, turn = ?4, told_at = ?5, max_turns = ?6, input_tokens = ?7,
             output_tokens = ?8, queued = ?9, updated_at = ?10
         WHERE id = ?1 AND turn <= ?4",
        params![
            run.id.to_string(),
            status,
            detail,
            run.turn,
            run.told_at,
            run.max_turns,
            column::count(run.usage.input_tokens),
            column::count(run.usage.output_tokens),
            column::to_json(&run.queued)?,
            now.as_millis(),
        ],
    )?;
    if !saved {
        return Err(StoreError::Conflict);
    }
    run.slots.iter().try_for_each(|slot| calls::put(tx, run.id, slot, now))
}

/// A run by its id.
pub fn get(conn: &Conn, id: RunId) -> Result<Option<RunRow>, StoreError> {
    let row = conn.row("SELECT * FROM runs WHERE id = ?1", [id.to_string()], of_row)?;
    row.map(|row| with_slots(conn, row)).transpose()
}

/// The newest runs, newest first, without their calls.
pub fn list(conn: &Conn, limit: u32) -> Result<Vec<RunRow>, StoreError> {
    conn.rows("SELECT * FROM runs ORDER BY created_at DESC, id DESC LIMIT ?1", [limit], of_row)
}

/// Runs that go on without a new word from the person: running or pending, oldest first.
pub fn active(conn: &Conn) -> Result<Vec<RunId>, StoreError> {
    conn.rows("SELECT id FROM runs WHERE status IN ('running', 'pending') ORDER BY id", [], |row| {
        column::parsed(row, "id")
    })
}

fn with_slots(conn: &Conn, mut row: RunRow) -> Result<RunRow, StoreError> {
    row.run.slots = calls::of_turn(conn, row.id, row.run.turn)?;
    Ok(row)
}

fn of_row(row: &Row<'_>) -> Result<RunRow, StoreError> {
    let id = column::parsed(row, "id")?;
    let tokens = |name| -> Result<u64, StoreError> { Ok(row.get::<_, i64>(name)?.unsigned_abs()) };
    let detail: Option<String> = row.get("detail")?;
    Ok(RunRow {
        id,
        source: column::parsed(row, "source")?,
        agent: row.get("agent")?,
        task: row.get("task")?,
        config: row.get("config")?,
        run: Run {
            id,
            status: status(&row.get::<_, String>("status")?, detail)?,
            turn: row.get("turn")?,
            told_at: row.get("told_at")?,
            max_turns: row.get("max_turns")?,
            usage: Usage { input_tokens: tokens("input_tokens")?, output_tokens: tokens("output_tokens")? },
            slots: Vec::new(),
            queued: column::json(&row.get::<_, String>("queued")?, "queued messages")?,
        },
        created_at: column::time(row, "created_at")?,
        updated_at: column::time(row, "updated_at")?,
    })
}

/// A status as its two columns.
pub(crate) fn status_names(status: &Status) -> (&'static str, Option<String>) {
    let detail = match status {
        Status::Running | Status::Pending | Status::Done | Status::Interrupted => None,
        Status::Incomplete(limit) => Some(limit.as_str().to_owned()),
        Status::Error(why) => Some(why.clone()),
    };
    (status.as_str(), detail)
}

fn status(name: &str, detail: Option<String>) -> Result<Status, StoreError> {
    match (name, detail) {
        ("running", None) => Ok(Status::Running),
        ("pending", None) => Ok(Status::Pending),
        ("done", None) => Ok(Status::Done),
        ("interrupted", None) => Ok(Status::Interrupted),
        ("incomplete", Some(limit)) => Limit::from_name(&limit)
            .map(Status::Incomplete)
            .ok_or_else(|| StoreError::damaged(format_args!("a run's limit: {limit}"))),
        ("error", Some(why)) => Ok(Status::Error(why)),
        (name, _) => Err(StoreError::damaged(format_args!("a run's status: {name}"))),
    }
}
