use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sayso_host::{SenderError, Surface};

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
    match caller(&shared, request.headers()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// Lets the owner's processes through. One that shows a token wants to be whoever the token says, and no more.
pub(crate) async fn at_socket(state: State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    if request.headers().contains_key(header::AUTHORIZATION) {
        return signed_in(state, request, next).await;
    }
    request.extensions_mut().insert(Caller::OWNER);
    next.run(request).await
}

async fn caller(shared: &Shared, headers: &HeaderMap) -> Result<Caller, Problem> {
    let token = bearer_token(headers).ok_or_else(Problem::unauthorized)?;
    if let Some(bearer) = shared.access.bearer(token, Instant::now()) {
        return Ok(Caller::of(bearer));
    }
    match shared.host.sender(token).await {
        Ok(_) | Err(SenderError::Revoked) => Err(Problem::sender_cannot_answer()),
        Err(_) => Err(Problem::unauthorized()),
    }
}

/// The token of the one `Authorization` header.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = only(headers)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn only(headers: &HeaderMap) -> Option<&HeaderValue> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    all.next().filter(|_| all.next().is_none())
}
