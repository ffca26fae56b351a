//! What hostile clients of `/mcp` try, and get nothing by.

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::mcp_client::{Client, call_message};
use super::stage::{SOON, Said, Stage, said};

const ASK: &str = "request_approval";

fn prompt(text: &str) -> Value {
    json!({ "prompt": text })
}

#[tokio::test]
async fn nobody_gets_in_at_mcp_without_a_senders_token() {
    let stage = Stage::new().await;
    let owner = std::fs::read_to_string(stage.host.data_dir().join("owner-token")).unwrap();
    let message = call_message(1, ASK, &prompt("P"));
    for token in ["", "wrong", "sayso_0000", owner.trim()] {
        let refused = said(stage.message(token, None, &message).send().await.unwrap()).await;
        assert_eq!(refused.problem(), (401, "unauthorized"), "{token:?}");
    }
    let revoked = stage.sender("gone").await;
    stage.rpc("senders.revoke", json!({ "name": "gone" })).await;
    let refused = said(stage.message(&revoked, None, &message).send().await.unwrap()).await;
    assert_eq!(refused.problem(), (401, "revoked"));
    let wrong = stage.at_socket_as_mcp(Some("wrong"), &message).await;
    assert_eq!(wrong.problem(), (401, "unauthorized"), "a wrong token never falls back to this computer");
    stage.waiting(0).await;
    stage.close().await;
}

#[tokio::test]
async fn pages_of_other_sites_do_not_reach_mcp() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    let message = call_message(1, ASK, &prompt("P"));
    for (name, value) in [("origin", "https://evil.example"), ("origin", "null"), ("host", "evil.example")] {
        let refused = stage.message(&token, None, &message).header(name, value).send().await.unwrap();
        let refused = said(refused).await;
        assert_eq!(
            refused.problem(),
            (403, if name == "host" { "forbidden_host" } else { "forbidden_origin" })
        );
    }
    let form = HeaderMap::from_iter([(CONTENT_TYPE, "text/plain".parse().unwrap())]);
    let refused = stage.message(&token, None, &message).headers(form).send().await.unwrap();
    assert_eq!(refused.status(), 415);
    stage.waiting(0).await;
    stage.close().await;
}

#[tokio::test]
async fn what_is_no_message_asks_nobody_and_stops_nothing() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{ASK}","arguments":{{"prompt":"P","data":{deep}}}}}}}"#
    );
    let huge = call_message(1, ASK, &prompt(&"x".repeat(1024 * 1024))).to_string();
    let expect = [
        ("", 400),
        ("garbage", 400),
        ("{}", 400),
        ("[]", 400),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"approved":true}}"#, 400),
        (deep.as_str(), 400),
        (deep_call.as_str(), 400),
        (huge.as_str(), 413),
    ];
    for (body, status) in expect {
        let answer = stage.message(&token, None, &Value::Null).body(body.to_owned()).send().await.unwrap();
        let got = answer.status().as_u16();
        assert!(got == status || (status == 400 && (400..500).contains(&got)), "{got} for {:.60}", body);
    }
    for method in [reqwest::Method::GET, reqwest::Method::DELETE, reqwest::Method::PUT] {
        let answer = stage.call(method.clone(), &token, "/mcp").await;
        assert_eq!(answer.status, 405, "{method}");
    }
    stage.waiting(0).await;
    let client = Client::over_http(&stage, &token).await;
    assert_eq!(client.running.list_all_tools().await.unwrap().len(), 4);
    stage.close().await;
}

#[tokio::test]
async fn no_tool_answers_and_unknown_ones_are_refused() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    stage.ask(&token, "waits").await;
    for client in [Client::over_http(&stage, &token).await, Client::of_its_own(&stage, Some(&token)).await] {
        for name in
            ["approve", "inbox.decide", "answer", "deny", "", "request_approval ", "PERMISSION_PROMPT"]
        {
            let error = client.refused(name, json!({ "id": "waits", "ok": true })).await;
            assert!(error.message.contains("Unknown tool"), "{error:?}");
        }
        let odd = client.call(ASK, json!({ "prompt": "P", "approved": true })).await;
        assert_eq!(odd.is_error, Some(true));
    }
    assert_eq!(stage.waiting_id().await, "waits");
    // The owner's commands are not behind this door.
    let rpc = stage.request(reqwest::Method::POST, &token, "/rpc").json(&json!({ "command": "inbox.list" }));
    assert_eq!(rpc.send().await.unwrap().status(), 403);
    stage.close().await;
}

#[tokio::test]
async fn a_cancellation_reaches_the_calls_of_its_own_session_and_sender_only() {
    let stage = Stage::new().await;
    let (agent, thief) = (stage.sender("agent").await, stage.sender("thief").await);
    let call = call_message(7, ASK, &prompt("P"));
    let waiting = stage.message(&agent, Some("s1"), &call).send().await.unwrap();
    let id = stage.waiting_id().await;
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    let strangers =
        [(&thief, Some("s1")), (&agent, Some("s2")), (&agent, None), (&thief, None), (&thief, Some("s2"))];
    for (token, session) in strangers {
        assert_eq!(stage.message(token, session, &cancel).send().await.unwrap().status(), 202);
    }
    // The same id again in the same session is a mistake, and asks nobody.
    let twice = said(stage.message(&agent, Some("s1"), &call).send().await.unwrap()).await;
    assert_eq!(twice.problem(), (409, "id_in_use"));
    assert_eq!(stage.waiting_id().await, id);
    assert_eq!(stage.message(&agent, Some("s1"), &cancel).send().await.unwrap().status(), 202);
    stage.waiting(0).await;
    let told = tokio::time::timeout(SOON, waiting.text()).await.unwrap().unwrap();
    assert!(told.contains("cancelled") && !told.contains(r#""approved":true"#), "{told}");
    stage.close().await;
}

#[tokio::test]
async fn calls_that_wait_are_bounded_for_each_sender() {
    let stage = Stage::new().await;
    let token = stage.sender("many").await;
    let mut open = Vec::new();
    let refused: Said = loop {
        let call = call_message(u32::try_from(open.len()).unwrap(), ASK, &prompt("P"));
        let answer =
            tokio::time::timeout(SOON, stage.message(&token, None, &call).send()).await.unwrap().unwrap();
        if answer.status() != 200 {
            break said(answer).await;
        }
        open.push(answer);
        assert!(open.len() <= 256);
    };
    assert_eq!(refused.problem(), (429, "too_many_waits"));
    assert_eq!(open.len(), 256);
    let other = stage.sender("other").await;
    let client = Client::over_http(&stage, &other).await;
    assert_eq!(client.running.list_all_tools().await.unwrap().len(), 4);
    drop(open);
    stage.waiting(0).await;
    stage.close().await;
}

#[tokio::test]
async fn a_call_of_the_newer_generation_that_hangs_up_before_anything_is_said_is_taken_back() {
    let stage = Stage::new().await;
    let token = stage.sender("agent").await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut message = call_message(1, ASK, &prompt("P"));
    message["params"]["_meta"] = meta;
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", ASK)];
    let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
    let request = stage.message(&token, None, &message).headers(HeaderMap::from_iter(headers));
    let mut calls = JoinSet::new();
    calls.spawn(request.send());
    stage.waiting(1).await;
    calls.abort_all();
    stage.waiting(0).await;
    assert_eq!(stage.last_decision().await["outcome"], "cancelled");
    stage.close().await;
}
