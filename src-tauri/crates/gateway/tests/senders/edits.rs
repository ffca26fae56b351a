//! Approve with edits (contract 12), for what senders ask.

use reqwest::Method;
use serde_json::{Value, json};

use super::mcp_client::{Client, done, text};
use super::stage::{Said, Stage};

const SHOWN: &str = r#"{"z":1.10,"a":9007199254740993}"#;
const EDITED: &str = r#"{"a":9007199254740994,"z":1.20}"#;

fn editable(id: &str) -> Value {
    let arguments: Value = serde_json::from_str(SHOWN).unwrap();
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } }, "required": ["a"] });
    let data = json!({ "tool": "transfer", "arguments": arguments, "argumentsSchema": schema });
    json!({ "id": id, "kind": "approval", "prompt": "Transfer?", "data": data, "editable": true })
}

fn with(mut request: Value, pointer: &str, name: &str, value: Value) -> Value {
    request.pointer_mut(pointer).unwrap()[name] = value;
    request
}

async fn editor(stage: &Stage) -> String {
    stage.sender_with(json!({ "name": "editor", "may_edit": true })).await
}

/// The one request that waits, with all that is shown.
async fn shown(stage: &Stage) -> Value {
    let list = stage.rpc("inbox.list", json!({ "whole": true })).await["items"].clone();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    stage.rpc("inbox.show", json!({ "key": list[0]["key"] })).await
}

