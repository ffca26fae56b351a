use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sayso_host::Host;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::Access;
use crate::guard::OwnNames;
use crate::mcp::HttpDoor;
use crate::routes::{Shared, loopback_routes, socket_routes};
use crate::secret::new_secret;
use crate::waits::Waits;
use crate::{GatewayError, door, folder};

/// How many streams of events may be open at once.
const STREAMS: usize = 64;
/// How many files may be open: those of both doors full of connections, and of the rest.
const FILES: u64 = 4096;
/// Where ports are chosen from: below those that the system lends to outgoing connections, so that a chosen one is
/// still free at the next start.
const PORTS: std::ops::Range<u16> = 20_000..30_000;

/// How the doors are opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct GatewayOptions {
    /// The loopback port: 0 for any free one. Left out, the one that was chosen for the data folder is used, or chosen
    /// now and kept.
    pub port: Option<u16>,
}

/// The open doors of a host: the socket `sayso.sock` and a port on 127.0.0.1, with `owner-token` (0600) and
/// `endpoint.json` beside the database. They close with [`Gateway::shutdown`], or when this is dropped.
pub struct Gateway {
    shared: Arc<Shared>,
    tasks: TaskTracker,
}

impl Gateway {
    /// Opens the doors and tells the host its url.
    ///
    /// # Errors
    /// The port that was asked for is taken, or the data folder cannot be written.
    pub async fn start(host: Host, options: GatewayOptions) -> Result<Self, GatewayError> {
        allow_files();
        let data_dir = host.data_dir().to_owned();
        let loopback = bind(&data_dir, options.port).await?;
        let port = loopback.local_addr().map_err(GatewayError::Loopback)?.port();
        let url = format!("http://127.0.0.1:{port}");
        let token = new_secret::<32>().map_err(GatewayError::Random)?;
        folder::write_owner_token(&data_dir, &token)?;
        let socket = folder::listen(&data_dir)?;
        folder::write_endpoint(&data_dir, &url)?;
        host.set_url(url.clone());
        let stop = CancellationToken::new();
        let shared = Arc::new(Shared {
            host,
            access: Access::new(&token),
            names: OwnNames::new(port),
            url,
            streams: Arc::new(Semaphore::new(STREAMS)),
            waits: Waits::default(),
            mcp: HttpDoor::new(&stop),
            stop,
        });
        let tasks = TaskTracker::new();
        tasks.spawn(door::serve(socket, socket_routes(shared.clone()), shared.stop.clone()));
        tasks.spawn(door::serve(loopback, loopback_routes(shared.clone()), shared.stop.clone()));
        tasks.close();
        Ok(Self { shared, tasks })
    }

    /// Where a browser finds the app: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// A link that signs a browser in: it works once, within 60 seconds.
    ///
    /// # Errors
    /// The system gave no random numbers.
    pub fn open_link(&self) -> Result<String, GatewayError> {
        self.shared.new_link().map_err(GatewayError::Random)
    }

    /// Closes the doors: streams of events end, calls under way finish within a few seconds.
    pub async fn shutdown(self) {
        self.shared.stop.cancel();
        let began = Instant::now();
        self.tasks.wait().await;
        self.shared.mcp.finish().await;
        folder::remove_endpoint(self.shared.host.data_dir());
        tracing::debug!(took = ?began.elapsed(), "the gateway is closed");
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

/// Every connection is an open file. The usual limit of a session is less than the doors may hold, and may be raised.
fn allow_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES, |maximum| maximum.min(FILES));
    if limit.current.is_some_and(|current| current < wanted)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit })
    {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

async fn bind(data_dir: &Path, wanted: Option<u16>) -> Result<TcpListener, GatewayError> {
    let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    if let Some(port) = wanted {
        return listen(port).await.map_err(|error| {
            let taken = error.kind() == std::io::ErrorKind::AddrInUse;
            if taken { GatewayError::PortTaken(port) } else { GatewayError::Loopback(error) }
        });
    }
    if let Some(port) = folder::kept_port(data_dir) {
        match listen(port).await {
            Ok(listener) => return Ok(listener),
            Err(error) => tracing::warn!(port, %error, "the kept port cannot be opened: another is chosen"),
        }
    }
    let listener = choose(listen).await.map_err(GatewayError::Loopback)?;
    folder::keep_port(data_dir, listener.local_addr().map_err(GatewayError::Loopback)?)?;
    Ok(listener)
}

async fn choose<F>(listen: impl Fn(u16) -> F) -> std::io::Result<TcpListener>
where
    F: Future<Output = std::io::Result<TcpListener>>,
{
    for _ in 0..16 {
        let Ok(random) = getrandom::u32() else { break };
        let span = u32::from(PORTS.end - PORTS.start);
        let Ok(offset) = u16::try_from(random % span) else { break };
        if let Ok(listener) = listen(PORTS.start + offset).await {
            return Ok(listener);
        }
    }
    listen(0).await
}
