use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::connection::serve_connection;
use crate::peer::Peer;

/// How many connections a door holds at once; further ones wait in the kernel's queue. Each sender that waits for an
/// answer holds one.
const CONNECTIONS: usize = 1024;
/// How long to wait when no connection can be taken, as when there are too many open files.
const BREATHER: Duration = Duration::from_millis(100);
/// How long connections get to finish what they do when the host ends.
const FAREWELL: Duration = Duration::from_secs(3);

/// Where connections come in.
pub(crate) trait Door {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// The next connection that may come in, and who is at its other end; none where one was turned away.
    async fn next(&self) -> io::Result<Option<(Self::Stream, Peer)>>;
}

impl Door for TcpListener {
    type Stream = TcpStream;

    async fn next(&self) -> io::Result<Option<(TcpStream, Peer)>> {
        let (stream, peer) = self.accept().await?;
        let _ = stream.set_nodelay(true);
        Ok(peer.ip().is_loopback().then_some((stream, Peer::Anybody)))
    }
}

impl Door for UnixListener {
    type Stream = UnixStream;

    async fn next(&self) -> io::Result<Option<(UnixStream, Peer)>> {
        let (stream, _) = self.accept().await?;
        let is_ours = is_same_user(&stream)?;
        if !is_ours {
            tracing::warn!("a process of another user was turned away at the socket");
        }
        let peer = Peer::Owner { pid: stream.peer_cred()?.pid() };
        Ok(is_ours.then_some((stream, peer)))
    }
}

/// Whether the process at the other end runs as the user that this one runs as: the kernel says so.
pub(crate) fn is_same_user(stream: &UnixStream) -> io::Result<bool> {
    Ok(stream.peer_cred()?.uid() == rustix::process::geteuid().as_raw())
}

/// Serves what comes in until `stop`, then lets what is under way finish for a moment.
pub(crate) async fn serve<D: Door>(door: D, routes: Router, stop: CancellationToken) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        let next = async {
            let place = places.clone().acquire_owned().await;
            (place, door.next().await)
        };
        let (place, next) = tokio::select! {
            () = stop.cancelled() => break,
            next = next => next,
        };
        match next {
            Ok(Some((stream, peer))) => {
                let connection = serve_connection(stream, peer, routes.clone(), stop.clone());
                connections.spawn(async move {
                    let _place = place;
                    connection.await;
                });
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(BREATHER).await;
            }
        }
    }
    drop(door);
    let finished = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(FAREWELL, finished).await;
}
