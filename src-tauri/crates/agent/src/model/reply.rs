use sayso_domain::run::{Slot, Usage};
use serde_json::Value;

use super::{Style, anthropic, openai};

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Its message as it came, to be stored and sent back (contract 21). A call without an id got one.
    pub message: Value,
    /// The text in it.
    pub text: String,
    /// The calls in it, in order.
    pub calls: Vec<ModelCall>,
    /// Tokens.
    pub usage: Usage,
    /// Whether the model ran into its length limit, so that its last call may be half of one.
    pub cut: bool,
}

/// A call that a model proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCall {
    /// The provider's id.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments: the exact text where the provider sends text, else the object's JSON, digit for digit.
    pub arguments: String,
}

/// A message of a transcript, in no provider's style.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// The person's words.
    User(String),
    /// A model's message and the results of its calls, in call order.
    Assistant {
        /// As it came.
        message: Value,
        /// One per call.
        results: Vec<CallResult>,
    },
}

/// The one result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// The provider's id of the call.
    pub call_id: String,
    /// What the model gets.
    pub output: String,
    /// Whether it is told that the call failed.
    pub is_error: bool,
}

impl CallResult {
    /// Of a call that has its result.
    pub fn of(slot: &Slot) -> Option<Self> {
        let result = slot.result()?;
        Some(Self { call_id: slot.call_id.clone(), output: result.output.clone(), is_error: result.is_error })
    }
}

/// The text in a stored assistant message.
pub fn message_text(style: Style, message: &Value) -> String {
    match style {
        Style::OpenAi => openai::text(message),
        Style::Anthropic => anthropic::text(message),
    }
}

/// The results of a message's calls: exactly one each, in call order, even if a journal kept fewer.
pub(super) fn paired<'a>(
    call_ids: impl Iterator<Item = &'a str>,
    results: &'a [CallResult],
) -> impl Iterator<Item = (&'a str, &'a str, bool)> {
    call_ids.enumerate().map(|(index, id)| match results.get(index) {
        Some(result) => (id, result.output.as_str(), result.is_error),
        None => (id, "No result of this call was kept.", true),
    })
}

/// The text of a message's content: a string, or the text parts of a list.
pub(super) fn content_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| match part {
                Value::String(text) => Some(text.clone()),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    part.get("text").and_then(Value::as_str).map(str::to_owned)
                }
            };
            parts.iter().filter_map(text).collect::<Vec<_>>().join("")
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => String::new(),
    }
}

/// A token count; providers leave it out, send null, or a float.
pub(super) fn tokens(usage: Option<&Value>, key: &str) -> u64 {
    let number = usage.and_then(|usage| usage.get(key));
    number
        .and_then(|number| number.as_u64().or_else(|| number.as_f64().map(|number| number as u64)))
        .unwrap_or_default()
}

/// An id for a call that came without one.
pub(super) fn made_id() -> String {
    format!("call_{}", uuid::Uuid::now_v7().simple())
}
