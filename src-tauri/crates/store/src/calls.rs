//! Tool calls: each has its place by run, turn and index, not by the provider's id, which can repeat (contract 16).
//! Earlier turns stay, so that a transcript is whole; the current turn's rebuild the run.

use rusqlite::{Row, params};
use sayso_domain::run::{CallState, Slot, SlotId};
use sayso_domain::{RequestKey, RunId, Time};

use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE calls (
    run         TEXT NOT NULL REFERENCES runs (id),
    turn        INTEGER NOT NULL CHECK (turn > 0),
    idx         INTEGER NOT NULL CHECK (idx >= 0),
    call_id     TEXT NOT NULL,
    name        TEXT NOT NULL,
    arguments   TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'suspended', 'unknown', 'finished')),
    detail      TEXT NOT NULL CHECK (json_valid(detail)),
    started_at  INTEGER NOT NULL,
    finished_at INTEGER CHECK ((finished_at IS NOT NULL) = (state = 'finished')),
    PRIMARY KEY (run, turn, idx)
) STRICT;
";

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow {
    /// Its place, what the model wrote, and where it stands.
    pub slot: Slot,
    /// The latest request that was raised for it, also after it settled.
    pub request: Option<RequestKey>,
    /// When the model proposed it.
    pub started_at: Time,
    /// When it got its result.
    pub finished_at: Option<Time>,
}

/// Saves a call. A result is final: a finished call that would become anything else is [`StoreError::Conflict`].
pub fn put(tx: &Tx<'_>, run: RunId, slot: &Slot, now: Time) -> Result<(), StoreError> {
    let detail = column::to_json(&slot.state)?;
    let finished = matches!(slot.state, CallState::Finished(_)).then(|| now.as_millis());
    let saved = tx.run_one(
        "INSERT INTO calls (run, turn, idx, call_id, name, arguments, state, detail, started_at, finished_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT (run, turn, idx) DO UPDATE
         SET state = excluded.state, detail = excluded.detail, finished_at = excluded.finished_at
         WHERE calls.state <> 'finished' AND calls.detail <> excluded.detail",
        params![
            run.to_string(),
            slot.id.turn,
            slot.id.index,
            slot.call_id,
            slot.name,
            slot.arguments,
            slot.state.as_str(),
            detail,
            now.as_millis(),
            finished,
        ],
    )?;
    if saved {
        return Ok(());
    }
    let stored = tx.row(
        "SELECT detail FROM calls WHERE run = ?1 AND turn = ?2 AND idx = ?3",
        params![run.to_string(), slot.id.turn, slot.id.index],
        |row| Ok(row.get::<_, String>(0)?),
    )?;
    if stored.as_ref() == Some(&detail) { Ok(()) } else { Err(StoreError::Conflict) }
}

/// Every call of a run, in order.
pub fn of_run(conn: &Conn, run: RunId) -> Result<Vec<CallRow>, StoreError> {
    conn.rows(
        "SELECT calls.*,
                (SELECT key FROM requests
                 WHERE requests.run = calls.run AND requests.turn = calls.turn AND requests.idx = calls.idx
                 ORDER BY received_at DESC, key DESC LIMIT 1) AS request
         FROM calls WHERE run = ?1 ORDER BY turn, idx",
        [run.to_string()],
        |row| {
            Ok(CallRow {
                slot: slot(row)?,
                request: column::parsed_opt(row, "request")?,
                started_at: column::time(row, "started_at")?,
                finished_at: column::time_opt(row, "finished_at")?,
            })
        },
    )
}

/// The latest request that was raised for a call, also after it settled.
pub fn request_of(conn: &Conn, run: RunId, slot: SlotId) -> Result<Option<RequestKey>, StoreError> {
    conn.row(
        "SELECT key FROM requests WHERE run = ?1 AND turn = ?2 AND idx = ?3
         ORDER BY received_at DESC, key DESC LIMIT 1",
        params![run.to_string(), slot.turn, slot.index],
        |row| column::parsed(row, "key"),
    )
}

/// The calls of one turn, in order.
pub(crate) fn of_turn(conn: &Conn, run: RunId, turn: u32) -> Result<Vec<Slot>, StoreError> {
    conn.rows(
        "SELECT * FROM calls WHERE run = ?1 AND turn = ?2 ORDER BY idx",
        params![run.to_string(), turn],
        slot,
    )
}

/// The calls of a turn and of all later ones, in order.
pub fn from_turn(conn: &Conn, run: RunId, turn: u32) -> Result<Vec<Slot>, StoreError> {
    conn.rows(
        "SELECT * FROM calls WHERE run = ?1 AND turn >= ?2 ORDER BY turn, idx",
        params![run.to_string(), turn],
        slot,
    )
}

fn slot(row: &Row<'_>) -> Result<Slot, StoreError> {
    Ok(Slot {
        id: SlotId { turn: row.get("turn")?, index: row.get("idx")? },
        call_id: row.get("call_id")?,
        name: row.get("name")?,
        arguments: row.get("arguments")?,
        state: column::json(&row.get::<_, String>("detail")?, "a call's state")?,
    })
}
