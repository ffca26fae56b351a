use std::fs;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;

use crate::conn::{Conn, Reader};
use crate::ledger::Damage;
use crate::open::{self, wal_of};
use crate::readers::in_one_moment;
use crate::{OpenError, StoreError};

/// Tries of a copy while a writer is at work on the original.
const TRIES: u32 = 50;
/// Between them.
const PAUSE: Duration = Duration::from_millis(20);

/// A temporary copy of a database, to read from. It is gone when this is dropped.
pub struct StoreCopy {
    conn: Conn,
    _folder: TempDir,
}

impl StoreCopy {
    /// Copies the file and its log, and reads them there. An older format is migrated in the copy.
    pub(crate) fn of(path: &Path, damage: Damage) -> Result<Self, OpenError> {
        let failed = |error: io::Error| {
            if error.kind() == ErrorKind::StorageFull {
                OpenError::Full { path: std::env::temp_dir() }
            } else {
                OpenError::Io { path: path.to_owned(), what: error.to_string() }
            }
        };
        let folder = tempfile::Builder::new().prefix("sayso-").tempdir().map_err(failed)?;
        let copy = folder.path().join("sayso.db");
        copy_at_rest(path, &copy).map_err(failed)?;
        let conn = match open::writer(&copy) {
            // Whatever of it can be read is read.
            Err(OpenError::Damaged { .. }) if damage == Damage::IsSkipped => open::reader(&copy)
                .map_err(|error| OpenError::Io { path: path.to_owned(), what: error.to_string() }),
            opened => opened.map_err(|error| of_original(error, path)),
        }?;
        Ok(Self { conn, _folder: folder })
    }

    /// Runs a closure on the copy.
    pub fn read<T>(&self, work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        in_one_moment(&self.conn, work)
    }
}

/// Copies the file, then its log. Whatever was moved from the log into the file meanwhile is still in the log as well,
/// unless the log was begun anew; its header shows that, and then all is copied again.
fn copy_at_rest(from: &Path, to: &Path) -> io::Result<()> {
    for _ in 0..TRIES {
        let before = mark(from)?;
        copy(from, to)?;
        match copy(&wal_of(from), &wal_of(to)) {
            Err(error) if error.kind() == ErrorKind::NotFound => match fs::remove_file(wal_of(to)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            },
            other => {
                other?;
            }
        }
        if mark(from)? == before {
            return Ok(());
        }
        std::thread::sleep(PAUSE);
    }
    Err(io::Error::new(ErrorKind::ResourceBusy, "it changes too fast to be copied; try again"))
}

/// Copies the bytes alone: the copy of a file that may not be written may be.
fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let mut from = fs::File::open(from)?;
    io::copy(&mut from, &mut fs::File::create(to)?)
}

/// What changes when a log is begun anew: its header, with its random salts. Without a log, the file itself.
#[derive(PartialEq)]
enum Mark {
    Log([u8; 32]),
    File(u64, std::time::SystemTime),
}

fn mark(path: &Path) -> io::Result<Mark> {
    let mut header = [0; 32];
    match fs::File::open(wal_of(path)).and_then(|mut log| log.read_exact(&mut header)) {
        Ok(()) => Ok(Mark::Log(header)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::UnexpectedEof) => {
            let file = fs::metadata(path)?;
            Ok(Mark::File(file.len(), file.modified()?))
        }
        Err(error) => Err(error),
    }
}

/// What is wrong with the copy is wrong with the original, and it is the original's name that a person knows.
fn of_original(error: OpenError, original: &Path) -> OpenError {
    let path = original.to_owned();
    match error {
        OpenError::Locked { .. } => OpenError::Locked { path },
        OpenError::Newer { found, known, .. } => OpenError::Newer { path, found, known },
        OpenError::Damaged { what, .. } => {
            let backups = original.parent().unwrap_or(Path::new(".")).join("backups");
            OpenError::Damaged { path, what, backups }
        }
        OpenError::Full { path } => OpenError::Full { path },
        OpenError::Io { what, .. } => OpenError::Io { path, what },
    }
}
