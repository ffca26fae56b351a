//! What a caller gets. Of a no it is the class and nothing else (contract 9).

use rmcp::model::{CallToolResult, ContentBlock};
use sayso_domain::{Answer, Class};
use serde_json::{Value, json};

use super::asking::Ended;

/// What is told where nobody reads it any more.
pub(super) const TAKEN_BACK: &str =
    "The call was cancelled, and what it asked was taken back. Nobody approved it.";

/// The class of an answer that is not ok. Whatever else a reason may say stays where it is.
pub(super) fn class(answer: &Answer) -> Option<&'static str> {
    let classes = [Class::Declined, Class::Cancelled, Class::Expired];
    let class = classes.into_iter().find(|class| answer.reason() == Some(class.as_str()));
    (!answer.is_ok()).then(|| class.unwrap_or(Class::Declined).as_str())
}

/// `{"approved","class"}`, and `data` where the person gave some.
pub(super) fn approval(ended: Ended) -> CallToolResult {
    result(ended, "approved")
}

/// `{"answered","class"}`, and `data` with what the person chose or typed.
pub(super) fn data(ended: Ended) -> CallToolResult {
    result(ended, "answered")
}

/// An error that the caller can read.
pub(super) fn error(text: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn result(ended: Ended, name: &str) -> CallToolResult {
    let answer = match ended {
        Ended::Answered(answer) => answer,
        Ended::NotAsked(failed) | Ended::Failed(failed) => return error(failed.text),
        Ended::Gone => return error(TAKEN_BACK),
    };
    let mut value = json!({ name: answer.is_ok(), "class": class(&answer) });
    if let (true, Some(data), Value::Object(value)) = (answer.is_ok(), answer.data(), &mut value) {
        value.insert("data".to_owned(), data.clone());
    }
    CallToolResult::structured(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(ended: Ended) -> String {
        approval(ended).structured_content.unwrap().to_string()
    }

    #[test]
    fn of_a_no_only_the_class_is_told() {
        let no = |reason: &str| wire(Ended::Answered(Answer::declined("r1", reason)));
        assert_eq!(no("expired"), r#"{"approved":false,"class":"expired"}"#);
        assert_eq!(no("cancelled"), r#"{"approved":false,"class":"cancelled"}"#);
        assert_eq!(no("my own words"), r#"{"approved":false,"class":"declined"}"#);
        assert_eq!(wire(Ended::Answered(Answer::ok("r1"))), r#"{"approved":true,"class":null}"#);
        let with_data = Answer::ok_with("r1", json!({ "a": 1 }));
        assert_eq!(wire(Ended::Answered(with_data)), r#"{"approved":true,"class":null,"data":{"a":1}}"#);
    }

    #[test]
    fn whoever_left_is_told_no_yes() {
        assert_eq!(approval(Ended::Gone).is_error, Some(true));
        assert_eq!(data(Ended::Gone).structured_content, None);
    }
}
