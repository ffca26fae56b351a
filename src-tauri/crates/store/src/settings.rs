//! Settings, each as text under its name.

use crate::{Conn, StoreError, Tx};

pub(crate) const SCHEMA: &str = "
CREATE TABLE settings (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

/// A setting's value.
pub fn get(conn: &Conn, key: &str) -> Result<Option<String>, StoreError> {
    conn.row("SELECT value FROM settings WHERE key = ?1", [key], |row| Ok(row.get(0)?))
}

/// Sets a value.
pub fn put(tx: &Tx<'_>, key: &str, value: &str) -> Result<(), StoreError> {
    tx.run(
        "INSERT INTO settings (key, value) VALUES (?1, ?2)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        [key, value],
    )?;
    Ok(())
}
