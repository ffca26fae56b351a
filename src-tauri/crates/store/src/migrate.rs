//! Forward-only migrations: `user_version` counts those that ran. What they hold is in the modules of the tables.

use rusqlite::Connection;

use crate::{
    agents, calls, deliveries, ledger, messages, meta, request_events, requests, runs, senders, settings,
    settlements, sources, verdicts, waiting,
};

/// `SaSo`: says that a file is ours, whatever it is called.
pub(crate) const APPLICATION_ID: u32 = 0x5361_536f;

/// One migration: its statements, in order.
pub(crate) type Migration = &'static [&'static str];

/// All of them, oldest first. An entry never changes once it was released.
pub(crate) const MIGRATIONS: &[Migration] = &[FIRST, SENDERS, WAITING, SEARCH, KEEPING];

const FIRST: Migration = &[
    meta::SCHEMA,
    settings::SCHEMA,
    sources::SCHEMA,
    agents::SCHEMA,
    runs::SCHEMA,
    messages::SCHEMA,
    calls::SCHEMA,
    requests::SCHEMA,
    verdicts::SCHEMA,
    settlements::SCHEMA,
    deliveries::SCHEMA,
    ledger::SCHEMA,
];

const SENDERS: Migration = &[senders::SCHEMA, request_events::SCHEMA];

const WAITING: Migration = &[waiting::SCHEMA, deliveries::HELD];

const SEARCH: Migration = &[];

const KEEPING: Migration = &[ledger::KEEPING_SCHEMA, request_events::KEEPING_SCHEMA];

/// The format that a list of migrations leads to.
pub(crate) fn version(migrations: &[Migration]) -> u32 {
    u32::try_from(migrations.len()).unwrap_or(u32::MAX)
}

/// Runs what is missing, in one transaction.
pub(crate) fn migrate(conn: &Connection, found: u32, migrations: &[Migration]) -> rusqlite::Result<()> {
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let result = (|| {
        for statements in migrations.iter().skip(found as usize) {
            for sql in *statements {
                conn.execute_batch(sql)?;
            }
        }
        conn.pragma_update(None, "application_id", APPLICATION_ID)?;
        conn.pragma_update(None, "user_version", version(migrations))?;
        conn.execute_batch("COMMIT")
    })();
    if result.is_err() && !conn.is_autocommit() {
        conn.execute_batch("ROLLBACK")?;
    }
    result
}
