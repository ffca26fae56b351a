use std::path::Path;

use sayso_gateway::{Client, Events};
use sayso_host::dto::UiEvent;
use sayso_host::{Host, Surface};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::exit::Exit;
use crate::failure::Failure;

/// The way to a host.
pub(crate) enum Way {
    /// Through its socket.
    Socket(Client),
    /// It runs in this process.
    Inside(Host),
}

impl Way {
    /// To the host that runs for a data folder.
    pub(crate) async fn to(data_dir: &Path) -> Result<Self, Failure> {
        Ok(Self::Socket(Client::connect(data_dir).await?))
    }

    /// Calls a command; `params` and the result are types of `sayso_host::dto`.
    pub(crate) async fn call<T: DeserializeOwned>(
        &self,
        command: &str,
        params: impl Serialize,
    ) -> Result<T, Failure> {
        let params = serde_json::to_value(params).map_err(unreadable)?;
        let result = match self {
            Self::Socket(client) => client.call(command, params).await?,
            Self::Inside(host) => host.call(Surface::Cli, command, params).await?,
        };
        serde_json::from_value(result).map_err(unreadable)
    }

    /// What changes from now on.
    pub(crate) async fn changes(&self) -> Result<Changes, Failure> {
        Ok(match self {
            Self::Socket(client) => Changes::Socket(client.events().await?),
            Self::Inside(host) => Changes::Inside(host.events()),
        })
    }
}

/// A host's changes.
pub(crate) enum Changes {
    Socket(Events),
    Inside(Receiver<UiEvent>),
}

impl Changes {
    /// Waits for the next change.
    pub(crate) async fn next(&mut self) -> Result<(), Failure> {
        let has_ended = match self {
            Self::Socket(events) => events.next().await.is_none(),
            // Missed changes are a change as well.
            Self::Inside(events) => matches!(events.recv().await, Err(RecvError::Closed)),
        };
        if !has_ended {
            return Ok(());
        }
        let message =
            "Sayso was ended meanwhile. What waits is kept: it goes on when Sayso is started again.";
        Err(Failure::new(Exit::NoHost, "no_host", message))
    }
}

pub(crate) fn unreadable(error: serde_json::Error) -> Failure {
    let message = format!(
        "The host speaks another version of Sayso than this command: {error}. Nothing was lost. Start both from the \
         same version."
    );
    Failure::new(Exit::Refused, "version", message)
}
