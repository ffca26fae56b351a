//! Answers that come in pieces, as server-sent events. A stream that ends early is a broken connection: what came of it is
//! never taken for an answer.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::http::Failure;
use super::sse::Events;
use super::{Model, ModelError, Style, anthropic_stream, openai_stream};

/// What a model is heard to say before its answer is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// The next piece of its text.
    Text(&'a str),
    /// The answer broke off and is asked for again: the pieces so far no longer count.
    Restarted,
}

/// Who hears it.
pub(super) struct Listener<'a> {
    heard: &'a (dyn Fn(Delta<'_>) + Send + Sync),
    /// Whether something was said that a new attempt would say again.
    said: AtomicBool,
}

impl<'a> Listener<'a> {
    pub(super) fn new(heard: &'a (dyn Fn(Delta<'_>) + Send + Sync)) -> Self {
        Self { heard, said: AtomicBool::new(false) }
    }

    pub(super) fn text(&self, text: &str) {
        if !text.is_empty() {
            self.said.store(true, Ordering::Relaxed);
            (self.heard)(Delta::Text(text));
        }
    }

    pub(super) fn restart(&self) {
        if self.said.swap(false, Ordering::Relaxed) {
            (self.heard)(Delta::Restarted);
        }
    }
}

/// What a model answered.
pub(super) enum Answer {
    /// In one piece.
    Whole(Vec<u8>),
    /// In pieces, put together to what it would have been in one.
    Assembled(Assembled),
}

#[derive(Debug, PartialEq)]
pub(super) struct Assembled {
    /// The provider's own shape.
    pub(super) answer: Value,
    /// Per call, the exact text of its arguments, where the answer's shape cannot hold it.
    pub(super) arguments: Vec<Option<String>>,
}

/// Why an event cannot be taken.
#[derive(Debug)]
pub(super) enum Fault {
    /// The provider says that it failed.
    Failed(Value),
    /// It does not fit what came before.
    OutOfPlace(&'static str),
}

/// What an event brought.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A piece of the text, or none.
    Text(String),
    /// The end.
    End,
}

enum Assembly {
    OpenAi(openai_stream::Assembly),
    Anthropic(anthropic_stream::Assembly),
}

impl Assembly {
    fn of(style: Style) -> Self {
        match style {
            Style::OpenAi => Self::OpenAi(openai_stream::Assembly::default()),
            Style::Anthropic => Self::Anthropic(anthropic_stream::Assembly::default()),
        }
    }

    fn take(&mut self, event: Value) -> Result<Taken, Fault> {
        match self {
            Self::OpenAi(assembly) => assembly.take(event),
            Self::Anthropic(assembly) => assembly.take(event),
        }
    }

    /// The answer, if it is whole.
    fn finish(self, was_ended: bool) -> Option<Assembled> {
        match self {
            Self::OpenAi(assembly) => assembly.finish(was_ended),
            Self::Anthropic(assembly) => assembly.finish(),
        }
    }
}

const ENDED_EARLY: &str = "the stream ended early";

impl Model {
    /// Reads a successful answer to a call that asked for a stream. Servers that don't stream answer in one piece.
    pub(super) async fn answer_of(
        &self,
        response: Response,
        listener: &Listener<'_>,
    ) -> Result<Answer, Failure> {
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.contains("event-stream") {
            return self.assemble(response.bytes_stream(), listener).await.map(Answer::Assembled);
        }
        let whole = self.body_of(response).await?;
        let text = whole.trim_ascii_start();
        // A stream under another name.
        if text.starts_with(b"data:") || text.starts_with(b"event:") || text.starts_with(b": ") {
            return self.assemble(stream::iter([Ok(whole)]), listener).await.map(Answer::Assembled);
        }
        Ok(Answer::Whole(whole))
    }

    async fn assemble<B: AsRef<[u8]>>(
        &self,
        bytes: impl Stream<Item = reqwest::Result<B>>,
        listener: &Listener<'_>,
    ) -> Result<Assembled, Failure> {
        let mut bytes = pin!(bytes);
        let mut events = Events::default();
        let mut assembly = Assembly::of(self.endpoint().style);
        let mut read = 0_usize;
        while let Some(chunk) = bytes.next().await {
            let chunk = chunk.map_err(|error| self.broken(&error))?;
            read = read.saturating_add(chunk.as_ref().len());
            let limit = self.options().max_answer;
            if read > limit {
                let url = self.endpoint().shown_url();
                return Err(Failure::last(ModelError::TooLarge { url, limit }));
            }
            for event in events.feed(chunk.as_ref()) {
                if self.take(&event, &mut assembly, listener)? {
                    // The connection can be used again if it is read to its end, which is there at once or not worth a
                    // wait.
                    let rest = async { while bytes.next().await.is_some() {} };
                    let _ = tokio::time::timeout(Duration::from_millis(20), rest).await;
                    return assembly.finish(true).ok_or_else(|| self.ended_early(ENDED_EARLY));
                }
            }
        }
        assembly.finish(false).ok_or_else(|| self.ended_early(ENDED_EARLY))
    }

