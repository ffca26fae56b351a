//! What waits, in the order in which it is to be looked at: expiring soonest first, then oldest. A page is read from an index
//! alone, so that it costs the same whatever the requests hold and however many there are.

use std::fmt;
use std::str::FromStr;

use rusqlite::{Row, params};
use sayso_domain::{RequestKey, Time};

use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE INDEX requests_waiting ON requests
    (coalesce(expires_at, 9223372036854775807), received_at, key, expires_at, snoozed_until, state)
    WHERE state = 'pending';
CREATE INDEX requests_snoozed ON requests (snoozed_until)
    WHERE state = 'pending' AND snoozed_until IS NOT NULL;
";

/// A request that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingRow {
    /// Where it stands in the order.
    pub place: WaitingPlace,
    /// Until when it is put off.
    pub snoozed_until: Option<Time>,
}

/// A place in the order: pages stay stable while requests come and go. As text: `<deadline or nothing>.<came>.<key>`, times
/// in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingPlace {
    /// Its deadline.
    pub expires_at: Option<Time>,
    /// When it came.
    pub received_at: Time,
    /// The request.
    pub key: RequestKey,
}

/// The text is no place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a place in the list")]
pub struct ParsePlaceError;

impl fmt::Display for WaitingPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = self.expires_at {
            write!(f, "{}", at.as_millis())?;
        }
        write!(f, ".{}.{}", self.received_at.as_millis(), self.key)
    }
}

impl FromStr for WaitingPlace {
    type Err = ParsePlaceError;

    fn from_str(text: &str) -> Result<Self, ParsePlaceError> {
        let mut parts = text.splitn(3, '.');
        let mut part = || parts.next().ok_or(ParsePlaceError);
        let time = |text: &str| text.parse().map(Time::from_millis).map_err(|_| ParsePlaceError);
        Ok(Self {
            expires_at: match part()? {
                "" => None,
                at => Some(time(at)?),
            },
            received_at: time(part()?)?,
            key: part()?.parse().map_err(|_| ParsePlaceError)?,
        })
    }
}

const SELECT: &str =
    "SELECT key, expires_at, received_at, snoozed_until FROM requests WHERE state = 'pending'";
const ORDER: &str = "ORDER BY coalesce(expires_at, 9223372036854775807), received_at, key";

/// At most `limit` of what waits, after a place.
pub fn page(conn: &Conn, after: Option<WaitingPlace>, limit: u32) -> Result<Vec<WaitingRow>, StoreError> {
    let Some(after) = after else {
        return conn.rows(&format!("{SELECT} {ORDER} LIMIT ?1"), [limit], of_row);
    };
    let sql = format!(
        "{SELECT} AND (coalesce(expires_at, 9223372036854775807), received_at, key) > (?1, ?2, ?3) {ORDER} LIMIT ?4"
    );
    let (expires, came) = (after.expires_at.map_or(i64::MAX, Time::as_millis), after.received_at.as_millis());
    conn.rows(&sql, params![expires, came, after.key.to_string(), limit], of_row)
}

/// Those of these that wait, in the order of the keys.
pub fn of_keys(conn: &Conn, keys: &[RequestKey]) -> Result<Vec<WaitingRow>, StoreError> {
    let row = |key: &RequestKey| conn.row(&format!("{SELECT} AND key = ?1"), [key.to_string()], of_row);
    keys.iter().filter_map(|key| row(key).transpose()).collect()
}

/// How many are put off at a moment.
pub fn count_snoozed(conn: &Conn, now: Time) -> Result<u32, StoreError> {
    let count = conn.row(
        "SELECT count(*) FROM requests WHERE state = 'pending' AND snoozed_until > ?1",
        [now.as_millis()],
        |row| Ok(row.get(0)?),
    )?;
    Ok(count.unwrap_or_default())
}

/// Puts a request off, or with no time wakes it. Whether it waits.
pub fn snooze(tx: &Tx<'_>, key: RequestKey, until: Option<Time>) -> Result<bool, StoreError> {
    tx.run_one(
        "UPDATE requests SET snoozed_until = ?2 WHERE key = ?1 AND state = 'pending'",
        params![key.to_string(), until.map(Time::as_millis)],
    )
}

/// Wakes what was put off until now, and says what that was.
pub fn wake(tx: &Tx<'_>, now: Time) -> Result<Vec<RequestKey>, StoreError> {
    let due = to_wake(tx, now)?;
    for key in &due {
        snooze(tx, *key, None)?;
    }
    Ok(due)
}

/// What was put off until now or earlier.
pub fn to_wake(conn: &Conn, now: Time) -> Result<Vec<RequestKey>, StoreError> {
    conn.rows(
        "SELECT key FROM requests WHERE state = 'pending' AND snoozed_until <= ?1 ORDER BY snoozed_until, key",
        [now.as_millis()],
        |row| column::parsed(row, "key"),
    )
}

/// The earliest moment at which a request wakes.
pub fn next_wake(conn: &Conn) -> Result<Option<Time>, StoreError> {
    let next = conn.row(
        "SELECT min(snoozed_until) AS at FROM requests WHERE state = 'pending' AND snoozed_until IS NOT NULL",
        [],
        |row| column::time_opt(row, "at"),
    )?;
    Ok(next.flatten())
}

fn of_row(row: &Row<'_>) -> Result<WaitingRow, StoreError> {
    Ok(WaitingRow {
        place: WaitingPlace {
            expires_at: column::time_opt(row, "expires_at")?,
            received_at: column::time(row, "received_at")?,
            key: column::parsed(row, "key")?,
        },
        snoozed_until: column::time_opt(row, "snoozed_until")?,
    })
}
