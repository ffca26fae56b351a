//! MCP servers at an address: streamable HTTP, as JSON.

use std::io::{BufReader, Empty, Sink};
use std::sync::{Arc, Mutex};

use sayso_agent::{Client, McpConfig, McpServers, McpSetup, Style, Toolkit};
use sayso_domain::{Answer, Policy};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::mcp_server::McpServer;
use crate::support::{Reply, Server, quick};

/// A server at a port; what it got of headers; it ends when dropped.
struct Web {
    url: String,
    heads: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

impl Web {
    /// A status other than 200 is all that it answers.
    async fn serve(like: &'static str, status: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&heads);
        let server =
            Arc::new(Mutex::new(McpServer::new(BufReader::new(std::io::empty()), std::io::sink(), like)));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                connections.spawn(one(connection, Arc::clone(&server), Arc::clone(&kept), status));
            }
        });
        Self { url, heads, _tasks: tasks }
    }
}

async fn one(
    mut connection: TcpStream,
    server: Arc<Mutex<McpServer<BufReader<Empty>, Sink>>>,
    heads: Arc<Mutex<Vec<String>>>,
    status: u16,
) {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let (head, message) = loop {
        let Ok(count @ 1..) = connection.read(&mut buffer).await else { return };
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.to_ascii_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length:").map(|length| length.trim().parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or_default() {
            break (head.to_owned(), serde_json::from_str::<Value>(body).unwrap_or_default());
        }
    };
    let is_post = head.starts_with("POST");
    heads.lock().unwrap().push(head);
    let answer = match is_post {
        true if status == 200 => server.lock().unwrap().answer(&message),
        true | false => None,
    };
    let (status, body) = match answer {
        Some(answer) => (200, answer.to_string()),
        None if !is_post => (405, String::new()),
        None if status == 200 => (202, String::new()),
        None => (status, "go away".to_owned()),
    };
    let location = if status == 307 { "location: http://127.0.0.1:1/\r\n" } else { "" };
    let answer = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{location}content-length: {}\r\nconnection: \
         close\r\n\r\n{body}",
        body.len()
    );
    let _ = connection.write_all(answer.as_bytes()).await;
}

fn config(web: &Web) -> McpConfig {
    let headers = json!({ "Authorization": "Bearer ${TOKEN}", "X-Plain": "${ABSENT:-plain}" });
    McpConfig::parse(&json!({ "t": { "type": "http", "url": web.url, "headers": headers } })).unwrap()
}

fn setup() -> McpSetup {
    let variable = Arc::new(|name: &str| (name == "TOKEN").then(|| "hunter2-token".to_owned()));
    McpSetup { variable, ..McpSetup::default() }
}

