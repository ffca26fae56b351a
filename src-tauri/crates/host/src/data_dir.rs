use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::OpenError;

/// The data folder: the one given, else `$SAYSO_DATA_DIR`, else `$XDG_DATA_HOME/sayso`, else the platform's own place
/// (`~/.local/share/sayso`, or `~/Library/Application Support/sayso` on macOS).
pub fn data_dir(explicit: Option<PathBuf>) -> PathBuf {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    explicit.or_else(|| var("SAYSO_DATA_DIR")).unwrap_or_else(|| {
        let home = var("HOME").unwrap_or_else(|| PathBuf::from("/"));
        let platform = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/share" };
        var("XDG_DATA_HOME")
            .filter(|dir| dir.is_absolute())
            .unwrap_or_else(|| home.join(platform))
            .join("sayso")
    })
}

/// The data folder, held by this process alone.
pub(crate) struct DataDir {
    path: PathBuf,
    /// Held for as long as the host lives; the system lets go of it when the process dies.
    _lock: File,
}

impl DataDir {
    /// Makes the folder (0700) where it is missing, and takes its lock.
    pub(crate) fn hold(path: &Path) -> Result<Self, OpenError> {
        let io = |what: &str, error: &std::io::Error| {
            OpenError::Io(format!(
                "The data folder {} {what}: {error}. Nothing was changed. Make it writable, or name another with \
                 --data-dir.",
                path.display()
            ))
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| io("cannot be made", &error))?;
        let path = path.canonicalize().map_err(|error| io("cannot be read", &error))?;
        close_to_others(&path).map_err(|error| io("cannot be closed to other users", &error))?;
        let lock = take_lock(&path)?;
        Ok(Self { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("sayso.db")
    }
}

fn close_to_others(path: &Path) -> std::io::Result<()> {
    let found = path.metadata()?;
    if found.mode() & 0o077 != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

fn take_lock(dir: &Path) -> Result<File, OpenError> {
    let path = dir.join("lock");
    let io = |error: std::io::Error| {
        OpenError::Io(format!(
            "The lock file {} cannot be used: {error}. Nothing was changed. Make the folder writable, or name another \
             with --data-dir.",
            path.display()
        ))
    };
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim();
            let who =
                if holder.is_empty() { "another process".to_owned() } else { format!("process {holder}") };
            return Err(OpenError::InUse(format!(
                "Sayso already runs with the data folder {} ({who}). Nothing was changed. Use that one, or name \
                 another folder with --data-dir.",
                dir.display()
            )));
        }
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {
            return Err(OpenError::Io(format!(
                "The disk that holds {} cannot lock files, so two hosts could harm each other's work. Nothing was \
                 changed. Name a folder on a local disk with --data-dir.",
                dir.display()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(io(error)),
    }
    // Who holds it is a courtesy: a full disk must not keep the host from starting.
    let _ =
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
    Ok(file)
}
