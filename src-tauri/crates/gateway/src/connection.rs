use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::peer::Peer;

/// How long a request's head may take to arrive, and how long an idle connection is kept.
const SLOWEST_HEAD: Duration = Duration::from_secs(10);
/// The most memory that a connection's buffer may take.
const BUFFER: usize = 64 * 1024;

/// Serves one connection until it ends or `stop` lets it end after the request under way.
pub(crate) async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: Peer,
    routes: Router,
    stop: CancellationToken,
) {
    let routes = TowerToHyperService::new(routes);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        routes.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SLOWEST_HEAD)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
}
