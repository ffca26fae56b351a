//! Models over HTTP, in both styles.

mod anthropic;
mod anthropic_stream;
mod body;
mod clients;
mod endpoint;
mod http;
mod model_error;
mod openai;
mod openai_stream;
mod reply;
mod sse;
mod stream;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use stream::{Answer, Listener};

pub use endpoint::{Endpoint, ModelOptions, Retry, Style};
pub use model_error::{ModelError, Said, Wait};
pub use reply::{CallResult, Entry, ModelCall, Reply, message_text};
pub use stream::Delta;

use crate::ToolSpec;

/// Asks for the answer in pieces.
const STREAM: &str = "stream";
/// Asks an OpenAI-style server to count the tokens of a stream.
const USAGE_OPTION: &str = "stream_options";

/// A model that can be asked. Cheap to clone; connections are kept and shared.
#[derive(Clone)]
pub struct Model {
    shared: Arc<Shared>,
}

struct Shared {
    endpoint: Endpoint,
    options: ModelOptions,
    client: OnceLock<Result<reqwest::Client, ModelError>>,
    /// Whether the server said that it cannot stream, so that it is not asked to again.
    refuses_streams: AtomicBool,
}

impl Model {
    /// A model at an endpoint. Nothing is checked or connected yet.
    pub fn new(endpoint: Endpoint, options: ModelOptions) -> Self {
        Self::with(endpoint, options, OnceLock::new())
    }

    /// A model that cannot be asked, because of its set-up, and says so when it is.
    pub fn unavailable(problem: impl Into<String>) -> Self {
        let endpoint = Endpoint {
            base_url: "http://localhost".to_owned(),
            style: Style::OpenAi,
            model: String::new(),
            key: None,
        };
        let client = OnceLock::from(Err(ModelError::SetUp(problem.into())));
        Self::with(endpoint, ModelOptions::default(), client)
    }

    fn with(
        endpoint: Endpoint,
        options: ModelOptions,
        client: OnceLock<Result<reqwest::Client, ModelError>>,
    ) -> Self {
        let refuses_streams = AtomicBool::new(false);
        Self { shared: Arc::new(Shared { endpoint, options, client, refuses_streams }) }
    }

    /// Where it is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.shared.endpoint
    }

    /// Asks for the next turn. Statuses 408, 429 and 5xx and broken connections are tried again (contract 24); tools are
    /// not run by it, so none runs twice.
    pub async fn complete(
        &self,
        system: Option<&str>,
        transcript: &[Entry],
        tools: &[ToolSpec],
    ) -> Result<Reply, ModelError> {
        self.complete_shown(system, transcript, tools, &|_| {}).await
    }

    /// Asks for the next turn, and shows the text as it comes: in pieces where
    /// [`stream`](ModelOptions::stream) is on and the server can, else whole. A stream that breaks midway is asked for again
    /// like any broken connection, or is an error: half an answer is none.
    pub async fn complete_shown(
        &self,
        system: Option<&str>,
        transcript: &[Entry],
        tools: &[ToolSpec],
        show: &(dyn Fn(Delta<'_>) + Send + Sync),
    ) -> Result<Reply, ModelError> {
        let Endpoint { style, model, .. } = self.endpoint();
        let ModelOptions { max_tokens, stream, .. } = *self.options();
        let stream = stream && !self.shared.refuses_streams.load(Ordering::Relaxed);
        let mut body = match style {
            Style::OpenAi => openai::body(model, max_tokens, system, transcript, tools),
            Style::Anthropic => anthropic::body(model, max_tokens, system, transcript, tools),
        };
        if stream {
            body.head[STREAM] = true.into();
            if *style == Style::OpenAi {
                body.head[USAGE_OPTION] = json!({ "include_usage": true });
            }
        }
        let listener = Listener::new(show);
        let heard = Some(&listener).filter(|_| stream);
        let mut answer = self.answer(body.to_string(), heard).await;
        if stream && answer.as_ref().is_err_and(|error| error.is_about(USAGE_OPTION)) {
            // Some servers refuse what they don't know; then there is no count of tokens.
            body.head.as_object_mut().and_then(|fields| fields.shift_remove(USAGE_OPTION));
            answer = self.answer(body.to_string(), heard).await;
        }
        if stream && answer.as_ref().is_err_and(|error| error.is_about(STREAM)) {
            if let Some(fields) = body.head.as_object_mut() {
                fields.shift_remove(USAGE_OPTION);
                fields.insert(STREAM.to_owned(), false.into());
            }
            answer = self.answer(body.to_string(), None).await;
            self.shared.refuses_streams.store(answer.is_ok(), Ordering::Relaxed);
        }
        match answer? {
            Answer::Assembled(assembled) => {
                let mut reply = self.reply(&assembled.answer)?;
                for (call, text) in reply.calls.iter_mut().zip(assembled.arguments) {
                    call.arguments = text.unwrap_or_else(|| std::mem::take(&mut call.arguments));
                }
                Ok(reply)
            }
            Answer::Whole(answer) => {
                let reply = self.read(&answer)?;
                listener.text(&reply.text);
                Ok(reply)
            }
        }
    }

    fn options(&self) -> &ModelOptions {
        &self.shared.options
    }

    fn read(&self, answer: &[u8]) -> Result<Reply, ModelError> {
        let url = || self.endpoint().shown_url();
        let text = answer.trim_ascii();
        if text.is_empty() {
            return Err(ModelError::Empty { url: url() });
        }
        if text.starts_with(b"<") {
            return Err(ModelError::Html { url: url() });
        }
        let value: Value = serde_json::from_slice(text)
            .map_err(|error| ModelError::BrokenJson { url: url(), why: error.to_string() })?;
        self.reply(&value)
    }

    fn reply(&self, answer: &Value) -> Result<Reply, ModelError> {
        let reply = match self.endpoint().style {
            Style::OpenAi => openai::reply(answer),
            Style::Anthropic => anthropic::reply(answer),
        };
        let url = || self.endpoint().shown_url();
        reply.ok_or_else(|| ModelError::NoMessage { url: url(), said: self.said(answer) })
    }

    /// What a provider says of a failure: `error.message`, `error` or `message`, whichever is there; cut, on one line,
    /// and without the key should it be echoed.
    fn said(&self, answer: &Value) -> Said {
        let error = answer.get("error").unwrap_or(answer);
        let text = error.get("message").and_then(Value::as_str).or_else(|| error.as_str());
        Said(text.map(|text| self.harmless(text)).filter(|text| !text.is_empty()))
    }

    fn harmless(&self, text: &str) -> String {
        let key = self.endpoint().key.as_ref().map(|key| key.expose_secret()).filter(|key| !key.is_empty());
        let text = key.map_or_else(|| text.to_owned(), |key| text.replace(key, "[key]"));
        sayso_domain::text::visible_line(&sayso_domain::text::cut(text.trim(), 300))
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("endpoint", self.endpoint()).finish()
    }
}
