//! What may be asked (contract 5, 10, 13, 30, 31), and what may be answered (contract 12, 30).

use jsonschema::{PatternOptions, Validator};
use sayso_domain::{Answer, Kind, Request, Time, check_request_url, find_secret_field};
use serde_json::{Map, Value};

use crate::InboxError;

/// What holds for every request, whoever asks.
pub(crate) fn request(request: &Request) -> Result<(), InboxError> {
    if !(1..=200).contains(&request.id.chars().count()) {
        return Err(InboxError::Id);
    }
    if let Some(url) = &request.url {
        check_request_url(url)?;
    }
    match request.schema().filter(|_| request.kind.collects_data()).and_then(find_secret_field) {
        Some(secret) => Err(secret.into()),
        None => Ok(()),
    }
}

/// What also holds for those who ask from outside: there is somebody who can be told.
pub(crate) fn request_from_outside(asked: &Request, now: Time) -> Result<(), InboxError> {
    request(asked)?;
    if asked.is_expired(now) {
        return Err(InboxError::Expired);
    }
    match form(asked) {
        Some(schema) => flat(schema).and_then(|()| validator(schema).map(|_| ())).map_err(InboxError::Schema),
        None => Ok(()),
    }
}

/// The schema that a yes must fit, where there is one.
fn form(request: &Request) -> Option<&Value> {
    match request.kind {
        Kind::Input | Kind::Question | Kind::Other(_) => request.schema(),
        Kind::Approval | Kind::Authorization | Kind::ToolCall => None,
    }
}

/// Whether a yes fits what was asked. A no always does. The error is for a person.
pub(crate) fn answer(request: &Request, answer: &Answer) -> Result<(), String> {
    if !answer.is_ok() {
        return Ok(());
    }
    let data = answer.data();
    match &request.kind {
        Kind::Approval | Kind::ToolCall if data.is_some_and(|data| data.get("arguments").is_some()) => {
            return Err("The arguments of this call cannot be changed here: approve or deny them as shown."
                .to_owned());
        }
        Kind::Question if request.schema().is_none() => return questions(request, data),
        Kind::Approval
        | Kind::ToolCall
        | Kind::Question
        | Kind::Input
        | Kind::Authorization
        | Kind::Other(_) => {}
    }
    let Some(schema) = form(request) else { return Ok(()) };
    let validator = validator(schema)
        .map_err(|why| format!("What this request asks for cannot be checked: {why}. It can be declined."))?;
    let nothing = Value::Object(Map::new());
    let data = data.unwrap_or(&nothing);
    let problems: Vec<_> = validator.iter_errors(data).take(3).map(|error| problem(&error)).collect();
    if problems.is_empty() { Ok(()) } else { Err(format!("{}.", problems.join("; "))) }
}

fn problem(error: &jsonschema::ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    let field = path.trim_start_matches('/');
    if field.is_empty() {
        format!("The data does not fit: {error}")
    } else {
        format!("`{field}` does not fit: {error}")
    }
}

/// Answers to questions: `{"answers": […]}`, one per question, each a text or a list of texts. Free text is as good as an
/// option, and other data is the asker's own matter.
fn questions(request: &Request, data: Option<&Value>) -> Result<(), String> {
    let count =
        request.data.as_ref().and_then(|data| data.get("questions")).and_then(Value::as_array).map(Vec::len);
    let Some(answers) = data.and_then(|data| data.get("answers")) else { return Ok(()) };
    let Some(list) = answers.as_array() else {
        return Err("`answers` must be a list with one answer for each question.".to_owned());
    };
    if count.is_some_and(|count| list.len() > count) {
        return Err("There are more answers than questions.".to_owned());
    }
    let is_text = |answer: &Value| {
        answer.is_string() || answer.as_array().is_some_and(|texts| texts.iter().all(Value::is_string))
    };
    if list.iter().all(is_text) {
        Ok(())
    } else {
        Err("Each answer must be a text, or a list of texts.".to_owned())
    }
}

/// A flat object, as contract 30 says: what a form can show, and where nothing can hide.
fn flat(schema: &Value) -> Result<(), String> {
    let Some(keywords) = schema.as_object() else { return Err("it must be an object".to_owned()) };
    if keywords.get("type").is_some_and(|kind| kind != "object") {
        return Err("it must describe an object".to_owned());
    }
    const ELSEWHERE: [&str; 8] =
        ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "patternProperties", "dependentSchemas"];
    if let Some(keyword) = ELSEWHERE.iter().find(|keyword| keywords.contains_key(**keyword)) {
        return Err(format!("it must be a flat object, without `{keyword}`"));
    }
    let Some(properties) = keywords.get("properties") else { return Ok(()) };
    let Some(properties) = properties.as_object() else {
        return Err("`properties` must be an object".to_owned());
    };
    for (name, field) in properties {
        let nested = ["properties", "additionalProperties", "$ref", "$dynamicRef", "allOf", "not"];
        let is_nested = nested.iter().any(|keyword| field.get(keyword).is_some());
        if is_nested || !is_simple(field) {
            return Err(format!("`{name}` must be a string, number, integer, boolean or enum"));
        }
    }
    Ok(())
}

/// One value, or several that are chosen from a list.
fn is_simple(field: &Value) -> bool {
    match field.get("type").map(|kind| kind.as_str().unwrap_or_default()) {
        Some("string" | "number" | "integer" | "boolean") => true,
        Some("array") => field
            .get("items")
            .is_some_and(|items| items.get("type") != Some(&"array".into()) && is_simple(items)),
        Some(_) => false,
        None => ["enum", "const", "oneOf", "anyOf"].iter().any(|keyword| field.get(keyword).is_some()),
    }
}

/// Patterns match in linear time, and nothing is fetched.
fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .should_validate_formats(true)
        .build(schema)
        .map_err(|error| error.to_string())
}
