//! The outbox: one delivery per settlement, tried until it is acknowledged. What is in here may leave the app, so the
//! person's reason is not. What its asker fetches by itself is not tried, and so never due: it waits until it is taken.

use rusqlite::{Row, params};
use sayso_domain::{Answer, Class, Outcome, RequestKey, RunId, SourceId, Time};

use crate::request_events::{self, EventKind};
use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE deliveries (
    request       TEXT PRIMARY KEY REFERENCES settlements (request),
    answer        TEXT NOT NULL CHECK (json_valid(answer)),
    state         TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'undeliverable')),
    deliver_after INTEGER NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_at       INTEGER NOT NULL,
    last_error    TEXT,
    ended_at      INTEGER CHECK ((ended_at IS NULL) = (state = 'waiting'))
) STRICT;
CREATE INDEX deliveries_waiting ON deliveries (next_at) WHERE state = 'waiting';
";

/// An answer that its person can still take back is held: nobody gets it before it is claimed, which is once and for good.
/// What there was before was never held.
pub(crate) const HELD: &str = "
ALTER TABLE deliveries ADD COLUMN claimed_at INTEGER;
UPDATE deliveries SET claimed_at = deliver_after;
CREATE INDEX deliveries_held ON deliveries (deliver_after) WHERE claimed_at IS NULL;
";

/// Where a delivery stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// It is tried until it is acknowledged.
    Waiting,
    /// It was acknowledged.
    Delivered,
    /// There is nobody to deliver it to.
    Undeliverable,
}

/// A delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct DeliveryRow {
    /// The request that it answers.
    pub request: RequestKey,
    /// Who asked.
    pub source: SourceId,
    /// The run that waits for it.
    pub run: Option<RunId>,
    /// What leaves.
    pub answer: Answer,
    /// Its class for the wire; none when ok.
    pub class: Option<Class>,
    /// Where it stands.
    pub state: DeliveryState,
    /// Not before this moment.
    pub deliver_after: Time,
    /// From when on it can leave, and no longer be taken back; none while it is held.
    pub claimed_at: Option<Time>,
    /// Failed tries.
    pub attempts: u32,
    /// When to try next.
    pub next_at: Time,
    /// Why the last try failed.
    pub last_error: Option<String>,
    /// When it was acknowledged or given up.
    pub ended_at: Option<Time>,
}

impl DeliveryState {
    /// Its name in storage and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Undeliverable => "undeliverable",
        }
    }

    /// From its name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Waiting, Self::Delivered, Self::Undeliverable].into_iter().find(|state| state.as_str() == name)
    }
}

const SELECT: &str = "
SELECT deliveries.*, requests.source, requests.run, settlements.outcome, settlements.cause
FROM deliveries
JOIN settlements USING (request)
JOIN requests ON requests.key = request
";

/// How many answers to a source outside are looked at at once: more than are ever under way to it.
const AT_ONCE: u32 = 8;

/// The time of the next try where none is to be made.
pub(crate) const NEVER: i64 = i64::MAX;

/// Puts an answer into the outbox, to be delivered from now on. Programs of this machine, and senders with no callback, fetch
/// theirs. Whoever asked is told of the end from then on.
pub fn insert(tx: &Tx<'_>, request: RequestKey, answer: &Answer, now: Time) -> Result<(), StoreError> {
    insert_held(tx, request, answer, now)?;
    claim(tx, request, now).map(drop)
}

/// Puts an answer into the outbox and holds it until then: nobody is told, nobody gets it, and it can be taken back until it
/// is claimed.
pub fn insert_held(tx: &Tx<'_>, request: RequestKey, answer: &Answer, until: Time) -> Result<(), StoreError> {
    tx.run(
        "INSERT INTO deliveries (request, answer, state, deliver_after, next_at)
         SELECT key, ?2, 'waiting', ?3,
                CASE WHEN run IS NULL AND EXISTS (
                         SELECT 1 FROM sources LEFT JOIN senders ON senders.source = sources.id
                         WHERE sources.id = requests.source
                           AND (sources.kind = 'local'
                                OR (senders.source IS NOT NULL AND senders.callback_url IS NULL)))
                     THEN ?4 ELSE ?3 END
         FROM requests WHERE key = ?1",
        params![request.to_string(), column::to_json(answer)?, until.as_millis(), NEVER],
    )?;
    Ok(())
}

