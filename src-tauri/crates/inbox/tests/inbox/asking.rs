use sayso_domain::{Kind, Request};
use sayso_inbox::InboxError;
use sayso_store::StoreError;
use sayso_store::requests;
use serde_json::{Value, json};

use super::world::{World, approval, at, until, with_data};

/// How a request from outside is taken, in a word.
async fn check(request: Request, expected: &str) {
    let world = World::new().await;
    let word = match world.inbox.ask(world.new_request(request.clone())).await {
        Ok(()) => "asked",
        Err(InboxError::Id) => "id",
        Err(InboxError::Url(_)) => "url",
        Err(InboxError::Secret(_)) => "secret",
        Err(InboxError::Schema(_)) => "schema",
        Err(InboxError::Expired) => "expired",
        Err(InboxError::Duplicate) => "duplicate",
        Err(InboxError::Storage(error)) => panic!("{error}"),
    };
    assert_eq!(word, expected, "{request:?}");
    let waiting = world.store.read(|reader| requests::count_pending(reader)).await.unwrap();
    assert_eq!(waiting, u32::from(expected == "asked"));
}

fn url(url: &str) -> Request {
    Request { url: Some(url.to_owned()), ..Request::new("r", Kind::Authorization, "Sign in") }
}

fn form(properties: Value) -> Request {
    with_data("r", Kind::Input, json!({"schema": {"type": "object", "properties": properties}}))
}

#[tokio::test]
async fn contract_05_a_senders_id_has_1_to_200_characters() {
    check(approval(""), "id").await;
    check(approval(&"é".repeat(200)), "asked").await;
    check(approval(&"é".repeat(201)), "id").await;
}

#[tokio::test]
async fn contract_10_a_link_is_https_or_of_this_machine() {
    check(url("https://example.com/login"), "asked").await;
    check(url("http://127.0.0.1:8080/login"), "asked").await;
    for bad in [
        "http://example.com",
        "https://me:secret@example.com",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "x",
    ] {
        check(url(bad), "url").await;
    }
}

#[tokio::test]
async fn contract_13_what_is_past_its_deadline_is_not_asked() {
    check(until(approval("r"), 0), "expired").await;
    check(until(approval("r"), -1), "expired").await;
    check(until(approval("r"), 1), "asked").await;
}

#[tokio::test]
async fn contract_30_a_form_is_a_flat_object() {
    check(
        form(json!({"n": {"type": "integer"}, "e": {"enum": ["a", "b"]}, "ok": {"type": "boolean"}})),
        "asked",
    )
    .await;
    check(form(json!({"many": {"type": "array", "items": {"enum": ["a", "b"]}}})), "asked").await;
    check(form(json!({"o": {"type": "object", "properties": {}}})), "schema").await;
    check(form(json!({"o": {"properties": {"x": {"type": "string"}}}})), "schema").await;
    check(form(json!({"r": {"$ref": "https://example.com/schema.json"}})), "schema").await;
    check(form(json!({"t": {"type": "nonsense"}})), "schema").await;
    check(form(json!({"t": {"type": "string", "pattern": "("}})), "schema").await;
    check(form(json!([1])), "schema").await;
    for schema in [json!(true), json!({"type": "array"}), json!({"$ref": "#"}), json!({"allOf": []})] {
        check(with_data("r", Kind::Input, json!({"schema": schema})), "schema").await;
    }
}

#[tokio::test]
async fn contract_31_input_and_question_collect_no_secrets() {
    for name in ["password", "apiKey", "user_pin"] {
        check(form(json!({name: {"type": "string"}})), "secret").await;
    }
    check(form(json!({"note": {"type": "string", "format": "password"}})), "secret").await;
    check(form(json!({"max_tokens": {"type": "integer"}, "issue_key": {"type": "string"}})), "asked").await;
}

#[tokio::test]
async fn a_sender_cannot_ask_twice_under_one_id() {
    let world = World::new().await;
    world.inbox.ask(world.new_request(approval("r"))).await.unwrap();
    let again = world.inbox.ask(world.new_request(approval("r"))).await;
    assert_eq!(again, Err(InboxError::Duplicate));
    assert_eq!(world.store.read(|reader| requests::count_pending(reader)).await.unwrap(), 1);
}

#[tokio::test]
async fn a_request_that_is_refused_takes_its_callers_transaction_with_it() {
    let world = World::new().await;
    let inbox = world.inbox.clone();
    let (good, bad) = (world.new_gate(0), world.new_request(url("http://example.com")));
    let done = world.store.write(move |tx| {
        inbox.ask_in(tx, &good)?;
        Ok(inbox.ask_in(tx, &bad)?)
    });
    assert!(matches!(done.await, Err(StoreError::Refused(_))));
    assert_eq!(world.store.read(|reader| requests::count_pending(reader)).await.unwrap(), 0);
}

/// A run cannot be told that its request came too late: it expires, and the run goes on.
#[tokio::test]
async fn a_runs_request_past_its_deadline_is_stored_and_expires() {
    let world = World::new().await;
    let mut new = world.new_gate(0);
    new.shown.request.expires_at = Some(at(-5));
    let key = new.key;
    let inbox = world.inbox.clone();
    world.store.try_write(move |tx| inbox.ask_in(tx, &new)).await.unwrap();
    assert_eq!(world.inbox.expire_due().await.unwrap(), [key]);
}

#[tokio::test]
async fn a_prompt_of_a_megabyte_comes_back_whole() {
    let mut world = World::new().await;
    let prompt = "Ü".repeat(1 << 19);
    let key = world.ask(Request::new("r", Kind::Approval, prompt.clone())).await;
    let row = world.store.read(move |reader| requests::get(reader, key)).await.unwrap().unwrap();
    assert_eq!(row.shown.request.prompt, prompt);
}
