use sayso_domain::{ToolResult, ambiguous_name};
use serde_json::{Map, Value};

/// The arguments of a call: an object, and the text that it was read from (contract 20).
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    /// As the model wrote it.
    pub text: String,
    /// What it says. Numbers keep every digit, keys their order.
    pub value: Value,
}

impl Arguments {
    /// Reads what a model wrote. Empty text is `{}`. Anything but an object is an error for the model, and so is a name
    /// that comes twice: a reader of the text could take the other value for the one that counts.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Ok(Self { text: text.to_owned(), value: Value::Object(Map::new()) });
        }
        let value: Value = serde_json::from_str(text).map_err(|error| {
            format!("The arguments are not a JSON object ({error}). The tool did not run.")
        })?;
        if !value.is_object() {
            return Err(format!(
                "The arguments are not a JSON object but {}. The tool did not run.",
                type_of(&value)
            ));
        }
        match ambiguous_name(text) {
            None => Ok(Self { text: text.to_owned(), value }),
            Some(name) => Err(format!("The arguments hold {name}. The tool did not run.")),
        }
    }

    /// A text that must be there.
    pub fn text_of(&self, key: &str) -> Result<&str, ToolResult> {
        self.optional_text(key)?.ok_or_else(|| {
            ToolResult::error(format!("`{key}` is missing: it must be a string. Nothing was run."))
        })
    }

    /// A text that may be absent or null.
    pub fn optional_text(&self, key: &str) -> Result<Option<&str>, ToolResult> {
        match self.present(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(key, "a string", other)),
        }
    }

    /// A whole number from 0 that may be absent or null. Models also write `30.0` and `"30"`.
    pub fn optional_count(&self, key: &str) -> Result<Option<u64>, ToolResult> {
        let Some(value) = self.present(key) else { return Ok(None) };
        let whole = |number: f64| (number >= 0.0 && number.fract() == 0.0).then_some(number as u64);
        let count = match value {
            Value::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(whole)),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        count.map(Some).ok_or_else(|| wrong(key, "a whole number from 0", value))
    }

    /// A flag, false when absent or null.
    pub fn flag(&self, key: &str) -> Result<bool, ToolResult> {
        match self.present(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong(key, "true or false", other)),
        }
    }

    fn present(&self, key: &str) -> Option<&Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }
}

fn wrong(key: &str, expected: &str, value: &Value) -> ToolResult {
    ToolResult::error(format!("`{key}` must be {expected}, not {}. Nothing was run.", type_of(value)))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_is_accepted() {
        for (text, reads) in [
            ("", true),
            ("  \n", true),
            ("{}", true),
            (r#"{"a":1}"#, true),
            ("[]", false),
            ("null", false),
            ("3", false),
            (r#""{}""#, false),
            ("{", false),
            (r#"{"a":1} x"#, false),
            (r#"{"a":1,"a":2}"#, false),
            (r#"{"a":1,"\u0061":2}"#, false),
            (r#"{"a":[{"b":1,"c":{},"b":2}]}"#, false),
            (r#"{"a":{"b":1},"b":[{"b":2},{"b":"\\"}],"c":"\"a\":1,{"}"#, true),
        ] {
            assert_eq!(Arguments::parse(text).is_ok(), reads, "{text}");
        }
    }

    /// The parser would read these as `{"command":"rm"}`, as `"rm"` and as 9.
    #[test]
    fn nothing_is_read_that_the_text_does_not_show() {
        for text in [
            r#"{"$serde_json::private::RawValue":"{\"command\":\"rm\"}"}"#,
            r#"{"command":{"$serde_json::private::RawValue":"\"rm\""}}"#,
            r#"{"command":"ls","timeout_seconds":{"\u0024serde_json::private::Number" : "9"}}"#,
        ] {
            let error = Arguments::parse(text).unwrap_err();
            assert!(error.contains("which is not allowed"), "{error}");
        }
        assert!(Arguments::parse(r#"{"content":"$serde_json::private::Number"}"#).is_ok());
    }

    #[test]
    fn numbers_keep_their_digits() {
        let text = r#"{"n":9007199254740993,"f":1.10}"#;
        assert_eq!(Arguments::parse(text).unwrap().value.to_string(), text);
    }

    #[test]
    fn wrong_types_are_named() {
        let arguments = Arguments::parse(r#"{"path":3,"n":"30","m":-1,"x":null,"f":30.0}"#).unwrap();
        assert!(
            arguments.text_of("path").unwrap_err().output.contains("`path` must be a string, not a number")
        );
        assert!(arguments.text_of("gone").unwrap_err().output.contains("missing"));
        assert_eq!(arguments.optional_text("x"), Ok(None));
        assert_eq!(arguments.optional_count("n"), Ok(Some(30)));
        assert_eq!(arguments.optional_count("f"), Ok(Some(30)));
        assert!(arguments.optional_count("m").is_err());
    }
}