/// Whether there is an answer that was held until now or earlier.
pub fn is_claim_due(conn: &Conn, now: Time) -> Result<bool, StoreError> {
    let found = conn.row(
        "SELECT EXISTS (SELECT 1 FROM deliveries WHERE claimed_at IS NULL AND deliver_after <= ?1)",
        [now.as_millis()],
        |row| Ok(row.get(0)?),
    )?;
    Ok(found.unwrap_or_default())
}

/// Claims what was held until now or earlier, and says what that was.
pub fn claim_due(tx: &Tx<'_>, now: Time) -> Result<Vec<RequestKey>, StoreError> {
    let due = tx.rows(
        "SELECT request FROM deliveries WHERE claimed_at IS NULL AND deliver_after <= ?1
         ORDER BY deliver_after, request",
        [now.as_millis()],
        |row| column::parsed(row, "request"),
    )?;
    for key in &due {
        claim(tx, *key, now)?;
    }
    Ok(due)
}

/// From now on an answer can leave. Whether it was held.
fn claim(tx: &Tx<'_>, request: RequestKey, now: Time) -> Result<bool, StoreError> {
    let was_held = tx.run_one(
        "UPDATE deliveries SET claimed_at = ?2 WHERE request = ?1 AND claimed_at IS NULL",
        params![request.to_string(), now.as_millis()],
    )?;
    if was_held {
        request_events::append(tx, request, EventKind::Settled, now)?;
    }
    Ok(was_held)
}

/// Takes an answer out of the outbox that is still held. Whether it was: once it is claimed, nobody can.
pub fn revoke(tx: &Tx<'_>, request: RequestKey) -> Result<bool, StoreError> {
    tx.run_one("DELETE FROM deliveries WHERE request = ?1 AND claimed_at IS NULL", [request.to_string()])
}

/// A request's delivery, once it settled.
pub fn get(conn: &Conn, request: RequestKey) -> Result<Option<DeliveryRow>, StoreError> {
    conn.row(&format!("{SELECT} WHERE request = ?1"), [request.to_string()], of_row)
}

/// What is to be tried now, oldest first: all of the runs', and the first few of each source outside.
pub fn due(conn: &Conn, now: Time) -> Result<Vec<DeliveryRow>, StoreError> {
    conn.rows(
        &format!(
            "SELECT * FROM (
                 SELECT *, row_number() OVER (PARTITION BY source, run IS NULL ORDER BY next_at, request) AS place
                 FROM ({SELECT} WHERE deliveries.state = 'waiting' AND claimed_at IS NOT NULL AND next_at <= ?1)
             )
             WHERE run IS NOT NULL OR place <= ?2 ORDER BY next_at, request"
        ),
        params![now.as_millis(), AT_ONCE],
        of_row,
    )
}

/// The same of one source outside.
pub fn due_of_source(conn: &Conn, source: SourceId, now: Time) -> Result<Vec<DeliveryRow>, StoreError> {
    conn.rows(
        &format!(
            "{SELECT} WHERE deliveries.state = 'waiting' AND claimed_at IS NOT NULL AND next_at <= ?1
                 AND requests.source = ?2 AND run IS NULL
             ORDER BY next_at, request LIMIT ?3"
        ),
        params![now.as_millis(), source.to_string(), AT_ONCE],
        of_row,
    )
}

/// The waiting deliveries of runs, whether they are due or held.
pub fn waiting_of_runs(conn: &Conn) -> Result<Vec<(RequestKey, RunId)>, StoreError> {
    conn.rows(
        "SELECT request, run FROM deliveries JOIN requests ON requests.key = request
         WHERE deliveries.state = 'waiting' AND run IS NOT NULL ORDER BY request",
        [],
        |row| Ok((column::parsed(row, "request")?, column::parsed(row, "run")?)),
    )
}

/// When, after a moment, the next one is to be tried or to be claimed.
pub fn next_due(conn: &Conn, after: Time) -> Result<Option<Time>, StoreError> {
    let next = conn.row(
        "SELECT min(at) AS at FROM (
             SELECT min(next_at) AS at FROM deliveries
             WHERE state = 'waiting' AND claimed_at IS NOT NULL AND next_at > ?1 AND next_at < ?2
             UNION ALL
             SELECT min(deliver_after) FROM deliveries WHERE claimed_at IS NULL
         )",
        params![after.as_millis(), NEVER],
        |row| column::time_opt(row, "at"),
    )?;
    Ok(next.flatten())
}

