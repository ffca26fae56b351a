use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::task::JoinSet;

use super::{AskError, Asker, Refusal};

/// The largest reply that is taken.
const LARGEST: usize = 4 * 1024 * 1024;
/// How much of a reply that cannot be read is told.
const TOLD: usize = 200;

/// What a host said.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Asker {
    /// One call over a connection of its own: a host that was started again is found at once.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
        limit: Duration,
    ) -> Result<Reply, AskError> {
        let stream = self.place.connect().await?;
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, self.place.host());
        if let Some(token) = &self.token {
            request = request.header(header::AUTHORIZATION, token.header());
        }
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        let request = request.body(body.map_or_else(Body::empty, Body::from)).map_err(AskError::foreign)?;
        let replied = async {
            let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
            let mut tasks = JoinSet::new();
            tasks.spawn(async move {
                // What breaks it is told to whoever waits for the response.
                let _ = connection.await;
            });
            let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
            let body = axum::body::to_bytes(Body::new(body), LARGEST)
                .await
                .map_err(|error| AskError::Cut(error.to_string()))?;
            Ok(Reply { status: head.status, headers: head.headers, body: body.to_vec() })
        };
        tokio::time::timeout(limit, replied).await.map_err(|_| AskError::Silent(limit))?
    }
}

fn broken(error: hyper::Error) -> AskError {
    if error.is_parse() { AskError::foreign(error) } else { AskError::Cut(error.to_string()) }
}

impl Reply {
    pub(super) fn json(&self) -> Result<Value, AskError> {
        serde_json::from_slice(&self.body).map_err(AskError::foreign)
    }

    /// Nothing is to be read from a success.
    pub(super) fn succeeded(&self) -> Result<(), AskError> {
        if self.status.is_success() { Ok(()) } else { Err(self.unexpected()) }
    }

    /// A refusal where the host explained itself, else something that is not Sayso.
    pub(super) fn unexpected(&self) -> AskError {
        let problem: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        // The doors' own refusals come before anybody knows what was called.
        let problem = problem.get("error").unwrap_or(&problem);
        let words = text(problem, "detail").or_else(|| text(problem, "message"));
        match (text(problem, "code"), words) {
            (Some(code), Some(detail)) if !self.status.is_success() => AskError::Refused(Refusal {
                status: self.status.as_u16(),
                code,
                detail,
                retry_after: self.retry_after(),
            }),
            _ => {
                let body: String = String::from_utf8_lossy(&self.body).chars().take(TOLD).collect();
                AskError::Foreign(format!("status {} with {body:?}", self.status.as_u16()))
            }
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        let seconds = self.headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }
}
