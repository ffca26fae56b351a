//! A scripted HTTP server, small enough to be sure of, and what most tests need around it.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part")]

mod check;
mod sse;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sayso_agent::{Endpoint, ModelOptions, Retry, Style};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

pub use check::assert_fit_to_send;
use check::results_in;

pub const KEY: &str = "sk-hunter2-very-secret";
pub const BOTH: [Style; 2] = [Style::OpenAi, Style::Anthropic];

/// Both styles, in one piece and in pieces.
pub const MODES: [(Style, bool); 4] =
    [(Style::OpenAi, false), (Style::OpenAi, true), (Style::Anthropic, false), (Style::Anthropic, true)];

/// What [`Reply::json`] sends as its header.
const JSON: &str = "content-type: application/json\r\n";

/// One request that the server got.
#[derive(Clone, Debug)]
pub struct Captured {
    pub path: String,
    pub headers: String,
    pub raw: String,
    pub json: Value,
}

/// What it answers.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A whole HTTP answer.
    Http { status: u16, headers: String, body: String },
    /// The connection ends at once.
    Dropped,
    /// The connection ends amid the body.
    Half(String),
    /// Nothing ever comes.
    Silence,
}

impl Reply {
    pub fn json(body: &Value) -> Self {
        Self::body(&body.to_string())
    }

    pub fn body(body: &str) -> Self {
        Self::Http { status: 200, headers: JSON.to_owned(), body: body.to_owned() }
    }

    pub fn status(status: u16, headers: &str, body: &str) -> Self {
        Self::Http { status, headers: headers.to_owned(), body: body.to_owned() }
    }

    /// Server-sent events.
    pub fn stream(events: &[String]) -> Self {
        Self::status(200, "content-type: text/event-stream; charset=utf-8\r\n", &events.concat())
    }

    /// An answer in JSON as it is when it was asked for in pieces.
    fn streamed(self, style: Style) -> Self {
        let Self::Http { status: 200, headers, body } = &self else { return self };
        match serde_json::from_str(body) {
            Ok(answer) if headers == JSON => Self::stream(&in_pieces(style, &answer)),
            Ok(_) | Err(_) => self,
        }
    }

    /// The model says this and is done.
    pub fn text(style: Style, text: &str) -> Self {
        Self::turn(style, text, &[])
    }

    /// The model asks for calls: id, name, arguments.
    pub fn calls(style: Style, calls: &[(&str, &str, &str)]) -> Self {
        Self::turn(style, "", calls)
    }

    /// Both.
    pub fn turn(style: Style, text: &str, calls: &[(&str, &str, &str)]) -> Self {
        Self::json(&turn(style, text, calls))
    }
}

/// An answer in the provider's shape.
pub fn turn(style: Style, text: &str, calls: &[(&str, &str, &str)]) -> Value {
    match style {
        Style::OpenAi => openai(text, calls),
        Style::Anthropic => anthropic(text, calls),
    }
}

fn openai(text: &str, calls: &[(&str, &str, &str)]) -> Value {
    let mut message =
        json!({ "role": "assistant", "content": if text.is_empty() { Value::Null } else { text.into() } });
    if !calls.is_empty() {
        message["tool_calls"] = calls
            .iter()
            .map(|(id, name, arguments)| {
                json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } })
            })
            .collect();
    }
    json!({ "choices": [{ "message": message, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 } })
}

