use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::conn::Conn;
use crate::open::wal_of;
use crate::{Progress, StoreError};

/// How much room a database takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreSize {
    /// The file.
    pub bytes: u64,
    /// What of it holds nothing any more.
    pub free_bytes: u64,
}

pub(crate) fn size(conn: &Conn) -> Result<StoreSize, StoreError> {
    let number = |name: &str| {
        let found = conn.row(&format!("PRAGMA {name}"), [], |row| Ok(row.get::<_, i64>(0)?))?;
        Ok::<_, StoreError>(found.unwrap_or_default().unsigned_abs())
    };
    let page = number("page_size")?;
    Ok(StoreSize { bytes: number("page_count")? * page, free_bytes: number("freelist_count")? * page })
}

/// Writes the file anew. The new pages go through the log, whose growth is the progress.
pub(crate) fn compact(conn: &Conn, path: &Path, progress: &Progress) -> Result<(), StoreError> {
    empty_log(conn)?;
    let size = size(conn)?;
    let left = size.bytes.saturating_sub(size.free_bytes);
    check_room(path, left)?;
    progress.expect(left);
    let interrupt = conn.raw().get_interrupt_handle();
    let is_done = AtomicBool::new(false);
    let done = thread::scope(|threads| {
        threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                progress.reach(wal_of(path).metadata().map_or(0, |log| log.len()).min(left));
                if progress.is_stopped() {
                    interrupt.interrupt();
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        let done = conn.batch("VACUUM");
        is_done.store(true, Ordering::Relaxed);
        done
    });
    if done.is_err() {
        progress.go_on()?;
    }
    done?;
    empty_log(conn)?;
    conn.row("PRAGMA secure_delete = OFF", [], |_| Ok(()))?;
    progress.reach(left);
    Ok(())
}

/// Moves the log into the file and empties it.
fn empty_log(conn: &Conn) -> Result<(), StoreError> {
    let busy = conn.row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| Ok(row.get::<_, i64>(0)?))?;
    if busy == Some(0) { Ok(()) } else { Err(StoreError::Locked) }
}

/// The new file lies beside the old one for a while, and then goes through the log.
fn check_room(path: &Path, needed: u64) -> Result<(), StoreError> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let room = rustix::fs::statvfs(folder).map_err(|error| StoreError::Io(error.to_string()))?;
    let free = room.f_bavail.saturating_mul(room.f_frsize);
    if free < needed.saturating_mul(2) { Err(StoreError::Full) } else { Ok(()) }
}
