use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::StoreError;

/// How far long work is. Other threads look at it, and may stop the work. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    done: AtomicU64,
    total: AtomicU64,
    stopped: AtomicBool,
}

impl Progress {
    /// How much is done.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed)
    }

    /// Of how much, where that is known.
    pub fn total(&self) -> Option<u64> {
        Some(self.0.total.load(Ordering::Relaxed)).filter(|total| *total > 0)
    }

    /// Says how much there is to do.
    pub fn expect(&self, total: u64) {
        self.0.total.store(total, Ordering::Relaxed);
    }

    /// So much is done in all.
    pub fn reach(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }

    /// So much more is done. [`StoreError::Refused`] if the work was stopped meanwhile.
    pub fn advance(&self, by: u64) -> Result<(), StoreError> {
        self.0.done.fetch_add(by, Ordering::Relaxed);
        self.go_on()
    }

    /// [`StoreError::Refused`] if the work was stopped.
    pub fn go_on(&self) -> Result<(), StoreError> {
        if self.is_stopped() {
            return Err(StoreError::Refused(
                "It was stopped. Nothing that was there before has changed.".to_owned(),
            ));
        }
        Ok(())
    }

    /// Stops the work at its next step.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }
}
