use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use serde_json::json;
use tokio::task::JoinSet;

type Script = dyn Fn(usize, &[u8]) -> String + Send + Sync;

/// A model over real HTTP that answers by a script, at once, and the client of the floor, which talks to it bare.
pub(crate) struct Model {
    pub(crate) base_url: String,
    client: reqwest::Client,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

struct Shared {
    script: Box<Script>,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    count: usize,
    /// Kept only while somebody records.
    asked: Option<Vec<(Instant, Bytes)>>,
}

impl Model {
    /// The script is given how many requests came before, and the body.
    pub(crate) async fn start(script: impl Fn(usize, &[u8]) -> String + Send + Sync + 'static) -> Self {
        let shared = Arc::new(Shared { script: Box::new(script), seen: Mutex::default() });
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let app =
            Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(Arc::clone(&shared));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, app).await.unwrap() });
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().unwrap();
        Self { base_url, client, shared, _serving: serving }
    }

    /// From now on, what is asked is kept, with the moment at which it was there as a whole.
    pub(crate) fn record(&self) {
        *self.shared.seen.lock().unwrap() = Seen { count: 0, asked: Some(Vec::new()) };
    }

    /// What was asked since; no more is kept.
    pub(crate) fn recorded(&self) -> Vec<(Instant, Bytes)> {
        self.shared.seen.lock().unwrap().asked.take().unwrap_or_default()
    }

    /// One bare round trip.
    pub(crate) async fn post(&self, body: impl Into<reqwest::Body>) {
        let url = format!("{}/chat/completions", self.base_url);
        let request = self.client.post(url).header("content-type", "application/json").body(body);
        request.send().await.unwrap().error_for_status().unwrap().bytes().await.unwrap();
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    body: Bytes,
) -> ([(&'static str, &'static str); 1], String) {
    let before = {
        let mut seen = shared.seen.lock().unwrap();
        seen.count += 1;
        if let Some(asked) = &mut seen.asked {
            asked.push((Instant::now(), body.clone()));
        }
        seen.count - 1
    };
    ([("content-type", "application/json")], (shared.script)(before, &body))
}

/// An answer that calls a tool.
pub(crate) fn calls(id: &str, tool: &str, arguments: &str) -> String {
    let function = json!({ "name": tool, "arguments": arguments });
    let call = json!({ "id": id, "type": "function", "function": function });
    reply(json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
}

/// An answer that ends the run.
pub(crate) fn says(text: &str) -> String {
    reply(json!({ "role": "assistant", "content": text }), "stop")
}

fn reply(message: serde_json::Value, finish: &str) -> String {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "scripted",
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": { "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15 },
    })
    .to_string()
}

/// Whether a result of a call is in a request.
pub(crate) fn has_result(body: &[u8]) -> bool {
    let mark = br#""role":"tool""#;
    body.windows(mark.len()).any(|bytes| bytes == mark)
}
