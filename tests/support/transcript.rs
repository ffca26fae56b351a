//! The one checker of what goes to a model: each tool call has exactly one result, in order (contract 15), none of them
//! unfinished (17), and nothing that a person said with a no (9).

use crate::model::Captured;
use serde_json::Value;

/// Asserts that in every captured request each tool call is followed by exactly one result, in call order, and that
/// no result stands anywhere else. Understands both styles.
#[track_caller]
pub fn assert_balanced(captured: &[Captured]) {
    for (index, request) in captured.iter().enumerate() {
        if let Err(problem) = balance(&request.json) {
            panic!("request {index} to the model is not balanced: {problem}\n{}", request.raw);
        }
    }
}

/// What the model is told of a call whose result was lost, and what is for hosts alone: neither ever goes out.
const NEVER: [&str; 2] = ["No result of this call was kept", "\"metadata\""];

/// Asserts the same, and that nothing unfinished and none of these words of a person is in any request.
#[track_caller]
pub fn assert_fit_to_send(captured: &[Captured], words: &[&str]) {
    assert_balanced(captured);
    for (index, request) in captured.iter().enumerate() {
        for never in NEVER.iter().chain(words) {
            assert!(
                !request.raw.contains(never),
                "request {index} to the model holds {never:?}\n{}",
                request.raw
            );
        }
    }
}

/// The results that the last request carries for its last turn, in order: the provider's id of the call and the output.
pub fn last_results(request: &Value) -> Vec<(String, String)> {
    let messages = request.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
    let begin = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or_default();
    let output = |message: &Value| {
        let id = text(message, "tool_call_id").or_else(|| text(message, "tool_use_id"))?;
        Some((id, text(message, "content")?))
    };
    let blocks = messages[begin..].iter().flat_map(|message| {
        let inner = message["content"].as_array().cloned().unwrap_or_default();
        std::iter::once(message.clone()).chain(inner)
    });
    blocks.filter_map(|block| output(&block)).collect()
}

/// The calls whose results the request carries, in order; or what is wrong with it.
pub fn balance(request: &Value) -> Result<Vec<String>, String> {
    let messages = request.get("messages").and_then(Value::as_array).ok_or("it has no messages")?;
    let mut awaited: Vec<String> = Vec::new();
    let mut answered = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let results = results(role, message);
        if role == "tool" && results.is_empty() {
            return Err(format!("message {index} is a result without the id of its call"));
        }
        for result in &results {
            if awaited.first() != Some(result) {
                return Err(format!("message {index} answers {result:?} while {awaited:?} is awaited"));
            }
            answered.push(awaited.remove(0));
        }
        // In OpenAI style results are messages of their own; in Anthropic style all stand in one.
        if role != "tool" && !awaited.is_empty() {
            return Err(format!("message {index} ({role}) comes while {awaited:?} is unanswered"));
        }
        if role == "assistant" {
            awaited = calls(message);
        }
    }
    if awaited.is_empty() { Ok(answered) } else { Err(format!("{awaited:?} is never answered")) }
}

/// The ids of the calls an assistant's message asks for.
fn calls(message: &Value) -> Vec<String> {
    let openai = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    openai.chain(blocks(message, "tool_use")).filter_map(|call| text(call, "id")).collect()
}

/// The ids of the calls a message answers.
fn results(role: &str, message: &Value) -> Vec<String> {
    if role == "tool" {
        return text(message, "tool_call_id").into_iter().collect();
    }
    blocks(message, "tool_result").filter_map(|block| text(block, "tool_use_id")).collect()
}

fn blocks<'a>(message: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let content = message.get("content").and_then(Value::as_array).into_iter().flatten();
    content.filter(move |block| block.get("type").and_then(Value::as_str) == Some(kind))
}

fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn openai(messages: &Value) -> Result<Vec<String>, String> {
        balance(&json!({ "messages": messages }))
    }

    fn assistant(ids: &[&str]) -> Value {
        let calls: Vec<Value> = ids.iter().map(|id| json!({ "id": id, "type": "function" })).collect();
        json!({ "role": "assistant", "content": null, "tool_calls": calls })
    }

    fn tool(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "x" })
    }

    #[test]
    fn results_in_call_order_are_balanced_in_both_styles() {
        let user = json!({ "role": "user", "content": "go" });
        let answered = openai(&json!([user, assistant(&["a", "b"]), tool("a"), tool("b"), assistant(&[])]));
        assert_eq!(answered.unwrap(), ["a", "b"]);
        let uses = json!([{ "type": "tool_use", "id": "a" }, { "type": "tool_use", "id": "b" }]);
        let results = json!([{ "type": "tool_result", "tool_use_id": "a" }, { "type": "tool_result", "tool_use_id": "b" }]);
        let turns =
            json!([user, { "role": "assistant", "content": uses }, { "role": "user", "content": results }]);
        assert_eq!(openai(&turns).unwrap(), ["a", "b"]);
    }

    #[test]
    fn missing_swapped_doubled_and_stray_results_are_found() {
        let wrong = [
            json!([assistant(&["a", "b"]), tool("a")]),
            json!([assistant(&["a", "b"]), tool("b"), tool("a")]),
            json!([assistant(&["a"]), tool("a"), tool("a")]),
            json!([tool("a")]),
            json!([assistant(&["a"]), { "role": "user", "content": "never mind" }, tool("a")]),
            json!([{ "role": "assistant", "content": [{ "type": "tool_use", "id": "a" }] }, { "role": "user", "content": "hm" }]),
        ];
        for messages in wrong {
            assert!(openai(&messages).is_err(), "accepted {messages}");
        }
    }

    #[test]
    fn a_provider_may_use_an_id_again_in_a_later_turn() {
        let answered = openai(&json!([assistant(&["a"]), tool("a"), assistant(&["a"]), tool("a")]));
        assert_eq!(answered.unwrap(), ["a", "a"]);
    }
}
