//! From a tool's arguments to the request that they describe.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::model::JsonObject;
use sayso_domain::{Kind, Request, Time, question_prompt};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// What is wrong with arguments. Nobody was asked.
#[derive(Debug)]
pub(super) struct Unusable(pub(super) String);

/// `request_approval`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Approval {
    prompt: String,
    data: Option<Value>,
    command: Option<Value>,
    arguments: Option<Value>,
    expires_in_seconds: Option<u32>,
}

/// `ask_question`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    question: Option<String>,
    options: Option<Vec<Value>>,
    multiple: Option<bool>,
    questions: Option<Vec<Value>>,
    expires_in_seconds: Option<u32>,
}

/// `request_input`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    prompt: String,
    schema: Map<String, Value>,
    expires_in_seconds: Option<u32>,
}

pub(super) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, Unusable> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Unusable(format!("The arguments cannot be read: {error}. Nobody was asked.")))
}

impl Approval {
    pub(super) fn request(self) -> Result<Request, Unusable> {
        let mut shown = Map::new();
        for (name, value) in [("command", self.command), ("arguments", self.arguments)] {
            if let Some(value) = value {
                shown.insert(name.to_owned(), value);
            }
        }
        let data = match self.data {
            data if shown.is_empty() => data,
            None => Some(Value::Object(shown)),
            Some(Value::Object(data)) if !data.keys().any(|key| shown.contains_key(key)) => {
                shown.extend(data);
                Some(Value::Object(shown))
            }
            Some(_) => {
                let message = "`data` must be an object that has no key named `command` or `arguments` where these are \
                               given beside it. Nobody was asked.";
                return Err(Unusable(message.to_owned()));
            }
        };
        Ok(Request { data, ..request(Kind::Approval, self.prompt, self.expires_in_seconds) })
    }
}

impl Question {
    pub(super) fn request(self) -> Result<Request, Unusable> {
        let questions = match (self.question, self.questions) {
            (Some(question), None) => {
                let mut one = Map::new();
                one.insert("question".to_owned(), Value::String(question));
                if let Some(options) = self.options {
                    one.insert("options".to_owned(), Value::Array(options));
                }
                if let Some(multiple) = self.multiple {
                    one.insert("multiple".to_owned(), Value::Bool(multiple));
                }
                vec![Value::Object(one)]
            }
            (None, Some(questions))
                if !questions.is_empty() && self.options.is_none() && self.multiple.is_none() =>
            {
                questions
            }
            _ => {
                let message = "Give either `question`, with `options` and `multiple` if you like, or `questions`: a list \
                               with an object of these for each. Nobody was asked.";
                return Err(Unusable(message.to_owned()));
            }
        };
        if let Some(at) = questions.iter().position(|question| !has_words(question)) {
            let message = format!("Question {} has no text in `question`. Nobody was asked.", at + 1);
            return Err(Unusable(message));
        }
        let questions = Value::Array(questions);
        let asked = request(Kind::Question, question_prompt(&questions), self.expires_in_seconds);
        Ok(Request { data: Some(json!({ "questions": questions })), ..asked })
    }
}

impl Input {
    pub(super) fn request(self) -> Request {
        let data = Some(json!({ "schema": self.schema }));
        Request { data, ..request(Kind::Input, self.prompt, self.expires_in_seconds) }
    }
}

fn has_words(question: &Value) -> bool {
    let text = question.as_str().or_else(|| question.get("question")?.as_str());
    text.is_some_and(|text| !text.trim().is_empty())
}

fn request(kind: Kind, prompt: String, expires_in_seconds: Option<u32>) -> Request {
    let expires_at = expires_in_seconds.map(|seconds| now().plus_millis(i64::from(seconds) * 1000));
    Request { expires_at, ..Request::new(Uuid::now_v7().to_string(), kind, prompt) }
}

/// Now, by this machine's clock.
pub(super) fn now() -> Time {
    let since: Duration = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(request: Result<Request, Unusable>) -> String {
        match request {
            Ok(request) => {
                let wire = serde_json::to_value(&request).unwrap();
                format!("{} {} {}", wire["kind"], wire["prompt"], wire["data"])
            }
            Err(Unusable(message)) => message,
        }
    }

    fn object(json: &str) -> JsonObject {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn an_approval_shows_what_it_is_for() {
        let check = |json: &str, expected: &str| {
            let said = text(read::<Approval>(object(json)).and_then(Approval::request));
            assert!(said.contains(expected), "{json}: {said}");
        };
        check(r#"{"prompt":"P"}"#, r#""approval" "P" null"#);
        check(r#"{"prompt":"P","data":{"n":9007199254740993.10}}"#, r#"{"n":9007199254740993.10}"#);
        check(
            r#"{"prompt":"P","command":"ls","arguments":{"a":1},"data":{"b":2}}"#,
            r#"{"command":"ls","arguments":{"a":1},"b":2}"#,
        );
        check(r#"{"prompt":"P","command":"ls","data":{"command":"rm"}}"#, "`data` must be an object");
        check(r#"{"prompt":"P","command":"ls","data":[1]}"#, "`data` must be an object");
        check(r#"{"data":1}"#, "missing field `prompt`");
        check(r#"{"prompt":"P","approved":true}"#, "unknown field `approved`");
        check(r#"{"prompt":"P","expires_in_seconds":-1}"#, "cannot be read");
    }

    #[test]
    fn questions_are_one_or_several() {
        let check = |json: &str, expected: &str| {
            let said = text(read::<Question>(object(json)).and_then(Question::request));
            assert!(said.contains(expected), "{json}: {said}");
        };
        check(
            r#"{"question":"Where?","options":["a","b"],"multiple":true}"#,
            r#"{"questions":[{"question":"Where?","options":["a","b"],"multiple":true}]}"#,
        );
        check(r#"{"questions":["A?",{"question":"B?","options":["x"]}]}"#, r#""A?\nB? (options: x)""#);
        check(r#"{"questions":[]}"#, "Give either");
        check(r#"{"question":"A?","questions":["B?"]}"#, "Give either");
        check(r#"{"questions":["B?"],"options":["a"]}"#, "Give either");
        check(r#"{}"#, "Give either");
        check(r#"{"questions":["A?",{"options":["x"]}]}"#, "Question 2 has no text");
        check(r#"{"question":" "}"#, "Question 1 has no text");
    }

    #[test]
    fn input_has_a_schema_and_may_have_a_deadline() {
        let schema = r#"{"prompt":"P","schema":{"type":"object"},"expires_in_seconds":60}"#;
        let request = read::<Input>(object(schema)).unwrap().request();
        assert_eq!(request.data.unwrap().to_string(), r#"{"schema":{"type":"object"}}"#);
        assert!(request.expires_at.unwrap() > now());
        assert!(read::<Input>(object(r#"{"prompt":"P"}"#)).is_err());
    }
}
