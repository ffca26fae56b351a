//! `POST {base}/chat/completions`.

use std::borrow::Cow;

use sayso_domain::run::Usage;
use serde::Serialize;
use serde_json::{Value, json};

use super::body::{self, Body, MESSAGES};
use super::reply::{content_text, made_id, paired, tokens};
use super::{Entry, ModelCall, Reply};
use crate::ToolSpec;

/// A message on the wire.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Message<'a> {
    /// Of the system or the person.
    Said { role: &'static str, content: &'a str },
    /// Of the model, as it came.
    Model(Cow<'a, Value>),
    /// The result of a call.
    Result { role: &'static str, tool_call_id: &'a str, content: &'a str },
}

pub(super) fn body<'a>(
    model: &str,
    max_tokens: Option<u32>,
    system: Option<&'a str>,
    transcript: &'a [Entry],
    tools: &[ToolSpec],
) -> Body<'a> {
    let mut messages = Vec::new();
    if let Some(content) = system {
        messages.push(Message::Said { role: "system", content });
    }
    for entry in transcript {
        match entry {
            Entry::User(content) => messages.push(Message::Said { role: "user", content }),
            Entry::Assistant { message, results } => {
                messages.extend(sent_back(message).map(Message::Model));
                let results = paired(call_ids(message), results);
                messages.extend(results.map(|(tool_call_id, content, _)| Message::Result {
                    role: "tool",
                    tool_call_id,
                    content,
                }));
            }
        }
    }
    let mut head = json!({ "model": model, MESSAGES: null });
    if !tools.is_empty() {
        head["tools"] = tools.iter().map(tool).collect();
    }
    if let Some(max_tokens) = max_tokens {
        head["max_tokens"] = max_tokens.into();
    }
    head["stream"] = false.into();
    Body { head, messages: messages.into_iter().map(body::Message::OpenAi).collect() }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": { "name": spec.name, "description": spec.description, "parameters": spec.schema }
    })
}

/// The message as it came, or nothing where it says nothing: servers refuse such a message.
fn sent_back(message: &Value) -> Option<Cow<'_, Value>> {
    let no_calls = call_ids(message).next().is_none();
    if no_calls && text(message).is_empty() && message.get("content").is_none_or(is_blank) {
        return None;
    }
    if message.get("role").is_some() {
        return Some(Cow::Borrowed(message));
    }
    let mut message = message.clone();
    if let Some(fields) = message.as_object_mut() {
        fields.insert("role".to_owned(), "assistant".into());
    }
    Some(Cow::Owned(message))
}

fn is_blank(content: &Value) -> bool {
    match content {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(parts) => parts.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Reads an answer; none if there is no message in it.
pub(super) fn reply(answer: &Value) -> Option<Reply> {
    let choice = answer.get("choices")?.as_array()?.first()?;
    let mut message = choice.get("message").filter(|message| message.is_object())?.clone();
    give_ids(&mut message);
    let usage = answer.get("usage");
    Some(Reply {
        text: text(&message),
        calls: calls(&message),
        message,
        usage: Usage {
            input_tokens: tokens(usage, "prompt_tokens"),
            output_tokens: tokens(usage, "completion_tokens"),
        },
        cut: choice.get("finish_reason").and_then(Value::as_str) == Some("length"),
    })
}

/// The text, or the words of a refusal.
pub(super) fn text(message: &Value) -> String {
    let text = content_text(message.get("content"));
    if text.is_empty() { content_text(message.get("refusal")) } else { text }
}

/// Some local servers send calls without an id, though a result must name one.
fn give_ids(message: &mut Value) {
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        let has_id = call.get("id").and_then(Value::as_str).is_some_and(|id| !id.is_empty());
        if let Some(fields) = call.as_object_mut().filter(|_| !has_id) {
            fields.insert("id".to_owned(), made_id().into());
        }
    }
}

fn calls(message: &Value) -> Vec<ModelCall> {
    called(message).map(call).collect()
}

fn call_ids(message: &Value) -> impl Iterator<Item = &str> {
    called(message).map(|call| call.get("id").and_then(Value::as_str).unwrap_or_default())
}

fn called(message: &Value) -> impl Iterator<Item = &Value> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls.into_iter().flatten().filter(|call| call.is_object())
}

fn call(call: &Value) -> ModelCall {
    let function = call.get("function").unwrap_or(call);
    let text = |value: &Value, key| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    ModelCall {
        call_id: text(call, "id"),
        name: text(function, "name"),
        arguments: match function.get("arguments") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            // Some local servers send the object itself.
            Some(value) => value.to_string(),
        },
    }
}
