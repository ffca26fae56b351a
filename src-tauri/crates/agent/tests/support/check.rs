//! What holds for every request that a model gets.

use serde_json::Value;

use super::Captured;

/// What tests say with a no, or answer it with: it never leaves.
pub const WORDS: [&str; 4] = ["w0rds", "d4ta", "m0re", "over budget"];

/// Each call has exactly one result, in order, before anything else is said; no result is empty of a word; and nothing
/// that came with a no is in it.
#[track_caller]
pub fn assert_fit_to_send(request: &Captured) {
    assert_balanced(&request.json);
    for words in WORDS {
        assert!(!request.raw.contains(words), "{words:?} reached the model: {}", request.raw);
    }
    assert!(!request.raw.contains("\"metadata\""), "what is for hosts reached the model: {}", request.raw);
}

/// Each call has exactly one result, in order, before anything else is said.
#[track_caller]
pub fn assert_balanced(request: &Value) {
    let mut awaited: Vec<String> = Vec::new();
    let Some(messages) = request["messages"].as_array() else { panic!("no messages in {request}") };
    for message in messages {
        for (id, _, _) in results_in(message) {
            assert_eq!(awaited.first(), Some(&id), "a result out of place in {request}");
            awaited.remove(0);
        }
        if message["role"] != "tool" {
            assert!(awaited.is_empty(), "no result for {awaited:?} in {request}");
            awaited = calls_in(message);
        }
    }
    assert!(awaited.is_empty(), "no result for {awaited:?} in {request}");
}

/// The results in a message: id, content, whether an error.
pub fn results_in(message: &Value) -> Vec<(String, String, Option<bool>)> {
    if message["role"] == "tool" {
        return vec![(text(&message["tool_call_id"]), text(&message["content"]), None)];
    }
    let blocks = message["content"].as_array().cloned().unwrap_or_default();
    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
    results
        .map(|block| (text(&block["tool_use_id"]), text(&block["content"]), block["is_error"].as_bool()))
        .collect()
}

fn calls_in(message: &Value) -> Vec<String> {
    let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    let blocks = message["content"].as_array().cloned().unwrap_or_default();
    let uses = blocks.into_iter().filter(|block| block["type"] == "tool_use");
    calls.into_iter().chain(uses).map(|call| text(&call["id"])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
