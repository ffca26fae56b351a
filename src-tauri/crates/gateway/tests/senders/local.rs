//! Programs of this machine, which show no token.

use reqwest::Method;
use serde_json::json;

use crate::stage::{Stage, approval};

#[tokio::test]
async fn a_program_with_no_token_asks_as_this_computer_and_is_shown_with_what_it_is() {
    let stage = Stage::new().await;
    let asked = stage.at_socket(Method::POST, None, "/v1/requests", Some(&approval("a"))).await;
    assert_eq!(asked.status, 201, "{asked:?}");
    let item = &stage.rpc("inbox.list", json!({ "whole": true })).await["items"][0];
    assert_eq!(item["source"], "this computer");
    let shown = stage.rpc("inbox.show", json!({ "key": item["key"] })).await;
    if cfg!(target_os = "linux") {
        let program = std::env::current_exe().unwrap().display().to_string();
        let note = shown["notes"][0].as_str().unwrap();
        assert!(
            note.contains(&program) && note.contains(&format!("process {}", std::process::id())),
            "{note}"
        );
        assert_eq!(shown["folder"], json!(std::env::current_dir().unwrap()));
    }
    let waits = stage.at_socket(Method::GET, None, "/v1/requests/a/answer?wait=60", None);
    let (answer, ()) = tokio::join!(waits, stage.yes("a"));
    assert_eq!(answer.body, json!({ "id": "a", "ok": true }));
    let acked = stage.at_socket(Method::POST, None, "/v1/requests/a/ack", None).await;
    assert_eq!(acked.status, 200, "{acked:?}");
    // It is one source, also for the next host.
    let stage = stage.restart().await;
    let again = stage.at_socket(Method::POST, None, "/v1/requests", Some(&approval("a"))).await;
    assert_eq!((again.status, &again.body["state"]), (200, &json!("approved")));
    stage.close().await;
}

#[tokio::test]
async fn a_token_at_the_socket_makes_its_sender_ask() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let asked = stage.at_socket(Method::POST, Some(&token), "/v1/requests", Some(&approval("a"))).await;
    assert_eq!(asked.status, 201, "{asked:?}");
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"][0]["source"], "ci");
    assert_eq!(stage.get(&token, "/v1/requests/a").await.status, 200);
    stage.close().await;
}
