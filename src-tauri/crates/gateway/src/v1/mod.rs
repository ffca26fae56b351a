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
use axum::routing::any;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

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

/// All of its routes.
pub(crate) fn routes() -> Router<Arc<Shared>> {
    described()
        .split_for_parts()
        .0
        .method_not_allowed_fallback(async || Fault::method())
        .route("/v1", any(nothing))
        .route("/v1/{*path}", any(nothing))
}

/// The routes with what is said of them.
fn described() -> OpenApiRouter<Arc<Shared>> {
    OpenApiRouter::with_openapi(openapi::base())
        .routes(routes!(requests::ask))
        .routes(routes!(requests::show, requests::withdraw))
        .routes(routes!(requests::answer))
        .routes(routes!(requests::acknowledge))
        .routes(routes!(events::events))
        .routes(routes!(openapi::document))
}

async fn nothing() -> Fault {
    Fault::from(Problem::not_found())
}
