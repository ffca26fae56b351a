use proptest::prelude::*;
use sayso_domain::{Kind, Request, Time, WireError};
use serde_json::{Value, json};

use crate::json::json;

fn wire(request: &Request) -> String {
    serde_json::to_string(request).unwrap()
}

fn read(text: &str) -> Result<Request, WireError> {
    Request::try_from(serde_json::from_str::<Value>(text).unwrap())
}

#[test]
fn contract_01_request_keys_in_order_and_unset_ones_left_out() {
    let least = Request::new("r1", Kind::Approval, "P");
    assert_eq!(wire(&least), r#"{"id":"r1","kind":"approval","prompt":"P"}"#);

    let most = Request {
        url: Some("https://example.com/".to_owned()),
        data: Some(json!({"z": 1, "a": 2})),
        expires_at: Some(Time::from_millis(1_769_860_800_000)),
        ..Request::new("r1", Kind::Authorization, "P")
    };
    assert_eq!(
        wire(&most),
        r#"{"id":"r1","kind":"authorization","prompt":"P","url":"https://example.com/","data":{"z":1,"a":2},"expiresAt":"2026-01-31T12:00:00.000Z"}"#
    );
    assert_eq!(read(&wire(&most)).unwrap(), most);

    let null = Request { data: Some(Value::Null), ..least.clone() };
    assert_eq!(wire(&null), wire(&least), "never null");
}

#[test]
fn contract_04_reading_is_tolerant() {
    for (text, written) in [
        (
            r#"{"prompt":"P","url":null,"data":null,"expiresAt":null,"kind":"approval","id":"r"}"#,
            r#"{"id":"r","kind":"approval","prompt":"P"}"#,
        ),
        (
            r#"{"x":{"n":1.10},"id":"r","kind":"approval","a":0,"prompt":"P"}"#,
            r#"{"id":"r","kind":"approval","prompt":"P","x":{"n":1.10},"a":0}"#,
        ),
        (
            r#"{"id":"r","kind":"approval","prompt":"P","data":{"n":9007199254740993,"b":null}}"#,
            r#"{"id":"r","kind":"approval","prompt":"P","data":{"n":9007199254740993,"b":null}}"#,
        ),
        (
            r#"{"id":"r","kind":"approval","prompt":"P","expiresAt":"2026-01-31T14:00:00+02:00"}"#,
            r#"{"id":"r","kind":"approval","prompt":"P","expiresAt":"2026-01-31T12:00:00.000Z"}"#,
        ),
    ] {
        assert_eq!(wire(&read(text).unwrap()), written, "{text}");
    }
}

#[test]
fn contract_01_what_is_no_request_is_refused() {
    let long = format!(r#"{{"id":"{}","kind":"approval","prompt":"P"}}"#, "x".repeat(201));
    for (text, error) in [
        ("null", WireError::NotAnObject),
        (r#"{"kind":"approval","prompt":"P"}"#, WireError::Missing("id")),
        (r#"{"id":"r","prompt":"P"}"#, WireError::Missing("kind")),
        (r#"{"id":"r","kind":"approval"}"#, WireError::Missing("prompt")),
        (r#"{"id":"r","kind":"approval","prompt":null}"#, WireError::Missing("prompt")),
        (r#"{"id":"r","kind":1,"prompt":"P"}"#, WireError::WrongType { key: "kind", expected: "a string" }),
        (
            r#"{"id":"r","kind":"approval","prompt":"P","expiresAt":"tomorrow"}"#,
            WireError::WrongType { key: "expiresAt", expected: "an RFC 3339 time" },
        ),
        (
            r#"{"id":"r","kind":"approval","prompt":"P","expiresAt":1769860800}"#,
            WireError::WrongType { key: "expiresAt", expected: "a string" },
        ),
        (&long, WireError::IdTooLong),
    ] {
        assert_eq!(read(text), Err(error), "{text}");
    }
}

#[test]
fn contract_06_kind_is_an_open_vocabulary() {
    for (name, kind) in [
        ("approval", Kind::Approval),
        ("input", Kind::Input),
        ("question", Kind::Question),
        ("authorization", Kind::Authorization),
        ("tool_call", Kind::ToolCall),
        ("Approval", Kind::Other("Approval".to_owned())),
        ("deploy/v2", Kind::Other("deploy/v2".to_owned())),
    ] {
        let request = read(&format!(r#"{{"id":"r","kind":"{name}","prompt":"P"}}"#)).unwrap();
        assert_eq!((request.kind.as_str(), &request.kind), (name, &kind));
    }
}

proptest! {
    #[test]
    fn contract_04_a_request_keeps_every_digit_and_the_order_of_keys(
        id in "[a-zA-Z0-9 é]{1,50}", prompt in any::<String>(), data in json(), extra in json(),
    ) {
        let prompt = serde_json::to_string(&prompt).unwrap();
        let text = format!(
            r#"{{"id":"{id}","kind":"k","prompt":{prompt},"url":"https://example.com","data":{data},"expiresAt":"2026-01-31T12:00:00.000Z","z":{extra},"b":{extra}}}"#
        );
        let request: Request = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(wire(&request), text);
        prop_assert_eq!(Request::try_from(serde_json::to_value(&request).unwrap()).unwrap(), request);
    }

    #[test]
    fn contract_13_at_its_deadline_a_request_has_expired(deadline in any::<i32>(), after in -3i64..3) {
        let deadline = Time::from_millis(i64::from(deadline));
        let request = Request { expires_at: Some(deadline), ..Request::new("r", Kind::Approval, "P") };
        prop_assert_eq!(request.is_expired(deadline.plus_millis(after)), after >= 0);
    }
}
