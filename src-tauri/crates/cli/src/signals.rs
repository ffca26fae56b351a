use tokio::signal::unix::{SignalKind, signal};

use crate::exit::Exit;

/// How a process was told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// SIGINT, as Ctrl-C sends it.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

impl Ending {
    /// As a shell tells it of a program that the signal ended.
    pub(crate) fn exit(self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            Self::Terminated => Exit::Terminated,
        }
    }
}

/// Waits until the person or the system wants the process to end: SIGINT or SIGTERM, counted from the call
/// on, not only once it is awaited. SIGHUP is left to the system, so that `nohup` works.
pub(crate) fn told_to_end() -> impl Future<Output = Ending> {
    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let [Ok(mut interrupt), Ok(mut terminate)] = signals else {
            tracing::warn!(
                "signals cannot be listened to: the system ends this process at once when told to"
            );
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => Ending::Interrupted,
            _ = terminate.recv() => Ending::Terminated,
        }
    }
}

/// The same where it does not matter how.
pub(crate) fn asked_to_end() -> impl Future<Output = ()> {
    let told = told_to_end();
    async move {
        told.await;
    }
}
