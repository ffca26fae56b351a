//! What MCP clients get, at both doors: what a person decided, in time, and nothing of their words.

use std::time::Duration;

use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use super::mcp_client::{Client, call_message, done, structured, text};
use super::stage::{SOON, Stage};

/// A client at each door.
async fn clients(stage: &Stage, token: &str) -> [Client; 2] {
    [Client::over_http(stage, token).await, Client::of_its_own(stage, Some(token)).await]
}

/// Calls, decides what then waits, and gives the result.
async fn decided(
    stage: &Stage,
    client: &Client,
    name: &str,
    arguments: Value,
    decision: Value,
) -> CallToolResult {
    let call = client.begin(name, arguments).await;
    stage.decide(&stage.waiting_id().await, decision).await;
    done(call).await
}

#[tokio::test]
async fn an_mcp_client_finds_four_tools_and_none_that_answers() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    for client in clients(&stage, &token).await {
        let tools = client.running.list_all_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, ["request_approval", "ask_question", "request_input", "permission_prompt"]);
        assert!(tools.iter().all(|tool| tool.input_schema["type"] == "object"));
    }
    stage.close().await;
}

#[tokio::test]
async fn an_mcp_client_is_told_what_a_person_decided_at_both_doors() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    for client in clients(&stage, &token).await {
        let ask = json!({ "prompt": "Deploy?", "command": "make deploy", "data": { "n": 1 } });
        let yes = decided(&stage, &client, "request_approval", ask.clone(), json!({ "ok": true })).await;
        assert_eq!(structured(&yes), json!({ "approved": true, "class": null }));
        let decision = stage.last_decision().await;
        assert_eq!(decision["source"], "agent");
        let asked: Value = serde_json::from_str(decision["request"].as_str().unwrap()).unwrap();
        assert_eq!(asked["data"], json!({ "command": "make deploy", "n": 1 }));

        let no = json!({ "ok": false, "reason": "not on a Friday" });
        let no = decided(&stage, &client, "request_approval", ask, no).await;
        assert_eq!(structured(&no), json!({ "approved": false, "class": "declined" }));
        assert_eq!(no.is_error, Some(false));
        assert!(!format!("{no:?}").contains("Friday"));

        let question = json!({ "question": "Where?", "options": ["here", "there"] });
        let answer = json!({ "ok": true, "data": r#"{"answers":["there"]}"# });
        let answered = decided(&stage, &client, "ask_question", question, answer).await;
        assert_eq!(
            structured(&answered),
            json!({ "answered": true, "class": null, "data": { "answers": ["there"] } })
        );

        let form = json!({
            "prompt": "Which version?",
            "schema": { "type": "object", "properties": { "version": { "type": "number" } }, "required": ["version"] },
        });
        let typed = json!({ "ok": true, "data": r#"{"version":9007199254740993.10}"# });
        let filled = decided(&stage, &client, "request_input", form, typed).await;
        assert_eq!(structured(&filled)["data"].to_string(), r#"{"version":9007199254740993.10}"#);
    }
    stage.close().await;
}

#[tokio::test]
async fn a_deadline_that_passes_is_no_yes_for_an_mcp_client() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    let [over_http, of_its_own] = clients(&stage, &token).await;
    let ask = json!({ "prompt": "Deploy?", "expires_in_seconds": 1 });
    let (one, other) = tokio::join!(
        over_http.call("request_approval", ask.clone()),
        of_its_own.call("request_approval", ask)
    );
    for result in [one, other] {
        assert_eq!(structured(&result), json!({ "approved": false, "class": "expired" }));
    }
    stage.close().await;
}

#[tokio::test]
async fn a_form_that_asks_for_a_secret_is_refused_in_words() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    for client in clients(&stage, &token).await {
        let form = json!({
            "prompt": "Sign in", "schema": { "type": "object", "properties": { "api_key": { "type": "string" } } },
        });
        let refused = client.call("request_input", form).await;
        assert_eq!(refused.is_error, Some(true));
        assert!(text(&refused).contains("api_key"), "{refused:?}");
    }
    stage.waiting(0).await;
    stage.close().await;
}

#[tokio::test]
async fn whoever_waits_is_told_so_again_and_again() {
    let stage = Stage::new().await;
    let client = Client::of_its_own(&stage, None).await;
    let call = client.begin("request_approval", json!({ "prompt": "Deploy?" })).await;
    let token = call.progress_token.clone();
    let told = async {
        while client.progress().len() < 3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, told).await.expect("three times");
    let progress = client.progress();
    assert!(progress.iter().all(|told| told.progress_token == token && told.message.is_some()));
    assert!(progress.windows(2).all(|pair| pair[0].progress < pair[1].progress), "{progress:?}");
    stage.yes(&stage.waiting_id().await).await;
    assert_eq!(structured(&done(call).await)["approved"], true);
    stage.close().await;
}

#[tokio::test]
async fn a_call_over_http_is_told_at_once_that_it_waits() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    let client = Client::over_http(&stage, &token).await;
    let call = client.begin("request_approval", json!({ "prompt": "Deploy?" })).await;
    let told = async {
        while client.progress().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, told).await.expect("progress");
    stage.yes(&stage.waiting_id().await).await;
    assert_eq!(structured(&done(call).await)["approved"], true);
    stage.close().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_taken_back_at_both_doors() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    for client in clients(&stage, &token).await {
        let call = client.begin("request_approval", json!({ "prompt": "Deploy?" })).await;
        stage.waiting(1).await;
        call.cancel(Some("changed my mind".to_owned())).await.unwrap();
        stage.waiting(0).await;
        let decision = stage.last_decision().await;
        assert_eq!((&decision["outcome"], &decision["decided_by"]), (&json!("cancelled"), &json!("source")));
    }
    stage.close().await;
}

#[tokio::test]
async fn a_client_that_goes_away_takes_back_what_it_waits_for() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    let mut client = Client::of_its_own(&stage, Some(&token)).await;
    let call = client.begin("request_approval", json!({ "prompt": "Deploy?" })).await;
    stage.waiting(1).await;
    drop(call);
    client.running.close().await.unwrap();
    client.server.join_next().await.unwrap().unwrap();
    stage.waiting(0).await;

    let message = call_message(1, "request_approval", &json!({ "prompt": "Deploy?" }));
    let response = stage.message(&token, None, &message).send().await.unwrap();
    assert_eq!(response.status(), 200);
    stage.waiting(1).await;
    drop(response);
    stage.waiting(0).await;
    assert_eq!(stage.last_decision().await["outcome"], "cancelled");
    stage.close().await;
}

#[tokio::test]
async fn without_a_token_an_mcp_server_asks_as_this_computer() {
    let stage = Stage::new().await;
    let client = Client::of_its_own(&stage, None).await;
    let yes =
        decided(&stage, &client, "request_approval", json!({ "prompt": "Deploy?" }), json!({ "ok": true }))
            .await;
    assert_eq!(structured(&yes)["approved"], true);
    assert_eq!(stage.last_decision().await["source"], "this computer");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let answer = stage.at_socket_as_mcp(None, &list).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    stage.close().await;
}

#[tokio::test]
async fn a_call_within_a_host_that_ends_is_no_yes_and_waits_for_nobody() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    let client = Client::over_http(&stage, &token).await;
    let call = client.begin("request_approval", json!({ "prompt": "Deploy?" })).await;
    stage.waiting(1).await;
    let stage = stage.restart().await;
    let ended = tokio::time::timeout(SOON, call.await_response()).await.expect("it ends");
    assert!(!format!("{ended:?}").contains("true"), "{ended:?}");
    stage.waiting(0).await;
    assert_eq!(stage.last_decision().await["outcome"], "cancelled");
    stage.close().await;
}
