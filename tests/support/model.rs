//! A model over real HTTP that says what a test wrote down, in pieces where it is asked to stream, and keeps every request
//! it got.

use crate::gate::Gate;
use crate::{sse, transcript, wait, wait_until};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::DefaultBodyLimit;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;

/// The protocol a model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `POST {base}/chat/completions`
    OpenAi,
    /// `POST {base}/v1/messages`
    Anthropic,
}

/// A call the model asks for.
#[derive(Clone, Debug)]
pub struct Call {
    /// The provider's id of the call.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the text that goes on the wire.
    pub arguments: String,
}

/// A call of `name` with `arguments`, with `id` as the provider's id.
pub fn call(id: &str, name: &str, arguments: &Value) -> Call {
    Call { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_string() }
}

/// One answer of the model.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A turn in the server's style.
    Turn {
        /// What it says, if anything.
        text: Option<String>,
        /// The calls it asks for, in order.
        calls: Vec<Call>,
    },
    /// Exactly this status, content type and body.
    Raw {
        /// The HTTP status.
        status: u16,
        /// Extra headers, `content-type` among them.
        headers: Vec<(&'static str, String)>,
        /// The body.
        body: String,
    },
    /// The same in one piece, even where a stream is asked for.
    Whole(Box<Reply>),
    /// A turn that stands still until the gate is opened, once it has said this much of its text or arguments. Where no
    /// stream is asked for, all of it waits.
    Held {
        /// The turn.
        turn: Box<Reply>,
        /// What it has said by then.
        said: String,
        /// What it waits for.
        gate: Gate,
    },
    /// A turn whose connection breaks once it has said this much of its text or arguments.
    Broken {
        /// The turn.
        turn: Box<Reply>,
        /// What it has said by then.
        said: String,
    },
    /// The connection is dropped with no answer.
    Dropped,
    /// The answer comes this much later.
    Late(Duration, Box<Reply>),
}

impl Reply {
    /// The model says `text` and is done.
    pub fn text(text: &str) -> Self {
        Self::Turn { text: Some(text.to_owned()), calls: Vec::new() }
    }

    /// The model says `text` and asks for `calls`.
    pub fn turn(text: &str, calls: impl IntoIterator<Item = Call>) -> Self {
        Self::Turn { text: Some(text.to_owned()), calls: calls.into_iter().collect() }
    }

    /// The model asks for `calls`.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self::Turn { text: None, calls: calls.into_iter().collect() }
    }

    /// Exactly this JSON text, whatever it is, with status 200.
    pub fn body(body: &str) -> Self {
        let headers = vec![("content-type", "application/json".to_owned())];
        Self::Raw { status: 200, headers, body: body.to_owned() }
    }

    /// A page, as a proxy or a wrong address answers.
    pub fn html(body: &str) -> Self {
        let headers = vec![("content-type", "text/html".to_owned())];
        Self::Raw { status: 200, headers, body: body.to_owned() }
    }

    /// A failure with this status.
    pub fn status(status: u16) -> Self {
        let body = json!({ "error": { "message": format!("scripted {status}") } }).to_string();
        Self::Raw { status, headers: vec![("content-type", "application/json".to_owned())], body }
    }

    /// The same turn, which stands still after `said` until the gate is opened.
    #[must_use]
    pub fn held_after(self, said: &str, gate: &Gate) -> Self {
        Self::Held { turn: Box::new(self), said: said.to_owned(), gate: gate.clone() }
    }

    /// The same turn, broken off after `said`.
    #[must_use]
    pub fn broken_after(self, said: &str) -> Self {
        Self::Broken { turn: Box::new(self), said: said.to_owned() }
    }

    /// The same turn in one piece, whatever is asked for.
    #[must_use]
    pub fn whole(self) -> Self {
        Self::Whole(Box::new(self))
    }

    /// The same answer, `delay` later.
    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self::Late(delay, Box::new(self))
    }
}