    /// Takes an event; true if it was the last.
    fn take(&self, data: &[u8], assembly: &mut Assembly, listener: &Listener<'_>) -> Result<bool, Failure> {
        match data.trim_ascii() {
            b"" => return Ok(false),
            b"[DONE]" => return Ok(true),
            _ => {}
        }
        let event = serde_json::from_slice(data).map_err(|error| {
            let url = self.endpoint().shown_url();
            Failure::last(ModelError::BrokenJson { url, why: error.to_string() })
        })?;
        match assembly.take(event).map_err(|fault| self.fault(&fault))? {
            Taken::Text(text) => listener.text(&text),
            Taken::End => return Ok(true),
        }
        Ok(false)
    }

    fn fault(&self, fault: &Fault) -> Failure {
        match fault {
            Fault::OutOfPlace(why) => self.ended_early(why),
            Fault::Failed(said) => {
                let again = may_pass(said).then_some(None);
                let error = ModelError::GaveUp { url: self.endpoint().shown_url(), said: self.said(said) };
                Failure { error, again }
            }
        }
    }

    fn ended_early(&self, why: &str) -> Failure {
        let error = ModelError::Dropped { url: self.endpoint().shown_url(), why: why.to_owned() };
        Failure { error, again: Some(None) }
    }
}

/// Whether another attempt may help: all but what the provider blames on the call itself.
fn may_pass(said: &Value) -> bool {
    const CALLS_FAULT: [&str; 6] = [
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "not_found_error",
        "request_too_large",
        "billing_error",
    ];
    let error = said.get("error").unwrap_or(said);
    let field = |key| error.get(key).unwrap_or(&Value::Null);
    let status = ["code", "status"].into_iter().find_map(|key| field(key).as_u64());
    match status {
        Some(408 | 429) => true,
        Some(400..=499) => false,
        Some(_) | None => !CALLS_FAULT.contains(&field("type").as_str().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Endpoint, ModelOptions};

    fn events(style: Style) -> String {
        match style {
            Style::OpenAi => {
                let delta = |delta: Value| json!({ "choices": [{ "delta": delta, "finish_reason": null }] });
                let finish = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] });
                let (role, text) = (delta(json!({ "role": "assistant" })), delta(json!({ "content": "ä—☃" })));
                format!("\u{feff}: hi\r\n\r\ndata: {role}\r\n\r\ndata: {text}\n\ndata:{finish}\n\ndata: [DONE]\n\n")
            }
            Style::Anthropic => [
                json!({ "type": "message_start", "message": { "type": "message", "role": "assistant" } }),
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
                json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "ä—☃" } }),
                json!({ "type": "message_stop" }),
            ]
            .map(|event| format!("event: x\ndata: {event}\n\n"))
            .concat(),
        }
    }

    /// Whatever the network cuts: in the middle of a character, of a line end, of an event.
    #[tokio::test]
    async fn bytes_come_in_any_pieces() {
        for style in [Style::OpenAi, Style::Anthropic] {
            let endpoint =
                Endpoint { base_url: "http://localhost".to_owned(), style, model: "m".to_owned(), key: None };
            let model = Model::new(endpoint, ModelOptions::default());
            let whole = events(style);
            for size in [1, 2, 3, 7, whole.len()] {
                let chunks = whole.as_bytes().chunks(size).map(|chunk| Ok(chunk.to_vec()));
                let heard = std::sync::Mutex::new(String::new());
                let hear = |delta: Delta<'_>| match delta {
                    Delta::Text(text) => heard.lock().unwrap().push_str(text),
                    Delta::Restarted => panic!("nothing broke"),
                };
                let assembled = model.assemble(stream::iter(chunks), &Listener::new(&hear)).await;
                let answer = assembled.map_err(|failure| failure.error).unwrap().answer;
                assert_eq!(*heard.lock().unwrap(), "ä—☃", "{style:?} by {size}");
                assert!(answer.to_string().contains("ä—☃"));
            }
        }
    }
}
