//! A request's way: asked, looked at, waited for, acknowledged, withdrawn.

use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::Method;
use sayso_domain::Time;
use serde_json::{Value, json};

use crate::stage::{SOON, Stage, approval};

#[tokio::test]
async fn a_sender_asks_waits_and_acknowledges_and_the_person_decides() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let asked = stage.post(&token, &approval("a")).await;
    assert_eq!(
        (asked.status, &asked.body["state"], &asked.body["id"]),
        (201, &json!("pending"), &json!("a"))
    );
    assert_eq!(asked.body["request"], approval("a"));
    assert_eq!(stage.get(&token, "/v1/requests/a/answer").await.status, 204);

    let list = stage.rpc("inbox.list", json!({ "whole": true })).await["items"].clone();
    assert_eq!((&list[0]["source"], &list[0]["run"]), (&json!("ci"), &Value::Null));
    let waits = stage.get(&token, "/v1/requests/a/answer?wait=60");
    let (answer, ()) = tokio::join!(waits, stage.yes("a"));
    assert_eq!((answer.status, &answer.body), (200, &json!({ "id": "a", "ok": true })));
    // It can be read again until it is acknowledged, and acknowledged again.
    assert_eq!(stage.get(&token, "/v1/requests/a/answer").await.body, answer.body);
    assert_eq!(stage.get(&token, "/v1/requests/a").await.body["state"], "approved");
    for _ in 0..2 {
        let acked = stage.call(Method::POST, &token, "/v1/requests/a/ack").await;
        assert_eq!(acked.status, 200);
        assert!(acked.body["acknowledgedAt"].is_string(), "{acked:?}");
    }
    let again = stage.get(&token, "/v1/requests/a/answer").await;
    assert_eq!(again.problem(), (410, "acknowledged"));
    let key = asked.body["key"].as_str().unwrap();
    let past = stage.rpc("history.show", json!({ "key": key })).await;
    assert_eq!((&past["delivery"], &past["item"]["source"]), (&json!("delivered"), &json!("ci")));
    stage.close().await;
}

#[tokio::test]
async fn the_same_request_again_is_given_back_and_another_under_its_id_is_refused() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let request = json!({
        "id": "a", "kind": "input", "prompt": "How many?", "expiresAt": "2099-01-01T00:00:00Z",
        "data": { "n": 9_007_199_254_740_993u64, "schema": { "type": "object", "properties": { "n": { "type": "integer" } } } },
        "extra": [1, 2],
    });
    let first = stage.post(&token, &request).await;
    assert_eq!(first.status, 201, "{first:?}");
    // Keys in another order, null for absent, the same moment in another zone: the same content.
    let same = json!({
        "extra": [1, 2], "url": null, "prompt": "How many?", "kind": "input", "id": "a",
        "expiresAt": "2099-01-01T01:00:00+01:00",
        "data": { "schema": { "properties": { "n": { "type": "integer" } }, "type": "object" }, "n": 9_007_199_254_740_993u64 },
    });
    let again = stage.post(&token, &same).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    let mut other = request.clone();
    other["data"]["n"] = json!(9_007_199_254_740_992u64);
    assert_eq!(stage.post(&token, &other).await.problem(), (409, "id_in_use"));
    stage.decide("a", json!({ "ok": true, "data": r#"{"n":3}"# })).await;
    let after = stage.post(&token, &request).await;
    assert_eq!((after.status, &after.body["state"]), (200, &json!("answered")));
    assert_eq!(stage.post(&token, &other).await.problem(), (409, "id_in_use"));
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"], json!([]));
    stage.close().await;
}

#[tokio::test]
async fn of_a_no_only_the_class_leaves() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    stage.decide("a", json!({ "ok": false, "reason": "my own words" })).await;
    let answer = stage.get(&token, "/v1/requests/a/answer").await;
    assert_eq!(answer.body, json!({ "id": "a", "ok": false, "reason": "declined" }));
    let state = stage.get(&token, "/v1/requests/a").await;
    assert_eq!(state.body["state"], "declined");
    assert!(!format!("{answer:?}{state:?}").contains("my own words"));

    let soon = json!({ "id": "b", "kind": "approval", "prompt": "?", "expiresAt": in_millis(300) });
    assert_eq!(stage.post(&token, &soon).await.status, 201);
    let expired = stage.get(&token, "/v1/requests/b/answer?wait=60").await;
    assert_eq!(expired.body, json!({ "id": "b", "ok": false, "reason": "expired" }));
    stage.close().await;
}

#[tokio::test]
async fn a_withdrawn_request_is_cancelled_and_one_that_was_decided_stays() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    stage.ask(&token, "b").await;
    let waits = stage.get(&token, "/v1/requests/a/answer?wait=60");
    let (answer, withdrawn) = tokio::join!(waits, stage.call(Method::DELETE, &token, "/v1/requests/a"));
    assert_eq!((withdrawn.status, &withdrawn.body["state"]), (200, &json!("cancelled")));
    assert_eq!(answer.body, json!({ "id": "a", "ok": false, "reason": "cancelled" }));
    assert_eq!(stage.call(Method::DELETE, &token, "/v1/requests/a").await.status, 200);
    let key = withdrawn.body["key"].as_str().unwrap();
    let past = stage.rpc("history.show", json!({ "key": key })).await;
    assert_eq!((&past["item"]["decided_by"], &past["delivery"]), (&json!("source"), &json!("delivered")));

    stage.yes("b").await;
    let late = stage.call(Method::DELETE, &token, "/v1/requests/b").await;
    assert_eq!(late.problem(), (409, "already_decided"));
    assert_eq!(stage.get(&token, "/v1/requests/b/answer").await.body["ok"], true);
    stage.close().await;
}

