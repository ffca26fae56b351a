use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::call::Caller;
use super::gone::Watched;
use super::tools::Tools;
use super::way::Way;
use crate::Asker;

/// How often a client that waits is told so, well within the time that clients wait for a sign of life.
pub(super) const BEAT: Duration = Duration::from_secs(10);
/// How long taking back what waits may take at the end.
const FAREWELL: Duration = Duration::from_secs(5);

/// Sayso as an MCP server for one client, which asks a host as one asker. What the client waits for when it goes is taken
/// back.
#[derive(Debug)]
pub struct McpServer {
    asker: Asker,
    beat: Duration,
}

/// Why serving a client failed.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// It did not begin as a client does.
    #[error("What began to talk is no MCP client: {0}. Nobody was asked. Start `sayso mcp` from one.")]
    NoClient(String),
    /// A task of it was lost.
    #[error("The connection was lost inside of Sayso: {0}. What was approved is in the History.")]
    Lost(tokio::task::JoinError),
}

impl McpServer {
    /// For whoever asks as `asker`.
    pub fn new(asker: Asker) -> Self {
        Self { asker, beat: BEAT }
    }

    /// Tells a client that waits so this often.
    #[must_use]
    pub fn with_beat(self, beat: Duration) -> Self {
        Self { beat, ..self }
    }

    /// Serves the client at the other end until it closes its end, or until `stop`.
    ///
    /// # Errors
    /// The other end speaks something else.
    pub async fn serve(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<(), McpError> {
        let left = CancellationToken::new();
        let caller = Caller {
            way: Way::Api(self.asker),
            // Two clients of one sender may well use the same ids for different things.
            scope: Uuid::now_v7().to_string(),
            left: left.clone(),
        };
        let tools = Tools::of(caller, self.beat);
        let input = Watched { inner: input, left: left.clone() };
        let transport = AsyncRwTransport::new_server(input, output);
        let served = async {
            let running = match tools.clone().serve(transport).await {
                Ok(running) => running,
                // It came and went.
                Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
                Err(error) => return Err(McpError::NoClient(error.to_string())),
            };
            running.waiting().await.map(drop).map_err(McpError::Lost)
        };
        let served = tokio::select! {
            served = served => served,
            () = stop => Ok(()),
        };
        left.cancel();
        tools.finish(FAREWELL).await;
        served
    }
}
