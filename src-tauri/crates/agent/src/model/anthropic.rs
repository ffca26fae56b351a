//! `POST {base}/v1/messages`.

use sayso_domain::run::Usage;
use serde_json::{Value, json};

use super::reply::{content_text, made_id, paired, tokens};
use super::{Entry, ModelCall, Reply};
use crate::ToolSpec;

/// The protocol wants a number; this one is within what every current model may write.
const MAX_TOKENS: u32 = 8192;

pub(super) fn body(
    model: &str,
    max_tokens: Option<u32>,
    system: Option<&str>,
    transcript: &[Entry],
    tools: &[ToolSpec],
) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    // Roles must alternate, so all that the user's side says between two of the model's messages is one message.
    let mut said: Vec<Value> = Vec::new();
    for entry in transcript {
        match entry {
            Entry::User(text) => said.push(json!({ "type": "text", "text": text })),
            Entry::Assistant { message, results } => {
                let content = message.get("content").filter(|content| !is_blank(content));
                if let Some(content) = content {
                    flush(&mut said, &mut messages);
                    messages.push(json!({ "role": "assistant", "content": content }));
                }
                said.extend(paired(&calls(message), results).map(|(id, output, is_error)| {
                    json!({ "type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error })
                }));
            }
        }
    }
    flush(&mut said, &mut messages);
    let mut body = json!({ "model": model, "max_tokens": max_tokens.unwrap_or(MAX_TOKENS) });
    if let Some(system) = system {
        body["system"] = system.into();
    }
    body["messages"] = messages.into();
    if !tools.is_empty() {
        body["tools"] = tools.iter().map(tool).collect();
    }
    body["stream"] = false.into();
    body
}

fn flush(said: &mut Vec<Value>, messages: &mut Vec<Value>) {
    if !said.is_empty() {
        messages.push(json!({ "role": "user", "content": std::mem::take(said) }));
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
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    blocks.filter(|block| kind(block) == "tool_use").map(call).collect()
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
