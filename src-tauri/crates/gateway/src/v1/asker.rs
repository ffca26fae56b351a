use std::sync::Arc;

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::header;
use axum::http::request::Parts;
use sayso_host::{Asker, SenderError};

use super::Fault;
use crate::caller::bearer_token;
use crate::peer::{self, Peer};
use crate::routes::Shared;

/// Who asks. A token that is shown decides alone: one that is wrong does not fall back to anything.
pub(crate) struct Asking(pub(crate) Asker);

impl FromRequestParts<Arc<Shared>> for Asking {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Fault> {
        if parts.headers.contains_key(header::AUTHORIZATION) {
            let token = bearer_token(&parts.headers).ok_or(SenderError::Unauthorized)?;
            return Ok(Self(shared.host.sender(token).await?));
        }
        match parts.extensions.get::<Peer>() {
            Some(Peer::Owner { pid }) => Ok(Self(shared.host.local_asker(peer::program(*pid)).await?)),
            Some(Peer::Anybody) | None => Err(SenderError::Unauthorized.into()),
        }
    }
}

/// The id in a path: one segment, percent-encoded, so that it can hold a slash.
pub(super) struct Id(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let id: Result<Path<String>, PathRejection> = Path::from_request_parts(parts, state).await;
        match id {
            Ok(Path(id)) => Ok(Self(id)),
            Err(_) => Err(Fault::bad_request("The id in the path is not percent-encoded UTF-8.")),
        }
    }
}
