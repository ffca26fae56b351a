//! `permission_prompt`, as coding agents call it: exact shapes, asked once, and a deny for everything that is no yes.

use serde_json::{Value, json};

use super::mcp_client::{Client, done, text};
use super::stage::Stage;

/// Numbers that a double cannot hold, and keys out of order.
const INPUT: &str = r#"{"command":"make deploy","z":1.10,"a":9007199254740993,"nested":{"y":[1e-7,-0.0]}}"#;

fn permission(tool_use: &str, input: &str) -> Value {
    let input: Value = serde_json::from_str(input).unwrap();
    json!({ "tool_name": "Bash", "input": input, "tool_use_id": tool_use })
}

#[tokio::test]
async fn a_permission_has_exactly_the_shape_that_agents_expect() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    for client in [Client::over_http(&stage, &token).await, Client::of_its_own(&stage, None).await] {
        let call = client.begin("permission_prompt", permission("toolu_1", INPUT)).await;
        let request = stage.waiting(1).await.remove(0);
        assert_eq!(request["prompt"], "Allow Bash: make deploy");
        assert_eq!(request["data"]["tool"], "Bash");
        assert_eq!(request["data"]["arguments"].to_string(), INPUT);
        stage.yes(request["id"].as_str().unwrap()).await;
        let result = done(call).await;
        assert_eq!(text(&result), format!(r#"{{"behavior":"allow","updatedInput":{INPUT}}}"#));
        assert_eq!((result.is_error, result.structured_content), (Some(false), None));

        let call = client.begin("permission_prompt", permission("toolu_2", INPUT)).await;
        stage.decide(&stage.waiting_id().await, json!({ "ok": false, "reason": "my own words" })).await;
        assert_eq!(
            text(&done(call).await),
            r#"{"behavior":"deny","message":"declined/expired: Allow Bash: make deploy"}"#
        );
    }
    stage.close().await;
}

#[tokio::test]
async fn the_same_use_of_a_tool_is_asked_once_while_it_waits_and_another_one_is_refused() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    let client = Client::over_http(&stage, &token).await;
    let first = client.begin("permission_prompt", permission("t1", INPUT)).await;
    let id = stage.waiting_id().await;
    let second = client.begin("permission_prompt", permission("t1", INPUT)).await;
    let other = client.call("permission_prompt", permission("t1", r#"{"command":"rm -r /"}"#)).await;
    assert!(text(&other).starts_with(r#"{"behavior":"deny","message":"Another call"#), "{other:?}");
    assert_eq!(stage.waiting_id().await, id, "asked once");
    stage.yes(&id).await;
    for call in [first, second] {
        assert!(text(&done(call).await).starts_with(r#"{"behavior":"allow""#));
    }
    // Its answer was used: the same id later is another call, and is asked about.
    let again = client.begin("permission_prompt", permission("t1", INPUT)).await;
    let later = stage.waiting_id().await;
    assert_ne!(later, id);
    stage.decide(&later, json!({ "ok": false })).await;
    assert!(text(&done(again).await).starts_with(r#"{"behavior":"deny""#));
    stage.close().await;
}

#[tokio::test]
async fn a_retry_goes_on_waiting_when_the_first_try_is_cancelled() {
    let stage = Stage::new().await;
    let client = Client::of_its_own(&stage, None).await;
    let first = client.begin("permission_prompt", permission("t1", INPUT)).await;
    let id = stage.waiting_id().await;
    let told = client.progress().len();
    let retry = client.begin("permission_prompt", permission("t1", INPUT)).await;
    let token = retry.progress_token.clone();
    while !client.progress()[told..].iter().any(|progress| progress.progress_token == token) {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    first.cancel(None).await.unwrap();
    stage.yes(&id).await;
    assert!(text(&done(retry).await).starts_with(r#"{"behavior":"allow""#));
    stage.close().await;
}

#[tokio::test]
async fn two_sessions_and_two_senders_may_use_the_same_id_for_different_things() {
    let stage = Stage::new().await;
    let (one, other) = (stage.sender("one").await, stage.sender("other").await);
    let clients = [
        Client::over_http(&stage, &one).await,
        Client::over_http(&stage, &one).await,
        Client::over_http(&stage, &other).await,
        Client::of_its_own(&stage, Some(&one)).await,
        Client::of_its_own(&stage, Some(&one)).await,
    ];
    let mut calls = Vec::new();
    for (n, client) in clients.iter().enumerate() {
        calls.push(client.begin("permission_prompt", permission("t1", &json!({ "n": n }).to_string())).await);
        stage.waiting(n + 1).await;
    }
    for request in stage.waiting(clients.len()).await {
        let is_even = request["data"]["arguments"]["n"].as_u64().unwrap() % 2 == 0;
        stage.decide(request["id"].as_str().unwrap(), json!({ "ok": is_even })).await;
    }
    for (n, call) in calls.into_iter().enumerate() {
        let allowed = format!(r#"{{"behavior":"allow","updatedInput":{{"n":{n}}}}}"#);
        let denied = r#"{"behavior":"deny","message":"declined/expired: Allow Bash?"}"#;
        assert_eq!(text(&done(call).await), if n % 2 == 0 { allowed.as_str() } else { denied });
    }
    stage.close().await;
}

#[tokio::test]
async fn what_is_malformed_or_cannot_be_asked_is_denied() {
    let stage = Stage::new().await;
    let client = Client::of_its_own(&stage, None).await;
    let denied = async |arguments: Value| {
        let result = client.call("permission_prompt", arguments.clone()).await;
        let said: Value = serde_json::from_str(&text(&result)).unwrap();
        assert_eq!(said["behavior"], "deny", "{arguments}");
        assert!(said.get("updatedInput").is_none());
        said["message"].as_str().unwrap().to_owned()
    };
    denied(json!({})).await;
    denied(json!({ "tool_name": "Bash" })).await;
    denied(json!({ "tool_name": "Bash", "input": "ls" })).await;
    denied(json!({ "tool_name": "Bash", "input": [1] })).await;
    denied(json!({ "tool_name": "", "input": {} })).await;
    denied(json!({ "tool_name": "Bash", "input": {}, "tool_use_id": 7 })).await;
    let huge = json!({ "tool_name": "Write", "input": { "content": "x".repeat(2 * 1024 * 1024) }, "tool_use_id": "t" });
    let message = denied(huge).await;
    assert!(message.contains("1 MiB"), "{message}");
    stage.waiting(0).await;
    stage.gateway.shutdown().await;
    stage.host.shutdown().await;
    let message = denied(permission("t9", INPUT)).await;
    assert!(message.contains("Nobody was asked"), "{message}");
}
