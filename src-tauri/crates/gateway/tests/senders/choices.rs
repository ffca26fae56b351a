//! Choices that senders bring along.

use reqwest::Method;
use serde_json::{Value, json};

use super::stage::{Said, Stage};

fn choices() -> Value {
    json!([
        { "id": "later", "label": "Not today", "effect": "deny" },
        { "id": "one", "label": "Deploy to one", "effect": "approve" },
        { "id": "all", "label": "Deploy to all", "effect": "approve" },
        { "id": "never", "label": "Never", "effect": "deny" },
    ])
}

fn request(id: &str, choices: Value) -> Value {
    json!({ "id": id, "kind": "approval", "prompt": "Deploy?", "data": { "version": "1.2", "choices": choices } })
}

async fn chooser(stage: &Stage) -> String {
    stage.sender_with(json!({ "name": "chooser", "own_choices": true })).await
}

async fn shown(stage: &Stage) -> Value {
    let list = stage.rpc("inbox.list", json!({ "whole": true })).await["items"].clone();
    assert_eq!(list.as_array().unwrap().len(), 1, "{list}");
    stage.rpc("inbox.show", json!({ "key": list[0]["key"] })).await
}

fn decision(shown: &Value, ok: bool, data: &str) -> Value {
    json!({ "key": shown["item"]["key"], "digest": shown["item"]["digest"], "ok": ok, "data": data })
}

async fn answer(stage: &Stage, token: &str, id: &str) -> Said {
    stage.get(token, &format!("/v1/requests/{id}/answer?wait=20")).await
}

