//! The doors over real sockets: who gets in, what they get, and what they cannot do.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HOST, HeaderMap, ORIGIN};
use reqwest::{Method, Response, StatusCode};
use sayso_gateway::{Client, ClientError, Gateway, GatewayError, GatewayOptions};
use sayso_host::dto::Topic;
use sayso_host::{Host, HostOptions};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixListener};

const SOON: Duration = Duration::from_secs(20);

/// A host with its doors open, in a folder of its own.
struct Stage {
    root: TempDir,
    host: Host,
    gateway: Gateway,
    http: reqwest::Client,
}

impl Stage {
    async fn new() -> Self {
        Self::at("data").await
    }

    async fn at(path: &str) -> Self {
        let root = TempDir::new().unwrap();
        let host = Host::open(HostOptions { data_dir: root.path().join(path) }).await.unwrap();
        let gateway = Gateway::start(host.clone(), GatewayOptions { port: Some(0) }).await.unwrap();
        let http = reqwest::Client::builder().no_proxy().timeout(SOON).build().unwrap();
        Self { root, host, gateway, http }
    }

    fn data_dir(&self) -> &Path {
        self.host.data_dir()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.gateway.url())
    }

    fn owner_token(&self) -> String {
        std::fs::read_to_string(self.data_dir().join("owner-token")).unwrap()
    }

    /// Signs a browser in and returns its token.
    async fn session(&self) -> String {
        let code = self.code();
        let answer = self.post("/session", None, &json!({ "code": code })).await;
        assert_eq!(answer.status(), StatusCode::OK);
        json_of(answer).await["token"].as_str().unwrap().to_owned()
    }

    fn code(&self) -> String {
        let link = self.gateway.open_link().unwrap();
        link.split_once("/#code=").unwrap().1.to_owned()
    }

    async fn post(&self, path: &str, token: Option<&str>, body: &Value) -> Response {
        let request = self.http.post(self.url(path)).json(body);
        let request = match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        request.send().await.unwrap()
    }

    async fn rpc(&self, token: Option<&str>, command: &str, params: Value) -> (u16, Value) {
        let answer = self.post("/rpc", token, &json!({ "command": command, "params": params })).await;
        (answer.status().as_u16(), json_of(answer).await)
    }

    async fn get(&self, path: &str, headers: HeaderMap) -> Response {
        self.http.get(self.url(path)).headers(headers).send().await.unwrap()
    }

    async fn close(self) {
        self.gateway.shutdown().await;
        self.host.shutdown().await;
    }
}

async fn json_of(answer: Response) -> Value {
    serde_json::from_str(&answer.text().await.unwrap()).unwrap()
}

async fn code_of(answer: Response) -> (u16, String) {
    let status = answer.status().as_u16();
    (status, json_of(answer).await["error"]["code"].as_str().unwrap().to_owned())
}

fn mode(path: PathBuf) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn only_the_owner_can_open_what_lies_in_the_folder() {
    let stage = Stage::new().await;
    assert_eq!(mode(stage.data_dir().to_owned()), 0o700);
    for name in ["sayso.sock", "owner-token", "endpoint.json"] {
        assert_eq!(mode(stage.data_dir().join(name)), 0o600, "{name}");
    }
    let endpoint = std::fs::read_to_string(stage.data_dir().join("endpoint.json")).unwrap();
    let expected = json!({
        "url": stage.gateway.url(),
        "socket": stage.data_dir().join("sayso.sock"),
        "pid": std::process::id(),
    });
    assert_eq!(serde_json::from_str::<Value>(&endpoint).unwrap(), expected);
    stage.close().await;
}

#[tokio::test]
async fn the_owners_programs_call_through_the_socket() {
    let stage = Stage::new().await;
    let client = Client::connect(stage.data_dir()).await.unwrap();
    let status = client.call("status", json!({})).await.unwrap();
    assert_eq!(status["url"], stage.gateway.url());
    // What the browser may not, the socket may.
    client.call("settings.set", json!({ "notifications": false })).await.unwrap();
    assert_eq!(client.call("settings.get", json!({})).await.unwrap()["notifications"], false);
    match client.call("inbox.show", json!({ "key": "0198c0de-0000-7000-8000-000000000000" })).await {
        Err(ClientError::Refused(error)) => assert_eq!(error.code, "not_found"),
        other => panic!("{other:?}"),
    }
    let link = client.link().await.unwrap();
    assert!(link.starts_with(&stage.url("/#code=")), "{link}");
    stage.close().await;
}

