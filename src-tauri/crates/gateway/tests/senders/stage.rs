//! A host with its doors open, and senders that knock.

use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper_util::rt::TokioIo;
use reqwest::{Method, RequestBuilder, Response};
use sayso_gateway::{Gateway, GatewayOptions};
use sayso_host::{Host, HostOptions, RpcError, Surface};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::UnixStream;
use tokio::task::JoinSet;

pub(crate) const SOON: Duration = Duration::from_secs(20);

pub(crate) struct Stage {
    pub(crate) root: TempDir,
    pub(crate) host: Host,
    pub(crate) gateway: Gateway,
    pub(crate) http: reqwest::Client,
}

/// A response, read.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) kind: String,
    pub(crate) retry_after: Option<u64>,
    pub(crate) body: Value,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let root = TempDir::new().unwrap();
        let http = reqwest::Client::builder().no_proxy().timeout(SOON).build().unwrap();
        let (host, gateway) = open(root.path()).await;
        let stage = Self { root, host, gateway, http };
        stage.hold_answers(0).await;
        stage
    }

    /// Ends the host and starts the next one in the same folder.
    pub(crate) async fn restart(self) -> Self {
        self.gateway.shutdown().await;
        self.host.shutdown().await;
        drop(self.host);
        let (host, gateway) = open(self.root.path()).await;
        Self { root: self.root, host, gateway, http: self.http }
    }

    pub(crate) async fn close(self) {
        self.gateway.shutdown().await;
        self.host.shutdown().await;
    }

    pub(crate) fn address(&self) -> String {
        self.gateway.url().strip_prefix("http://").unwrap().to_owned()
    }

    /// Calls a command as the person does, in the window.
    pub(crate) async fn rpc(&self, command: &str, params: Value) -> Value {
        self.host.call(Surface::Window, command, params).await.unwrap()
    }

    pub(crate) async fn refused(&self, command: &str, params: Value) -> RpcError {
        self.host.call(Surface::Window, command, params).await.unwrap_err()
    }

    /// For how many seconds the person can take a decision back.
    pub(crate) async fn hold_answers(&self, seconds: u8) {
        self.rpc("settings.set", json!({ "undo_seconds": seconds })).await;
    }

    /// A sender's token.
    pub(crate) async fn sender(&self, name: &str) -> String {
        self.sender_with(json!({ "name": name })).await
    }

    pub(crate) async fn sender_with(&self, setup: Value) -> String {
        self.rpc("senders.add", setup).await["token"].as_str().unwrap().to_owned()
    }

    /// Approves or declines what is listed under an id.
    pub(crate) async fn decide(&self, id: &str, decision: Value) -> Value {
        let list = self.rpc("inbox.list", json!({ "whole": true })).await["items"].clone();
        let wire = |item: &Value| serde_json::from_str::<Value>(item["request"].as_str().unwrap()).unwrap();
        let item = list.as_array().unwrap().iter().find(|item| wire(item)["id"] == id).expect("it waits");
        let mut params = json!({ "key": item["key"], "digest": item["digest"] });
        params.as_object_mut().unwrap().extend(decision.as_object().unwrap().clone());
        self.rpc("inbox.decide", params).await
    }

    pub(crate) async fn yes(&self, id: &str) {
        self.decide(id, json!({ "ok": true })).await;
    }

    pub(crate) fn request(&self, method: Method, token: &str, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.gateway.url())).bearer_auth(token)
    }

    pub(crate) async fn post(&self, token: &str, request: &Value) -> Said {
        said(self.request(Method::POST, token, "/v1/requests").json(request).send().await.unwrap()).await
    }

    /// Asks a plain question, which must be taken.
    pub(crate) async fn ask(&self, token: &str, id: &str) {
        let asked = self.post(token, &approval(id)).await;
        assert_eq!(asked.status, 201, "{asked:?}");
    }

    pub(crate) async fn call(&self, method: Method, token: &str, path: &str) -> Said {
        said(self.request(method, token, path).send().await.unwrap()).await
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> Said {
        self.call(Method::GET, token, path).await
    }

    /// Posts an MCP message at the Unix socket.
    pub(crate) async fn at_socket_as_mcp(&self, token: Option<&str>, message: &Value) -> Said {
        self.at_socket(Method::POST, token, "/mcp", Some(message)).await
    }

    /// Calls at the Unix socket, with a token or without.
    pub(crate) async fn at_socket(
        &self,
        method: Method,
        token: Option<&str>,
        path: &str,
        body: Option<&Value>,
    ) -> Said {
        let stream = UnixStream::connect(self.host.data_dir().join("sayso.sock")).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let mut serving = JoinSet::new();
        serving.spawn(connection);
        let mut request = axum::http::Request::builder().method(method).uri(path).header("host", "sayso");
        request = request.header("accept", "application/json, text/event-stream");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = match body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let answer = sender.send_request(request.body(body).unwrap()).await.unwrap();
        let header = |name| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (status, kind) = (answer.status().as_u16(), header("content-type").unwrap_or_default());
        let retry_after = header("retry-after").map(|text| text.parse().unwrap());
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        Said { status, kind, retry_after, body: parsed(&bytes) }
    }
}

impl Said {
    /// The status and the code of a problem, which must be in its form.
    pub(crate) fn problem(&self) -> (u16, &str) {
        assert_eq!(self.kind, "application/problem+json", "{self:?}");
        assert_eq!(self.body["status"], self.status, "{self:?}");
        assert!(!self.body["detail"].as_str().unwrap().is_empty(), "{self:?}");
        (self.status, self.body["code"].as_str().unwrap())
    }
}

pub(crate) fn approval(id: &str) -> Value {
    json!({ "id": id, "kind": "approval", "prompt": format!("Deploy {id}?") })
}

pub(crate) async fn said(answer: Response) -> Said {
    let header = |name| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    let (status, kind) = (answer.status().as_u16(), header("content-type").unwrap_or_default());
    let retry_after = header("retry-after").map(|text| text.parse().unwrap());
    Said { status, kind, retry_after, body: parsed(&answer.bytes().await.unwrap()) }
}

fn parsed(bytes: &[u8]) -> Value {
    let text = std::str::from_utf8(bytes).unwrap();
    // Of a stream of events, the first one's data.
    let text = text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(text);
    if text.is_empty() { Value::Null } else { serde_json::from_str(text).unwrap() }
}

async fn open(root: &Path) -> (Host, Gateway) {
    let host = Host::open(HostOptions { data_dir: root.join("data") }).await.unwrap();
    let gateway = Gateway::start(host.clone(), GatewayOptions { port: None }).await.unwrap();
    (host, gateway)
}