/// It was acknowledged. Whether it still waited: an answer is used once (contract 12).
pub fn delivered(tx: &Tx<'_>, request: RequestKey, now: Time) -> Result<bool, StoreError> {
    claim(tx, request, now)?;
    let waited = tx.run_one(
        "UPDATE deliveries SET state = 'delivered', ended_at = ?2, last_error = NULL
         WHERE request = ?1 AND state = 'waiting'",
        params![request.to_string(), now.as_millis()],
    )?;
    if waited {
        request_events::append(tx, request, EventKind::Delivered, now)?;
    }
    Ok(waited)
}

/// A try failed; the next is at `retry_at`. Whether it still waited.
pub fn failed(tx: &Tx<'_>, request: RequestKey, why: &str, retry_at: Time) -> Result<bool, StoreError> {
    tx.run_one(
        "UPDATE deliveries SET attempts = attempts + 1, last_error = ?2, next_at = max(?3, deliver_after)
         WHERE request = ?1 AND state = 'waiting'",
        params![request.to_string(), why, retry_at.as_millis()],
    )
}

/// There is nobody to deliver it to. Whether it still waited.
pub fn undeliverable(tx: &Tx<'_>, request: RequestKey, why: &str, now: Time) -> Result<bool, StoreError> {
    claim(tx, request, now)?;
    let waited = tx.run_one(
        "UPDATE deliveries SET state = 'undeliverable', ended_at = ?3, last_error = ?2
         WHERE request = ?1 AND state = 'waiting'",
        params![request.to_string(), why, now.as_millis()],
    )?;
    if waited {
        request_events::append(tx, request, EventKind::Undeliverable, now)?;
    }
    Ok(waited)
}

/// The answers that a source outside has not taken.
pub fn waiting_of_source(conn: &Conn, source: SourceId) -> Result<Vec<RequestKey>, StoreError> {
    conn.rows(
        "SELECT deliveries.request FROM requests JOIN deliveries ON deliveries.request = requests.key
         WHERE requests.source = ?1 AND requests.run IS NULL AND deliveries.state = 'waiting'
         ORDER BY requests.key",
        [source.to_string()],
        |row| column::parsed(row, "request"),
    )
}

/// When the answers are tried that a source outside has not taken: now, since it has a callback, or no more.
pub fn reschedule(tx: &Tx<'_>, source: SourceId, next: Option<Time>) -> Result<(), StoreError> {
    tx.run(
        "UPDATE deliveries SET next_at = max(coalesce(?2, ?3), deliver_after), attempts = 0, last_error = NULL
         WHERE state = 'waiting'
           AND request IN (SELECT key FROM requests WHERE source = ?1 AND run IS NULL)",
        params![source.to_string(), next.map(Time::as_millis), NEVER],
    )?;
    Ok(())
}

/// A try failed and was the last one: the answer can still be fetched, or be tried again by hand. Whether it still waited.
pub fn given_up(tx: &Tx<'_>, request: RequestKey, why: &str) -> Result<bool, StoreError> {
    failed(tx, request, why, Time::from_millis(NEVER))
}

fn of_row(row: &Row<'_>) -> Result<DeliveryRow, StoreError> {
    let cause: Option<String> = row.get("cause")?;
    let outcome = Outcome::from_names(&row.get::<_, String>("outcome")?, cause.as_deref())
        .ok_or_else(|| StoreError::damaged("a settlement's outcome"))?;
    Ok(DeliveryRow {
        request: column::parsed(row, "request")?,
        source: column::parsed(row, "source")?,
        run: column::parsed_opt(row, "run")?,
        answer: column::json(&row.get::<_, String>("answer")?, "an answer to deliver")?,
        class: outcome.class(),
        state: column::named(row, "state", DeliveryState::from_name)?,
        deliver_after: column::time(row, "deliver_after")?,
        claimed_at: column::time_opt(row, "claimed_at")?,
        attempts: row.get("attempts")?,
        next_at: column::time(row, "next_at")?,
        last_error: row.get("last_error")?,
        ended_at: column::time_opt(row, "ended_at")?,
    })
}
