use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Extension, Request, State};
use axum::http::StatusCode;
use axum::routing::{any, get, post};
use axum::{Json, Router, middleware};
use sayso_host::Host;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::body::read_json;
use crate::caller::{Caller, at_socket, signed_in};
use crate::events::events;
use crate::guard::{OwnNames, guard};
use crate::mcp::{self, HttpDoor};
use crate::page::page;
use crate::problem::Problem;
use crate::v1;
use crate::waits::Waits;

/// What all requests see.
pub(crate) struct Shared {
    pub(crate) host: Host,
    pub(crate) access: Access,
    pub(crate) names: OwnNames,
    pub(crate) url: String,
    /// One permit for each stream of events.
    pub(crate) streams: Arc<Semaphore>,
    /// The places of those who wait for answers.
    pub(crate) waits: Waits,
    /// The tools for MCP clients.
    pub(crate) mcp: HttpDoor,
    pub(crate) stop: CancellationToken,
}

impl Shared {
    /// A link that signs a browser in. The code is in the fragment, which a browser sends to nobody.
    pub(crate) fn new_link(&self) -> Result<String, getrandom::Error> {
        Ok(format!("{}/#code={}", self.url, self.access.new_code(Instant::now())?))
    }
}

/// For the owner's own programs, at the Unix socket.
pub(crate) fn socket_routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/rpc", post(rpc))
        .route("/events", get(events))
        .route("/link", post(link))
        .route_layer(middleware::from_fn_with_state(shared.clone(), at_socket))
        .route(mcp::PATH, any(mcp::mcp))
        .merge(v1::routes())
        .fallback(async || Problem::not_found())
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(shared)
}

/// For browsers, and for the owner's programs with the owner's token, on loopback.
pub(crate) fn loopback_routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/rpc", post(rpc))
        .route("/events", get(events))
        .route_layer(middleware::from_fn_with_state(shared.clone(), signed_in))
        .route("/session", post(session))
        .route(mcp::PATH, any(mcp::mcp))
        .merge(v1::routes())
        .fallback_service(get(page).fallback(method_not_allowed))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(middleware::from_fn_with_state(shared.clone(), guard))
        .with_state(shared)
}

#[derive(Deserialize)]
struct Call {
    command: String,
    #[serde(default)]
    params: Value,
}

async fn rpc(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    let call: Call = read_json(request).await?;
    let params = if call.params.is_null() { json!({}) } else { call.params };
    let result = shared.host.call(caller.surface, &call.command, params).await?;
    Ok(Json(json!({ "result": result })))
}

#[derive(Deserialize)]
struct Code {
    code: String,
}

async fn session(State(shared): State<Arc<Shared>>, request: Request) -> Result<Json<Value>, Problem> {
    let Code { code } = read_json(request).await?;
    match shared.access.redeem(&code, Instant::now()).map_err(Problem::no_random)? {
        Some(token) => Ok(Json(json!({ "token": token }))),
        None => {
            let message = "This link was used already or is older than a minute. Nothing was changed. Run `sayso open` for a new one.";
            Err(Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", message))
        }
    }
}

async fn link(State(shared): State<Arc<Shared>>) -> Result<Json<Value>, Problem> {
    let url = shared.new_link().map_err(Problem::no_random)?;
    Ok(Json(json!({ "url": url })))
}

async fn method_not_allowed() -> Problem {
    let message = "This address does not take that method.";
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "bad_request", message)
}
