//! Requests. A request's `key` is ours; its wire id is its source's own text, unique per source. (The tools of an agent's
//! runs choose theirs without knowing of each other: there it is the key that tells requests apart.) What was shown is
//! stored as the bytes that its digest, and so every decision, is bound to. A request leaves `pending` through
//! [`crate::settlements::settle`], and comes back only where the person takes their own decision back before anybody was told
//! of it ([`crate::settlements::revoke`]). In which order they wait is in [`crate::waiting`].

use std::collections::HashMap;

use rusqlite::{Row, params};
use sayso_domain::run::SlotId;
use sayso_domain::{Digest, Outcome, RequestKey, RequestState, RunId, Shown, SourceId, Time};

use crate::request_events::{self, EventKind};
use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE requests (
    key           TEXT PRIMARY KEY,
    source        TEXT NOT NULL REFERENCES sources (id),
    id            TEXT NOT NULL CHECK (length(id) <= 200),
    run           TEXT REFERENCES runs (id),
    turn          INTEGER,
    idx           INTEGER,
    purpose       TEXT NOT NULL CHECK (purpose IN ('gate', 'tool', 'unknown')),
    kind          TEXT NOT NULL,
    tool          TEXT,
    shown         TEXT NOT NULL CHECK (json_valid(shown)),
    digest        BLOB NOT NULL CHECK (length(digest) = 32),
    choices       TEXT CHECK (json_valid(choices)),
    state         TEXT NOT NULL
        CHECK (state IN ('pending', 'approved', 'answered', 'declined', 'expired', 'cancelled')),
    cause         TEXT CHECK (cause IN ('dismissed', 'caller_gone', 'answered_elsewhere', 'run_stopped', 'revoked')),
    received_at   INTEGER NOT NULL,
    expires_at    INTEGER,
    snoozed_until INTEGER CHECK (expires_at IS NULL OR snoozed_until <= expires_at),
    CHECK ((turn IS NULL) = (idx IS NULL)),
    CHECK (turn IS NULL OR run IS NOT NULL),
    CHECK ((cause IS NOT NULL) = (state = 'cancelled'))
) STRICT;
CREATE UNIQUE INDEX requests_of_sender ON requests (source, id) WHERE run IS NULL;
CREATE INDEX requests_pending ON requests (expires_at, received_at) WHERE state = 'pending';
CREATE INDEX requests_of_call ON requests (run, turn, idx) WHERE run IS NOT NULL;
";

/// Why a request of a run was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Our own gate, before a tool first runs.
    Gate,
    /// The tool itself, or a source that is no run, asks.
    Tool,
    /// The app ended while the tool ran: whether to run it again.
    Unknown,
}

/// A request to store.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRequest {
    /// Its key.
    pub key: RequestKey,
    /// Who asks.
    pub source: SourceId,
    /// The run that waits.
    pub run: Option<RunId>,
    /// The call that waits; only of a run.
    pub slot: Option<SlotId>,
    /// Why it is raised.
    pub purpose: Purpose,
    /// The request and all that is shown with it.
    pub shown: Shown,
    /// When it came.
    pub received_at: Time,
}

/// A stored request.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestRow {
    /// Its key.
    pub key: RequestKey,
    /// Who asks.
    pub source: SourceId,
    /// The run that waits.
    pub run: Option<RunId>,
    /// The call that waits.
    pub slot: Option<SlotId>,
    /// Why it was raised.
    pub purpose: Purpose,
    /// The request and all that is shown with it.
    pub shown: Shown,
    /// The stored bytes of it.
    pub shown_text: String,
    /// Their SHA-256.
    pub digest: Digest,
    /// Where it stands.
    pub state: RequestState,
    /// When it came.
    pub received_at: Time,
    /// Until when the person put it off.
    pub snoozed_until: Option<Time>,
}

/// That a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outline {
    /// Its key.
    pub key: RequestKey,
    /// Its deadline.
    pub expires_at: Option<Time>,
    /// Until when the person put it off.
    pub snoozed_until: Option<Time>,
}

impl Purpose {
    /// Its name in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Tool => "tool",
            Self::Unknown => "unknown",
        }
    }

    /// From its name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Gate, Self::Tool, Self::Unknown].into_iter().find(|purpose| purpose.as_str() == name)
    }
}

/// Stores a request, pending. [`StoreError::Conflict`] if its key, or a sender's id of it, is known.
pub fn insert(tx: &Tx<'_>, new: &NewRequest) -> Result<(), StoreError> {
    let shown = new.shown.to_text();
    let request = &new.shown.request;
    tx.run(
        "INSERT INTO requests (key, source, id, run, turn, idx, purpose, kind, tool, shown, digest, state,
                               received_at, expires_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 'pending', ?12, ?13)",
        params![
            new.key.to_string(),
            new.source.to_string(),
            request.id,
            new.run.map(|run| run.to_string()),
            new.slot.map(|slot| slot.turn),
            new.slot.map(|slot| slot.index),
            new.purpose.as_str(),
            request.kind.as_str(),
            new.shown.tool,
            shown,
            Digest::of(&shown).0,
            new.received_at.as_millis(),
            request.expires_at.map(Time::as_millis),
        ],
    )?;
    request_events::append(tx, new.key, EventKind::Asked, new.received_at)
}

/// A request by its key.
pub fn get(conn: &Conn, key: RequestKey) -> Result<Option<RequestRow>, StoreError> {
    conn.row("SELECT * FROM requests WHERE key = ?1", [key.to_string()], of_row)
}

/// A request of a source that is no run, by the id that the source chose.
pub fn of_source(conn: &Conn, source: SourceId, id: &str) -> Result<Option<RequestRow>, StoreError> {
    conn.row(
        "SELECT * FROM requests WHERE source = ?1 AND id = ?2 AND run IS NULL",
        [source.to_string().as_str(), id],
        of_row,
    )
}

