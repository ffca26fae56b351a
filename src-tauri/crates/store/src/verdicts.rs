//! Verdicts: what each decider said. Many per request, so that quorums need no migration; one settlement ends it.

use rusqlite::params;
use sayso_domain::{Answer, DecidedBy, RequestKey, Surface, Time};

use crate::settlements::Kept;
use crate::{Conn, StoreError, Tx, column, meta};

pub(crate) const SCHEMA: &str = "
CREATE TABLE verdicts (
    seq        INTEGER PRIMARY KEY,
    request    TEXT NOT NULL REFERENCES requests (key),
    decided_by TEXT NOT NULL CHECK (decided_by IN ('person', 'rule', 'deadline', 'source', 'stop')),
    surface    TEXT CHECK (surface IN ('window', 'notification', 'tray', 'cli', 'browser')),
    device     TEXT NOT NULL,
    ok         INTEGER NOT NULL CHECK (ok IN (0, 1)),
    answer     TEXT NOT NULL CHECK (json_valid(answer)),
    reason     TEXT,
    at         INTEGER NOT NULL
) STRICT;
CREATE INDEX verdicts_of_request ON verdicts (request, seq);
";

/// What one decider said.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictRow {
    /// Who or what.
    pub by: DecidedBy,
    /// Where a person said it.
    pub surface: Option<Surface>,
    /// On which device: its chain's id.
    pub device: String,
    /// The answer, with the person's own reason.
    pub answer: Answer,
    /// When.
    pub at: Time,
}

/// Adds a verdict of this device.
pub fn insert(
    tx: &Tx<'_>,
    request: RequestKey,
    by: DecidedBy,
    surface: Option<Surface>,
    answer: &Answer,
    at: Time,
) -> Result<(), StoreError> {
    let kept = Kept::of(answer, None)?;
    tx.run(
        "INSERT INTO verdicts (request, decided_by, surface, device, ok, answer, reason, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![
            request.to_string(),
            by.as_str(),
            surface.map(Surface::as_str),
            meta::chain(tx)?,
            answer.is_ok(),
            kept.answer,
            kept.reason,
            at.as_millis(),
        ],
    )?;
    Ok(())
}

/// What was said about a request, in order.
pub fn of_request(conn: &Conn, request: RequestKey) -> Result<Vec<VerdictRow>, StoreError> {
    conn.rows("SELECT * FROM verdicts WHERE request = ?1 ORDER BY seq", [request.to_string()], |row| {
        let kept = Kept { answer: row.get("answer")?, reason: row.get("reason")? };
        Ok(VerdictRow {
            by: column::named(row, "decided_by", DecidedBy::from_name)?,
            surface: column::named_opt(row, "surface", Surface::from_name)?,
            device: row.get("device")?,
            answer: kept.restore(None)?,
            at: column::time(row, "at")?,
        })
    })
}
