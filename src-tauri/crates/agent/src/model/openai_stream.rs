//! The chunks of `POST {base}/chat/completions`, put together.

use serde_json::{Map, Value, json};

use super::reply::content_text;
use super::stream::{Assembled, Fault, Taken};

/// So many calls of one answer are put together: each piece is looked for among them.
const MOST_CALLS: usize = 1024;
/// The next piece of a list's item is one of so many that came last.
const NEAR: usize = 64;

#[derive(Default)]
pub(super) struct Assembly {
    message: Option<Map<String, Value>>,
    /// By the index that the provider gives them.
    calls: Vec<(u64, Map<String, Value>)>,
    finish_reason: Option<Value>,
    usage: Option<Value>,
}

impl Assembly {
    pub(super) fn take(&mut self, chunk: Value) -> Result<Taken, Fault> {
        let Value::Object(mut chunk) = chunk else { return Err(Fault::OutOfPlace("a chunk is no object")) };
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Failed(Value::Object(chunk)));
        }
        if let Some(usage) = chunk.shift_remove("usage").filter(|usage| !usage.is_null()) {
            self.usage = Some(usage);
        }
        let mut text = String::new();
        let choices = chunk.shift_remove("choices");
        for choice in choices.as_ref().and_then(Value::as_array).into_iter().flatten() {
            if choice.get("index").and_then(Value::as_u64).unwrap_or_default() != 0 {
                continue;
            }
            if let Some(delta) = choice.get("delta").and_then(Value::as_object) {
                text.push_str(&self.delta(delta.clone())?);
            }
            // An empty one, which some send with every chunk, is no end.
            if let Some(reason) =
                choice.get("finish_reason").filter(|reason| !reason.is_null() && *reason != "")
            {
                if reason == "error" {
                    return Err(Fault::Failed(Value::Object(chunk)));
                }
                // That it was cut stays so, whatever is said later.
                if self.finish_reason.as_ref().is_none_or(|known| known != "length") {
                    self.finish_reason = Some(reason.clone());
                }
            }
        }
        Ok(Taken::Text(text))
    }

    fn delta(&mut self, mut delta: Map<String, Value>) -> Result<String, Fault> {
        let calls = delta.shift_remove("tool_calls");
        for call in calls.into_iter().flat_map(|calls| calls.as_array().cloned().unwrap_or_default()) {
            if let Value::Object(call) = call {
                self.call(call)?;
            }
        }
        let text = match content_text(delta.get("content")) {
            text if text.is_empty() => content_text(delta.get("refusal")),
            text => text,
        };
        // As an answer in one piece has it: both are always there.
        let empty =
            || Map::from_iter([("role".to_owned(), "assistant".into()), ("content".to_owned(), Value::Null)]);
        merge(self.message.get_or_insert_with(empty), delta);
        Ok(text)
    }

    fn call(&mut self, mut piece: Map<String, Value>) -> Result<(), Fault> {
        let index = piece.shift_remove("index").and_then(|index| index.as_u64());
        let id = piece.get("id").and_then(Value::as_str).unwrap_or_default();
        let is_other = |call: &Map<String, Value>| {
            let known = call.get("id").and_then(Value::as_str).unwrap_or_default();
            !id.is_empty() && !known.is_empty() && id != known
        };
        let last = self.calls.last().map(|(index, _)| *index);
        let index = index.or(last).unwrap_or_default();
        // Some servers send whole calls without an index, or all with the same one.
        let at = self.calls.iter().rposition(|(known, call)| *known == index && !is_other(call));
        match at {
            Some(at) => merge(&mut self.calls[at].1, piece),
            None if self.calls.len() >= MOST_CALLS => {
                return Err(Fault::OutOfPlace("the answer has more calls than anybody could look at"));
            }
            None => self.calls.push((index, piece)),
        }
        Ok(())
    }

    pub(super) fn finish(self, was_ended: bool) -> Option<Assembled> {
        if self.finish_reason.is_none() && !was_ended {
            return None;
        }
        let Self { message, mut calls, finish_reason, usage } = self;
        let choices: Vec<_> = message
            .into_iter()
            .map(|mut message| {
                calls.sort_by_key(|(index, _)| *index);
                if !calls.is_empty() {
                    message.insert(
                        "tool_calls".to_owned(),
                        std::mem::take(&mut calls).into_iter().map(whole).collect(),
                    );
                }
                json!({ "index": 0, "message": message, "finish_reason": finish_reason })
            })
            .collect();
        let answer = json!({ "object": "chat.completion", "choices": choices, "usage": usage });
        Some(Assembled { answer, arguments: Vec::new() })
    }
}

fn whole((_, mut call): (u64, Map<String, Value>)) -> Value {
    if call.get("type").is_none_or(Value::is_null) {
        call.insert("type".to_owned(), "function".into());
    }
    Value::Object(call)
}

/// Adds a piece to what is there: text is continued, lists grow, objects are filled in, and names, ids and other values are
/// what was said of them last.
fn merge(into: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (key, value) in piece {
        match (into.get_mut(&key), value) {
            (Some(_), Value::Null) => {}
            (None, value) => {
                into.insert(key, value);
            }
            (Some(there @ Value::Null), value) => *there = value,
            (Some(Value::String(there)), Value::String(more)) => match key.as_str() {
                "role" | "type" | "id" | "format" if !there.is_empty() => {}
                // Sent whole with every piece by some.
                "name" if *there == more => {}
                _ => there.push_str(&more),
            },
            (Some(there @ Value::String(_)), Value::Array(parts)) => {
                let text = json!({ "type": "text", "text": there.take() });
                let before = Some(text).filter(|text| text["text"] != "");
                *there = before.into_iter().chain(parts).collect();
            }
            (Some(Value::Array(there)), Value::String(more)) => match more.is_empty() {
                true => {}
                false => there.push(json!({ "type": "text", "text": more })),
            },
            (Some(Value::Array(there)), Value::Array(more)) => {
                more.into_iter().for_each(|item| add(there, item))
            }
            (Some(Value::Object(there)), Value::Object(more)) => merge(there, more),
            (Some(there), value) => *there = value,
        }
    }
}

