//! `sayso mcp` as MCP clients start it: a real client over its standard streams, a real host, and the host killed meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::Stdio;
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, JsonObject, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rustix::process::Signal;
use sayso_tests::asking::{add_sender, waiting, waiting_key, without_a_token};
use sayso_tests::process::signal;
use sayso_tests::sayso::Sayso;
use sayso_tests::wait::{SOON, wait_until};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};

fn stage() -> (TempDir, Sayso) {
    let root = tempfile::tempdir().unwrap();
    let sayso = Sayso::new(&root.path().join("data"));
    (root, sayso)
}

/// `sayso mcp ARGUMENTS`, started by this test.
fn start(sayso: &Sayso, arguments: &[&str]) -> Child {
    let all: Vec<&str> = ["mcp"].iter().chain(arguments).copied().collect();
    let mut command = tokio::process::Command::from(without_a_token(sayso.command(&all)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().unwrap()
}

/// A client that started it.
struct Client {
    running: RunningService<RoleClient, ()>,
    server: Child,
}

impl Client {
    async fn start(sayso: &Sayso, arguments: &[&str]) -> Self {
        let mut server = start(sayso, arguments);
        let streams = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
        Self { running: ().serve(streams).await.unwrap(), server }
    }

    async fn begin(&self, name: &str, arguments: Value) -> RequestHandle<RoleClient> {
        let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        self.running.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap()
    }

    async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        done(self.begin(name, arguments).await).await
    }
}

async fn done(call: RequestHandle<RoleClient>) -> CallToolResult {
    let result = tokio::time::timeout(SOON, call.await_response()).await.expect("the call ends").unwrap();
    let ServerResult::CallToolResult(result) = result else { panic!("no result of a tool") };
    result
}

fn text(result: &CallToolResult) -> String {
    serde_json::to_value(&result.content).unwrap()[0]["text"].as_str().unwrap().to_owned()
}

fn permission(tool_use: &str) -> Value {
    json!({ "tool_name": "Bash", "input": { "command": "make deploy" }, "tool_use_id": tool_use })
}

#[tokio::test]
async fn an_mcp_client_of_sayso_gets_what_the_person_decided_and_none_of_their_words() {
    let (root, sayso) = stage();
    let host = sayso.serve();
    let client = Client::start(&sayso, &[]).await;
    let call = client.begin("request_approval", json!({ "prompt": "Deploy?" })).await;
    let item = waiting(&sayso).await;
    assert_eq!(item["source"], "this computer");
    let key = item["key"].as_str().unwrap();
    let shown = sayso.json(&["show", key]).await.exits(0).value();
    let own = std::env::current_exe().unwrap();
    let notes = shown["notes"].to_string();
    assert!(notes.contains(own.file_name().unwrap().to_str().unwrap()), "who started it is shown: {notes}");
    sayso.run(&["deny", key, "--reason", "my own words"]).await.exits(0);
    let result = done(call).await;
    assert_eq!(result.structured_content, Some(json!({ "approved": false, "class": "declined" })));
    assert!(!format!("{result:?}").contains("own words"));

    let token = add_sender(&sayso, "coder").await;
    let file = root.path().join("token");
    std::fs::write(&file, token).unwrap();
    let client = Client::start(&sayso, &["--token-file", file.to_str().unwrap()]).await;
    let call = client.begin("permission_prompt", permission("t1")).await;
    let item = waiting(&sayso).await;
    assert_eq!(item["source"], "coder");
    sayso.run(&["approve", item["key"].as_str().unwrap()]).await.exits(0);
    assert_eq!(text(&done(call).await), r#"{"behavior":"allow","updatedInput":{"command":"make deploy"}}"#);
    host.stop().await;
}

#[tokio::test]
async fn a_host_that_is_killed_while_an_mcp_client_waits_gives_exactly_one_answer() {
    let (_root, sayso) = stage();
    let mut host = sayso.serve();
    let client = Client::start(&sayso, &[]).await;
    let approval = client.begin("request_approval", json!({ "prompt": "Deploy?" })).await;
    let key = waiting_key(&sayso).await;
    for _ in 0..2 {
        host.kill();
        host = sayso.serve();
        assert_eq!(waiting_key(&sayso).await, key);
    }
    sayso.run(&["approve", &key]).await.exits(0);
    let result = done(approval).await;
    assert_eq!(result.structured_content, Some(json!({ "approved": true, "class": null })));
    let call = client.begin("permission_prompt", permission("t1")).await;
    let key = waiting_key(&sayso).await;
    host.kill();
    let host = sayso.serve();
    let again = client.begin("permission_prompt", permission("t1")).await;
    sayso.run(&["deny", &key]).await.exits(0);
    for call in [call, again] {
        assert!(text(&done(call).await).starts_with(r#"{"behavior":"deny""#));
    }
    let history = sayso.json(&["history"]).await.exits(0).values();
    assert_eq!(history.len(), 2, "{history:?}");
    host.stop().await;
}

#[tokio::test]
async fn where_no_host_runs_an_mcp_client_is_told_at_once_and_nothing_is_a_yes() {
    let (_root, sayso) = stage();
    let client = Client::start(&sayso, &[]).await;
    let began = Instant::now();
    let refused = client.call("request_approval", json!({ "prompt": "Deploy?" })).await;
    assert_eq!((refused.is_error, refused.structured_content.as_ref()), (Some(true), None));
    assert!(text(&refused).contains("Nobody was asked"), "{refused:?}");
    let denied = client.call("permission_prompt", permission("t1")).await;
    assert!(text(&denied).starts_with(r#"{"behavior":"deny","message":"Sayso does not run"#), "{denied:?}");
    assert!(began.elapsed() < SOON);
}

#[tokio::test]
async fn an_mcp_client_that_ends_or_is_told_to_takes_back_what_it_asked() {
    let (_root, sayso) = stage();
    let host = sayso.serve();
    let nothing_waits = async || {
        wait_until("nothing waits", SOON, async || sayso.json(&["list"]).await.exits(0).values().is_empty())
            .await;
    };
    // Its end of the streams is closed, as when the client ends.
    let mut client = Client::start(&sayso, &[]).await;
    drop(client.begin("request_approval", json!({ "prompt": "one" })).await);
    waiting_key(&sayso).await;
    client.running.close().await.unwrap();
    let status = tokio::time::timeout(SOON, client.server.wait()).await.expect("it ends").unwrap();
    assert!(status.success(), "{status}");
    nothing_waits().await;
    // It is told to end.
    let mut client = Client::start(&sayso, &[]).await;
    drop(client.begin("request_approval", json!({ "prompt": "two" })).await);
    waiting_key(&sayso).await;
    signal(client.server.id().unwrap(), Signal::TERM);
    let status = tokio::time::timeout(SOON, client.server.wait()).await.expect("it ends").unwrap();
    assert!(status.success(), "{status}");
    nothing_waits().await;
    let history = sayso.json(&["history"]).await.exits(0).values();
    assert!(history.iter().all(|entry| entry["outcome"] == "cancelled"), "{history:?}");
    assert_eq!(history.len(), 2);
    host.stop().await;
}

/// A client that writes lines as it likes.
struct Lines {
    _server: Child,
    input: ChildStdin,
    output: tokio::io::Lines<BufReader<ChildStdout>>,
}

impl Lines {
    async fn start(sayso: &Sayso) -> Self {
        let mut server = start(sayso, &[]);
        let input = server.stdin.take().unwrap();
        let output = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut lines = Self { _server: server, input, output };
        let client = json!({ "name": "raw", "version": "1" });
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        lines
            .write(
                &json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string(),
            )
            .await;
        assert_eq!(lines.answer(0).await["result"]["serverInfo"]["name"], "sayso");
        lines.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        lines
    }

    async fn write(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    /// The next answer to a message of this id; what else is said is passed over.
    async fn answer(&mut self, id: u32) -> Value {
        loop {
            let line = tokio::time::timeout(SOON, self.output.next_line()).await.expect("an answer");
            let line = line.unwrap().expect("it goes on");
            let message: Value = serde_json::from_str(&line).expect("nothing but messages");
            if message["id"] == id {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn an_mcp_server_survives_garbage_and_asks_nobody_for_it() {
    let (_root, sayso) = stage();
    let _host = sayso.serve();
    let mut client = Lines::start(&sayso).await;
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let call = |id: u32, name: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        )
    };
    for line in [
        "garbage",
        "\u{0}\u{1b}[2J",
        "{",
        "[]",
        "null",
        r#"{"jsonrpc":"1.0"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"approved":true}}"#,
        &deep,
        &call(2, "request_approval", &format!(r#"{{"prompt":"P","data":{deep}}}"#)),
    ] {
        client.write(line).await;
    }
    client.write(&call(3, "request_approval", &format!(r#"{{"prompt":"{}"}}"#, "x".repeat(2_000_000)))).await;
    let huge = client.answer(3).await;
    assert_eq!(huge["result"]["isError"], true, "{huge}");
    client.write(&call(4, "approve", "{}")).await;
    assert!(client.answer(4).await["error"]["message"].as_str().unwrap().contains("Unknown tool"));
    client.write(&call(5, "permission_prompt", "{}")).await;
    let denied = client.answer(5).await["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(denied.starts_with(r#"{"behavior":"deny""#), "{denied}");
    assert!(sayso.json(&["list"]).await.exits(0).values().is_empty());
    // Numbers are the client's own, digit for digit, all the way and back.
    let input = r#"{"n":9007199254740993,"z":1.10,"a":{"tiny":1e-7}}"#;
    client.write(&call(6, "permission_prompt", &format!(r#"{{"tool_name":"Odd","input":{input}}}"#))).await;
    let item = waiting(&sayso).await;
    assert_eq!(item["request"]["data"]["arguments"].to_string(), input);
    sayso.run(&["approve", item["key"].as_str().unwrap()]).await.exits(0);
    let allowed = client.answer(6).await["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(allowed, format!(r#"{{"behavior":"allow","updatedInput":{input}}}"#));
}

#[tokio::test]
async fn progress_reaches_a_client_that_asks_for_it() {
    let (_root, sayso) = stage();
    let _host = sayso.serve();
    let mut client = Lines::start(&sayso).await;
    let params = json!({
        "name": "request_approval", "arguments": { "prompt": "Deploy?" }, "_meta": { "progressToken": "p-1" },
    });
    client
        .write(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string())
        .await;
    let line = tokio::time::timeout(SOON, client.output.next_line()).await.unwrap().unwrap().unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(told["method"], "notifications/progress", "{told}");
    assert_eq!(told["params"]["progressToken"], "p-1");
    sayso.run(&["approve", &waiting_key(&sayso).await]).await.exits(0);
    assert_eq!(client.answer(1).await["result"]["structuredContent"]["approved"], true);
}

#[tokio::test]
async fn nothing_of_a_token_is_told_by_an_mcp_server_that_cannot_use_it() {
    let (root, sayso) = stage();
    let _host = sayso.serve();
    let file = root.path().join("token");
    std::fs::write(&file, "sayso_secretsecret").unwrap();
    let client = Client::start(&sayso, &["--token-file", file.to_str().unwrap()]).await;
    let refused = client.call("request_approval", json!({ "prompt": "Deploy?" })).await;
    assert_eq!(refused.is_error, Some(true));
    assert!(!format!("{refused:?}").contains("secretsecret"));
    std::fs::write(&file, "two words").unwrap();
    let mut server = start(&sayso, &["--token-file", file.to_str().unwrap()]);
    drop(server.stdin.take());
    let output =
        tokio::time::timeout(Duration::from_secs(60), server.wait_with_output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!String::from_utf8(output.stderr).unwrap().contains("two words"));
}

#[tokio::test]
async fn over_http_a_killed_host_asks_once_for_a_use_of_a_tool_and_its_clients_go_on() {
    let (_root, sayso) = stage();
    // Its own port, which it keeps when it is started again.
    let host = sayso.serve_with(&[]);
    let token = add_sender(&sayso, "coder").await;
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let config =
        StreamableHttpClientTransportConfig::with_uri(format!("{}/mcp", host.url)).auth_header(&token);
    let transport = StreamableHttpClientTransport::with_client(http.clone(), config);
    let client = ().serve(transport).await.unwrap();
    assert_eq!(client.list_all_tools().await.unwrap().len(), 4);
    let params = json!({ "name": "permission_prompt", "arguments": permission("t1") });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    let call = |url: &str| {
        let request = http.post(format!("{url}/mcp")).bearer_auth(&token).header("mcp-session-id", "s1");
        let request = request.header("accept", "application/json, text/event-stream");
        request.header("content-type", "application/json").body(message.clone()).send()
    };
    let cut = call(&host.url).await.unwrap();
    let key = waiting_key(&sayso).await;
    host.kill();
    assert!(!cut.text().await.unwrap_or_default().contains("behavior"));
    let host = sayso.serve_with(&[]);
    let again = call(&host.url).await.unwrap();
    assert_eq!(client.list_all_tools().await.unwrap().len(), 4, "a client goes on with the next host");
    assert_eq!(waiting_key(&sayso).await, key, "it is asked once");
    sayso.run(&["approve", &key]).await.exits(0);
    let said = tokio::time::timeout(SOON, again.text()).await.expect("an answer").unwrap();
    assert!(
        said.contains(r#"{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"make deploy\"}}"#),
        "{said}"
    );
    let history = sayso.json(&["history"]).await.exits(0).values();
    assert_eq!(history.len(), 1, "{history:?}");
}
