//! What may be asked (contract 5, 10, 13, 30, 31), and what may be answered (contract 12, 30).

use sayso_domain::{
    Answer, Kind, Misfit, Request, Shown, Time, check_choice, check_edit, check_fits, check_request_url,
    check_schema, find_secret_field,
};
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
    match asked.form() {
        Some(schema) => flat(schema).and_then(|()| check_schema(schema)).map_err(InboxError::Schema),
        None => Ok(()),
    }
}

/// Whether a yes fits what was asked, arguments that it changes their tool's schema, and what is chosen the choices that
/// were shown. A no that chooses nothing always does. The error is for a person.
pub(crate) fn answer(shown: &Shown, answer: &Answer) -> Result<(), String> {
    check_choice(shown, answer).map_err(|misfit| format!("{misfit}."))?;
    if !answer.is_ok() {
        return Ok(());
    }
    let request = &shown.request;
    let data = answer.data();
    match &request.kind {
        Kind::Approval | Kind::ToolCall => {
            return check_edit(shown, answer).map_err(|misfit| match misfit {
                Misfit::Schema(_) => {
                    format!("Edited arguments are refused: {misfit}. Approve or deny them as shown.")
                }
                Misfit::Data(why) => format!("The edited arguments are refused. {why}."),
            });
        }
        Kind::Question if request.schema().is_none() => return questions(request, data),
        Kind::Question | Kind::Input | Kind::Authorization | Kind::Other(_) => {}
    }
    let Some(schema) = request.form() else { return Ok(()) };
    let nothing = Value::Object(Map::new());
    check_fits(schema, data.unwrap_or(&nothing)).map_err(|misfit| match misfit {
        Misfit::Schema(why) => {
            format!("What this request asks for cannot be checked: {why}. It can be declined.")
        }
        Misfit::Data(why) => format!("{why}."),
    })
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
