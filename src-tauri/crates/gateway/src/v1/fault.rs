use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sayso_host::SenderError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;

/// What went wrong, in the form of RFC 9457.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct Fault {
    /// Always `about:blank`: `code` tells problems apart.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What a program branches on.
    #[schema(example = "not_found")]
    code: String,
    /// What happened, what is safe and what to do, for a person.
    detail: String,
    #[serde(skip)]
    retry_after: Option<Duration>,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, code: &str, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            code: code.to_owned(),
            detail: detail.into(),
            retry_after: None,
        }
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    pub(crate) fn method() -> Self {
        let detail = "This address does not take that method.";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
    }

    pub(crate) fn too_many_waits() -> Self {
        let detail = "Too many of your connections wait already. Nothing was lost. Close some, or ask for several \
                      requests at once with GET /v1/events.";
        let fault = Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_waits", detail);
        Self { retry_after: Some(Duration::from_secs(5)), ..fault }
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::new(problem.status, &problem.code, problem.message)
    }
}

impl From<SenderError> for Fault {
    fn from(error: SenderError) -> Self {
        let status = match &error {
            SenderError::Unauthorized | SenderError::Revoked => StatusCode::UNAUTHORIZED,
            SenderError::MayNotEdit | SenderError::MayNotChoose => StatusCode::FORBIDDEN,
            SenderError::NotFound => StatusCode::NOT_FOUND,
            SenderError::OtherContent
            | SenderError::StillWaits
            | SenderError::AlreadyDecided(_)
            | SenderError::BeingDecided
            // There is nothing wrong with it but the time.
            | SenderError::TooLate => StatusCode::CONFLICT,
            SenderError::Acknowledged => StatusCode::GONE,
            SenderError::Id
            | SenderError::Kind
            | SenderError::Prompt
            | SenderError::Refused(_)
            | SenderError::Edit(_)
            | SenderError::ArgumentsSchema(_)
            | SenderError::Choices(_) => StatusCode::UNPROCESSABLE_ENTITY,
            SenderError::TooManyOpen(_) | SenderError::TooFast { .. } => StatusCode::TOO_MANY_REQUESTS,
            SenderError::Storage(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        let fault = Self::new(status, error.code(), error.to_string());
        Self { retry_after: error.retry_after(), ..fault }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_string(&self).unwrap_or_default();
        let kind = [(header::CONTENT_TYPE, "application/problem+json")];
        let mut response = (status, kind, body).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after {
            // Whole seconds, and never too early.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds.max(1)));
        }
        response
    }
}