#[tokio::test]
async fn no_host_is_told_at_once() {
    let stage = Stage::new().await;
    let data_dir = stage.data_dir().to_owned();
    let root = TempDir::new().unwrap();
    assert!(matches!(Client::connect(root.path()).await, Err(ClientError::NoHost(_))));
    stage.close().await;
    assert!(matches!(Client::connect(&data_dir).await, Err(ClientError::NoHost(_))));
    assert!(!data_dir.join("sayso.sock").exists());
    assert!(!data_dir.join("owner-token").exists());
}

#[tokio::test]
async fn a_dead_hosts_socket_is_replaced() {
    let root = TempDir::new().unwrap();
    let data_dir = root.path().join("data");
    std::fs::create_dir(&data_dir).unwrap();
    drop(UnixListener::bind(data_dir.join("sayso.sock")).unwrap());
    assert!(matches!(Client::connect(&data_dir).await, Err(ClientError::NoHost(_))));
    let host = Host::open(HostOptions { data_dir: data_dir.clone() }).await.unwrap();
    let gateway = Gateway::start(host.clone(), GatewayOptions { port: Some(0) }).await.unwrap();
    Client::connect(&data_dir).await.unwrap().call("status", json!({})).await.unwrap();
    gateway.shutdown().await;
    host.shutdown().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_folder_with_a_long_path_has_a_socket_too() {
    let stage = Stage::at(&format!("{}/{}", "a".repeat(120), "b".repeat(120))).await;
    let client = Client::connect(stage.data_dir()).await.unwrap();
    client.call("status", json!({})).await.unwrap();
    assert_eq!(mode(stage.data_dir().join("sayso.sock")), 0o600);
    stage.close().await;
}

#[tokio::test]
async fn loopback_lets_in_known_tokens_only() {
    let stage = Stage::new().await;
    let owner = stage.owner_token();
    assert_eq!(owner.len(), 64);
    let (status, answer) = stage.rpc(Some(&owner), "status", json!({})).await;
    assert_eq!((status, answer["result"]["waiting"].as_u64()), (200, Some(0)));
    let mut almost = owner.clone();
    almost.pop();
    for token in [None, Some("x"), Some(almost.as_str()), Some(&owner.to_uppercase()), Some(&stage.code())] {
        let (status, answer) = stage.rpc(token, "status", json!({})).await;
        assert_eq!((status, answer["error"]["code"].as_str()), (401, Some("unauthorized")), "{token:?}");
        assert!(answer.get("result").is_none());
    }
    let basic = stage.http.post(stage.url("/rpc")).basic_auth("owner", Some(&owner)).json(&json!({}));
    assert_eq!(basic.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let in_the_url = stage.get(&format!("/events?token={owner}"), HeaderMap::new()).await;
    assert_eq!(in_the_url.status(), StatusCode::UNAUTHORIZED);
    stage.close().await;
}

#[tokio::test]
async fn a_code_signs_one_browser_in_once() {
    let stage = Stage::new().await;
    let code = stage.code();
    let first = stage.post("/session", None, &json!({ "code": code })).await;
    assert!(first.headers().get("set-cookie").is_none());
    assert_eq!(first.headers()["cache-control"], "no-store");
    let token = json_of(first).await["token"].as_str().unwrap().to_owned();
    assert_eq!(stage.rpc(Some(&token), "status", json!({})).await.0, 200);
    for code in [code.as_str(), "", "0123456789abcdef0123456789abcdef", &stage.owner_token()] {
        let again = stage.post("/session", None, &json!({ "code": code })).await;
        assert_eq!(code_of(again).await, (401, "unauthorized".to_owned()), "{code}");
    }
    stage.close().await;
}

#[tokio::test]
async fn the_browser_gets_only_what_it_may() {
    let stage = Stage::new().await;
    let token = stage.session().await;
    assert_eq!(stage.rpc(Some(&token), "inbox.list", json!({})).await.0, 200);
    for command in ["agents.save", "agents.remove", "agents.test", "settings.set"] {
        let (status, answer) = stage.rpc(Some(&token), command, json!({})).await;
        assert_eq!((status, answer["error"]["code"].as_str()), (403, Some("forbidden_surface")), "{command}");
    }
    let (status, answer) = stage.rpc(Some(&token), "nonsense", json!({})).await;
    assert_eq!((status, answer["error"]["code"].as_str()), (404, Some("unknown_command")));
    // A link for another browser is made at the socket alone.
    let link = stage.post("/link", Some(&token), &json!({})).await;
    assert_eq!(link.status(), StatusCode::METHOD_NOT_ALLOWED);
    stage.close().await;
}

#[tokio::test]
async fn nothing_of_a_host_that_ended_opens_the_next_one() {
    let stage = Stage::new().await;
    let (owner, session, code) = (stage.owner_token(), stage.session().await, stage.code());
    stage.gateway.shutdown().await;
    let gateway = Gateway::start(stage.host.clone(), GatewayOptions { port: Some(0) }).await.unwrap();
    let stage = Stage { gateway, ..stage };
    for token in [&owner, &session] {
        assert_eq!(stage.rpc(Some(token), "status", json!({})).await.0, 401);
    }
    let exchanged = stage.post("/session", None, &json!({ "code": code })).await;
    assert_eq!(exchanged.status(), StatusCode::UNAUTHORIZED);
    stage.close().await;
}

#[tokio::test]
async fn a_page_of_another_site_gets_nowhere() {
    let stage = Stage::new().await;
    let token = stage.session().await;
    let call = |name, value: &str| {
        let body = json!({ "command": "status", "params": {} });
        stage.http.post(stage.url("/rpc")).bearer_auth(&token).header(name, value).json(&body).send()
    };
    // DNS rebinding: the browser believes that it talks to its own site.
    for host in ["evil.example", "127.0.0.1", "127.0.0.1.evil.example"] {
        assert_eq!(
            code_of(call(HOST, host).await.unwrap()).await,
            (403, "forbidden_host".to_owned()),
            "{host}"
        );
    }
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://localhost"] {
        let answer = call(ORIGIN, origin).await.unwrap();
        assert_eq!(code_of(answer).await, (403, "forbidden_origin".to_owned()), "{origin}");
    }
    assert_eq!(call(ORIGIN, stage.gateway.url()).await.unwrap().status(), StatusCode::OK);
    // A page's own files are behind the same check.
    let page = stage.get("/", HeaderMap::from_iter([(HOST, "evil.example".parse().unwrap())])).await;
    assert_eq!(page.status(), StatusCode::FORBIDDEN);
    // A preflight allows nothing.
    let preflight =
        stage.http.request(Method::OPTIONS, stage.url("/rpc")).header(ORIGIN, "http://evil.example");
    let preflight = preflight.header("access-control-request-method", "POST").send().await.unwrap();
    assert_eq!(preflight.status(), StatusCode::FORBIDDEN);
    assert!(preflight.headers().keys().all(|name| !name.as_str().starts_with("access-control")));
    // What a form can send without one is refused for its type alone.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let form = stage.http.post(stage.url("/rpc")).bearer_auth(&token).header(CONTENT_TYPE, kind);
        let form = form.body(r#"{"command":"status"}"#).send().await.unwrap();
        assert_eq!(form.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
    }
    stage.close().await;
}

#[tokio::test]
async fn bodies_have_limits() {
    let stage = Stage::new().await;
    let token = stage.session().await;
    let send = |body: String| {
        let request = stage.http.post(stage.url("/rpc")).bearer_auth(&token);
        request.header(CONTENT_TYPE, "application/json").body(body).send()
    };
    let padded =
        |size: usize| json!({ "command": "status", "params": {}, "pad": "x".repeat(size) }).to_string();
    assert_eq!(send(padded(1024 * 1024)).await.unwrap().status(), StatusCode::OK);
    let large = send(padded(3 * 1024 * 1024)).await.unwrap();
    assert_eq!(code_of(large).await, (413, "too_large".to_owned()));
    let deep = format!(r#"{{"command":"status","params":{}}}"#, "[".repeat(100_000));
    for body in [deep.as_str(), "", "{", "[]", r#"{"params":{}}"#, "\u{0}", r#"{"command":7}"#] {
        let answer = send(body.to_owned()).await.unwrap();
        assert_eq!(code_of(answer).await, (400, "bad_request".to_owned()), "{}", &body[..body.len().min(20)]);
    }
    stage.close().await;
}

#[tokio::test]
async fn the_page_keeps_to_itself() {
    let stage = Stage::new().await;
    for path in ["/", "/history", "/rpc", "/missing.js"] {
        let answer = stage.get(path, HeaderMap::new()).await;
        let headers = answer.headers();
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("connect-src 'self'") && policy.contains("frame-ancestors 'none'"), "{path}");
        assert!(!policy.contains("unsafe"), "{path}");
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["referrer-policy"], "no-referrer", "{path}");
        assert!(headers.contains_key("cache-control"), "{path}");
        assert!(!headers.contains_key("access-control-allow-origin"), "{path}");
    }
    for path in ["/", "/history", "/requests/0198c0de"] {
        let answer = stage.get(path, HeaderMap::new()).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        assert_eq!(answer.headers()["content-type"], "text/html; charset=utf-8", "{path}");
    }
    assert_eq!(stage.get("/missing.js", HeaderMap::new()).await.status(), StatusCode::NOT_FOUND);
    stage.close().await;
}

#[tokio::test]
async fn no_path_leads_out_of_the_pages_folder() {
    let stage = Stage::new().await;
    let address = stage.gateway.url().strip_prefix("http://").unwrap().to_owned();
    for path in [
        "/../Cargo.toml",
        "/../../../../../etc/passwd",
        "/%2e%2e/Cargo.toml",
        "/..%2f..%2fCargo.toml",
        "/assets/../../Cargo.toml",
        "//etc/passwd",
        "/\\..\\Cargo.toml",
        "/.env",
    ] {
        // Written by hand: a client would tidy the path up.
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(!answer.contains("root:") && !answer.contains("[package]"), "{path}: {answer}");
        let page_or_refusal = ["200 OK", "404 Not Found", "400 Bad Request", "403 Forbidden"];
        assert!(
            page_or_refusal.iter().any(|status| answer.starts_with(&format!("HTTP/1.1 {status}"))),
            "{answer}"
        );
    }
    stage.close().await;
}

#[tokio::test]
async fn changes_are_streamed_until_the_host_ends() {
    let stage = Stage::new().await;
    let client = Client::connect(stage.data_dir()).await.unwrap();
    let mut at_socket = client.events().await.unwrap();
    let session = stage.session().await;
    let request = stage.http.get(stage.url("/events")).bearer_auth(&session);
    let mut at_browser = request.send().await.unwrap();
    assert_eq!(at_browser.headers()["content-type"], "text/event-stream");

    client.call("settings.set", json!({ "notifications": false })).await.unwrap();
    let event = tokio::time::timeout(SOON, at_socket.next()).await.unwrap().unwrap();
    assert_eq!(event.topic, Topic::Status);
    let mut text = String::new();
    while !text.contains("data: {\"topic\":\"status\",\"id\":null}\n\n") {
        let chunk = tokio::time::timeout(SOON, at_browser.chunk()).await.unwrap().unwrap().unwrap();
        text += std::str::from_utf8(&chunk).unwrap();
    }

    tokio::time::timeout(SOON, stage.gateway.shutdown()).await.expect("streams hold the host up");
    while tokio::time::timeout(SOON, at_socket.next()).await.unwrap().is_some() {}
    stage.host.shutdown().await;
}

#[tokio::test]
async fn a_crowd_at_the_port_does_not_lock_the_owner_out() {
    let stage = Stage::new().await;
    let address = stage.gateway.url().strip_prefix("http://").unwrap().to_owned();
    // More than a door holds.
    let mut crowd = Vec::new();
    for _ in 0..1100 {
        // Half a request, and then nothing.
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let _ = stream.write_all(b"POST /rpc HTTP/1.1\r\nHost: ").await;
        crowd.push(stream);
    }
    let client = Client::connect(stage.data_dir()).await.unwrap();
    tokio::time::timeout(SOON, client.call("status", json!({}))).await.unwrap().unwrap();
    drop(crowd);
    assert_eq!(stage.get("/", HeaderMap::new()).await.status(), StatusCode::OK);
    stage.close().await;
}

#[tokio::test]
async fn the_port_is_chosen_once_and_kept() {
    let root = TempDir::new().unwrap();
    let host = Host::open(HostOptions { data_dir: root.path().join("data") }).await.unwrap();
    let start = |port| Gateway::start(host.clone(), GatewayOptions { port });
    let url_of = async |port| {
        let gateway = start(port).await.unwrap();
        let url = gateway.url().to_owned();
        gateway.shutdown().await;
        url
    };
    let kept = url_of(None).await;
    assert_eq!(url_of(None).await, kept);
    assert_ne!(url_of(Some(0)).await, kept);
    assert_eq!(url_of(None).await, kept, "an ephemeral port is not kept");

    // Another program has it: a new one is chosen, and an explicit wish is refused.
    let port: u16 = kept.rsplit(':').next().unwrap().parse().unwrap();
    let _other = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    assert!(matches!(start(Some(port)).await, Err(GatewayError::PortTaken(taken)) if taken == port));
    let new = url_of(None).await;
    assert_ne!(new, kept);
    assert_eq!(url_of(None).await, new);
    host.shutdown().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_port_is_on_loopback_alone() {
    let stage = Stage::new().await;
    let port: u16 = stage.gateway.url().rsplit(':').next().unwrap().parse().unwrap();
    // Bound to every address it would be taken here too.
    TcpListener::bind(("127.0.0.2", port)).await.expect("the port is open beyond 127.0.0.1");
    assert!(stage.root.path().exists());
    stage.close().await;
}
