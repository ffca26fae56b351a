use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_host::{RpcError, code};
use serde_json::json;

/// A refusal, as a client gets it: a status and `{"error":{"code","message"}}`.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) code: String,
    pub(crate) message: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        Self { status, code: code.to_owned(), message: message.into() }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code::BAD_REQUEST, message)
    }

    pub(crate) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, code::NOT_FOUND, "There is nothing at this address.")
    }

    pub(crate) fn unauthorized() -> Self {
        let message = "This page is not signed in, or was for too long. Nothing was changed. Run `sayso open` for a new link.";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    pub(crate) fn sender_cannot_answer() -> Self {
        let message =
            "A sender asks and can never answer. Nothing was changed. The API for senders is under /v1.";
        Self::new(StatusCode::FORBIDDEN, "sender_cannot_answer", message)
    }

    pub(crate) fn busy() -> Self {
        let message =
            "Too many pages listen for changes. Nothing was lost. Close some, then load this one again.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    }

    pub(crate) fn no_random(error: getrandom::Error) -> Self {
        tracing::error!(%error, "no random numbers");
        let message = "The system gave no random numbers for a token. Nothing was changed. Try again.";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }
}

impl From<RpcError> for Problem {
    fn from(error: RpcError) -> Self {
        let status = match error.code.as_str() {
            code::BAD_REQUEST => StatusCode::BAD_REQUEST,
            code::FORBIDDEN_SURFACE => StatusCode::FORBIDDEN,
            code::UNKNOWN_COMMAND | code::NOT_FOUND => StatusCode::NOT_FOUND,
            code::ALREADY_DECIDED | code::DIGEST_MISMATCH => StatusCode::CONFLICT,
            code::EXPIRED => StatusCode::GONE,
            code::INVALID_DATA | code::AGENT_PROBLEM | code::SENDER_PROBLEM => {
                StatusCode::UNPROCESSABLE_ENTITY
            }
            code::STORAGE => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self { status, code: error.code, message: error.message }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = json!({ "error": { "code": self.code, "message": self.message } });
        let mut response = (self.status, Json(body)).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
