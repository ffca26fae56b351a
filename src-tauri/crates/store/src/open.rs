use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::conn::Conn;
use crate::migrate::{APPLICATION_ID, MIGRATIONS, Migration, migrate, version};
use crate::{OpenError, StoreError, meta};

/// How long to wait for another process's lock.
const BUSY: Duration = Duration::from_secs(2);
/// Up to this size every page is looked at when opening; larger files are checked as they are read.
const CHECKED_SIZE: u64 = 64 << 20;
const HEADER: &[u8; 16] = b"SQLite format 3\0";

/// The connection that writes: checked, migrated, with a log of its own and a sync for every commit.
pub(crate) fn writer(path: &Path) -> Result<Conn, OpenError> {
    writer_at(path, MIGRATIONS)
}

/// A connection that only reads.
pub(crate) fn reader(path: &Path) -> Result<Conn, StoreError> {
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.busy_timeout(BUSY)?;
    conn.pragma_update(None, "trusted_schema", false)?;
    conn.pragma_update(None, "query_only", true)?;
    keep_plans(&conn)?;
    Ok(Conn::new(conn))
}

pub(crate) fn writer_at(path: &Path, migrations: &[Migration]) -> Result<Conn, OpenError> {
    let file = File { path };
    let size = file.check_header()?;
    file.close_to_others()?;
    let conn = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(|error| file.error(error))?;
    prepare(&file, &conn, size, migrations)?;
    Ok(Conn::new(conn))
}

/// A statement is planned once, not anew for each value that it is given.
fn keep_plans(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

fn prepare(file: &File<'_>, conn: &Connection, size: u64, migrations: &[Migration]) -> Result<(), OpenError> {
    let failed = |error| file.error(error);
    conn.busy_timeout(BUSY).map_err(failed)?;
    conn.pragma_update(None, "trusted_schema", false).map_err(failed)?;
    conn.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    keep_plans(conn).map_err(failed)?;

    let known = version(migrations);
    let found = pragma(conn, "user_version").map_err(failed)?;
    let application = pragma(conn, "application_id").map_err(failed)?;
    let tables: u32 = conn
        .query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'table'", [], |row| row.get(0))
        .map_err(failed)?;
    let is_new = found == 0 && application == 0 && tables == 0;
    if !is_new && application != APPLICATION_ID {
        return Err(file.damaged("it is a database of another program"));
    }
    if found > known {
        return Err(OpenError::Newer { path: file.path.to_owned(), found, known });
    }
    if !is_new {
        check(file, conn, size)?;
    }

    let mode: String = conn.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        return Err(file.io(
            "the disk that holds it cannot keep a write-ahead log; move the data folder to a local disk",
        ));
    }
    conn.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    // What a savepoint keeps of earlier pages is worth no file.
    conn.pragma_update(None, "temp_store", "MEMORY").map_err(failed)?;

    if found < known {
        if !is_new {
            backup(file, conn, found)?;
        }
        migrate(conn, found, migrations).map_err(failed)?;
    }
    // Also shows at once whether another process keeps us from writing.
    conn.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let device = meta::ensure_chain(conn).and_then(|()| conn.execute_batch("COMMIT"));
    device.map_err(failed)
}

/// Looks at every page of a file that is not large. A value that should not be there is no broken page: reading it, or
/// verifying the ledger, names it.
fn check(file: &File<'_>, conn: &Connection, size: u64) -> Result<(), OpenError> {
    if size > CHECKED_SIZE {
        return Ok(());
    }
    let find = || -> rusqlite::Result<Option<String>> {
        let mut statement = conn.prepare("PRAGMA quick_check")?;
        let found = statement.query_map([], |row| row.get::<_, String>(0))?;
        let mut found = found.filter(|found| !found.as_ref().is_ok_and(|text| is_about_a_value(text)));
        found.next().transpose()
    };
    match find().map_err(|error| file.error(error))? {
        None => Ok(()),
        Some(what) => Err(file.damaged(what)),
    }
}

fn is_about_a_value(found: &str) -> bool {
    found == "ok" || found.contains("constraint failed") || found.contains(" value in ")
}