#[tokio::test]
async fn headers_are_expanded_and_sent_and_a_person_is_asked_over_http_too() {
    for (like, tool, expected) in [
        ("old", "t_echo", r#"{"mode":"form"}"#),
        ("new", "t_ask", r#"{"response":{"action":"accept","content":{"name":"Ada"}},"state":"state-1"}"#),
    ] {
        let web = Web::serve(like, 200).await;
        let call = Reply::calls(Style::OpenAi, &[("c", tool, r#"{"mode":"form"}"#)]);
        let model = Server::replies(Style::OpenAi, vec![call, Reply::text(Style::OpenAi, "end")]).await;
        let client = Client::new(model.endpoint()).options(quick()).policy(tool, Policy::Allow);
        let client = client.wait_for(async |request: sayso_domain::Request| {
            Ok::<_, std::io::Error>(Answer::ok_with(request.id, json!({ "name": "Ada" })))
        });
        let servers = client.connect(&config(&web), setup()).await;
        assert_eq!(servers.reports()[0].problem, None, "{like}");
        client.run("go", &servers.add_to(Toolkit::new())).await;
        assert_eq!(model.last_results()[0].1, expected, "{like}");
        servers.close().await;
        let heads = web.heads.lock().unwrap();
        assert!(heads.iter().all(|head| head.to_lowercase().contains("authorization: bearer hunter2-token")));
        assert!(heads.iter().all(|head| head.to_lowercase().contains("x-plain: plain")));
        assert!(model.captured().iter().all(|captured| !captured.raw.contains("hunter2")));
    }
}

#[tokio::test]
async fn a_refusal_or_a_redirect_is_a_reason_without_the_key() {
    for status in [401, 403, 404, 500, 307] {
        let web = Web::serve("old", status).await;
        let servers = McpServers::connect(&config(&web), &setup()).await;
        let problem = servers.reports()[0].problem.clone().unwrap();
        assert!(problem.contains("could not be reached"), "{status}: {problem}");
        assert!(!problem.contains("hunter2"), "{status}: {problem}");
        println!("{status}: {problem}");
    }
}

#[test]
fn what_is_wrong_with_an_entry_is_said_without_its_values() {
    for (entry, expected) in [
        (json!([]), "must be an object"),
        (json!({}), "`command`"),
        (json!({ "command": "x", "url": "https://example.org" }), "`command`"),
        (json!({ "command": ["x"] }), "`command` must be a text"),
        (json!({ "command": "x", "args": "y" }), "`args`"),
        (json!({ "command": "x", "env": { "KEY": ["hunter2"] } }), "`env.KEY`"),
        (json!({ "url": "hunter2" }), "`url`"),
        (json!({ "url": "https://you:hunter2@example.org" }), "`url`"),
        (json!({ "type": "sse", "url": "https://example.org" }), "sse"),
        (json!({ "type": "carrier pigeon", "url": "https://example.org" }), "`type`"),
        (json!({ "command": "x", "disabled": "no" }), "`disabled`"),
    ] {
        let error = McpConfig::parse(&json!({ "t": entry })).unwrap_err();
        assert!(error.contains(expected) && error.contains("mcpServers.t"), "{entry}: {error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    for entry in [
        json!({ "command": "npx", "args": ["-y", "x"], "env": { "N": 1 }, "cwd": null, "autoApprove": ["all"] }),
        json!({ "type": "stdio", "command": "x" }),
        json!({ "type": "streamable-http", "url": "${ADDRESS}/mcp" }),
    ] {
        assert!(McpConfig::parse(&json!({ "t": entry })).is_ok(), "{entry}");
    }
}

#[test]
fn a_yes_to_a_command_holds_for_that_command_alone() {
    let fingerprint = |entry: Value, folder: &str| {
        let config = McpConfig::parse(&json!({ "t": entry })).unwrap();
        config.servers()[0].fingerprint(Some(folder.as_ref()))
    };
    let entry = json!({ "command": "npx", "args": ["x"], "env": { "KEY": "${TOKEN}" } });
    let first = fingerprint(entry.clone(), "/a");
    assert_eq!(first, fingerprint(entry.clone(), "/a"));
    let mut seen = vec![first, fingerprint(entry.clone(), "/b")];
    for (key, value) in [
        ("command", json!("npm")),
        ("args", json!(["x", "y"])),
        ("args", json!(["y"])),
        ("env", json!({ "KEY": "${OTHER}" })),
        ("env", json!({})),
        ("cwd", json!("/c")),
    ] {
        let mut changed = entry.clone();
        changed[key] = value;
        seen.push(fingerprint(changed, "/a"));
    }
    let count = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), count);
    assert_eq!(fingerprint(json!({ "url": "https://example.org" }), "/a"), None, "an address starts nothing");
}

#[test]
fn a_command_is_shown_on_one_line() {
    let line = |args: Value| {
        let config = McpConfig::parse(&json!({ "t": { "command": "sh", "args": args } })).unwrap();
        config.servers()[0].command_line().unwrap()
    };
    assert_eq!(line(json!(["-c", "echo it's"])), r"sh -c 'echo it'\''s'");
    assert_eq!(line(json!(["-c", "true\n\trm it's \\ \u{1b}"])), r"sh -c $'true\n\trm it\'s \\ \u001b'");
}
