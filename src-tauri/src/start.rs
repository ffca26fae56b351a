use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sayso_gateway::{Gateway, GatewayOptions};
use sayso_host::{Host, HostOptions, RpcError};
use serde::Serialize;
use tokio::sync::watch;

/// How long the app waits at its end for what is still being written.
const FAREWELL: Duration = Duration::from_secs(5);

/// Why there is no host, as the window shows it: what happened, what is safe and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct StartError {
    /// `in_use`, `storage` or `io`.
    pub(crate) code: String,
    /// In words.
    pub(crate) message: String,
}

enum Phase {
    Starting,
    Running(Host),
    Failed(StartError),
}

/// The host's start: begun once with the app, and again when a person asks for it after it failed. The window is up
/// meanwhile and waits for the outcome.
pub(crate) struct Start {
    data_dir: PathBuf,
    phase: watch::Sender<Phase>,
    /// The host's doors.
    gateway: Mutex<Option<Gateway>>,
}

impl Start {
    pub(crate) fn new(data_dir: PathBuf) -> Self {
        Self { data_dir, phase: watch::Sender::new(Phase::Starting), gateway: Mutex::new(None) }
    }

    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Opens the host and its doors.
    pub(crate) async fn begin(&self) -> Result<Host, StartError> {
        let opened = self.open().await;
        self.phase.send_replace(match opened.clone() {
            Ok(host) => Phase::Running(host),
            Err(error) => Phase::Failed(error),
        });
        opened
    }

    async fn open(&self) -> Result<Host, StartError> {
        let options = HostOptions { data_dir: self.data_dir.clone() };
        let host = Host::open(options)
            .await
            .map_err(|error| StartError { code: error.code().to_owned(), message: error.to_string() })?;
        match Gateway::start(host.clone(), GatewayOptions { port: None }).await {
            Ok(gateway) => drop(self.doors().replace(gateway)),
            // Without its doors the app still does its work: only the command line and the browser cannot reach it.
            Err(error) => tracing::error!("the command line and the browser cannot reach this app: {error}"),
        }
        Ok(host)
    }

    fn doors(&self) -> MutexGuard<'_, Option<Gateway>> {
        self.gateway.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another try makes sense; from here on everybody waits for its outcome.
    pub(crate) fn claim_retry(&self) -> bool {
        self.phase.send_if_modified(|phase| match phase {
            Phase::Failed(_) => {
                *phase = Phase::Starting;
                true
            }
            Phase::Starting | Phase::Running(_) => false,
        })
    }

    /// The host, once the start has ended.
    pub(crate) async fn outcome(&self) -> Result<Host, StartError> {
        let mut phase = self.phase.subscribe();
        let ended = phase.wait_for(|phase| !matches!(phase, Phase::Starting)).await;
        match ended.as_deref() {
            Ok(Phase::Running(host)) => Ok(host.clone()),
            Ok(Phase::Failed(error)) => Err(error.clone()),
            Ok(Phase::Starting) | Err(_) => Err(StartError {
                code: "io".to_owned(),
                message: "Sayso is ending. Nothing was lost. Start it again.".to_owned(),
            }),
        }
    }

    /// The host, if it runs now.
    pub(crate) fn running(&self) -> Option<Host> {
        match &*self.phase.borrow() {
            Phase::Running(host) => Some(host.clone()),
            Phase::Starting | Phase::Failed(_) => None,
        }
    }

    /// Ends the host, so that what was decided is on disk and other programs may have the folder.
    pub(crate) async fn end(&self) {
        let Some(host) = self.running() else { return };
        let gateway = self.doors().take();
        let ended = tokio::time::timeout(FAREWELL, async {
            if let Some(gateway) = gateway {
                gateway.shutdown().await;
            }
            host.shutdown().await;
        });
        if ended.await.is_err() {
            tracing::warn!("the host did not end in time; what was committed is safe");
        }
    }
}

impl From<StartError> for RpcError {
    fn from(error: StartError) -> Self {
        Self::new(&error.code, error.message)
    }
}
