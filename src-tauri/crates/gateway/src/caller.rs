use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sayso_host::Surface;

use crate::access::Bearer;
use crate::problem::Problem;
use crate::routes::Shared;

/// Who calls.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) surface: Surface,
    pub(crate) bearer: Bearer,
}

impl Caller {
    /// A process of the owner's at the Unix socket: the kernel said so.
    pub(crate) const OWNER: Self = Self { surface: Surface::Cli, bearer: Bearer::Owner };

    fn of(bearer: Bearer) -> Self {
        match bearer {
            Bearer::Owner => Self::OWNER,
            Bearer::Session(_) => Self { surface: Surface::Browser, bearer },
        }
    }
}

/// Lets requests through that carry a bearer token which is known.
pub(crate) async fn signed_in(
    State(shared): State<Arc<Shared>>,
    mut request: Request,
    next: Next,
) -> Response {
    let bearer =
        bearer_token(request.headers()).and_then(|token| shared.access.bearer(token, Instant::now()));
    match bearer {
        Some(bearer) => {
            request.extensions_mut().insert(Caller::of(bearer));
            next.run(request).await
        }
        None => Problem::unauthorized().into_response(),
    }
}

fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
