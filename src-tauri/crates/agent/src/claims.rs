use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use async_trait::async_trait;

use crate::CheckpointId;

/// Remembers which checkpoints were resumed, so that none is resumed twice (contract 27): a second try would run what was
/// approved again.
///
/// A claim is made before anything runs and is never given back. So a process that dies while it resumes leaves a used
/// checkpoint behind, and whether its tools ran is unknown; a host that must go on even then keeps each step in a
/// [`Journal`](crate::Journal) of its own.
#[async_trait]
pub trait Claims: Send + Sync {
    /// Takes a checkpoint: true for the first who asks, for ever false after that, even if two ask at once.
    async fn claim(&self, checkpoint: CheckpointId) -> io::Result<bool>;
}

/// Those of this process, for clients that are given none.
static OF_PROCESS: LazyLock<Arc<MemoryClaims>> = LazyLock::new(Arc::default);

pub(crate) fn of_process() -> Arc<dyn Claims> {
    Arc::<MemoryClaims>::clone(&OF_PROCESS)
}

/// Claims that end with the process. It knows nothing of copies that other processes resume.
#[derive(Debug, Default)]
pub struct MemoryClaims(Mutex<HashSet<CheckpointId>>);

impl MemoryClaims {
    /// None so far.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl Claims for MemoryClaims {
    async fn claim(&self, checkpoint: CheckpointId) -> io::Result<bool> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(checkpoint))
    }
}

/// Claims as files of a folder, one each, which hold across processes and crashes. The folder is made when it is needed.
/// All who may resume must use the same folder, on a file system of this machine.
#[derive(Clone, Debug)]
pub struct FolderClaims(PathBuf);

impl FolderClaims {
    /// In a folder that is for nothing else.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    fn take(&self, checkpoint: CheckpointId) -> io::Result<bool> {
        fs::create_dir_all(&self.0)?;
        let path = self.0.join(format!("{checkpoint}.claimed"));
        match OpenOptions::new().write(true).create_new(true).open(path) {
            // The name is the claim, so it is the folder that must be on the disk.
            Ok(_) => File::open(&self.0)?.sync_all().map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl Claims for FolderClaims {
    async fn claim(&self, checkpoint: CheckpointId) -> io::Result<bool> {
        let claims = self.clone();
        let taken = tokio::task::spawn_blocking(move || claims.take(checkpoint)).await;
        taken.unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}
