//! Transcripts: what the person said and what the model said. Results belong to their calls.

use rusqlite::params;
use sayso_domain::run::Message;
use sayso_domain::{RunId, Time};

use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE messages (
    run     TEXT NOT NULL REFERENCES runs (id),
    seq     INTEGER NOT NULL CHECK (seq > 0),
    role    TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    turn    INTEGER CHECK ((turn IS NOT NULL) = (role = 'assistant')),
    content TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT;
";

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number within the run, from 1.
    pub seq: u32,
    /// `user` or `assistant`.
    pub role: String,
    /// The turn that an assistant's message opened.
    pub turn: Option<u32>,
    /// A person's words; or the provider's own object as JSON text, as it came (contract 21).
    pub content: String,
    /// When.
    pub at: Time,
}

/// Adds a message at the end of a run's transcript.
pub fn append(tx: &Tx<'_>, run: RunId, message: &Message, now: Time) -> Result<(), StoreError> {
    let (role, turn, content) = match message {
        Message::User(text) => ("user", None, text.clone()),
        Message::Assistant { turn, message } => ("assistant", Some(*turn), column::to_json(message)?),
    };
    tx.run(
        "INSERT INTO messages (run, seq, role, turn, content, at)
         SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5 FROM messages WHERE run = ?1",
        params![run.to_string(), role, turn, content, now.as_millis()],
    )?;
    Ok(())
}

/// A run's transcript, in order.
pub fn of_run(conn: &Conn, run: RunId) -> Result<Vec<MessageRow>, StoreError> {
    after(conn, run, 0)
}

/// How often the person spoke in a run.
pub fn count_of_person(conn: &Conn, run: RunId) -> Result<u32, StoreError> {
    let count = "SELECT count(*) FROM messages WHERE run = ?1 AND role = 'user'";
    Ok(conn.row(count, [run.to_string()], |row| Ok(row.get(0)?))?.unwrap_or_default())
}

/// A run's transcript after so many messages, in order.
pub fn after(conn: &Conn, run: RunId, count: u32) -> Result<Vec<MessageRow>, StoreError> {
    let select = "SELECT * FROM messages WHERE run = ?1 AND seq > ?2 ORDER BY seq";
    conn.rows(select, params![run.to_string(), count], |row| {
        Ok(MessageRow {
            seq: row.get("seq")?,
            role: row.get("role")?,
            turn: row.get("turn")?,
            content: row.get("content")?,
            at: column::time(row, "at")?,
        })
    })
}
