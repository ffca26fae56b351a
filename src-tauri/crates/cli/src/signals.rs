use tokio::signal::unix::{SignalKind, signal};

/// Waits until the person or the system wants the process to end: SIGINT, SIGTERM or SIGHUP. Signals count from the
/// call on, not only once it is awaited.
pub(crate) fn asked_to_end() -> impl Future<Output = ()> {
    let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
    async move {
        let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = signals else {
            tracing::warn!(
                "signals cannot be listened to: the system ends this process at once when told to"
            );
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
