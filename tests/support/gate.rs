//! Something that a test holds closed for as long as it likes.

use std::sync::Arc;

use tokio::sync::watch;

/// Closed until it is opened, for all its clones.
#[derive(Clone, Debug)]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    /// A closed one.
    pub fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Opens it, for good.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Waits until it is open.
    pub async fn passed(&self) {
        let mut state = self.0.subscribe();
        // The sender is in our hands, so it is not gone.
        let _ = state.wait_for(|open| *open).await;
    }
}
