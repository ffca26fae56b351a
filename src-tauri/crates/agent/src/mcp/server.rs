use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientNotification, ClientRequest, JsonObject, PaginatedRequestParams, RequestId, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use sayso_domain::ToolResult;
use serde_json::Value;
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use super::connect::{Session, shown};
use super::elicitation::Asker;
use super::name::tool_names;
use super::result::tool_result;
use super::tool::Described;
use super::{McpServer, McpSetup};
use crate::ToolContext;

/// How often a call may be repeated with what the server asked for.
const ROUNDS: usize = 10;
/// A server's tools beyond these are left out.
const MOST_TOOLS: usize = 128;
/// Pages of a list of tools.
const MOST_PAGES: usize = 20;
/// The largest schema of a tool's arguments, in bytes.
const LARGEST_SCHEMA: usize = 64 * 1024;

/// A server with its session, where it has one. A call whose session is over, or in which an earlier call was given up,
/// begins a new one; a call that was begun is never repeated by itself.
pub(super) struct Server {
    pub(super) config: McpServer,
    setup: McpSetup,
    /// Held by the call at work: one at a time, so that what the server asks meanwhile belongs to it for sure.
    session: Mutex<Option<Session>>,
    closed: CancellationToken,
}

impl Server {
    pub(super) fn new(config: McpServer, setup: McpSetup) -> Self {
        Self { config, setup, session: Mutex::new(None), closed: CancellationToken::new() }
    }

    /// Begins a session, and gives what the server's tools are. Also a note where some of them are left out.
    pub(super) async fn tools(
        &self,
        others: &[String],
        taken: &BTreeSet<String>,
    ) -> Result<(Vec<Described>, Option<String>), String> {
        let mut held = self.session.lock().await;
        let session = Session::begin(&self.config, &self.setup).await?;
        let limit = self.setup.limits.connect_address.max(self.setup.limits.connect_program);
        let listed = match tokio::time::timeout(limit, list(&session)).await {
            Ok(listed) => listed,
            Err(_) => Err("it did not say in time which tools it has.".to_owned()),
        };
        let (tools, mut left_out) = match listed {
            Ok(listed) => listed,
            Err(reason) => {
                session.end().await;
                return Err(reason);
            }
        };
        let originals: Vec<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
        let names = tool_names(self.config.prefix(), others, &originals, taken);
        let mut described = Vec::with_capacity(tools.len());
        for (tool, name) in tools.into_iter().zip(names) {
            match name {
                Some(name)
                    if json_size(&tool.input_schema) <= LARGEST_SCHEMA
                        && !session.hidden.is_in(&tool.name) =>
                {
                    described.push(Described::of(name, &tool, &session.hidden));
                }
                Some(_) | None => left_out += 1,
            }
        }
        *held = Some(session);
        let note = (left_out > 0).then(|| {
            format!(
                "{left_out} of its tools are left out: their names or schemas cannot be used, or there are too many."
            )
        });
        Ok((described, note))
    }

    /// Calls a tool, and answers what the server asks meanwhile.
    pub(super) async fn call(&self, tool: &str, arguments: JsonObject, context: &ToolContext) -> ToolResult {
        tokio::select! {
            biased;
            () = self.closed.cancelled() => self.gone(),
            () = context.stop.cancelled() => stopped(),
            result = self.called(tool, arguments, context) => result,
        }
    }

    async fn called(&self, tool: &str, arguments: JsonObject, context: &ToolContext) -> ToolResult {
        let mut held = self.session.lock().await;
        let session = match held.take() {
            Some(session) if session.is_fit() => held.insert(session),
            unfit => {
                if let Some(unfit) = unfit {
                    unfit.end().await;
                }
                match Session::begin(&self.config, &self.setup).await {
                    Ok(session) => held.insert(session),
                    Err(reason) => {
                        let name = self.config.name();
                        return ToolResult::error(format!(
                            "The MCP server {name} cannot be used: {reason} Nothing was run."
                        ));
                    }
                }
            }
        };
        let asker = Arc::new(Asker::new(self.config.name(), session.hidden.clone(), context.elicit.clone()));
        // Also where a stop drops this call in the midst of it.
        session.is_spoilt = true;
        let at_work = session.current.begin(Arc::clone(&asker));
        let open = asker.open();
        let call = Call { peer: session.service.peer(), tool, arguments, asker: &asker };
        let called = in_time(self.setup.limits.call, open, call.run()).await;
        drop(at_work);
        session.is_spoilt = !called.as_ref().is_some_and(has_ended);
        let name = self.config.name();
        match called {
            Some(Ok(result)) => tool_result(&result, self.setup.limits.output, &session.hidden),
            Some(Err(failed)) => {
                let last_words = if session.is_over() { session.last_words() } else { String::new() };
                let text = format!("The MCP server {name} {}{last_words}", failed.words());
                ToolResult::error(shown(&session.hidden, &text))
            }
            None => ToolResult::error(format!(
                "The MCP server {name} did not answer within {} seconds. It may have partly happened.",
                self.setup.limits.call.as_secs()
            )),
        }
    }

    /// Ends the session, and everything that it is at work on. Nothing is begun again.
    pub(super) async fn close(&self) {
        self.closed.cancel();
        let session = self.session.lock().await.take();
        if let Some(session) = session {
            session.end().await;
        }
    }

    fn gone(&self) -> ToolResult {
        ToolResult::error(format!(
            "The session with the MCP server {} was closed. What it had begun may have partly happened.",
            self.config.name()
        ))
    }
}

fn stopped() -> ToolResult {
    ToolResult::error("Stopped by the person. What the server had begun may have partly happened.")
}