/// Copies the database, log included, through SQLite's own backup.
fn backup(file: &File<'_>, conn: &Connection, found: u32) -> Result<PathBuf, OpenError> {
    let folder = file.backups();
    fs::create_dir_all(&folder).map_err(|error| file.io(error))?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let path = folder.join(format!("sayso-format{found}-{now}.db"));
    let copy = || -> rusqlite::Result<()> {
        let mut to = Connection::open(&path)?;
        rusqlite::backup::Backup::new(conn, &mut to)?.run_to_completion(1024, Duration::ZERO, None)?;
        to.pragma_update(None, "journal_mode", "DELETE")
    };
    match copy() {
        Ok(()) => Ok(path),
        Err(error) => {
            // Half a backup would only mislead.
            let _ = fs::remove_file(&path);
            Err(file.error(error))
        }
    }
}

fn pragma(conn: &Connection, name: &str) -> rusqlite::Result<u32> {
    conn.pragma_query_value(None, name, |row| row.get(0))
}

/// The file, for what can be said about it.
struct File<'a> {
    path: &'a Path,
}

impl File<'_> {
    /// Whether what is there can be a database at all; its size. SQLite would take an empty file for a new database and
    /// throw away a log beside it, with all that is in it.
    fn check_header(&self) -> Result<u64, OpenError> {
        let size = match fs::metadata(self.path) {
            Ok(found) if found.is_file() => found.len(),
            Ok(_) => return Err(self.io("it is no file")),
            Err(error) if error.kind() == ErrorKind::NotFound => 0,
            Err(error) => return Err(self.io(error)),
        };
        if size == 0 {
            let log = fs::metadata(wal_of(self.path)).map_or(0, |log| log.len());
            return if log == 0 { Ok(0) } else { Err(self.damaged("it is empty, but its log is there")) };
        }
        let mut header = [0; 16];
        let read = fs::File::open(self.path).and_then(|mut file| file.read_exact(&mut header));
        match read {
            Ok(()) if header == *HEADER => Ok(size),
            Ok(()) => Err(self.damaged("it does not begin like a database")),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(self.damaged("it was cut off")),
            Err(error) => Err(self.io(error)),
        }
    }

    /// Makes a new file, and keeps an old one, for its owner alone. SQLite gives the log beside it the same mode.
    fn close_to_others(&self) -> Result<(), OpenError> {
        use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
        let close = || {
            let mut options = fs::OpenOptions::new();
            let file = options.append(true).create(true).mode(0o600).open(self.path)?;
            if file.metadata()?.mode() & 0o077 != 0 {
                file.set_permissions(fs::Permissions::from_mode(0o600))?;
            }
            Ok(())
        };
        close().map_err(|error: std::io::Error| {
            let is_full = error.kind() == ErrorKind::StorageFull;
            if is_full { OpenError::Full { path: self.path.to_owned() } } else { self.io(error) }
        })
    }

    fn backups(&self) -> PathBuf {
        self.path.parent().unwrap_or(Path::new(".")).join("backups")
    }

    fn damaged(&self, what: impl Into<String>) -> OpenError {
        OpenError::Damaged { path: self.path.to_owned(), what: what.into(), backups: self.backups() }
    }

    fn io(&self, what: impl std::fmt::Display) -> OpenError {
        OpenError::Io { path: self.path.to_owned(), what: what.to_string() }
    }

    fn error(&self, error: rusqlite::Error) -> OpenError {
        let text = error.to_string();
        match StoreError::from(error) {
            StoreError::Full => OpenError::Full { path: self.path.to_owned() },
            StoreError::Locked => OpenError::Locked { path: self.path.to_owned() },
            StoreError::Damaged => self.damaged(text),
            StoreError::Conflict | StoreError::Sql(_) => {
                self.damaged(format!("it does not hold what it must ({text})"))
            }
            StoreError::ReadOnly
            | StoreError::Io(_)
            | StoreError::Refused(_)
            | StoreError::Panicked
            | StoreError::Closed => self.io(text),
        }
    }
}

/// The write-ahead log of a database.
pub(crate) fn wal_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}