fn edit(shown: &Value, arguments: &str) -> Value {
    let data = format!(r#"{{"arguments":{arguments}}}"#);
    json!({ "key": shown["item"]["key"], "digest": shown["item"]["digest"], "ok": true, "data": data })
}

async fn answer(stage: &Stage, token: &str, id: &str) -> Said {
    stage.get(token, &format!("/v1/requests/{id}/answer?wait=20")).await
}

#[tokio::test]
async fn contract_12_a_sender_that_may_gets_what_the_person_made_of_the_arguments_digit_for_digit() {
    let stage = Stage::new().await;
    let token = editor(&stage).await;
    assert_eq!(stage.post(&token, &editable("a")).await.status, 201);
    let seen = shown(&stage).await;
    assert_eq!((&seen["item"]["tool"], &seen["arguments"]), (&json!("transfer"), &json!(SHOWN)));
    assert!(seen["editable"].as_str().unwrap().contains("\"integer\""), "{seen}");
    let key = seen["item"]["key"].clone();
    stage.rpc("inbox.decide", edit(&seen, EDITED)).await;
    let said = answer(&stage, &token, "a").await;
    assert_eq!(said.body["ok"], true);
    assert_eq!(said.body["data"].to_string(), format!(r#"{{"arguments":{EDITED}}}"#));
    let kept = stage.rpc("history.show", json!({ "key": key })).await;
    assert_eq!(
        (&kept["arguments"], &kept["edited_arguments"]),
        (&json!(SHOWN), &json!(EDITED)),
        "both are kept: {kept}"
    );
    assert_eq!(stage.rpc("history.verify", json!({})).await["ok"], true);
    stage.close().await;
}

#[tokio::test]
async fn contract_12_a_yes_as_shown_carries_no_arguments_and_any_object_will_do_without_a_schema() {
    let stage = Stage::new().await;
    let token = editor(&stage).await;
    assert_eq!(stage.post(&token, &editable("a")).await.status, 201);
    stage.yes("a").await;
    assert_eq!(answer(&stage, &token, "a").await.body, json!({ "id": "a", "ok": true }));
    let free = with(editable("b"), "/data", "argumentsSchema", Value::Null);
    assert_eq!(stage.post(&token, &free).await.status, 201);
    stage.rpc("inbox.decide", edit(&shown(&stage).await, r#"{"other":1}"#)).await;
    assert_eq!(answer(&stage, &token, "b").await.body["data"], json!({ "arguments": { "other": 1 } }));
    stage.close().await;
}

#[tokio::test]
async fn contract_12_an_edit_that_does_not_fit_or_is_for_something_else_is_refused_and_the_request_waits() {
    let stage = Stage::new().await;
    let token = editor(&stage).await;
    assert_eq!(stage.post(&token, &editable("a")).await.status, 201);
    let seen = shown(&stage).await;
    for bad in ["{}", r#"{"a":"x"}"#, r#"{"a":1.5}"#, "[1]", "null", r#"{"a":1,"a":2}"#] {
        assert_eq!(stage.refused("inbox.decide", edit(&seen, bad)).await.code, "invalid_data", "{bad}");
    }
    let blind = with(edit(&seen, EDITED), "", "digest", Value::Null);
    assert_eq!(stage.refused("inbox.decide", blind).await.code, "digest_mismatch");
    let other = with(edit(&seen, EDITED), "", "digest", json!("0".repeat(64)));
    assert_eq!(stage.refused("inbox.decide", other).await.code, "digest_mismatch");
    assert_eq!(stage.get(&token, "/v1/requests/a").await.body["state"], "pending");
    assert_eq!(stage.get(&token, "/v1/requests/a/answer").await.status, 204);
    stage.rpc("inbox.decide", edit(&seen, EDITED)).await;
    assert_eq!(answer(&stage, &token, "a").await.body["ok"], true);
    stage.close().await;
}

#[tokio::test]
async fn contract_12_who_may_not_is_told_so_and_nobody_is_asked() {
    let stage = Stage::new().await;
    let plain = stage.sender("plain").await;
    assert_eq!(stage.post(&plain, &editable("a")).await.problem(), (403, "may_not_edit"));
    let local = stage.at_socket(Method::POST, None, "/v1/requests", Some(&editable("a"))).await;
    assert_eq!(local.problem(), (403, "may_not_edit"));
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"], json!([]));
    // One that can do without is asked, as shown; so is one that does not say it.
    for (id, said) in [("b", json!("if_allowed")), ("c", json!(false)), ("d", Value::Null)] {
        assert_eq!(stage.post(&plain, &with(editable(id), "", "editable", said)).await.status, 201);
        let seen = shown(&stage).await;
        assert_eq!((&seen["editable"], &seen["arguments"]), (&Value::Null, &Value::Null), "{id}");
        assert_eq!(stage.refused("inbox.decide", edit(&seen, EDITED)).await.code, "invalid_data");
        stage.yes(id).await;
        assert_eq!(answer(&stage, &plain, id).await.body, json!({ "id": id, "ok": true }));
    }
    stage.close().await;
}

#[tokio::test]
async fn contract_12_who_may_but_does_not_say_so_cannot_be_edited() {
    let stage = Stage::new().await;
    let token = editor(&stage).await;
    assert_eq!(stage.post(&token, &with(editable("a"), "", "editable", json!(false))).await.status, 201);
    let seen = shown(&stage).await;
    assert_eq!(seen["editable"], Value::Null);
    assert_eq!(stage.refused("inbox.decide", edit(&seen, EDITED)).await.code, "invalid_data");
    stage.close().await;
}

#[tokio::test]
async fn the_right_counts_when_it_is_asked_and_what_waits_stays_as_it_was_shown() {
    let stage = Stage::new().await;
    let token = editor(&stage).await;
    assert_eq!(stage.post(&token, &editable("a")).await.status, 201);
    let before = shown(&stage).await;
    stage.rpc("senders.update", json!({ "name": "editor", "may_edit": false })).await;
    assert_eq!(stage.post(&token, &editable("b")).await.problem(), (403, "may_not_edit"));
    assert_eq!(stage.post(&token, &editable("a")).await.status, 200, "it was asked before");
    assert_eq!(shown(&stage).await, before);
    stage.rpc("inbox.decide", edit(&before, EDITED)).await;
    assert_eq!(answer(&stage, &token, "a").await.body["ok"], true);
    stage.close().await;
}

#[tokio::test]
async fn what_cannot_be_edited_is_refused_with_a_reason() {
    let stage = Stage::new().await;
    let token = editor(&stage).await;
    let secret = json!({ "type": "object", "properties": { "password": { "type": "string" } } });
    for (request, code) in [
        (with(editable("a"), "", "editable", json!("yes")), "bad_edit"),
        (with(editable("a"), "", "editable", json!(1)), "bad_edit"),
        (with(editable("a"), "", "kind", json!("input")), "bad_edit"),
        (with(editable("a"), "", "kind", json!("deploy")), "bad_edit"),
        (with(editable("a"), "", "data", Value::Null), "bad_edit"),
        (with(editable("a"), "", "data", json!("text")), "bad_edit"),
        (with(editable("a"), "/data", "arguments", json!([1])), "bad_edit"),
        (with(editable("a"), "/data", "arguments", Value::Null), "bad_edit"),
        (with(editable("a"), "/data", "tool", json!(7)), "bad_edit"),
        (with(editable("a"), "/data", "argumentsSchema", json!({ "type": 7 })), "bad_schema"),
        (with(editable("a"), "/data", "argumentsSchema", json!("object")), "bad_schema"),
        (
            with(editable("a"), "/data", "argumentsSchema", json!({ "$ref": "https://example.com/s.json" })),
            "bad_schema",
        ),
        (with(editable("a"), "/data", "argumentsSchema", secret), "secret_field"),
    ] {
        assert_eq!(stage.post(&token, &request).await.problem(), (422, code), "{request}");
    }
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"], json!([]));
    stage.close().await;
}

#[tokio::test]
async fn contract_12_a_permission_prompt_gives_the_agent_what_the_person_made_of_its_input() {
    let stage = Stage::new().await;
    let token = editor(&stage).await;
    for client in [Client::over_http(&stage, &token).await, Client::of_its_own(&stage, Some(&token)).await] {
        let input: Value = serde_json::from_str(SHOWN).unwrap();
        let call = json!({ "tool_name": "Transfer", "input": input, "tool_use_id": "t" });
        let call = client.begin("permission_prompt", call).await;
        stage.waiting_id().await;
        let seen = shown(&stage).await;
        assert_eq!((&seen["item"]["tool"], &seen["arguments"]), (&json!("Transfer"), &json!(SHOWN)));
        assert_eq!(stage.refused("inbox.decide", edit(&seen, "7")).await.code, "invalid_data");
        stage.rpc("inbox.decide", edit(&seen, EDITED)).await;
        assert_eq!(text(&done(call).await), format!(r#"{{"behavior":"allow","updatedInput":{EDITED}}}"#));
    }
    stage.close().await;
}