/// One request the model got.
#[derive(Clone, Debug)]
pub struct Captured {
    /// Path and query.
    pub path: String,
    /// All headers.
    pub headers: HeaderMap,
    /// The body as it came.
    pub raw: String,
    /// The body parsed; null when it is not JSON.
    pub json: Value,
}

type Script = Box<dyn FnMut(&Captured) -> Option<Reply> + Send>;

struct Shared {
    style: Style,
    captured: Mutex<Vec<Captured>>,
    queue: Mutex<VecDeque<Reply>>,
    script: Mutex<Script>,
}

/// The running server. It stops when dropped.
pub struct ScriptedModel {
    address: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

impl ScriptedModel {
    /// Serves `replies` one after the other. A request too many is answered with status 400, which no client retries.
    pub async fn start(style: Style, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::serve(style, replies.into_iter().collect(), Box::new(|_| None)).await
    }

    /// Decides each answer by what is asked: the way to be right however often a killed host asks again.
    pub async fn answering(
        style: Style,
        mut script: impl FnMut(&Captured) -> Reply + Send + 'static,
    ) -> Self {
        Self::serve(style, VecDeque::new(), Box::new(move |captured| Some(script(captured)))).await
    }

    async fn serve(style: Style, queue: VecDeque<Reply>, script: Script) -> Self {
        let shared = Arc::new(Shared {
            style,
            captured: Mutex::default(),
            queue: Mutex::new(queue),
            script: Mutex::new(script),
        });
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("its address"));
        let router =
            Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(Arc::clone(&shared));
        #[expect(clippy::disallowed_methods, reason = "the handle is kept and aborted on drop")]
        let server = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("the model serves");
        });
        Self { address, shared, server }
    }

    /// What an agent's setup calls `base_url`: with `/v1` for OpenAI style, without it for Anthropic style.
    pub fn base_url(&self) -> String {
        match self.shared.style {
            Style::OpenAi => format!("{}/v1", self.address),
            Style::Anthropic => self.address.clone(),
        }
    }

    /// Adds a reply to the end of the queue.
    pub fn push(&self, reply: Reply) {
        lock(&self.shared.queue).push_back(reply);
    }

    /// Every request so far, in order.
    pub fn captured(&self) -> Vec<Captured> {
        lock(&self.shared.captured).clone()
    }

    /// The text of every body so far, for asserting what never leaves.
    pub fn bodies(&self) -> Vec<String> {
        self.captured().into_iter().map(|captured| captured.raw).collect()
    }

    /// Waits until at least `count` requests came.
    pub async fn wait_requests(&self, count: usize) {
        let what = format!("the model is asked {count} times");
        wait_until(&what, wait::SOON, async || lock(&self.shared.captured).len() >= count).await;
    }

    /// Asserts that in every request so far each call has exactly one result, in order.
    #[track_caller]
    pub fn assert_balanced(&self) {
        transcript::assert_balanced(&self.captured());
    }

    /// Asserts the same, and that nothing unfinished and none of these words of a person ever went out.
    #[track_caller]
    pub fn assert_fit_to_send(&self, words: &[&str]) {
        transcript::assert_fit_to_send(&self.captured(), words);
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let raw = String::from_utf8_lossy(&body).into_owned();
    let json = serde_json::from_str(&raw).unwrap_or(Value::Null);
    let streams = json["stream"] == true;
    let captured = Captured { path: uri.to_string(), headers, raw, json };
    let queued = lock(&shared.queue).pop_front();
    let reply = queued.or_else(|| lock(&shared.script)(&captured));
    let turn = {
        let mut all = lock(&shared.captured);
        all.push(captured);
        all.len()
    };
    let reply = reply.unwrap_or_else(|| Reply::status(400));
    Answer { style: shared.style, turn, streams, stands_still: None, breaks: None }.of(reply).await
}

/// How a reply is sent.
struct Answer {
    style: Style,
    turn: usize,
    streams: bool,
    stands_still: Option<(String, Gate)>,
    breaks: Option<String>,
}

