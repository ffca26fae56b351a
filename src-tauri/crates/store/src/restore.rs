//! Putting a backup in the place of the database, so that a crash at any moment leaves one whole database: the backup is
//! copied beside it first, under a name of its own; the next opening keeps what is there as a backup, empties its log,
//! and then renames the copy over it, which the file system does as one.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::Connection;

use crate::backup::{check_backup, of_reader};
use crate::conn::Conn;
use crate::new_file::{NewFile, of_file, sync_folder};
use crate::open::wal_of;
use crate::{OpenError, Progress, StoreError, Tx, settings};

/// The setting that says since when a database is restored; whoever hosts it sees to what that means.
pub(crate) const RESTORED: &str = "restored_at";

/// Checks a backup, and copies it beside the database at `path`, to be put in its place when that is opened next.
pub fn prepare(backup: &Path, path: &Path) -> Result<(), OpenError> {
    check_backup(backup)?;
    let failed = |error: StoreError| OpenError::Io { path: path.to_owned(), what: error.to_string() };
    let pending = pending(path);
    // One that was prepared before, and not put in place, makes way.
    match fs::remove_file(&pending) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(of_file(&error))),
        Ok(()) | Err(_) => {}
    }
    let mut copy = NewFile::create(&pending).map_err(failed)?;
    let copied = fs::File::open(backup).and_then(|mut from| io::copy(&mut from, &mut copy));
    copied.map_err(|error| failed(of_file(&error)))?;
    mark(copy.beside()).map_err(|error| failed(error.into()))?;
    check_backup(copy.beside())?;
    copy.replace().map_err(failed)
}

/// What is in it happened before now, and some of it has happened again since.
fn mark(copy: &Path) -> rusqlite::Result<()> {
    let conn = Connection::open(copy)?;
    conn.pragma_update(None, "journal_mode", "DELETE")?;
    conn.execute(
        "INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (RESTORED, now().to_string()),
    )?;
    Ok(())
}

/// Puts a backup that was prepared in the place of the database. Must be the only one at work on the folder.
pub(crate) fn finish(path: &Path) -> Result<(), OpenError> {
    let pending = pending(path);
    if !pending.exists() {
        return Ok(());
    }
    check_backup(&pending)?;
    if path.exists() {
        keep_present(path)?;
    }
    let io = |error: io::Error| OpenError::Io { path: path.to_owned(), what: error.to_string() };
    // All that was in the log is in the file and in the backup. A log beside another file would spoil that one.
    for leftover in [wal_of(path), shm_of(path)] {
        match fs::remove_file(leftover) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
            Ok(()) | Err(_) => {}
        }
    }
    sync_folder(path).map_err(|error| OpenError::Io { path: path.to_owned(), what: error.to_string() })?;
    fs::rename(&pending, path).map_err(io)?;
    sync_folder(path).map_err(|error| OpenError::Io { path: path.to_owned(), what: error.to_string() })
}

/// A backup of what is there; where it cannot be read, the very files.
fn keep_present(path: &Path) -> Result<(), OpenError> {
    let io = |what: String| OpenError::Io { path: path.to_owned(), what };
    let folder = path.parent().unwrap_or(Path::new(".")).join("backups");
    fs::create_dir_all(&folder).map_err(|error| io(error.to_string()))?;
    let name = folder.join(format!("sayso-before-restore-{}.db", now()));
    let kept = Connection::open(path).map_err(StoreError::from).and_then(|raw| {
        let conn = Conn::new(raw);
        conn.batch("BEGIN")?;
        of_reader(&conn, &name, &Progress::default())?;
        conn.batch("ROLLBACK")?;
        conn.row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    });
    match kept {
        Ok(()) => Ok(()),
        Err(StoreError::Damaged) => {
            let name = name.with_extension("damaged.db");
            let log = wal_of(path);
            if log.exists() {
                fs::copy(&log, wal_of(&name)).map_err(|error| io(error.to_string()))?;
            }
            fs::copy(path, &name).map_err(|error| io(error.to_string()))?;
            sync_folder(&name).map_err(|error| io(error.to_string()))
        }
        Err(StoreError::Full) => Err(OpenError::Full { path: path.to_owned() }),
        Err(error) => Err(io(error.to_string())),
    }
}

/// Since when this database is restored, where that was not seen to yet.
pub fn restored(conn: &Conn) -> Result<bool, StoreError> {
    Ok(settings::get(conn, RESTORED)?.is_some())
}

/// What a restored database means was seen to.
pub fn restored_is_seen_to(tx: &Tx<'_>) -> Result<(), StoreError> {
    tx.run("DELETE FROM settings WHERE key = ?1", [RESTORED]).map(drop)
}

fn pending(path: &Path) -> PathBuf {
    path.with_extension("restore.db")
}

fn shm_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-shm");
    PathBuf::from(name)
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis())
}
