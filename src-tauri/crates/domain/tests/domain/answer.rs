use proptest::prelude::*;
use sayso_domain::{Answer, Class, WireError};
use serde_json::{Value, json};

use crate::json::json;

fn wire(answer: &Answer) -> String {
    serde_json::to_string(answer).unwrap()
}

fn read(text: &str) -> Result<Answer, WireError> {
    Answer::try_from(serde_json::from_str::<Value>(text).unwrap())
}

#[test]
fn contract_02_answer_keys_in_order_and_unset_ones_left_out() {
    for (answer, text) in [
        (Answer::ok("r1"), r#"{"id":"r1","ok":true}"#),
        (Answer::ok_with("r1", json!({"z": 1, "a": [2]})), r#"{"id":"r1","ok":true,"data":{"z":1,"a":[2]}}"#),
        (Answer::ok_with("r1", Value::Null), r#"{"id":"r1","ok":true}"#),
        (Answer::declined("r1", None), r#"{"id":"r1","ok":false,"reason":"declined"}"#),
        (Answer::declined("r1", "expired"), r#"{"id":"r1","ok":false,"reason":"expired"}"#),
    ] {
        assert_eq!(wire(&answer), text);
        assert_eq!(read(text).unwrap(), answer);
    }
}

/// The first and the third example of the page that the contract starts from.
#[test]
fn contract_03_declined_is_a_no_whatever_the_text() {
    for (reason, kept) in [
        (None, "declined"),
        (Some(""), "declined"),
        (Some("declined"), "declined"),
        (Some("expired"), "expired"),
        (Some("cancelled"), "cancelled"),
        (Some("manager rejected: over budget"), "manager rejected: over budget"),
        (Some("true"), "true"),
        (Some("ok"), "ok"),
    ] {
        let answer = Answer::declined("req-1", reason);
        assert!(!answer.is_ok(), "{reason:?}");
        assert_eq!((answer.id(), answer.reason()), ("req-1", Some(kept)));
    }
    assert_eq!(Answer::declined("req-2", None), Answer::declined(String::from("req-2"), "declined"));
}

#[test]
fn contract_04_reading_is_tolerant() {
    for (text, written) in [
        (r#"{"ok":true,"id":"r"}"#, r#"{"id":"r","ok":true}"#),
        (r#"{"id":"r","ok":true,"data":null,"reason":null}"#, r#"{"id":"r","ok":true}"#),
        (r#"{"x":1,"ok":true,"a":2,"id":"r"}"#, r#"{"id":"r","ok":true,"x":1,"a":2}"#),
        (r#"{"id":"r","ok":false}"#, r#"{"id":"r","ok":false,"reason":"declined"}"#),
        (r#"{"id":"r","ok":false,"reason":""}"#, r#"{"id":"r","ok":false,"reason":"declined"}"#),
        (r#"{"id":"r","ok":true,"data":[1E5,1e400,-0]}"#, r#"{"id":"r","ok":true,"data":[1e+5,1e+400,-0]}"#),
        (r#"{"id":"r","ok":true,"reason":"fine"}"#, r#"{"id":"r","ok":true,"reason":"fine"}"#),
        (
            r#"{"id":"r","ok":true,"data":{"n":9007199254740993}}"#,
            r#"{"id":"r","ok":true,"data":{"n":9007199254740993}}"#,
        ),
    ] {
        assert_eq!(wire(&read(text).unwrap()), written, "{text}");
    }
}

#[test]
fn contract_02_what_is_no_answer_is_refused() {
    let long = format!(r#"{{"id":"{}","ok":true}}"#, "é".repeat(201));
    for (text, error) in [
        ("[]", WireError::NotAnObject),
        ("true", WireError::NotAnObject),
        (r#"{"ok":true}"#, WireError::Missing("id")),
        (r#"{"id":null,"ok":true}"#, WireError::Missing("id")),
        (r#"{"id":"r"}"#, WireError::Missing("ok")),
        (r#"{"id":"r","ok":null}"#, WireError::Missing("ok")),
        (r#"{"id":"r","ok":"true"}"#, WireError::WrongType { key: "ok", expected: "true or false" }),
        (r#"{"id":"r","ok":1}"#, WireError::WrongType { key: "ok", expected: "true or false" }),
        (r#"{"id":7,"ok":true}"#, WireError::WrongType { key: "id", expected: "a string" }),
        (r#"{"id":"r","ok":false,"reason":7}"#, WireError::WrongType { key: "reason", expected: "a string" }),
        (&long, WireError::IdTooLong),
    ] {
        assert_eq!(read(text), Err(error), "{text}");
    }
    assert!(read(&long.replacen('é', "", 1)).is_ok(), "200 characters are fine");
}

#[test]
fn contract_09_of_a_no_only_the_class_leaves() {
    let no =
        read(r#"{"id":"r","ok":false,"data":{"typed":"words"},"reason":"my words","note":"words"}"#).unwrap();
    for (class, reason) in [
        (Some(Class::Declined), "declined"),
        (Some(Class::Cancelled), "cancelled"),
        (Some(Class::Expired), "expired"),
        (None, "declined"),
    ] {
        let text = format!(r#"{{"id":"r","ok":false,"reason":"{reason}"}}"#);
        assert_eq!(wire(&no.for_outside(class)), text);
    }
}

#[test]
fn contract_09_of_a_yes_the_reason_stays_home() {
    let yes = read(r#"{"id":"r","ok":true,"data":{"n":1},"reason":"my words"}"#).unwrap();
    assert_eq!(wire(&yes.for_outside(None)), r#"{"id":"r","ok":true,"data":{"n":1}}"#);
    assert!(!yes.for_outside(Some(Class::Expired)).is_ok(), "a class is never a yes");
}

proptest! {
    #[test]
    fn contract_03_any_text_is_accepted_and_none_is_a_yes(id in ".{0,20}", reason in any::<Option<String>>()) {
        let answer = Answer::declined(id, reason.as_deref());
        prop_assert!(!answer.is_ok());
        let back: Answer = serde_json::from_str(&wire(&answer)).unwrap();
        prop_assert_eq!(back, answer);
    }

    #[test]
    fn contract_04_an_answer_keeps_every_digit_and_the_order_of_keys(data in json(), extra in json()) {
        let text = format!(r#"{{"id":"r","ok":true,"data":{data},"z":{extra},"b":{extra}}}"#);
        let answer: Answer = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(wire(&answer), text);
        prop_assert_eq!(Answer::try_from(serde_json::to_value(&answer).unwrap()).unwrap(), answer);
    }
}