/// What waits of a source that is no run, oldest first.
pub fn open_of_source(conn: &Conn, source: SourceId) -> Result<Vec<RequestKey>, StoreError> {
    conn.rows(
        "SELECT key FROM requests WHERE source = ?1 AND state = 'pending' AND run IS NULL ORDER BY received_at, key",
        [source.to_string()],
        |row| column::parsed(row, "key"),
    )
}

/// How many wait of a source that is no run.
pub fn count_open_of_source(conn: &Conn, source: SourceId) -> Result<u32, StoreError> {
    let count = conn.row(
        "SELECT count(*) FROM requests WHERE source = ?1 AND state = 'pending' AND run IS NULL",
        [source.to_string()],
        |row| Ok(row.get(0)?),
    )?;
    Ok(count.unwrap_or_default())
}

/// Whose request it is, where its source is no run.
pub fn source_outside(conn: &Conn, key: RequestKey) -> Result<Option<SourceId>, StoreError> {
    conn.row("SELECT source FROM requests WHERE key = ?1 AND run IS NULL", [key.to_string()], |row| {
        column::parsed(row, "source")
    })
}

/// What waits of runs.
pub fn pending_of_runs(conn: &Conn) -> Result<Vec<(RequestKey, RunId)>, StoreError> {
    conn.rows(
        "SELECT key, run FROM requests WHERE state = 'pending' AND run IS NOT NULL ORDER BY received_at, key",
        [],
        |row| Ok((column::parsed(row, "key")?, column::parsed(row, "run")?)),
    )
}

/// All that waits, in outline: oldest first.
pub fn outline(conn: &Conn) -> Result<Vec<Outline>, StoreError> {
    conn.rows(
        "SELECT key, expires_at, snoozed_until FROM requests WHERE state = 'pending' ORDER BY key",
        [],
        of_outline,
    )
}

/// What waits and is not put off, in outline: newest first, and no more than that.
pub fn newest(conn: &Conn, most: u32, now: Time) -> Result<Vec<Outline>, StoreError> {
    conn.rows(
        "SELECT key, expires_at, snoozed_until FROM requests
         WHERE state = 'pending' AND (snoozed_until IS NULL OR snoozed_until <= ?1) ORDER BY key DESC LIMIT ?2",
        params![now.as_millis(), most],
        of_outline,
    )
}

/// What waits although its deadline has come.
pub fn due(conn: &Conn, now: Time) -> Result<Vec<RequestKey>, StoreError> {
    conn.rows(
        "SELECT key FROM requests WHERE state = 'pending' AND expires_at <= ?1 ORDER BY expires_at, key",
        [now.as_millis()],
        |row| column::parsed(row, "key"),
    )
}

/// The earliest deadline of what waits.
pub fn next_deadline(conn: &Conn) -> Result<Option<Time>, StoreError> {
    let next = conn.row(
        "SELECT min(expires_at) AS at FROM requests WHERE state = 'pending' AND expires_at IS NOT NULL",
        [],
        |row| column::time_opt(row, "at"),
    )?;
    Ok(next.flatten())
}

/// How many of each run wait; runs of which none does are not in it.
pub fn count_pending_of_runs(conn: &Conn) -> Result<HashMap<RunId, u32>, StoreError> {
    let counts = conn.rows(
        "SELECT run, count(*) AS waiting FROM requests WHERE state = 'pending' AND run IS NOT NULL GROUP BY run",
        [],
        |row| Ok((column::parsed(row, "run")?, row.get("waiting")?)),
    )?;
    Ok(counts.into_iter().collect())
}

/// How many wait.
pub fn count_pending(conn: &Conn) -> Result<u32, StoreError> {
    let count =
        conn.row("SELECT count(*) FROM requests WHERE state = 'pending'", [], |row| Ok(row.get(0)?))?;
    Ok(count.unwrap_or_default())
}

pub(crate) fn of_row(row: &Row<'_>) -> Result<RequestRow, StoreError> {
    let shown_text: String = row.get("shown")?;
    let slot = match (row.get("turn")?, row.get("idx")?) {
        (Some(turn), Some(index)) => Some(SlotId { turn, index }),
        _ => None,
    };
    Ok(RequestRow {
        key: column::parsed(row, "key")?,
        source: column::parsed(row, "source")?,
        run: column::parsed_opt(row, "run")?,
        slot,
        purpose: column::named(row, "purpose", Purpose::from_name)?,
        shown: column::json(&shown_text, "a request as shown")?,
        shown_text,
        digest: column::digest(row, "digest")?,
        state: state_of(row)?,
        received_at: column::time(row, "received_at")?,
        snoozed_until: column::time_opt(row, "snoozed_until")?,
    })
}

fn of_outline(row: &Row<'_>) -> Result<Outline, StoreError> {
    Ok(Outline {
        key: column::parsed(row, "key")?,
        expires_at: column::time_opt(row, "expires_at")?,
        snoozed_until: column::time_opt(row, "snoozed_until")?,
    })
}

/// From a row that has the columns `state` and `cause` of this table.
pub(crate) fn state_of(row: &Row<'_>) -> Result<RequestState, StoreError> {
    let (name, cause): (String, Option<String>) = (row.get("state")?, row.get("cause")?);
    match (name.as_str(), cause.as_deref()) {
        ("pending", None) => Ok(RequestState::Pending),
        (name, cause) => Outcome::from_names(name, cause)
            .map(RequestState::Settled)
            .ok_or_else(|| StoreError::damaged(format_args!("a request's state: {name}"))),
    }
}
