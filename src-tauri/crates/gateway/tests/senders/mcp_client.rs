//! MCP clients, as agents have them: over HTTP, and at a server of their own over a pair of streams.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ErrorData, JsonObject,
    ProgressNotificationParam, ServerResult,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RequestHandle, RoleClient, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ServiceExt as _};
use sayso_gateway::{Asker, McpServer, SenderToken};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::stage::{SOON, Stage};

/// How often a server of a test tells that it waits.
const BEAT: Duration = Duration::from_millis(50);

/// Notes what progress it is told.
#[derive(Clone, Default)]
pub(crate) struct Watching(Arc<Mutex<Vec<ProgressNotificationParam>>>);

impl ClientHandler for Watching {
    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.0.lock().unwrap().push(progress);
    }
}

/// A connected client, with the server that was started for it, if any.
pub(crate) struct Client {
    pub(crate) running: RunningService<RoleClient, Watching>,
    watching: Watching,
    pub(crate) server: JoinSet<()>,
}

impl Client {
    /// At `/mcp`.
    pub(crate) async fn over_http(stage: &Stage, token: &str) -> Self {
        let config = StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", stage.gateway.url()));
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let transport = StreamableHttpClientTransport::with_client(http, config.auth_header(token));
        let watching = Watching::default();
        Self { running: watching.clone().serve(transport).await.unwrap(), watching, server: JoinSet::new() }
    }

    /// At a server of its own, which asks with this token or as this computer.
    pub(crate) async fn of_its_own(stage: &Stage, token: Option<&str>) -> Self {
        let mut asker = Asker::new(stage.host.data_dir());
        if let Some(token) = token {
            asker = asker.with_token(SenderToken::new(token).unwrap());
        }
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (input, output) = tokio::io::split(theirs);
        let mut server = JoinSet::new();
        server.spawn(async move {
            let serving = McpServer::new(asker).with_beat(BEAT).serve(input, output, std::future::pending());
            serving.await.unwrap();
        });
        let watching = Watching::default();
        Self { running: watching.clone().serve(ours).await.unwrap(), watching, server }
    }

    /// Begins a call.
    pub(crate) async fn begin(&self, name: &str, arguments: Value) -> RequestHandle<RoleClient> {
        let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.running.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap()
    }

    /// Calls and waits.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        done(self.begin(name, arguments).await).await
    }

    /// Calls what must be refused by the protocol.
    pub(crate) async fn refused(&self, name: &str, arguments: Value) -> ErrorData {
        match self.begin(name, arguments).await.await_response().await {
            Err(ServiceError::McpError(error)) => error,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// The progress that was told so far.
    pub(crate) fn progress(&self) -> Vec<ProgressNotificationParam> {
        self.watching.0.lock().unwrap().clone()
    }
}

/// The result of a call that was begun.
pub(crate) async fn done(call: RequestHandle<RoleClient>) -> CallToolResult {
    let result = tokio::time::timeout(SOON, call.await_response()).await.expect("the call ends").unwrap();
    let ServerResult::CallToolResult(result) = result else { panic!("no result of a tool") };
    result
}

/// The one text of a result.
pub(crate) fn text(result: &CallToolResult) -> String {
    let content = serde_json::to_value(&result.content).unwrap();
    let blocks = content.as_array().unwrap();
    assert_eq!(blocks.len(), 1, "{content}");
    blocks[0]["text"].as_str().unwrap().to_owned()
}

/// The structured content, which must be the text as well.
pub(crate) fn structured(result: &CallToolResult) -> Value {
    let value = result.structured_content.clone().expect("structured content");
    assert_eq!(serde_json::from_str::<Value>(&text(result)).unwrap(), value);
    value
}

impl Stage {
    /// What waits, in wire form, once there is as much of it.
    pub(crate) async fn waiting(&self, count: usize) -> Vec<Value> {
        let looking = async {
            loop {
                let list = self.rpc("inbox.list", json!({ "whole": true })).await["items"].clone();
                let list = list.as_array().unwrap().clone();
                if list.len() == count {
                    return list;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let list = tokio::time::timeout(SOON, looking).await.unwrap_or_else(|_| panic!("{count} wait"));
        list.iter().map(|item| serde_json::from_str(item["request"].as_str().unwrap()).unwrap()).collect()
    }

    /// The id of the one that waits.
    pub(crate) async fn waiting_id(&self) -> String {
        self.waiting(1).await[0]["id"].as_str().unwrap().to_owned()
    }

    /// The newest decision.
    pub(crate) async fn last_decision(&self) -> Value {
        let page = self.rpc("history.list", json!({})).await;
        page["items"].as_array().expect("items")[0].clone()
    }

    /// One JSON-RPC message as a client of the older generation posts it.
    pub(crate) fn message(
        &self,
        token: &str,
        session: Option<&str>,
        message: &Value,
    ) -> reqwest::RequestBuilder {
        let mut headers = HeaderMap::new();
        headers.insert("accept", "application/json, text/event-stream".parse().unwrap());
        headers.insert(CONTENT_TYPE, "application/json".parse().unwrap());
        headers.insert("mcp-protocol-version", "2025-06-18".parse().unwrap());
        if let Some(session) = session {
            headers.insert("mcp-session-id", session.parse().unwrap());
        }
        self.request(reqwest::Method::POST, token, "/mcp").headers(headers).body(message.to_string())
    }
}

/// A call of a tool as a message.
pub(crate) fn call_message(id: u32, name: &str, arguments: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}
