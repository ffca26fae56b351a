use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

/// The largest body that is taken from the owner's own clients.
const LARGEST: usize = 2 * MIB;
const MIB: usize = 1024 * 1024;
/// How much of a body that is too large is read and dropped, so that its sender gets to read the refusal.
const DROPPED: usize = 16 * 1024 * 1024;
/// How long a body may take to arrive.
const SLOWEST: Duration = Duration::from_secs(10);

/// Reads a call of the owner's own clients.
pub(crate) async fn read_json<T: DeserializeOwned>(request: Request) -> Result<T, Problem> {
    read_json_within(request, LARGEST).await
}

/// Reads a request's JSON, within limits of size, time and depth. It must say that it is JSON: what a form of another
/// site can send is refused.
pub(crate) async fn read_json_within<T: DeserializeOwned>(
    request: Request,
    largest: usize,
) -> Result<T, Problem> {
    let bytes = read_json_bytes_within(request, largest).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::bad_request(format!("The body cannot be read: {error}.")))
}

/// The same, not parsed yet.
pub(crate) async fn read_json_bytes_within(request: Request, largest: usize) -> Result<Vec<u8>, Problem> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let message = "The body must be application/json.";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "bad_request", message));
    }
    match tokio::time::timeout(SLOWEST, read(request.into_body(), largest)).await {
        Ok(bytes) => bytes,
        Err(_) => {
            let message = "The body took too long to arrive. Nothing was changed. Send it again.";
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", message))
        }
    }
}

async fn read(mut body: Body, largest: usize) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    let mut size = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::bad_request("The body broke off. Nothing was changed."))?;
        let Ok(chunk) = frame.into_data() else { continue };
        size += chunk.len();
        if size <= largest {
            bytes.extend_from_slice(&chunk);
        } else {
            bytes = Vec::new();
        }
        if size > DROPPED {
            break;
        }
    }
    if size > largest {
        let message = format!("The body is larger than {} MiB. Nothing was changed.", largest / MIB);
        return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message));
    }
    Ok(bytes)
}
