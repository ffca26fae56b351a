//! The events of `POST {base}/v1/messages`, put together.

use serde_json::{Map, Value};

use super::stream::{Assembled, Fault, Taken};
use crate::Arguments;

/// So many blocks of one answer are put together: each piece is looked for among them.
const MOST_BLOCKS: usize = 4096;

#[derive(Default)]
pub(super) struct Assembly {
    message: Option<Map<String, Value>>,
    blocks: Vec<Block>,
    is_whole: bool,
}

struct Block {
    index: u64,
    fields: Map<String, Value>,
    /// The pieces of a call's arguments.
    json: String,
}

impl Assembly {
    pub(super) fn take(&mut self, event: Value) -> Result<Taken, Fault> {
        let Value::Object(mut event) = event else { return Err(Fault::OutOfPlace("an event is no object")) };
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        match kind.as_str() {
            "error" => return Err(Fault::Failed(Value::Object(event))),
            "message_start" => match event.shift_remove("message") {
                Some(Value::Object(message)) => self.message = Some(message),
                _ => return Err(Fault::OutOfPlace("the stream began without a message")),
            },
            "content_block_start" => {
                let Some(Value::Object(fields)) = event.shift_remove("content_block") else {
                    return Err(Fault::OutOfPlace("a block of the stream has no content"));
                };
                if self.blocks.len() >= MOST_BLOCKS {
                    return Err(Fault::OutOfPlace("the answer has more blocks than anybody could look at"));
                }
                // What comes after an end was not through with it.
                self.is_whole = false;
                let text = text_of(&fields, "text");
                self.blocks.push(Block { index, fields, json: String::new() });
                return Ok(Taken::Text(text));
            }
            "content_block_delta" => {
                let block = self.blocks.iter_mut().rfind(|block| block.index == index);
                let block = block.ok_or(Fault::OutOfPlace("a piece of the stream belongs to no block"))?;
                if let Some(Value::Object(delta)) = event.shift_remove("delta") {
                    return Ok(Taken::Text(block.add(delta)));
                }
            }
            "message_delta" => self.message_delta(event)?,
            "message_stop" => {
                self.is_whole = true;
                return Ok(Taken::End);
            }
            // `content_block_stop`, `ping`, and what will be invented.
            _ => {}
        }
        Ok(Taken::Text(String::new()))
    }

    fn message_delta(&mut self, mut event: Map<String, Value>) -> Result<(), Fault> {
        let message = self.message.as_mut().ok_or(Fault::OutOfPlace("the stream began without a message"))?;
        if let Some(Value::Object(delta)) = event.shift_remove("delta") {
            // It comes when all blocks are through.
            self.is_whole |= !text_of(&delta, "stop_reason").is_empty();
            message.extend(delta);
        }
        if let Some(Value::Object(usage)) = event.shift_remove("usage") {
            let there = message.entry("usage").or_insert_with(|| Value::Object(Map::new()));
            if let Some(there) = there.as_object_mut() {
                there.extend(usage.into_iter().filter(|(_, count)| !count.is_null()));
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Option<Assembled> {
        let mut message = self.message.filter(|_| self.is_whole)?;
        let mut blocks = self.blocks;
        blocks.sort_by_key(|block| block.index);
        let mut arguments = Vec::new();
        let content = blocks.into_iter().map(|block| {
            if text_of(&block.fields, "type") == "tool_use" {
                arguments.push(Some(block.json.clone()).filter(|json| !json.is_empty()));
            }
            block.whole()
        });
        let content: Value = content.collect();
        message.insert("content".to_owned(), content);
        Some(Assembled { answer: Value::Object(message), arguments })
    }
}

impl Block {
    /// Adds a piece; returns what it says as text.
    fn add(&mut self, delta: Map<String, Value>) -> String {
        match text_of(&delta, "type").as_str() {
            "input_json_delta" => self.json.push_str(&text_of(&delta, "partial_json")),
            "citations_delta" => {
                let list = self.fields.entry("citations").or_insert(Value::Null);
                if list.is_null() {
                    *list = Value::Array(Vec::new());
                }
                if let (Some(list), Some(citation)) = (list.as_array_mut(), delta.get("citation")) {
                    list.push(citation.clone());
                }
            }
            kind => {
                // `text_delta`, `thinking_delta`, `signature_delta`, and what will be invented: each continues fields of
                // the block.
                for (key, value) in delta.iter().filter(|(key, _)| *key != "type") {
                    match (self.fields.get_mut(key), value) {
                        (Some(Value::String(there)), Value::String(more)) => there.push_str(more),
                        (_, value) => {
                            self.fields.insert(key.clone(), value.clone());
                        }
                    }
                }
                if kind == "text_delta" {
                    return text_of(&delta, "text");
                }
            }
        }
        String::new()
    }

    fn whole(mut self) -> Value {
        if !self.json.is_empty() {
            // What is no object cannot be sent back as one. The call's own text says what was written, and is refused.
            let input =
                Arguments::parse(&self.json).map_or_else(|_| Value::Object(Map::new()), |read| read.value);
            self.fields.insert("input".to_owned(), input);
        }
        Value::Object(self.fields)
    }
}

fn text_of(fields: &Map<String, Value>, key: &str) -> String {
    fields.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn assembly(blocks: &[(Value, &[Value])]) -> Assembly {
        let mut assembly = Assembly::default();
        let start = json!({ "id": "m", "type": "message", "role": "assistant", "content": [], "stop_reason": null,
            "usage": { "input_tokens": 9, "output_tokens": 1 } });
        assembly.take(json!({ "type": "message_start", "message": start })).unwrap();
        for (index, (block, deltas)) in blocks.iter().enumerate() {
            let start = json!({ "type": "content_block_start", "index": index, "content_block": block });
            assembly.take(start).unwrap();
            for delta in *deltas {
                let delta = json!({ "type": "content_block_delta", "index": index, "delta": delta });
                assembly.take(delta).unwrap();
            }
            assembly.take(json!({ "type": "content_block_stop", "index": index })).unwrap();
        }
        assembly
    }

    fn end(mut assembly: Assembly, reason: &str) -> Assembled {
        let delta = json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 7 } });
        assembly.take(delta).unwrap();
        assert_eq!(assembly.take(json!({ "type": "message_stop" })).unwrap(), Taken::End);
        assembly.finish().unwrap()
    }

