//! The API for those who ask, version 1: `docs/api.md` says it for people, and [`openapi`] for programs, made from the
//! same handlers. At both doors a token makes the caller its sender; at the socket a caller with none asks as
//! `this computer`. No route here decides anything.

mod asker;
mod body;
mod events;
mod fault;
mod openapi;
mod requests;

use std::sync::Arc;

use axum::Router;
use axum::routing::{any, get, post};

pub(crate) use asker::Asking;
pub(crate) use fault::Fault;

use crate::problem::Problem;
use crate::routes::Shared;

/// Where all of it is.
const ROOT: &str = "/v1";

/// Whether a path is one of this API's, so that what goes wrong there is told in its form.
pub(crate) fn is_path(path: &str) -> bool {
    path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// All of its routes; [`openapi`] names the same ones.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/v1/requests", post(requests::ask))
        .route("/v1/requests/{id}", get(requests::show).delete(requests::withdraw))
        .route("/v1/requests/{id}/answer", get(requests::answer))
        .route("/v1/requests/{id}/ack", post(requests::acknowledge))
        .route("/v1/events", get(events::events))
        .route("/v1/openapi.json", get(openapi::document))
        .method_not_allowed_fallback(async || Fault::method())
        .route("/v1", any(nothing))
        .route("/v1/{*path}", any(nothing))
}

async fn nothing() -> Fault {
    Fault::from(Problem::not_found())
}
