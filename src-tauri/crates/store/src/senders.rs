//! Senders: sources that ask over HTTP, each with a token. Only the token's SHA-256 is kept. One that was revoked stays,
//! so that History keeps its name; adding it again gives it a new token.

use rusqlite::{Row, params};
use sayso_domain::{RequestKey, SourceId, Time};

use crate::{Conn, StoreError, Tx, column, deliveries};

pub(crate) const SCHEMA: &str = "
CREATE TABLE senders (
    source       TEXT PRIMARY KEY REFERENCES sources (id),
    token_hash   BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
    initials     TEXT NOT NULL,
    colour       TEXT NOT NULL,
    max_open     INTEGER NOT NULL CHECK (max_open > 0),
    per_minute   INTEGER NOT NULL CHECK (per_minute > 0),
    may_edit     INTEGER NOT NULL CHECK (may_edit IN (0, 1)),
    own_choices  INTEGER NOT NULL CHECK (own_choices IN (0, 1)),
    callback_url TEXT,
    signing_key  TEXT,
    created_at   INTEGER NOT NULL,
    token_at     INTEGER NOT NULL,
    last_seen_at INTEGER,
    revoked_at   INTEGER,
    CHECK (callback_url IS NULL OR signing_key IS NOT NULL)
) STRICT;
CREATE INDEX requests_open_of_source ON requests (source) WHERE state = 'pending' AND run IS NULL;
";

/// A sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderRow {
    /// Its source, of kind `sender`.
    pub source: SourceId,
    /// The source's name, as the person set it. Written by [`crate::sources`].
    pub name: String,
    /// SHA-256 of its token.
    pub token_hash: [u8; 32],
    /// One or two letters that stand for it.
    pub initials: String,
    /// The name of its colour.
    pub colour: String,
    /// How many of its requests may wait at once.
    pub max_open: u32,
    /// How many it may ask within a minute.
    pub per_minute: u32,
    /// Whether it may declare requests editable.
    pub may_edit: bool,
    /// Whether it may bring choices of its own.
    pub own_choices: bool,
    /// Where its answers are posted to.
    pub callback_url: Option<String>,
    /// Where the secret lies that signs them: never the secret itself.
    pub signing_key: Option<String>,
    /// When it was added.
    pub created_at: Time,
    /// When its token was made.
    pub token_at: Time,
    /// When it last called.
    pub last_seen_at: Option<Time>,
    /// When it lost the right to ask.
    pub revoked_at: Option<Time>,
}

/// A sender in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The sender.
    pub row: SenderRow,
    /// How many of its requests wait.
    pub open: u32,
    /// How many it has ever asked.
    pub total: u32,
    /// How many answers its callback has not taken yet though they were tried.
    pub failing: u32,
    /// How many are tried no more.
    pub given_up: u32,
    /// Why the newest of them was not taken.
    pub last_failure: Option<String>,
}

const SELECT: &str =
    "SELECT senders.*, sources.name FROM senders JOIN sources ON sources.id = senders.source";

/// Adds a sender, or gives one that is known all of this. Its source must be there; `name` is the source's.
pub fn put(tx: &Tx<'_>, row: &SenderRow) -> Result<(), StoreError> {
    tx.run(
        "INSERT INTO senders (source, token_hash, initials, colour, max_open, per_minute, may_edit, own_choices,
                              callback_url, signing_key, created_at, token_at, last_seen_at, revoked_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
         ON CONFLICT (source) DO UPDATE SET
             token_hash = ?2, initials = ?3, colour = ?4, max_open = ?5, per_minute = ?6, may_edit = ?7,
             own_choices = ?8, callback_url = ?9, signing_key = ?10, created_at = ?11, token_at = ?12,
             last_seen_at = ?13, revoked_at = ?14",
        params![
            row.source.to_string(),
            row.token_hash,
            row.initials,
            row.colour,
            row.max_open,
            row.per_minute,
            row.may_edit,
            row.own_choices,
            row.callback_url,
            row.signing_key,
            row.created_at.as_millis(),
            row.token_at.as_millis(),
            row.last_seen_at.map(Time::as_millis),
            row.revoked_at.map(Time::as_millis),
        ],
    )?;
    Ok(())
}