    #[test]
    fn blocks_come_out_as_they_would_have_come_in_one_piece() {
        let assembly = assembly(&[
            (
                json!({ "type": "thinking", "thinking": "", "signature": "" }),
                &[
                    json!({ "type": "thinking_delta", "thinking": "h" }),
                    json!({ "type": "thinking_delta", "thinking": "m" }),
                    json!({ "type": "signature_delta", "signature": "c2ln" }),
                ],
            ),
            (json!({ "type": "redacted_thinking", "data": "eA==" }), &[]),
            (
                json!({ "type": "text", "text": "" }),
                &[
                    json!({ "type": "text_delta", "text": "s" }),
                    json!({ "type": "citations_delta", "citation": { "n": 1 } }),
                    json!({ "type": "text_delta", "text": "o" }),
                ],
            ),
            (
                json!({ "type": "tool_use", "id": "c1", "name": "f", "input": {}, "caller": { "x": 1 } }),
                &[
                    json!({ "type": "input_json_delta", "partial_json": "" }),
                    json!({ "type": "input_json_delta", "partial_json": "{ \"n\": 90071992547" }),
                    json!({ "type": "input_json_delta", "partial_json": "40993}" }),
                ],
            ),
        ]);
        let assembled = end(assembly, "tool_use");
        let expected = json!([
            { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
            { "type": "redacted_thinking", "data": "eA==" },
            { "type": "text", "text": "so", "citations": [{ "n": 1 }] },
            { "type": "tool_use", "id": "c1", "name": "f", "input": { "n": 9_007_199_254_740_993_u64 }, "caller": { "x": 1 } },
        ]);
        assert_eq!(assembled.answer["content"].to_string(), expected.to_string());
        assert_eq!(assembled.answer["usage"].to_string(), r#"{"input_tokens":9,"output_tokens":7}"#);
        assert_eq!(assembled.answer["stop_reason"], "tool_use");
        assert_eq!(assembled.arguments, [Some(r#"{ "n": 9007199254740993}"#.to_owned())]);
    }

    #[test]
    fn arguments_that_are_no_object_keep_their_text_and_send_back_an_empty_one() {
        for text in [r#"{"a":"#, "[1]", r#"{"a":1,"a":2}"#] {
            let piece = [json!({ "type": "input_json_delta", "partial_json": text })];
            let block = json!({ "type": "tool_use", "id": "c1", "name": "f", "input": {} });
            let assembled = end(assembly(&[(block, &piece)]), "tool_use");
            assert_eq!(assembled.answer["content"][0]["input"], json!({}));
            assert_eq!(assembled.arguments, [Some(text.to_owned())]);
        }
    }

    #[test]
    fn without_its_end_it_is_no_answer() {
        let assembly = assembly(&[(json!({ "type": "text", "text": "" }), &[])]);
        assert_eq!(assembly.finish(), None);
    }
}