#[tokio::test]
async fn an_answer_that_is_not_there_cannot_be_acknowledged() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    let early = stage.call(Method::POST, &token, "/v1/requests/a/ack").await;
    assert_eq!(early.problem(), (409, "still_waiting"));
    stage.yes("a").await;
    assert_eq!(stage.get(&token, "/v1/requests/a/answer").await.body["ok"], true);
    stage.close().await;
}

#[tokio::test]
async fn the_next_host_has_all_that_was_asked_and_answered() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    stage.ask(&token, "b").await;
    stage.yes("b").await;
    let stage = stage.restart().await;
    let waits = stage.get(&token, "/v1/requests/a/answer?wait=60");
    let (answer, ()) = tokio::join!(waits, stage.yes("a"));
    assert_eq!(answer.body["ok"], true);
    assert_eq!(stage.get(&token, "/v1/requests/b/answer?wait=60").await.body["ok"], true);
    stage.close().await;
}

#[tokio::test]
async fn a_wait_ends_with_the_host_and_is_no_answer() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    let waits = stage.request(Method::GET, &token, "/v1/requests/a/answer?wait=60");
    // Should the host be faster, there is no connection to end.
    let (answer, ended) = tokio::join!(waits.send(), tokio::time::timeout(SOON, stage.close()));
    ended.unwrap();
    if let Ok(answer) = answer {
        assert_eq!(answer.status(), 204);
    }
}

fn in_millis(millis: u64) -> String {
    let at = std::time::SystemTime::now() + std::time::Duration::from_millis(millis);
    let since = at.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    sayso_domain::Time::from_millis(i64::try_from(since).unwrap()).to_string()
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap())
}

/// A person decided and may think again: until then whoever asked knows of nothing.
#[tokio::test]
async fn a_sender_learns_nothing_of_a_decision_that_can_be_taken_back() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.hold_answers(10).await;
    stage.ask(&token, "a").await;
    let decision = stage.decide("a", json!({ "ok": true })).await;
    assert!(decision["undo_until"].is_string(), "{decision}");
    assert_eq!(stage.get(&token, "/v1/requests/a").await.body["state"], "pending");
    assert_eq!(stage.get(&token, "/v1/requests/a/answer").await.status, 204);
    assert_eq!(
        stage.call(Method::POST, &token, "/v1/requests/a/ack").await.problem(),
        (409, "still_waiting")
    );
    let withdrawn = stage.call(Method::DELETE, &token, "/v1/requests/a").await;
    assert_eq!(withdrawn.problem(), (409, "being_decided"));
    assert!(!withdrawn.body.to_string().contains("approved"), "{withdrawn:?}");

    let back = stage.rpc("inbox.undo", json!({ "key": decision["key"] })).await;
    assert_eq!((&back["key"], &back["state"]), (&decision["key"], &json!("pending")));
    assert_eq!(stage.get(&token, "/v1/requests/a").await.body["state"], "pending");
    stage.hold_answers(1).await;
    let waits = stage.get(&token, "/v1/requests/a/answer?wait=60");
    let (answer, decision) = tokio::join!(waits, stage.decide("a", json!({ "ok": false, "reason": "no" })));
    assert_eq!(answer.body, json!({ "id": "a", "ok": false, "reason": "declined" }));
    let until: Time = decision["undo_until"].as_str().unwrap().parse().unwrap();
    assert!(now() >= until, "it was held until its time");
    assert_eq!(stage.refused("inbox.undo", json!({ "key": decision["key"] })).await.code, "too_late");
    stage.close().await;
}

#[tokio::test]
async fn names_that_look_alike_do_not_both_ask() {
    let stage = Stage::new().await;
    stage.sender("deploy-bot").await;
    for name in ["Deploy-bot", "d\u{435}ploy-bot", "deploy\u{2010}bot", "this c\u{43e}mputer"] {
        let refused = stage.refused("senders.add", json!({ "name": name })).await;
        assert_eq!(refused.code, "sender_problem", "{name}");
        assert!(refused.message.contains("Choose another name"), "{}", refused.message);
    }
    stage.sender("deploy-bot-2").await;
    stage.close().await;
}
