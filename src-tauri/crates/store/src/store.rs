use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::compact::StoreSize;
use crate::conn::{Reader, Tx};
use crate::ledger::Damage;
use crate::readers::Readers;
use crate::writer::Writer;
use crate::{OpenError, Progress, StoreCopy, StoreError, backup, compact, open, restore};

/// The database of one data folder. Clones share it.
#[derive(Clone)]
pub struct Store {
    path: Arc<PathBuf>,
    writer: Arc<Writer>,
    readers: Arc<Readers>,
}

impl Store {
    /// Opens the file, and creates it where there is none. An older one is copied into `backups/` beside it, then
    /// migrated; a newer or damaged one is left alone.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        restore::finish(path)?;
        let conn = open::writer(path)?;
        Ok(Self {
            path: Arc::new(path.to_owned()),
            writer: Arc::new(Writer::start(conn)?),
            readers: Arc::new(Readers::new(path)),
        })
    }

    /// Reads a database that another process may be using, or that was left behind by one: from a temporary copy of the
    /// file and its log, so that nothing committed is missed, and nothing is written beside the original.
    pub fn open_copy(path: &Path) -> Result<StoreCopy, OpenError> {
        StoreCopy::of(path, Damage::Fails)
    }

    /// The same of a file that may be damaged: what of it can be read is read, and the rest is an error when it is looked
    /// at.
    pub fn open_damaged_copy(path: &Path) -> Result<StoreCopy, OpenError> {
        StoreCopy::of(path, Damage::IsSkipped)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a closure on the one thread that writes, and answers once what it wrote is on the disk. Closures that wait
    /// at the same time share a commit. If the closure fails or panics, what it wrote is taken back, and nothing else;
    /// if the commit fails, all who share it get the error and nothing was changed. Once it was called, it runs to its
    /// end even if nobody waits for the answer. It must not call the store again, nor wait for anything.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.writer.write(work).await
    }

    /// [`Store::write`] for closures with an error of their own.
    pub async fn try_write<T, E>(
        &self,
        work: impl FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        self.writer.write(work).await
    }

    /// Runs a closure on a connection that only reads, off the async threads. All that it reads is of one moment.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.read(work).await
    }

    /// [`Store::read`] for a row or two by their keys: on the caller's own thread where a connection is free, since handing
    /// so little to another thread takes longer than doing it.
    pub async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.readers.look(work).await
    }

    /// Writes the file anew without what was erased or removed from it, and empties its log. Nobody reads or writes
    /// meanwhile. It takes as much room again; where there is not so much, nothing changes.
    pub async fn compact(&self, progress: Progress) -> Result<(), StoreError> {
        let resting = self.readers.rest().await?;
        let path = self.path().to_owned();
        let done = self.writer.alone(move |conn| compact::compact(conn, &path, &progress)).await;
        drop(resting);
        done
    }

    /// How much room the file takes, and how much of that holds nothing.
    pub async fn size(&self) -> Result<StoreSize, StoreError> {
        self.readers.read(|reader| compact::size(reader)).await
    }

    /// Copies the database as it is now into a new file, checks the copy, and only then gives it its name. Writes go on
    /// meanwhile. What is at `path` already is never overwritten.
    pub async fn back_up(&self, path: &Path, progress: Progress) -> Result<(), StoreError> {
        let path = path.to_owned();
        self.readers.read(move |reader| backup::of_reader(reader, &path, &progress)).await
    }

    /// Commits all that waits, moves the log into the file and lets go of it. Later calls, on clones too, get
    /// [`StoreError::Closed`]. An error means only that the log could not be moved, for want of room or because of a
    /// reader elsewhere: all is committed, and the log is read when the file is opened again.
    pub async fn close(self) -> Result<(), StoreError> {
        self.readers.close().await;
        self.writer.close().await
    }
}