async fn list(session: &Session) -> Result<(Vec<rmcp::model::Tool>, usize), String> {
    let mut tools = Vec::new();
    let mut cursor = None;
    let mut left_out = 0;
    for _ in 0..MOST_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let page = session.service.peer().list_tools(Some(params)).await.map_err(|error| {
            shown(
                &session.hidden,
                &format!("it did not say which tools it has ({error}).{}", session.last_words()),
            )
        })?;
        tools.extend(page.tools);
        cursor = page.next_cursor.filter(|cursor| !cursor.is_empty());
        if cursor.is_none() || tools.len() > MOST_TOOLS {
            break;
        }
    }
    if tools.len() > MOST_TOOLS {
        left_out = tools.len() - MOST_TOOLS;
        tools.truncate(MOST_TOOLS);
    }
    Ok((tools, left_out))
}

fn json_size(schema: &JsonObject) -> usize {
    serde_json::to_string(schema).map_or(0, |text| text.len())
}

/// One call, with as many rounds as the server asks for.
struct Call<'a> {
    peer: &'a Peer<RoleClient>,
    tool: &'a str,
    arguments: JsonObject,
    asker: &'a Asker,
}

/// Why there is no result.
enum Failed {
    Service(ServiceError),
    Rounds,
    Unreadable,
}

/// Whether the server is done with a call, so that what it asks later is not of that call.
fn has_ended(called: &Result<Value, Failed>) -> bool {
    match called {
        Ok(_) | Err(Failed::Rounds | Failed::Unreadable) => true,
        Err(Failed::Service(error)) => {
            matches!(error, ServiceError::McpError(_) | ServiceError::UnexpectedResponse)
        }
    }
}

impl Failed {
    fn words(&self) -> String {
        match self {
            Self::Service(ServiceError::McpError(error)) => {
                format!("answered with an error: {}", error.message)
            }
            Self::Service(ServiceError::TransportClosed) => {
                "ended while it was at work. It may have partly happened.".to_owned()
            }
            Self::Service(error) => format!("failed: {error}. It may have partly happened."),
            Self::Rounds => format!("asked more than {ROUNDS} times for more. The call was given up."),
            Self::Unreadable => "gave an answer that cannot be read. It may have partly happened.".to_owned(),
        }
    }
}

impl Call<'_> {
    async fn run(self) -> Result<Value, Failed> {
        let mut params =
            CallToolRequestParams::new(self.tool.to_owned()).with_arguments(self.arguments.clone());
        for _ in 0..=ROUNDS {
            let result = self.once(params).await.map_err(Failed::Service)?;
            let result = serde_json::to_value(&result).map_err(|_| Failed::Unreadable)?;
            if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
                let is_result =
                    ["content", "structuredContent", "isError"].iter().any(|key| result.get(key).is_some());
                return if is_result { Ok(result) } else { Err(Failed::Unreadable) };
            }
            params = self.answered(&result).await?;
        }
        Err(Failed::Rounds)
    }

    async fn once(&self, params: CallToolRequestParams) -> Result<ServerResult, ServiceError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let handle = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await?;
        let mut given_up = GivenUp(Some((self.peer.clone(), handle.id.clone())));
        let result = handle.await_response().await;
        given_up.0 = None;
        result
    }

    /// The newer generation's way to ask: the call is repeated with what the person said, and with the server's state.
    async fn answered(&self, result: &Value) -> Result<CallToolRequestParams, Failed> {
        let mut params =
            CallToolRequestParams::new(self.tool.to_owned()).with_arguments(self.arguments.clone());
        let requests = result.get("inputRequests").and_then(Value::as_object);
        let state = result.get("requestState").and_then(Value::as_str);
        if requests.is_none_or(|requests| requests.is_empty()) {
            // Only to be asked again later.
            let Some(state) = state else { return Err(Failed::Unreadable) };
            tokio::time::sleep(Duration::from_millis(250)).await;
            return Ok(params.with_request_state(state));
        }
        let never = CancellationToken::new();
        let asked = requests.into_iter().flatten().map(|(key, request)| {
            let never = &never;
            async move {
                let response = match request.get("method").and_then(Value::as_str) {
                    Some("elicitation/create") => {
                        self.asker.ask(request.get("params").unwrap_or(&Value::Null), never).await
                    }
                    // We have no roots, and sample from no model: neither was offered.
                    Some("roots/list") => serde_json::json!({ "roots": [] }),
                    Some(_) | None => return Err(Failed::Unreadable),
                };
                Ok((key.clone(), response))
            }
        });
        let responses = futures_util::future::try_join_all(asked).await?;
        params = params.with_input_responses(responses.into_iter().collect());
        Ok(match state {
            Some(state) => params.with_request_state(state),
            None => params,
        })
    }
}

/// Tells the server when nobody waits for its result any more.
struct GivenUp(Option<(Peer<RoleClient>, RequestId)>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        let Some((peer, id)) = self.0.take() else { return };
        let param = CancelledNotificationParam::new(Some(id), None);
        let notification = ClientNotification::CancelledNotification(CancelledNotification::new(param));
        // Sending only hands it to the session, which has room as a rule; a server that is too busy for it is not told.
        let _ = futures_util::FutureExt::now_or_never(peer.send_notification(notification));
    }
}

/// The output of some work, or none if it took longer than the limit. Time does not pass while a question is open
/// (contract 33).
async fn in_time<T>(
    limit: Duration,
    mut open: watch::Receiver<usize>,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::pin!(work);
    let mut left = limit;
    loop {
        if *open.borrow_and_update() > 0 {
            tokio::select! {
                done = &mut work => return Some(done),
                _ = open.changed() => continue,
            }
        }
        let since = Instant::now();
        tokio::select! {
            done = &mut work => return Some(done),
            () = tokio::time::sleep(left) => return None,
            _ = open.changed() => left = left.saturating_sub(since.elapsed()),
        }
    }
}
