//! Whoever can ask: agents, senders, this machine itself. They outlive what they stand for, so that History keeps names.

use rusqlite::params;
use sayso_domain::{SourceId, Time};

use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE sources (
    id         TEXT PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind <> ''),
    name       TEXT NOT NULL CHECK (name <> ''),
    created_at INTEGER NOT NULL,
    UNIQUE (kind, name)
) STRICT;
";

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRow {
    /// Its id.
    pub id: SourceId,
    /// `agent`, `sender`, `local`.
    pub kind: String,
    /// Its name, as the person set it; unique within its kind.
    pub name: String,
    /// When it was first known.
    pub created_at: Time,
}

/// The id of a source; it gets `new_id` if it was not known.
pub fn ensure(
    tx: &Tx<'_>,
    kind: &str,
    name: &str,
    now: Time,
    new_id: SourceId,
) -> Result<SourceId, StoreError> {
    tx.run(
        "INSERT INTO sources (id, kind, name, created_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (kind, name) DO NOTHING",
        params![new_id.to_string(), kind, name, now.as_millis()],
    )?;
    let known = tx.row("SELECT id FROM sources WHERE kind = ?1 AND name = ?2", [kind, name], |row| {
        column::parsed(row, "id")
    })?;
    known.ok_or(StoreError::Conflict)
}

/// The kind and the name of each.
pub fn names(conn: &Conn) -> Result<Vec<(String, String)>, StoreError> {
    conn.rows("SELECT kind, name FROM sources ORDER BY kind, name", [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// One of them.
pub fn get(conn: &Conn, id: SourceId) -> Result<Option<SourceRow>, StoreError> {
    conn.row("SELECT id, kind, name, created_at FROM sources WHERE id = ?1", [id.to_string()], |row| {
        Ok(SourceRow {
            id: column::parsed(row, "id")?,
            kind: row.get("kind")?,
            name: row.get("name")?,
            created_at: column::time(row, "created_at")?,
        })
    })
}
