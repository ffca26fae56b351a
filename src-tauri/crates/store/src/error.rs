use std::path::PathBuf;

use rusqlite::ErrorCode;
use rusqlite::ffi;

/// Why the store did not do what it was asked. A write that failed changed nothing, and the store goes on: what failed
/// for want of room works again once there is room.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No room on the disk.
    #[error(
        "The disk is full, so nothing was changed. All that was saved before is safe. Make room, then try again."
    )]
    Full,
    /// Another process holds the database.
    #[error(
        "Another program is holding Sayso's database, so nothing was changed. All that was saved before is safe. Close \
         that program, then try again."
    )]
    Locked,
    /// The file, or something in it, cannot be read as it was written.
    #[error(
        "Part of Sayso's database is damaged, so this could not be read or changed. The rest was left as it is. Copy the \
         data folder to a safe place, then restore from its backups folder."
    )]
    Damaged,
    /// The file or its folder may not be written.
    #[error(
        "Sayso's data folder cannot be written, so nothing was changed. All that was saved before is safe. Allow writing \
         there, then try again."
    )]
    ReadOnly,
    /// The disk refused.
    #[error(
        "The disk refused to read or write ({0}), so nothing was changed. All that was saved before is left as it is. \
         Check the disk, then try again."
    )]
    Io(String),
    /// It is there already, or no longer as it was expected.
    #[error("Something else was first, so nothing was changed. Look again, then decide anew.")]
    Conflict,
    /// The caller's own rule refused; what it had written was taken back.
    #[error("{0}")]
    Refused(String),
    /// The work given to the store panicked; what it had written was taken back.
    #[error(
        "Something went wrong inside Sayso, so nothing was changed. All that was saved before is safe. Try again."
    )]
    Panicked,
    /// The store was closed.
    #[error("Sayso is closing, so nothing was changed. Start it again, then try again.")]
    Closed,
    /// Anything else that SQLite says.
    #[error("The database refused this ({0}), so nothing was changed. All that was saved before is safe.")]
    Sql(String),
}

impl StoreError {
    /// What is stored cannot be read as what it must be; `what` goes to the log.
    pub(crate) fn damaged(what: impl std::fmt::Display) -> Self {
        tracing::error!(%what, "the database holds something that cannot be read");
        Self::Damaged
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let Some(sqlite) = error.sqlite_error().copied() else {
            let is_content = matches!(
                error,
                rusqlite::Error::FromSqlConversionFailure(..)
                    | rusqlite::Error::IntegralValueOutOfRange(..)
                    | rusqlite::Error::InvalidColumnType(..)
                    | rusqlite::Error::Utf8Error(..)
            );
            return if is_content { Self::damaged(error) } else { Self::Sql(error.to_string()) };
        };
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "SQLite's codes, of which only some mean something to us"
        )]
        match sqlite.code {
            ErrorCode::DiskFull => Self::Full,
            // The memory shared between connections could not grow: its file is on the same disk.
            ErrorCode::SystemIoFailure if sqlite.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Self::Full,
            ErrorCode::SystemIoFailure => Self::Io(error.to_string()),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                Self::Locked
            }
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::damaged(error),
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => Self::ReadOnly,
            ErrorCode::ConstraintViolation
                if matches!(
                    sqlite.extended_code,
                    ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY
                ) =>
            {
                Self::Conflict
            }
            _ => Self::Sql(error.to_string()),
        }
    }
}

/// Why a store could not be opened. The file was left as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Another process holds the database.
    #[error(
        "Another program is holding Sayso's database {}. Nothing was changed. Close that program, then start Sayso again.",
        .path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A newer Sayso wrote it.
    #[error(
        "The database {} was written by a newer Sayso (its format is {found}; this one knows up to {known}). Nothing was \
         changed. Install that version or a later one.",
        .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// It is no database of ours, or parts of it cannot be read.
    #[error(
        "The database {} is damaged: {what}. It was left as it is. Copy the data folder to a safe place, then put a backup \
         from {} in its place, or move it away to start with an empty one.",
        .path.display(), .backups.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
        /// Where backups are.
        backups: PathBuf,
    },
    /// No room on the disk.
    #[error("The disk that holds {} is full. All that was saved is safe. Make room, then start Sayso again.", .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder may not be read or written.
    #[error(
        "The database {} cannot be opened: {what}. Nothing was changed. Allow reading and writing its folder, then start \
         Sayso again.",
        .path.display()
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        what: String,
    },
}
