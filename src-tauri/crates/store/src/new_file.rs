use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::StoreError;

/// A file that gets its name once it is finished, and goes away if it is not. Nothing is overwritten.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// Begins a file that shall be called so. Its folder is made where it is missing; only its owner can read it.
    pub fn create(path: &Path) -> Result<Self, StoreError> {
        let folder = folder_of(path);
        fs::create_dir_all(folder).map_err(|error| of_file(&error))?;
        if path.exists() {
            return Err(is_there(path));
        }
        let file = Builder::new().prefix(".sayso-").suffix(".partial").tempfile_in(folder);
        Ok(Self { file: file.map_err(|error| of_file(&error))?, path: path.to_owned() })
    }

    /// Where it is until then.
    pub(crate) fn beside(&self) -> &Path {
        self.file.path()
    }

    /// Gives it its name, so that it is there after a crash as well.
    pub fn finish(self) -> Result<(), StoreError> {
        // It may have been written by others, by its path.
        File::open(self.file.path()).and_then(|file| file.sync_all()).map_err(|error| of_file(&error))?;
        self.file.persist_noclobber(&self.path).map_err(|error| match error.error.kind() {
            ErrorKind::AlreadyExists => is_there(&self.path),
            _ => of_file(&error.error),
        })?;
        sync_folder(&self.path)
    }

    /// Puts it in the place of what has its name.
    pub(crate) fn replace(self) -> Result<(), StoreError> {
        File::open(self.file.path()).and_then(|file| file.sync_all()).map_err(|error| of_file(&error))?;
        self.file.persist(&self.path).map_err(|error| of_file(&error.error))?;
        sync_folder(&self.path)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Names in a folder are there after a crash.
pub(crate) fn sync_folder(path: &Path) -> Result<(), StoreError> {
    File::open(folder_of(path)).and_then(|folder| folder.sync_all()).map_err(|error| of_file(&error))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Of a file that is written beside the database.
pub(crate) fn of_file(error: &io::Error) -> StoreError {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
        _ => StoreError::Io(error.to_string()),
    }
}

fn is_there(path: &Path) -> StoreError {
    StoreError::Refused(format!(
        "There is a file at {} already, and nothing is overwritten. Name another one.",
        path.display()
    ))
}
