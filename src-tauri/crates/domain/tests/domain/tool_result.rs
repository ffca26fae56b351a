use proptest::prelude::*;
use sayso_domain::{Kind, Request, ToolResult};
use serde_json::json;

use crate::json::json;

#[test]
fn contract_05_a_suspension_shows_its_prompt_and_url() {
    let asks = Request::new("r", Kind::Approval, "Approve purchase of gpu?");
    let result = ToolResult::pending(&asks);
    assert_eq!(
        serde_json::to_string(&result).unwrap(),
        r#"{"output":"Approve purchase of gpu?","isError":true,"metadata":{"pending":{"id":"r","kind":"approval","prompt":"Approve purchase of gpu?"}}}"#
    );
    assert_eq!(result.suspension(), Some(asks.clone()));

    let with_url = Request { url: Some("https://example.com/in".to_owned()), ..asks };
    assert_eq!(ToolResult::pending(&with_url).output, "Approve purchase of gpu?\nhttps://example.com/in");
}

#[test]
fn contract_05_only_a_request_suspends() {
    for pending in [json!(null), json!(true), json!("r"), json!({}), json!({"id": "r", "kind": "approval"})] {
        let mut result = ToolResult::ok("fine");
        result.metadata.insert("pending".to_owned(), pending);
        assert_eq!(result.suspension(), None);
    }
    assert_eq!(ToolResult::error("broken").suspension(), None);
}

#[test]
fn contract_08_and_11_the_exact_words() {
    let refused = ToolResult::refused("Approve purchase of gpu?");
    assert_eq!(
        (refused.output.as_str(), refused.is_error),
        ("declined/expired: Approve purchase of gpu?", true)
    );
    let unresolved = ToolResult::unresolved("Which?");
    assert_eq!((unresolved.output.as_str(), unresolved.is_error), ("unresolved: Which?", true));
}

proptest! {
    #[test]
    fn contract_05_a_suspension_keeps_its_request_whole(data in json()) {
        let text = format!(r#"{{"id":"r","kind":"k","prompt":"P","data":{data}}}"#);
        let request: Request = serde_json::from_str(&text).unwrap();
        let stored = serde_json::to_string(&ToolResult::pending(&request)).unwrap();
        let back: ToolResult = serde_json::from_str(&stored).unwrap();
        prop_assert_eq!(serde_json::to_string(&back.suspension().unwrap()).unwrap(), text);
    }
}
