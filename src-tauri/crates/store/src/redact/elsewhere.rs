use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rusqlite::types::ValueRef;

use super::Secret;
use crate::StoreError;
use crate::backup::read_only;

const CHUNK: usize = 1 << 20;

/// Whether a file, such as a backup or an export, holds a secret: in any text of any table where it is a database, and in
/// its bytes. Nothing is written beside it.
pub fn is_in_file(path: &Path, secret: &Secret) -> Result<bool, StoreError> {
    // What is no database, or a damaged one, still has bytes.
    Ok(is_in_tables(path, secret).unwrap_or(false) || is_in_bytes(path, secret)?)
}

fn is_in_tables(path: &Path, secret: &Secret) -> rusqlite::Result<bool> {
    let conn = read_only(path)?;
    let mut tables = conn.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables = tables.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    for table in tables {
        let Ok(mut select) = conn.prepare(&format!("SELECT * FROM \"{}\"", table.replace('"', "\"\"")))
        else {
            continue;
        };
        let columns = select.column_count();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                if let ValueRef::Text(text) = row.get_ref(column)?
                    && secret.is_in(&String::from_utf8_lossy(text))
                {
                    return Ok(true);
                }
            }
        }
    }
    Ok(false)
}

fn is_in_bytes(path: &Path, secret: &Secret) -> Result<bool, StoreError> {
    let failed = |error: std::io::Error| StoreError::Io(error.to_string());
    let mut file = File::open(path).map_err(failed)?;
    let mut window = Vec::new();
    loop {
        let read = (&mut file).take(CHUNK as u64).read_to_end(&mut window).map_err(failed)?;
        if secret.is_in_bytes(&window) {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
        // It may lie across two reads.
        window.drain(..window.len().saturating_sub(secret.longest()));
    }
}