/// One of them by its source.
pub fn get(conn: &Conn, source: SourceId) -> Result<Option<SenderRow>, StoreError> {
    conn.row(&format!("{SELECT} WHERE senders.source = ?1"), [source.to_string()], of_row)
}

/// One of them by its name.
pub fn by_name(conn: &Conn, name: &str) -> Result<Option<SenderRow>, StoreError> {
    conn.row(&format!("{SELECT} WHERE sources.name = ?1"), [name], of_row)
}

/// Whose token it is that has this SHA-256, also if it was revoked.
pub fn by_token_hash(conn: &Conn, hash: &[u8; 32]) -> Result<Option<SenderRow>, StoreError> {
    conn.row(&format!("{SELECT} WHERE senders.token_hash = ?1"), [hash], of_row)
}

/// Whose request it is; none if no sender asked it.
pub fn of_request(conn: &Conn, request: RequestKey) -> Result<Option<SenderRow>, StoreError> {
    conn.row(
        &format!("{SELECT} JOIN requests ON requests.source = senders.source WHERE requests.key = ?1 AND run IS NULL"),
        [request.to_string()],
        of_row,
    )
}

/// All of them with what they asked, by name.
pub fn list(conn: &Conn) -> Result<Vec<Listed>, StoreError> {
    conn.rows(
        "WITH tried AS (
             SELECT deliveries.request, requests.source, next_at, last_error
             FROM deliveries JOIN requests ON requests.key = deliveries.request
                  JOIN senders ON senders.source = requests.source
             WHERE run IS NULL AND deliveries.state = 'waiting' AND attempts > 0 AND callback_url IS NOT NULL
         )
         SELECT senders.*, sources.name,
                (SELECT count(*) FROM requests
                 WHERE requests.source = senders.source AND state = 'pending' AND run IS NULL) AS open,
                (SELECT count(*) FROM requests
                 WHERE requests.source = senders.source AND run IS NULL) AS total,
                (SELECT count(*) FROM tried WHERE tried.source = senders.source AND next_at < ?1) AS failing,
                (SELECT count(*) FROM tried WHERE tried.source = senders.source AND next_at = ?1) AS given_up,
                (SELECT last_error FROM tried WHERE tried.source = senders.source
                 ORDER BY request DESC LIMIT 1) AS last_failure
         FROM senders JOIN sources ON sources.id = senders.source
         ORDER BY sources.name",
        [deliveries::NEVER],
        |row| {
            Ok(Listed {
                row: of_row(row)?,
                open: row.get("open")?,
                total: row.get("total")?,
                failing: row.get("failing")?,
                given_up: row.get("given_up")?,
                last_failure: row.get("last_failure")?,
            })
        },
    )
}

/// It called. A clock that went back changes nothing.
pub fn seen(tx: &Tx<'_>, source: SourceId, at: Time) -> Result<(), StoreError> {
    tx.run(
        "UPDATE senders SET last_seen_at = max(coalesce(last_seen_at, ?2), ?2) WHERE source = ?1",
        params![source.to_string(), at.as_millis()],
    )?;
    Ok(())
}

/// Takes its right to ask; whether it had it.
pub fn revoke(tx: &Tx<'_>, source: SourceId, at: Time) -> Result<bool, StoreError> {
    tx.run_one(
        "UPDATE senders SET revoked_at = ?2 WHERE source = ?1 AND revoked_at IS NULL",
        params![source.to_string(), at.as_millis()],
    )
}

fn of_row(row: &Row<'_>) -> Result<SenderRow, StoreError> {
    Ok(SenderRow {
        source: column::parsed(row, "source")?,
        name: row.get("name")?,
        token_hash: row.get("token_hash")?,
        initials: row.get("initials")?,
        colour: row.get("colour")?,
        max_open: row.get("max_open")?,
        per_minute: row.get("per_minute")?,
        may_edit: row.get("may_edit")?,
        own_choices: row.get("own_choices")?,
        callback_url: row.get("callback_url")?,
        signing_key: row.get("signing_key")?,
        created_at: column::time(row, "created_at")?,
        token_at: column::time(row, "token_at")?,
        last_seen_at: column::time_opt(row, "last_seen_at")?,
        revoked_at: column::time_opt(row, "revoked_at")?,
    })
}
