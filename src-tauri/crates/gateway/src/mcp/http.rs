//! `/mcp`: streamable HTTP. Each message stands for itself, with the token of its sender; nothing is kept between them, so
//! there is no session to take over, to fill memory with or to lose with the host. A session id is given out all the same:
//! it tells clients of one sender apart, and lets `notifications/cancelled` name a call that another connection waits for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, Full};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::call::Caller;
use super::server::BEAT;
use super::tools::Tools;
use super::way::Way;
use crate::body::read_json_bytes_within;
use crate::problem::Problem;
use crate::routes::Shared;
use crate::secret::new_secret;
use crate::v1::{Asking, Fault};
use crate::waits::Place;

/// Where it is.
pub(crate) const PATH: &str = "/mcp";
/// The largest message.
const LARGEST: usize = 1024 * 1024;
/// The longest session id that is looked at.
const LONGEST_SESSION: usize = 200;
/// How long taking back what waits may take when the host ends.
const FAREWELL: Duration = Duration::from_secs(3);
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The tools behind `/mcp`.
pub(crate) struct HttpDoor {
    tools: Tools,
    service: StreamableHttpService<Tools, NeverSessionManager>,
    running: Running,
}

impl HttpDoor {
    /// Open until `stop`.
    pub(crate) fn new(stop: &CancellationToken) -> Self {
        let tools = Tools::of_all(BEAT);
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_sse_retry(None)
            .with_max_request_body_bytes(LARGEST)
            .with_cancellation_token(stop.clone())
            // Both doors looked at `Host` and `Origin` already.
            .disable_allowed_hosts();
        let factory = tools.clone();
        let service = StreamableHttpService::new(
            move || Ok(factory.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        Self { tools, service, running: Running::default() }
    }

    /// Until no call is under way.
    pub(crate) async fn finish(&self) {
        self.tools.finish(FAREWELL).await;
    }
}

/// The calls that wait, by who made them, in which session and under which id.
#[derive(Clone, Default)]
struct Running(Arc<Mutex<HashMap<CallKey, CancellationToken>>>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct CallKey {
    scope: String,
    id: String,
}

/// A call that waits. It is over when this is dropped.
struct RunningCall {
    key: CallKey,
    running: Running,
}

/// What ends with a response: the caller is gone, and its place is free.
struct Held {
    _left: DropGuard,
    _call: Option<RunningCall>,
    _place: Option<Place>,
}

impl Running {
    /// None where a call under this key runs already.
    fn begin(&self, key: CallKey, left: &CancellationToken) -> Option<RunningCall> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if running.contains_key(&key) {
            return None;
        }
        running.insert(key.clone(), left.clone());
        Some(RunningCall { key, running: self.clone() })
    }

    fn cancel(&self, key: &CallKey) {
        if let Some(left) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key) {
            left.cancel();
        }
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.running.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Takes one message.
pub(crate) async fn mcp(
    State(shared): State<Arc<Shared>>,
    Asking(asker): Asking,
    request: Request,
) -> Result<Response, Fault> {
    if request.method() != Method::POST {
        // There is no stream to listen to and no session to end.
        return Err(Fault::method());
    }
    let session = session(&request);
    let (mut parts, body) = request.into_parts();
    let whole = Request::from_parts(parts.clone(), body);
    let bytes = read_json_bytes_within(whole, LARGEST).await?;
    let message: Value = serde_json::from_slice(&bytes)
        .map_err(|error| Problem::bad_request(format!("The body cannot be read: {error}.")))?;
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let scope = format!("{}\n{}", asker.source(), session.as_deref().unwrap_or_default());
    let left = CancellationToken::new();
    let mut held = Held { _left: left.clone().drop_guard(), _call: None, _place: None };
    match method {
        "tools/call" => {
            held._place = Some(shared.waits.take(asker.source()).ok_or_else(Fault::too_many_waits)?);
            if let (true, Some(id)) = (session.is_some(), message.get("id")) {
                let key = CallKey { scope: scope.clone(), id: id.to_string() };
                held._call = Some(shared.mcp.running.begin(key, &left).ok_or_else(same_id)?);
            }
        }
        "notifications/cancelled" if session.is_some() => {
            if let Some(id) = message.get("params").and_then(|params| params.get("requestId")) {
                shared.mcp.running.cancel(&CallKey { scope: scope.clone(), id: id.to_string() });
            }
        }
        _ => {}
    }
    // From here on nobody needs the token, and no log can show it.
    parts.headers.remove(header::AUTHORIZATION);
    let way = Way::Host { host: shared.host.clone(), asker };
    parts.extensions.insert(Caller { way, scope, left });
    let response = shared.mcp.service.handle(Request::from_parts(parts, Full::new(Bytes::from(bytes)))).await;
    let (mut parts, body) = response.into_parts();
    if method == "initialize" && parts.status == StatusCode::OK {
        let id = new_secret::<16>().map_err(Problem::no_random)?;
        if let Ok(id) = HeaderValue::from_str(&id) {
            parts.headers.insert(SESSION, id);
        }
    }
    let body = body.map_frame(move |frame| {
        let _ = &held;
        frame
    });
    Ok(Response::from_parts(parts, Body::new(body)).into_response())
}

fn session(request: &Request) -> Option<String> {
    let id = request.headers().get(SESSION)?.to_str().ok()?;
    (id.len() <= LONGEST_SESSION).then(|| id.to_owned())
}

fn same_id() -> Fault {
    let detail = "A call with the same id waits in this session already. Nobody was asked again. Give each call an id of \
                  its own.";
    Fault::new(StatusCode::CONFLICT, "id_in_use", detail)
}