/// A list's item, or the next piece of the item with its index and type.
fn add(list: &mut Vec<Value>, item: Value) {
    let is_same = |there: &Value| {
        let index = item.get("index");
        index.is_some() && there.get("index") == index && there.get("type") == item.get("type")
    };
    let there = list.iter_mut().rev().take(NEAR).find(|there| is_same(there));
    match (there, item) {
        (Some(Value::Object(there)), Value::Object(more)) => merge(there, more),
        (_, item) => list.push(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(deltas: &[Value]) -> Value {
        let mut assembly = Assembly::default();
        for delta in deltas {
            let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
            assembly.take(chunk).unwrap();
        }
        assembly.finish(true).unwrap().answer["choices"][0]["message"].clone()
    }

    #[test]
    fn calls_are_put_together_by_index_and_stand_in_its_order() {
        let message = assembled(&[
            json!({ "role": "assistant", "content": null }),
            json!({ "tool_calls": [{ "index": 1, "id": "b", "type": "function", "function": { "name": "two", "arguments": "" } }] }),
            json!({ "tool_calls": [{ "index": 0, "id": "a", "type": "function", "function": { "name": "one", "arguments": "{\"n" } }] }),
            json!({ "tool_calls": [{ "index": 1, "function": { "arguments": "{ }" } }, { "index": 0, "function": { "arguments": "\":1.10}" } }] }),
        ]);
        let expected = json!({ "role": "assistant", "content": null, "tool_calls": [
            { "id": "a", "type": "function", "function": { "name": "one", "arguments": "{\"n\":1.10}" } },
            { "id": "b", "type": "function", "function": { "name": "two", "arguments": "{ }" } },
        ] });
        assert_eq!(message.to_string(), expected.to_string());
    }

    #[test]
    fn whole_calls_without_an_index_or_with_the_same_one_stay_apart() {
        for index in [json!({}), json!({ "index": 0 })] {
            let call = |id: &str| {
                let mut call = json!({ "id": id, "function": { "name": "f", "arguments": "{}" } });
                merge(call.as_object_mut().unwrap(), index.as_object().unwrap().clone());
                json!({ "tool_calls": [call] })
            };
            let message = assembled(&[call("a"), call("b"), call("c")]);
            let ids: Vec<_> =
                message["tool_calls"].as_array().unwrap().iter().map(|call| &call["id"]).collect();
            assert_eq!(ids, ["a", "b", "c"]);
        }
    }

    #[test]
    fn fields_that_we_do_not_know_are_put_together_too() {
        let message = assembled(&[
            json!({ "role": "assistant", "content": "", "reasoning_content": "be", "odd": { "n": 1 } }),
            json!({ "role": "assistant", "reasoning_content": "cause", "odd": { "s": "x" } }),
            json!({ "reasoning_details": [{ "index": 0, "type": "reasoning.text", "text": "h" }] }),
            json!({ "content": "so", "reasoning_details": [{ "index": 0, "type": "reasoning.text", "text": "m", "signature": "c2ln" }] }),
        ]);
        let expected = json!({ "role": "assistant", "content": "so", "reasoning_content": "because",
            "odd": { "n": 1, "s": "x" },
            "reasoning_details": [{ "index": 0, "type": "reasoning.text", "text": "hm", "signature": "c2ln" }] });
        assert_eq!(message.to_string(), expected.to_string());
    }

    #[test]
    fn an_empty_reason_is_no_end_and_what_was_cut_stays_cut() {
        let mut assembly = Assembly::default();
        let call = json!({ "index": 0, "id": "a", "function": { "name": "purge", "arguments": "" } });
        let chunk = json!({ "choices": [{ "delta": { "tool_calls": [call] }, "finish_reason": "" }] });
        assembly.take(chunk).unwrap();
        assert_eq!(assembly.finish(false), None, "half a call is none");

        let mut assembly = Assembly::default();
        for reason in ["length", "tool_calls"] {
            let chunk = json!({ "choices": [{ "delta": { "content": "so" }, "finish_reason": reason }] });
            assembly.take(chunk).unwrap();
        }
        assert_eq!(assembly.finish(false).unwrap().answer["choices"][0]["finish_reason"], "length");
    }

    #[test]
    fn more_calls_than_anybody_could_look_at_are_no_answer() {
        let calls: Vec<_> = (0..400_000).map(|index| json!({ "index": index })).collect();
        let taken = Assembly::default().take(json!({ "choices": [{ "delta": { "tool_calls": calls } }] }));
        assert!(matches!(taken, Err(Fault::OutOfPlace(_))));
        let items: Vec<_> = (0..400_000).map(|index| json!({ "index": index })).collect();
        let mut assembly = Assembly::default();
        for _ in 0..2 {
            assembly.take(json!({ "choices": [{ "delta": { "odd": items } }] })).unwrap();
        }
    }

    #[test]
    fn without_a_finish_it_is_no_answer() {
        let mut assembly = Assembly::default();
        assembly.take(json!({ "choices": [{ "delta": { "content": "so" } }] })).unwrap();
        assert_eq!(assembly.finish(false), None);
    }
}
