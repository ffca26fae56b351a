//! What happened to the requests of those who ask from outside, numbered per source without a gap, so that whoever
//! listened can go on where they were, also with the next host. Each row is of the commit that it tells of: the tables
//! that change append it themselves. A run's requests are told by its own messages and have none.

use rusqlite::{Row, params};
use sayso_domain::{RequestKey, RequestState, SourceId, Time};

use crate::{Conn, StoreError, Tx, column, requests};

pub(crate) const SCHEMA: &str = "
CREATE TABLE request_events (
    source  TEXT NOT NULL REFERENCES sources (id),
    seq     INTEGER NOT NULL,
    request TEXT NOT NULL REFERENCES requests (key),
    kind    TEXT NOT NULL CHECK (kind IN ('asked', 'settled', 'delivered', 'undeliverable')),
    at      INTEGER NOT NULL,
    PRIMARY KEY (source, seq)
) STRICT, WITHOUT ROWID;
";

pub(crate) const KEEPING_SCHEMA: &str = "CREATE INDEX request_events_of_request ON request_events (request);";

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It was stored and waits.
    Asked,
    /// It ended.
    Settled,
    /// Its answer was taken.
    Delivered,
    /// There is nobody to take its answer.
    Undeliverable,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Its number; the source's first is 1.
    pub seq: u64,
    /// Which request.
    pub request: RequestKey,
    /// The request's id, as its source chose it.
    pub id: String,
    /// What happened.
    pub kind: EventKind,
    /// Where the request stands by now.
    pub state: RequestState,
    /// When.
    pub at: Time,
}

impl EventKind {
    /// Its name in storage and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Settled => "settled",
            Self::Delivered => "delivered",
            Self::Undeliverable => "undeliverable",
        }
    }

    /// From its name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Asked, Self::Settled, Self::Delivered, Self::Undeliverable]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// Adds the next event of the request's source; nothing for a run's request.
pub(crate) fn append(tx: &Tx<'_>, request: RequestKey, kind: EventKind, at: Time) -> Result<(), StoreError> {
    tx.run(
        "INSERT INTO request_events (source, seq, request, kind, at)
         SELECT source,
                (SELECT coalesce(max(seq), 0) + 1 FROM request_events
                 WHERE request_events.source = requests.source),
                key, ?2, ?3
         FROM requests WHERE key = ?1 AND run IS NULL",
        params![request.to_string(), kind.as_str(), at.as_millis()],
    )?;
    Ok(())
}

/// What follows an event of a source, oldest first, at most `limit`.
pub fn after(conn: &Conn, source: SourceId, seq: u64, limit: u32) -> Result<Vec<EventRow>, StoreError> {
    conn.rows(
        "SELECT seq, request, request_events.kind, at, requests.id, requests.state, requests.cause
         FROM request_events JOIN requests ON requests.key = request
         WHERE request_events.source = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        params![source.to_string(), column::count(seq), limit],
        of_row,
    )
}

/// The number of a source's newest event; 0 before its first.
pub fn newest(conn: &Conn, source: SourceId) -> Result<u64, StoreError> {
    let newest = conn.row(
        "SELECT coalesce(max(seq), 0) FROM request_events WHERE source = ?1",
        [source.to_string()],
        |row| Ok(number(row.get(0)?)),
    )?;
    Ok(newest.unwrap_or_default())
}

/// SQLite has no unsigned numbers; ours begin at 1.
fn number(seq: i64) -> u64 {
    u64::try_from(seq).unwrap_or_default()
}

fn of_row(row: &Row<'_>) -> Result<EventRow, StoreError> {
    Ok(EventRow {
        seq: number(row.get("seq")?),
        request: column::parsed(row, "request")?,
        id: row.get("id")?,
        kind: column::named(row, "kind", EventKind::from_name)?,
        state: requests::state_of(row)?,
        at: column::time(row, "at")?,
    })
}
