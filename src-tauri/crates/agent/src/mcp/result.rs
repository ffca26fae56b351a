use sayso_domain::ToolResult;
use serde_json::Value;

use super::expand::Hidden;
use crate::cut::HeadTail;

/// A call's result as the model gets it: its texts, short marks for what is none, and the structured content where there
/// is no text.
pub(super) fn tool_result(result: &Value, limit: usize, hidden: &Hidden) -> ToolResult {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<_> = blocks.iter().map(block).filter(|text| !text.is_empty()).collect();
    let structured = result.get("structuredContent").filter(|content| !content.is_null());
    let text = match (texts.is_empty(), structured) {
        (true, Some(content)) => hidden.in_json(content).to_string(),
        (true, None) => "[the server gave no content]".to_owned(),
        (false, _) => texts.join("\n"),
    };
    let mut output = HeadTail::new(limit);
    output.push(hidden.from(&text).as_bytes());
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or_default();
    ToolResult { is_error, ..ToolResult::ok(output.into_text()) }
}

fn block(block: &Value) -> String {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default();
    let size = |key: &str| text(key).len() / 4 * 3;
    let mime = || match text("mimeType") {
        "" => "no type given",
        mime => mime,
    };
    match text("type") {
        "text" => text("text").to_owned(),
        kind @ ("image" | "audio") => {
            format!("[{kind}: {}, about {} bytes, not shown]", mime(), size("data"))
        }
        "resource_link" => format!("[resource: {} {}]", text("name"), text("uri")),
        "resource" => {
            let resource = block.get("resource").unwrap_or(&Value::Null);
            let of = |key: &str| resource.get(key).and_then(Value::as_str);
            let uri = of("uri").unwrap_or_default();
            match of("text") {
                Some(text) => format!("[resource: {uri}]\n{text}"),
                None => {
                    let size = of("blob").unwrap_or_default().len() / 4 * 3;
                    format!("[resource: {uri}, about {size} bytes, not shown]")
                }
            }
        }
        _ => "[content of an unknown type, not shown]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result(result: &Value) -> ToolResult {
        tool_result(result, 1000, &Hidden::default())
    }

    #[test]
    fn texts_are_joined_and_what_is_none_is_marked() {
        let content = json!([
            { "type": "text", "text": "one" },
            { "type": "image", "data": "AAAAAAAA", "mimeType": "image/png" },
            { "type": "resource_link", "uri": "file:///a", "name": "a" },
            { "type": "resource", "resource": { "uri": "file:///b", "text": "inside" } },
            { "type": "hologram" },
        ]);
        let given = result(&json!({ "content": content, "structuredContent": { "n": 1 } }));
        assert_eq!(
            given.output,
            "one\n[image: image/png, about 6 bytes, not shown]\n[resource: a file:///a]\n[resource: file:///b]\ninside\n\
             [content of an unknown type, not shown]"
        );
        assert!(!given.is_error);
    }

    #[test]
    fn structured_content_speaks_where_no_text_does_and_keeps_its_digits() {
        let given: Value =
            serde_json::from_str(r#"{"content":[],"structuredContent":{"z":9007199254740993,"a":1.10}}"#)
                .unwrap();
        assert_eq!(result(&given).output, r#"{"z":9007199254740993,"a":1.10}"#);
        let failed = result(&json!({ "isError": true, "content": [{ "type": "text", "text": "no" }] }));
        assert_eq!((failed.output.as_str(), failed.is_error), ("no", true));
    }

    #[test]
    fn a_long_result_is_cut_with_a_mark() {
        let given = result(&json!({ "content": [{ "type": "text", "text": "x".repeat(5000) }] }));
        assert!(given.output.contains("4000 bytes cut"), "{}", given.output);
    }
}