impl Answer {
    async fn of(mut self, mut reply: Reply) -> Response {
        loop {
            reply = match reply {
                Reply::Late(delay, later) => {
                    tokio::time::sleep(delay).await;
                    *later
                }
                Reply::Whole(turn) => {
                    self.streams = false;
                    *turn
                }
                Reply::Held { turn, said, gate } => {
                    self.stands_still = Some((said, gate));
                    *turn
                }
                Reply::Broken { turn, said } => {
                    self.breaks = Some(said);
                    *turn
                }
                Reply::Turn { text, calls } => return self.send(text.as_deref(), &calls).await,
                Reply::Raw { status, headers, body } => {
                    let mut response = Response::new(Body::from(body));
                    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
                    for (name, value) in headers {
                        response.headers_mut().insert(name, value.parse().expect("a header's value"));
                    }
                    return response;
                }
                Reply::Dropped => drop_connection(),
            }
        }
    }

    async fn send(self, text: Option<&str>, calls: &[Call]) -> Response {
        let turn = match self.style {
            Style::OpenAi => openai(self.turn, text, calls),
            Style::Anthropic => anthropic(self.turn, text, calls),
        };
        if !self.streams {
            if let Some((_, gate)) = &self.stands_still {
                gate.passed().await;
            }
            if self.breaks.is_some() {
                drop_connection();
            }
            return ([("content-type", "application/json")], turn.to_string()).into_response();
        }
        let events = match self.style {
            Style::OpenAi => sse::openai(&turn),
            Style::Anthropic => sse::anthropic(&turn),
        };
        let still = self.stands_still.map(|(said, gate)| (after(&events, &said), gate));
        let end = self.breaks.map(|said| after(&events, &said));
        let pieces = stream::unfold((events, still, 0), move |(events, still, at)| async move {
            if end == Some(at) {
                let broken = std::io::Error::other("broken off on purpose");
                return Some((Err(broken), (Vec::new(), None, usize::MAX)));
            }
            let event = events.get(at)?.clone();
            if let Some((_, gate)) = still.as_ref().filter(|(after, _)| *after == at) {
                gate.passed().await;
            }
            Some((Ok(event), (events, still, at + 1)))
        });
        ([("content-type", "text/event-stream")], Body::from_stream(pieces)).into_response()
    }
}

/// How many events it takes to say this.
fn after(events: &[String], said: &str) -> usize {
    let mut all = String::new();
    for (at, event) in events.iter().enumerate() {
        all += &piece(event);
        if all.contains(said) {
            return at + 1;
        }
    }
    panic!("the turn never says {said:?}, but {all:?}");
}

/// What an event adds to the text or to a call's arguments.
fn piece(event: &str) -> String {
    let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or_default();
    let value: Value = serde_json::from_str(data).unwrap_or_default();
    let openai = &value["choices"][0]["delta"];
    let places = [
        &openai["content"],
        &openai["tool_calls"][0]["function"]["arguments"],
        &value["delta"]["text"],
        &value["delta"]["partial_json"],
    ];
    places.into_iter().filter_map(Value::as_str).collect()
}

/// Unwinding ends the connection's task, and with it the connection, before a byte was answered.
fn drop_connection() -> ! {
    std::panic::resume_unwind(Box::new("connection dropped on purpose"))
}

fn openai(turn: usize, text: Option<&str>, calls: &[Call]) -> Value {
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        let calls = calls.iter().map(|call| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        });
        message["tool_calls"] = calls.collect();
    }
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    json!({
        "id": format!("chatcmpl-{turn}"),
        "object": "chat.completion",
        "model": "scripted",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    })
}

fn anthropic(turn: usize, text: Option<&str>, calls: &[Call]) -> Value {
    let mut blocks: Vec<Value> =
        text.map(|text| json!({ "type": "text", "text": text })).into_iter().collect();
    blocks.extend(calls.iter().map(|call| {
        let input: Value = serde_json::from_str(&call.arguments).expect("arguments in this style are JSON");
        json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
    }));
    json!({
        "id": format!("msg_{turn}"),
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": blocks,
        "stop_reason": if calls.is_empty() { "end_turn" } else { "tool_use" },
        "usage": { "input_tokens": 10, "output_tokens": 5 },
    })
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
