use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::StoreError;
use crate::conn::{Conn, Reader};
use crate::open;

/// So many read at once at most.
const READERS: usize = 8;

/// Connections that only read.
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Conn>>,
    seats: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), idle: Mutex::new(Vec::new()), seats: Arc::new(Semaphore::new(READERS)) }
    }

    pub(crate) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let seat = Arc::clone(&self.seats).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let readers = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || {
            let _seat = seat;
            readers.read_with(readers.take()?, work)
        });
        done.await.unwrap_or(Err(StoreError::Panicked))
    }

    /// The same on this thread, where a connection is free.
    pub(crate) async fn look<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let seat = self.seats.try_acquire();
        let idle = seat.as_ref().ok().and_then(|_| self.idle());
        match idle {
            Some(conn) => self.read_with(conn, work),
            None => {
                drop(seat);
                self.read(work).await
            }
        }
    }

    fn read_with<T>(
        &self,
        conn: Conn,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let result = in_one_moment(&conn, work);
        // A connection that failed is not used again: whatever state it is in ends with it.
        if result.is_ok() {
            self.put_back(conn);
        }
        result
    }

    /// Waits for those who read, and lets nobody read until the permit is dropped.
    pub(crate) async fn rest(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let all = Arc::clone(&self.seats).acquire_many_owned(READERS as u32).await;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        all.map_err(|_| StoreError::Closed)
    }

    /// Lets nobody read any more, and waits for those who do.
    pub(crate) async fn close(&self) {
        let _all = self.seats.acquire_many(READERS as u32).await;
        self.seats.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn take(&self) -> Result<Conn, StoreError> {
        self.idle().map_or_else(|| open::reader(&self.path), Ok)
    }

    fn idle(&self) -> Option<Conn> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put_back(&self, conn: Conn) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(conn);
    }
}

/// Runs a closure in one reading transaction.
pub(crate) fn in_one_moment<T>(
    conn: &Conn,
    work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    conn.step("BEGIN")?;
    let result = catch_unwind(AssertUnwindSafe(|| work(&Reader::new(conn))));
    conn.step("ROLLBACK")?;
    result.unwrap_or(Err(StoreError::Panicked))
}
