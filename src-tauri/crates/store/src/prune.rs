//! Pruning: decisions older than a day that the person chose are removed with all that belongs to them, and the ledger says
//! so. Nothing goes that still waits, is on its way, or belongs to a run that goes on; nor the newest event of a source,
//! by which its listeners know their place.

use sayso_domain::Time;

use crate::ledger;
use crate::{Conn, StoreError, Tx};

/// A day in milliseconds.
pub const DAY: i64 = 86_400_000;

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Decisions, with their requests.
    pub decisions: u64,
    /// Runs, with their transcripts.
    pub runs: u64,
    /// Entries of the ledger.
    pub entries: u64,
}

/// The days (UTC) that have decisions before a moment, oldest first: when each ends, and how many it has.
pub fn days(conn: &Conn, before: Time) -> Result<Vec<(Time, u64)>, StoreError> {
    conn.rows(
        "SELECT at / ?2 AS day, count(*) FROM settlements WHERE at < ?1 GROUP BY day ORDER BY day",
        (before.as_millis(), DAY),
        |row| {
            let end = Time::from_millis((row.get::<_, i64>(0)? + 1).saturating_mul(DAY));
            Ok((end, row.get::<_, i64>(1)?.unsigned_abs()))
        },
    )
}

/// How many decisions there are, and when the oldest was made.
pub fn count(conn: &Conn) -> Result<(u64, Option<Time>), StoreError> {
    let found = conn.row("SELECT count(*), min(at) FROM settlements", [], |row| {
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, Option<i64>>(1)?.map(Time::from_millis)))
    })?;
    Ok(found.unwrap_or_default())
}

/// The first moment of the day (UTC) that a moment is in.
pub fn midnight(at: Time) -> Time {
    Time::from_millis(at.as_millis().div_euclid(DAY) * DAY)
}

/// Removes what was decided and ended before a moment, which should be a midnight.
pub fn prune(tx: &Tx<'_>, before: Time, now: Time) -> Result<Pruned, StoreError> {
    choose(tx, before)?;
    let count = |table: &str| {
        let count =
            tx.row(&format!("SELECT count(*) FROM temp.{table}"), [], |row| Ok(row.get::<_, i64>(0)?))?;
        Ok::<_, StoreError>(count.unwrap_or_default().unsigned_abs())
    };
    let mut pruned = Pruned { decisions: count("pruned_requests")?, runs: count("pruned_runs")?, entries: 0 };
    if pruned.decisions + pruned.runs > 0 {
        pruned.entries = ledger::prune_chosen(tx, before, now)?;
        remove(tx)?;
    }
    Ok(pruned)
}

/// Notes what goes in two temporary tables.
fn choose(tx: &Tx<'_>, before: Time) -> Result<(), StoreError> {
    tx.batch(
        "CREATE TEMP TABLE IF NOT EXISTS pruned_requests (key TEXT PRIMARY KEY) WITHOUT ROWID;
         CREATE TEMP TABLE IF NOT EXISTS pruned_runs (id TEXT PRIMARY KEY) WITHOUT ROWID;
         DELETE FROM temp.pruned_requests;
         DELETE FROM temp.pruned_runs;",
    )?;
    tx.run(
        "INSERT INTO temp.pruned_requests
         SELECT settlements.request FROM settlements
         JOIN requests ON requests.key = settlements.request
         JOIN deliveries ON deliveries.request = settlements.request
         LEFT JOIN runs ON runs.id = requests.run
         WHERE settlements.at < ?1 AND deliveries.state <> 'waiting' AND deliveries.ended_at < ?1
           AND (runs.id IS NULL OR (runs.status NOT IN ('running', 'pending') AND runs.updated_at < ?1))
           AND settlements.request NOT IN (
               SELECT request FROM request_events
               WHERE (source, seq) IN (SELECT source, max(seq) FROM request_events GROUP BY source))
           AND NOT EXISTS (
               SELECT 1 FROM ledger
               WHERE request_key = settlements.request AND ledger.at >= ?1 AND type <> 'redaction')",
        [before.as_millis()],
    )?;
    tx.run(
        "INSERT INTO temp.pruned_runs
         SELECT id FROM runs
         WHERE status NOT IN ('running', 'pending') AND updated_at < ?1
           AND NOT EXISTS (
               SELECT 1 FROM requests
               WHERE requests.run = runs.id AND key NOT IN (SELECT key FROM temp.pruned_requests))",
        [before.as_millis()],
    )?;
    Ok(())
}

/// Children first.
fn remove(tx: &Tx<'_>) -> Result<(), StoreError> {
    for (table, column) in [
        ("deliveries", "request"),
        ("settlements", "request"),
        ("verdicts", "request"),
        ("request_events", "request"),
        ("requests", "key"),
    ] {
        tx.run(&format!("DELETE FROM {table} WHERE {column} IN (SELECT key FROM temp.pruned_requests)"), [])?;
    }
    for (table, column) in [("messages", "run"), ("calls", "run"), ("runs", "id")] {
        tx.run(&format!("DELETE FROM {table} WHERE {column} IN (SELECT id FROM temp.pruned_runs)"), [])?;
    }
    Ok(())
}
