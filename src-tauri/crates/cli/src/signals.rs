use tokio::signal::unix::{SignalKind, signal};

/// Waits until the person or the system wants the process to end: SIGINT or SIGTERM, counted from the call
/// on, not only once it is awaited. SIGHUP is left to the system, so that `nohup` works.
pub(crate) fn asked_to_end() -> impl Future<Output = ()> {
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let [Ok(mut interrupt), Ok(mut terminate)] = signals else {
            tracing::warn!(
                "signals cannot be listened to: the system ends this process at once when told to"
            );
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    }
}
