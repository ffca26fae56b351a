use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use crate::conn::Conn;
use crate::migrate::{APPLICATION_ID, MIGRATIONS, version};
use crate::new_file::NewFile;
use crate::{OpenError, Progress, StoreError, meta};

/// So many pages are copied before others get their turn on the disk.
const STEP: i32 = 256;
/// Their turn.
const PAUSE: Duration = Duration::from_millis(1);

/// Copies what a reader sees, which is of one moment. The copy is checked before it gets its name.
pub(crate) fn of_reader(conn: &Conn, path: &Path, progress: &Progress) -> Result<(), StoreError> {
    // The first read decides which moment that is.
    let head = head(conn)?;
    let copy = NewFile::create(path)?;
    let taken = (|| {
        let mut to = Connection::open(copy.beside())?;
        let backup = Backup::new(conn.raw(), &mut to)?;
        loop {
            progress.go_on()?;
            let step = backup.step(STEP)?;
            let at = backup.progress();
            progress.expect(u64::try_from(at.pagecount).unwrap_or_default());
            progress.reach(u64::try_from(at.pagecount - at.remaining).unwrap_or_default());
            match step {
                StepResult::Done => break,
                StepResult::More => std::thread::sleep(PAUSE),
                _ => return Err(StoreError::Locked),
            }
        }
        drop(backup);
        to.pragma_update(None, "journal_mode", "DELETE")?;
        let to = Conn::new(to);
        is_whole(&to)?;
        if self::head(&to)? != head {
            return Err(StoreError::damaged("a backup has another head than what it was made of"));
        }
        Ok(())
    })();
    taken?;
    copy.finish()
}

fn is_whole(conn: &Conn) -> Result<(), StoreError> {
    let found = conn.row("PRAGMA integrity_check(1)", [], |row| Ok(row.get::<_, String>(0)?))?;
    match found.as_deref() {
        Some("ok") => Ok(()),
        found => Err(StoreError::damaged(found.unwrap_or("it cannot be checked"))),
    }
}

/// The last number and hash of the chain, as the head and as the last entry say.
fn head(conn: &Conn) -> Result<(i64, Vec<u8>), StoreError> {
    let chain = meta::chain(conn)?;
    let of = |sql: &str| conn.row(sql, [&chain], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?)));
    let head = of("SELECT head_seq, head_hash FROM chains WHERE chain_id = ?1")?;
    let last = of("SELECT seq, hash FROM ledger WHERE chain_id = ?1 ORDER BY seq DESC LIMIT 1")?;
    match (head, last) {
        (Some(head), Some(last)) if head == last => Ok(head),
        (Some(head), None) if head.0 == 0 => Ok(head),
        _ => Err(StoreError::damaged("the ledger does not end with its head")),
    }
}

/// Whether a file is a whole database of ours, of no newer format, whose ledger ends with its head. Nothing is written
/// beside it: it must have no log of its own.
pub fn check_backup(path: &Path) -> Result<(), OpenError> {
    let io = |what: String| OpenError::Io { path: path.to_owned(), what };
    let damaged = |what: String| OpenError::Damaged {
        path: path.to_owned(),
        what,
        backups: path.parent().map(PathBuf::from).unwrap_or_default(),
    };
    let file = fs::metadata(path).map_err(|error| io(error.to_string()))?;
    if !file.is_file() {
        return Err(io("it is no file".to_owned()));
    }
    if crate::open::wal_of(path).metadata().is_ok_and(|log| log.len() > 0) {
        return Err(io(
            "it has a log beside it, so it is in use or was not closed; make a backup of it first".to_owned(),
        ));
    }
    let conn = read_only(path).map_err(|error| damaged(error.to_string()))?;
    let number = |name: &str| conn.pragma_query_value(None, name, |row| row.get::<_, u32>(0));
    let application = number("application_id").map_err(|error| damaged(error.to_string()))?;
    let found = number("user_version").map_err(|error| damaged(error.to_string()))?;
    if application != APPLICATION_ID {
        return Err(damaged("it is no database of Sayso".to_owned()));
    }
    let known = version(MIGRATIONS);
    if found > known {
        return Err(OpenError::Newer { path: path.to_owned(), found, known });
    }
    let conn = Conn::new(conn);
    is_whole(&conn).and_then(|()| head(&conn)).map_err(|error| damaged(error.to_string()))?;
    Ok(())
}

/// A connection that touches nothing, also not beside the file.
pub(crate) fn read_only(path: &Path) -> rusqlite::Result<Connection> {
    let place = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let conn = Connection::open_with_flags(
        format!("file:{place}?immutable=1"),
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    conn.pragma_update(None, "trusted_schema", false)?;
    Ok(conn)
}