fn anthropic(text: &str, calls: &[(&str, &str, &str)]) -> Value {
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    for (id, name, arguments) in calls {
        let input: Value = serde_json::from_str(arguments).unwrap();
        content.push(json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
    }
    json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": "end_turn", "usage": { "input_tokens": 10, "output_tokens": 5 } })
}

/// The events of an answer in one piece, each with the blank line that ends it.
pub fn in_pieces(style: Style, answer: &Value) -> Vec<String> {
    match style {
        Style::OpenAi => sse::openai(answer),
        Style::Anthropic => sse::anthropic(answer),
    }
}

type Script = dyn FnMut(usize, &Captured) -> Reply + Send;

/// The running server; it ends when dropped.
pub struct Server {
    pub base: String,
    style: Style,
    captured: Arc<Mutex<Vec<Captured>>>,
    _tasks: JoinSet<()>,
}

impl Server {
    /// Answers with these, one after the other; one too many gets a 400, which nobody tries again.
    pub async fn replies(style: Style, replies: Vec<Reply>) -> Self {
        Self::script(style, move |index, _| {
            replies.get(index).cloned().unwrap_or_else(|| Reply::status(400, "", "one request too many"))
        })
        .await
    }

    /// Answers by what is asked; the number counts from 0.
    pub async fn script(
        style: Style,
        script: impl FnMut(usize, &Captured) -> Reply + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let captured: Arc<Mutex<Vec<Captured>>> = Arc::default();
        let (script, kept): (Arc<Mutex<Box<Script>>>, _) =
            (Arc::new(Mutex::new(Box::new(script))), Arc::clone(&captured));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                connections.spawn(serve(style, connection, Arc::clone(&script), Arc::clone(&kept)));
            }
        });
        Self { base, style, captured, _tasks: tasks }
    }

    pub fn endpoint(&self) -> Endpoint {
        let base_url = match self.style {
            Style::OpenAi => format!("{}/v1", self.base),
            Style::Anthropic => self.base.clone(),
        };
        Endpoint {
            base_url,
            style: self.style,
            model: "test-model".to_owned(),
            key: Some(KEY.to_owned().into()),
        }
    }

    pub fn captured(&self) -> Vec<Captured> {
        self.captured.lock().unwrap().clone()
    }

    /// All bodies so far, after a check of each.
    pub fn bodies(&self) -> Vec<String> {
        let captured = self.captured();
        captured.iter().for_each(assert_fit_to_send);
        captured.into_iter().map(|captured| captured.raw).collect()
    }

    /// What the model was given as the results of its calls in its last request: id, content, whether an error.
    pub fn last_results(&self) -> Vec<(String, String, Option<bool>)> {
        self.bodies();
        let last = self.captured().last().expect("a request").json.clone();
        let mut results = Vec::new();
        for message in last["messages"].as_array().unwrap() {
            results.extend(results_in(message));
        }
        results
    }
}

impl Drop for Server {
    /// Every request that a model got is checked, in every test.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.captured().iter().for_each(assert_fit_to_send);
        }
    }
}

async fn serve(
    style: Style,
    mut connection: TcpStream,
    script: Arc<Mutex<Box<Script>>>,
    kept: Arc<Mutex<Vec<Captured>>>,
) {
    let Some(captured) = read(&mut connection).await else { return };
    let streams = captured.json["stream"] == true;
    let reply = {
        let mut kept = kept.lock().unwrap();
        let reply = script.lock().unwrap()(kept.len(), &captured);
        kept.push(captured);
        reply
    };
    let answer = match if streams { reply.streamed(style) } else { reply } {
        Reply::Http { status, headers, body } => format!(
            "HTTP/1.1 {status} Scripted\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        ),
        Reply::Half(body) => format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            if body.starts_with('{') { "application/json" } else { "text/event-stream" },
            body.len() + 100
        ),
        Reply::Dropped => return,
        Reply::Silence => {
            std::future::pending::<()>().await;
            return;
        }
    };
    let _ = connection.write_all(answer.as_bytes()).await;
    let _ = connection.shutdown().await;
}

async fn read(connection: &mut TcpStream) -> Option<Captured> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        match connection.read(&mut buffer).await {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            Ok(0) | Err(_) => return None,
        }
    };
    let headers = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let length = headers.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    while bytes.len() < head_end + length.unwrap_or_default() {
        match connection.read(&mut buffer).await {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            Ok(0) | Err(_) => return None,
        }
    }
    let raw = String::from_utf8_lossy(&bytes[head_end..]).into_owned();
    let path = headers.split(' ').nth(1).unwrap_or_default().to_owned();
    Some(Captured { path, headers, json: serde_json::from_str(&raw).unwrap_or_default(), raw })
}

/// Limits under which a test that fails does so soon.
pub fn quick() -> ModelOptions {
    ModelOptions {
        connect_timeout: Duration::from_secs(5),
        timeout: Duration::from_secs(5),
        retry: Retry {
            attempts: 3,
            first_pause: Duration::from_millis(5),
            longest_pause: Duration::from_millis(20),
            budget: Duration::from_secs(5),
        },
        ..ModelOptions::default()
    }
}

/// The same, with answers in pieces or in one.
pub fn streaming(stream: bool) -> ModelOptions {
    ModelOptions { stream, ..quick() }
}

/// Looks until something holds; ten seconds at most.
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) -> impl Future<Output = ()> {
    let (what, started) = (what.to_owned(), Instant::now());
    async move {
        while !holds() {
            assert!(started.elapsed() < Duration::from_secs(10), "waited in vain: {what}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
