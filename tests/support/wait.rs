//! Waiting for a condition with a limit, instead of sleeping for luck.

use std::time::{Duration, Instant};

/// How often a condition is looked at.
const STEP: Duration = Duration::from_millis(15);

/// The limit for things that normally take well under a second, generous for a busy machine.
pub const SOON: Duration = Duration::from_secs(20);

/// Waits until `condition` holds.
///
/// # Panics
/// When `limit` has passed, with `what` in the message.
pub async fn wait_until(what: &str, limit: Duration, mut condition: impl AsyncFnMut() -> bool) {
    wait_value(what, limit, async || condition().await.then_some(())).await;
}

/// Waits until `probe` gives a value, and returns it.
///
/// # Panics
/// When `limit` has passed, with `what` in the message.
pub async fn wait_value<T>(what: &str, limit: Duration, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = probe().await {
            return value;
        }
        assert!(started.elapsed() < limit, "waited {limit:?} in vain: {what}");
        tokio::time::sleep(STEP).await;
    }
}