#[tokio::test]
async fn a_yes_carries_the_choice_and_a_no_nothing_but_its_class() {
    let stage = Stage::new().await;
    let token = chooser(&stage).await;
    assert_eq!(stage.post(&token, &request("a", choices())).await.status, 201);
    let seen = shown(&stage).await;
    assert_eq!(seen["choices"], choices());
    stage.rpc("inbox.decide", decision(&seen, true, r#"{"choice":"one"}"#)).await;
    let said = answer(&stage, &token, "a").await.body;
    assert_eq!(said, json!({ "id": "a", "ok": true, "data": { "choice": "one" } }));
    assert_eq!(stage.get(&token, "/v1/requests/a").await.body["state"], "approved");

    // Which no it was is for the person's own History.
    assert_eq!(stage.post(&token, &request("b", choices())).await.status, 201);
    let seen = shown(&stage).await;
    let key = seen["item"]["key"].clone();
    let no = decision(&seen, false, r#"{"choice":"never"}"#);
    let decided = stage.rpc("inbox.decide", no).await;
    assert_eq!(decided["outcome"], "declined");
    let said = answer(&stage, &token, "b").await.body;
    assert_eq!(said, json!({ "id": "b", "ok": false, "reason": "declined" }));
    let kept = stage.rpc("history.show", json!({ "key": key })).await;
    assert!(kept["item"]["answer"].as_str().unwrap().contains(r#""choice":"never""#), "{kept}");
    assert_eq!(stage.rpc("history.verify", json!({})).await["ok"], true);

    // A plain no is a no, whatever was offered.
    assert_eq!(stage.post(&token, &request("c", choices())).await.status, 201);
    stage.decide("c", json!({ "ok": false, "reason": "my own words" })).await;
    let said = answer(&stage, &token, "c").await.body;
    assert_eq!(said, json!({ "id": "c", "ok": false, "reason": "declined" }));
    stage.close().await;
}

#[tokio::test]
async fn a_yes_that_chooses_nothing_or_something_else_is_refused_and_the_request_waits() {
    let stage = Stage::new().await;
    let token = chooser(&stage).await;
    assert_eq!(stage.post(&token, &request("a", choices())).await.status, 201);
    let seen = shown(&stage).await;
    let plain = json!({ "key": seen["item"]["key"], "digest": seen["item"]["digest"], "ok": true });
    let error = stage.refused("inbox.decide", plain).await;
    assert_eq!(error.code, "invalid_data");
    assert!(error.message.contains("`one`, `all`"), "{}", error.message);
    for (ok, data) in [
        (true, "{}"),
        (true, "null"),
        (true, r#""one""#),
        (true, r#"{"choice":"none"}"#),
        (true, r#"{"choice":["one"]}"#),
        (true, r#"{"choice":null}"#),
        // A no is no yes, and a yes no no.
        (true, r#"{"choice":"later"}"#),
        (true, r#"{"choice":"one","choice":"all"}"#),
        // It was not declared editable.
        (true, r#"{"choice":"one","arguments":{}}"#),
        (false, r#"{"choice":"one"}"#),
        (false, r#"{"choice":"none"}"#),
        (false, r#"{"words":"mine"}"#),
    ] {
        let error = stage.refused("inbox.decide", decision(&seen, ok, data)).await;
        assert_eq!(error.code, "invalid_data", "{ok} {data}");
    }
    let mut other = decision(&seen, true, r#"{"choice":"one"}"#);
    other["digest"] = json!("0".repeat(64));
    assert_eq!(stage.refused("inbox.decide", other).await.code, "digest_mismatch");
    assert_eq!(stage.get(&token, "/v1/requests/a").await.body["state"], "pending");
    assert_eq!(stage.get(&token, "/v1/requests/a/answer").await.status, 204);
    stage.close().await;
}

#[tokio::test]
async fn who_may_not_bring_choices_is_told_so_and_nobody_is_asked() {
    let stage = Stage::new().await;
    let plain = stage.sender("plain").await;
    assert_eq!(stage.post(&plain, &request("a", choices())).await.problem(), (403, "may_not_choose"));
    let local = stage.at_socket(Method::POST, None, "/v1/requests", Some(&request("a", choices()))).await;
    assert_eq!(local.problem(), (403, "may_not_choose"));
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"], json!([]));
    // Where nobody decides by button, the name means nothing.
    let question = json!({ "id": "q", "kind": "question", "prompt": "?", "data": { "choices": choices() } });
    assert_eq!(stage.post(&plain, &question).await.status, 201);
    assert_eq!(shown(&stage).await["choices"], json!([]));
    stage.yes("q").await;
    assert_eq!(stage.post(&plain, &request("b", Value::Null)).await.status, 201);
    assert_eq!(shown(&stage).await["choices"], json!([]));
    stage.close().await;
}

#[tokio::test]
async fn choices_that_could_mislead_or_cannot_be_told_apart_are_refused() {
    let stage = Stage::new().await;
    let token = chooser(&stage).await;
    let no = json!({ "id": "no", "label": "No", "effect": "deny" });
    let yes = |id: &str, label: &str| json!({ "id": id, "label": label, "effect": "approve" });
    let seven: Vec<Value> = (0..7).map(|n| yes(&n.to_string(), &format!("Label {n}"))).collect();
    for bad in [
        json!([]),
        json!([no]),
        json!([yes("a", "A"), yes("b", "B")]),
        json!(seven),
        json!({ "a": "b" }),
        json!("yes or no"),
        json!([no, yes("no", "Yes")]),
        json!([no, yes("a", "no")]),
        json!([no, yes("", "Yes")]),
        json!([no, yes("a", "")]),
        json!([no, yes("a", " Yes")]),
        json!([no, yes("a", "Yes\nNo")]),
        json!([no, yes("a", "Ye\u{200b}s")]),
        json!([no, yes("a", "\u{202e}seY")]),
        json!([no, yes("a", &"x".repeat(41))]),
        json!([no, yes(&"x".repeat(65), "Yes")]),
        json!([no, { "id": "a", "label": "Yes", "effect": "maybe" }]),
        json!([no, { "id": "a", "label": "Yes" }]),
        json!([no, { "id": 1, "label": "Yes", "effect": "approve" }]),
        json!([no, { "id": "a", "label": "Yes", "effect": "approve", "command": "rm -r /" }]),
        json!([no, null]),
    ] {
        let said = stage.post(&token, &request("a", bad.clone())).await;
        assert_eq!(said.problem(), (422, "bad_choices"), "{bad}");
    }
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"], json!([]));
    let longest = json!([no, yes(&"x".repeat(64), &"é".repeat(40))]);
    assert_eq!(stage.post(&token, &request("a", longest)).await.status, 201);
    stage.close().await;
}

#[tokio::test]
async fn choices_and_edits_go_together_for_who_may_both() {
    let stage = Stage::new().await;
    let setup = json!({ "name": "both", "own_choices": true, "may_edit": true });
    let token = stage.sender_with(setup).await;
    let mut both = request("a", choices());
    both["editable"] = json!(true);
    both["data"]["arguments"] = json!({ "host": "a" });
    assert_eq!(stage.post(&token, &both).await.status, 201);
    let seen = shown(&stage).await;
    let edited = r#"{"choice":"all","arguments":{"host":"b"}}"#;
    let unchosen = decision(&seen, true, r#"{"arguments":{"host":"b"}}"#);
    assert_eq!(stage.refused("inbox.decide", unchosen).await.code, "invalid_data");
    stage.rpc("inbox.decide", decision(&seen, true, edited)).await;
    assert_eq!(answer(&stage, &token, "a").await.body["data"].to_string(), edited);
    stage.close().await;
}

#[tokio::test]
async fn choices_are_there_after_a_restart_as_they_were_shown() {
    let stage = Stage::new().await;
    let token = chooser(&stage).await;
    assert_eq!(stage.post(&token, &request("a", choices())).await.status, 201);
    let before = shown(&stage).await;
    let stage = stage.restart().await;
    assert_eq!(shown(&stage).await, before);
    stage.rpc("inbox.decide", decision(&before, true, r#"{"choice":"all"}"#)).await;
    assert_eq!(answer(&stage, &token, "a").await.body["data"], json!({ "choice": "all" }));
    stage.close().await;
}
