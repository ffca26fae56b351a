//! A model's answer as the events in which it would have been streamed, in small pieces. The end-to-end tests use this
//! file too.

use serde_json::{Map, Value, json};

fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<_> = text.chars().collect();
    // Long texts in long pieces, so that a test stays quick.
    chars.chunks(3.max(chars.len() / 50)).map(|piece| piece.iter().collect()).collect()
}

/// The events of an answer in one piece, each with the blank line that ends it.
pub fn openai(answer: &Value) -> Vec<String> {
    let data = |value: &Value| format!("data: {value}\n\n");
    let choice = &answer["choices"][0];
    let Some(message) = choice["message"].as_object() else { return vec![data(answer)] };
    let mut deltas = vec![json!({ "role": "assistant" })];
    for (key, value) in message {
        match (key.as_str(), value) {
            ("role", _) => {}
            ("content", Value::String(text)) => {
                deltas.extend(pieces(text).into_iter().map(|piece| json!({ "content": piece })));
            }
            ("tool_calls", Value::Array(calls)) => {
                for (index, call) in calls.iter().enumerate() {
                    let mut start = call.clone();
                    start["index"] = index.into();
                    let arguments = call["function"]["arguments"].as_str();
                    if arguments.is_some() {
                        start["function"]["arguments"] = "".into();
                    }
                    deltas.push(json!({ "tool_calls": [start] }));
                    deltas.extend(arguments.map(pieces).unwrap_or_default().into_iter().map(
                        |piece| json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }),
                    ));
                }
            }
            (key, value) => deltas.push(Value::Object(Map::from_iter([(key.to_owned(), value.clone())]))),
        }
    }
    let chunk = |delta: Value, finish: Value| {
        json!({ "id": "c", "object": "chat.completion.chunk",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
    };
    let mut events: Vec<_> = deltas.into_iter().map(|delta| data(&chunk(delta, Value::Null))).collect();
    let finish = choice.get("finish_reason").cloned().unwrap_or_else(|| "stop".into());
    events.push(data(&chunk(json!({}), finish)));
    events.push(": keep-alive\n\n".to_owned());
    events.push(data(&json!({ "choices": [], "usage": answer["usage"] })));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

/// The same in the other style.
pub fn anthropic(answer: &Value) -> Vec<String> {
    let event = |value: Value| format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap());
    let Some(content) = answer["content"].as_array() else { return vec![event(answer.clone())] };
    let mut start = answer.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events =
        vec![event(json!({ "type": "message_start", "message": start })), event(json!({ "type": "ping" }))];
    for (index, block) in content.iter().enumerate() {
        let mut start = block.clone();
        let mut deltas = Vec::new();
        let mut take = |field: &str, kind: &str, key: &str, empty: Value| {
            let Some(value) = block.get(field) else { return };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            start[field] = empty;
            deltas.extend(pieces(&text).into_iter().map(|piece| {
                json!({ "type": "content_block_delta", "index": index, "delta": { "type": kind, key: piece } })
            }));
        };
        match block["type"].as_str().unwrap_or_default() {
            "text" => take("text", "text_delta", "text", "".into()),
            "tool_use" => take("input", "input_json_delta", "partial_json", json!({})),
            "thinking" => {
                take("thinking", "thinking_delta", "thinking", "".into());
                take("signature", "signature_delta", "signature", "".into());
            }
            _ => {}
        }
        events.push(event(json!({ "type": "content_block_start", "index": index, "content_block": start })));
        events.extend(deltas.into_iter().map(event));
        events.push(event(json!({ "type": "content_block_stop", "index": index })));
    }
    let reason = answer.get("stop_reason").cloned().unwrap_or_else(|| "end_turn".into());
    let usage = json!({ "output_tokens": answer["usage"]["output_tokens"] });
    events
        .push(event(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": usage })));
    events.push(event(json!({ "type": "message_stop" })));
    events
}
