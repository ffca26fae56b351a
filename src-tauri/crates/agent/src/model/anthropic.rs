//! `POST {base}/v1/messages`.

use sayso_domain::run::Usage;
use serde::Serialize;
use serde_json::{Value, json};

use super::body::{self, Body, MESSAGES};
use super::reply::{content_text, made_id, paired, tokens};
use super::{Entry, ModelCall, Reply};
use crate::ToolSpec;

/// The protocol wants a number; this one is within what every current model may write.
const MAX_TOKENS: u32 = 8192;

/// A message on the wire.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Message<'a> {
    /// Of the model, as it came.
    Model { role: &'static str, content: &'a Value },
    /// Of the user's side.
    User { role: &'static str, content: Vec<Block<'a>> },
}

/// Part of what the user's side says.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text { text: &'a str },
    ToolResult { tool_use_id: &'a str, content: &'a str, is_error: bool },
}

pub(super) fn body<'a>(
    model: &str,
    max_tokens: Option<u32>,
    system: Option<&str>,
    transcript: &'a [Entry],
    tools: &[ToolSpec],
) -> Body<'a> {
    let mut messages: Vec<Message<'a>> = Vec::new();
    // Roles must alternate, so all that the user's side says between two of the model's messages is one message.
    let mut said: Vec<Block<'a>> = Vec::new();
    for entry in transcript {
        match entry {
            Entry::User(text) => said.push(Block::Text { text }),
            Entry::Assistant { message, results } => {
                let content = message.get("content").filter(|content| !is_blank(content));
                if let Some(content) = content {
                    flush(&mut said, &mut messages);
                    messages.push(Message::Model { role: "assistant", content });
                }
                let results = paired(called(message).map(call_id), results);
                said.extend(results.map(|(tool_use_id, content, is_error)| Block::ToolResult {
                    tool_use_id,
                    content,
                    is_error,
                }));
            }
        }
    }
    flush(&mut said, &mut messages);
    let mut head = json!({ "model": model, "max_tokens": max_tokens.unwrap_or(MAX_TOKENS) });
    if let Some(system) = system {
        head["system"] = system.into();
    }
    head[MESSAGES] = Value::Null;
    if !tools.is_empty() {
        head["tools"] = tools.iter().map(tool).collect();
    }
    head["stream"] = false.into();
    Body { head, messages: messages.into_iter().map(body::Message::Anthropic).collect() }
}

fn flush<'a>(said: &mut Vec<Block<'a>>, messages: &mut Vec<Message<'a>>) {
    if !said.is_empty() {
        messages.push(Message::User { role: "user", content: std::mem::take(said) });
    }
}

fn is_blank(content: &Value) -> bool {
    match content {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(blocks) => blocks.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "name": spec.name, "description": spec.description, "input_schema": spec.schema })
}

/// Reads an answer; none if there is no message in it.
pub(super) fn reply(answer: &Value) -> Option<Reply> {
    answer.get("content").filter(|content| content.is_array() || content.is_string())?;
    if answer.get("type").and_then(Value::as_str) == Some("error") {
        return None;
    }
    let mut message = answer.clone();
    give_ids(&mut message);
    let usage = answer.get("usage");
    let read = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    Some(Reply {
        text: text(&message),
        calls: calls(&message),
        message,
        usage: Usage {
            input_tokens: read.iter().map(|key| tokens(usage, key)).fold(0, u64::saturating_add),
            output_tokens: tokens(usage, "output_tokens"),
        },
        cut: answer.get("stop_reason").and_then(Value::as_str) == Some("max_tokens"),
    })
}

pub(super) fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::Array(blocks)) => {
            let texts = blocks.iter().filter(|block| kind(block) == "text");
            texts.map(|block| content_text(block.get("text"))).collect::<Vec<_>>().join("")
        }
        content => content_text(content),
    }
}

fn kind(block: &Value) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn give_ids(message: &mut Value) {
    let blocks = message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten();
    for block in blocks.filter(|block| kind(block) == "tool_use") {
        let has_id = block.get("id").and_then(Value::as_str).is_some_and(|id| !id.is_empty());
        if let Some(fields) = block.as_object_mut().filter(|_| !has_id) {
            fields.insert("id".to_owned(), made_id().into());
        }
    }
}

fn calls(message: &Value) -> Vec<ModelCall> {
    called(message).map(call).collect()
}

fn called(message: &Value) -> impl Iterator<Item = &Value> {
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    blocks.filter(|block| kind(block) == "tool_use")
}

fn call_id(block: &Value) -> &str {
    block.get("id").and_then(Value::as_str).unwrap_or_default()
}

fn call(block: &Value) -> ModelCall {
    let text = |key| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    ModelCall {
        call_id: text("id"),
        name: text("name"),
        arguments: match block.get("input") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(input) => input.to_string(),
        },
    }
}
