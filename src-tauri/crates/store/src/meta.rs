//! What the file knows about itself: its own chain's id, which is this device's.

use rusqlite::Connection;
use uuid::Uuid;

use crate::{Conn, StoreError, ledger};

pub(crate) const SCHEMA: &str = "
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

const CHAIN: &str = "chain";

/// The id of the chain that this device writes.
pub fn chain(conn: &Conn) -> Result<String, StoreError> {
    get(conn, CHAIN)?.ok_or_else(|| StoreError::damaged("the file has lost the id of its own chain"))
}

/// Gives a new file its chain.
pub(crate) fn ensure_chain(conn: &Connection) -> rusqlite::Result<()> {
    let known: i64 = conn.query_row("SELECT count(*) FROM meta WHERE key = ?1", [CHAIN], |row| row.get(0))?;
    if known == 0 {
        let chain = Uuid::now_v7().to_string();
        conn.execute("INSERT INTO meta (key, value) VALUES (?1, ?2)", [CHAIN, &chain])?;
        ledger::begin_chain(conn, &chain)?;
    }
    Ok(())
}

fn get(conn: &Conn, key: &str) -> Result<Option<String>, StoreError> {
    conn.row("SELECT value FROM meta WHERE key = ?1", [key], |row| Ok(row.get(0)?))
}
