//! Who may ask, and that asking is all that it is.

use reqwest::Method;
use serde_json::json;

use crate::stage::{Stage, approval, said};

/// Whatever lies in the data folder, as bytes.
fn files(stage: &Stage) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![stage.root.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                found.push((path.display().to_string(), bytes));
            }
        }
    }
    found
}

#[tokio::test]
async fn no_token_or_a_wrong_one_asks_nobody() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    let owner = std::fs::read_to_string(stage.host.data_dir().join("owner-token")).unwrap();
    let paths = [
        (Method::POST, "/v1/requests"),
        (Method::GET, "/v1/requests/a"),
        (Method::GET, "/v1/requests/a/answer?wait=60"),
        (Method::POST, "/v1/requests/a/ack"),
        (Method::DELETE, "/v1/requests/a"),
        (Method::GET, "/v1/events"),
    ];
    let mut almost = token.clone();
    almost.pop();
    let upper = token.to_uppercase();
    for (method, path) in paths {
        for wrong in ["", "x", &almost, &upper, &owner, &format!("{token} {token}")] {
            let answer = stage.call(method.clone(), wrong, path).await;
            assert_eq!(answer.problem(), (401, "unauthorized"), "{method} {path} {wrong:?}");
            let answer = stage.at_socket(method.clone(), Some(wrong), path, Some(&approval("b"))).await;
            assert_eq!(answer.problem(), (401, "unauthorized"), "{method} {path} {wrong:?} at the socket");
        }
        let url = format!("{}{path}", stage.gateway.url());
        let none = stage.http.request(method.clone(), &url).json(&approval("b")).send().await.unwrap();
        assert_eq!(none.headers()["www-authenticate"], "Bearer");
        assert_eq!(said(none).await.problem(), (401, "unauthorized"), "{method} {path}");
        // Two of them: which one counts would be a guess.
        let two = stage.request(method.clone(), &token, path).header("authorization", "Bearer x");
        assert_eq!(said(two.send().await.unwrap()).await.problem(), (401, "unauthorized"), "{method} {path}");
    }
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"].as_array().unwrap().len(), 1);
    stage.close().await;
}

#[tokio::test]
async fn a_sender_can_never_answer() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    let item = &stage.rpc("inbox.list", json!({ "whole": true })).await["items"][0];
    let decide = json!({ "command": "inbox.decide", "params": { "key": item["key"], "ok": true } });
    let list = json!({ "command": "inbox.list" });
    for (path, body) in [("/rpc", &decide), ("/rpc", &list), ("/link", &json!({}))] {
        let refused = stage.at_socket(Method::POST, Some(&token), path, Some(body)).await;
        assert_eq!((refused.status, &refused.body["error"]["code"]), (403, &json!("sender_cannot_answer")));
    }
    for (method, path) in [(Method::POST, "/rpc"), (Method::GET, "/events")] {
        let refused = said(stage.request(method, &token, path).json(&decide).send().await.unwrap()).await;
        assert_eq!((refused.status, &refused.body["error"]["code"]), (403, &json!("sender_cannot_answer")));
    }
    // What would be an answer elsewhere is no address here.
    for path in ["/v1/requests/a/answer", "/v1/requests/a", "/v1/requests/a/decide", "/v1/rpc", "/v1"] {
        let yes = json!({ "id": "a", "ok": true });
        for method in [Method::POST, Method::PUT, Method::PATCH] {
            let refused = said(stage.request(method, &token, path).json(&yes).send().await.unwrap()).await;
            let (status, code) = refused.problem();
            assert!(
                matches!((status, code), (404, "not_found") | (405, "method_not_allowed")),
                "{refused:?}"
            );
        }
    }
    assert_eq!(stage.get(&token, "/v1/requests/a").await.body["state"], "pending");
    stage.close().await;
}

#[tokio::test]
async fn ids_are_each_senders_own() {
    let stage = Stage::new().await;
    let (one, other) = (stage.sender("one").await, stage.sender("other").await);
    stage.ask(&one, "a").await;
    for (method, path) in [
        (Method::GET, "/v1/requests/a"),
        (Method::GET, "/v1/requests/a/answer"),
        (Method::GET, "/v1/requests/a/answer?wait=60"),
        (Method::POST, "/v1/requests/a/ack"),
        (Method::DELETE, "/v1/requests/a"),
    ] {
        assert_eq!(
            stage.call(method.clone(), &other, path).await.problem(),
            (404, "not_found"),
            "{method} {path}"
        );
        let local = stage.at_socket(method.clone(), None, path, None).await;
        assert_eq!(local.problem(), (404, "not_found"), "{method} {path} of this computer");
    }
    let mut own = approval("a");
    own["prompt"] = json!("Something else?");
    assert_eq!(stage.post(&other, &own).await.status, 201);
    stage.call(Method::DELETE, &other, "/v1/requests/a").await;
    assert_eq!(stage.get(&one, "/v1/requests/a").await.body["state"], "pending");
    assert_eq!(stage.get(&other, "/v1/requests/a").await.body["state"], "cancelled");
    stage.close().await;
}

#[tokio::test]
async fn a_revoked_sender_is_out_at_once_and_what_it_had_open_is_cancelled() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    for id in ["a", "b", "c"] {
        stage.ask(&token, id).await;
    }
    stage.yes("c").await;
    let waits = stage.get(&token, "/v1/requests/a/answer?wait=60");
    let stream =
        stage.request(Method::GET, &token, "/v1/events").header("last-event-id", "5").send().await.unwrap();
    let (answer, revoked) = tokio::join!(waits, stage.rpc("senders.revoke", json!({ "name": "ci" })));
    assert!(revoked["revoked_at"].is_string(), "{revoked}");
    assert_eq!((&revoked["open"], &revoked["total"]), (&json!(0), &json!(3)));
    assert_eq!(answer.problem(), (401, "revoked"));
    // Its stream ends: reading it to its end does.
    stream.text().await.unwrap();
    assert_eq!(stage.post(&token, &approval("d")).await.problem(), (401, "revoked"));
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"], json!([]));
    let history = stage.rpc("history.list", json!({ "source": "ci" })).await;
    let outcomes: Vec<_> = history["items"].as_array().unwrap().iter().map(|item| &item["outcome"]).collect();
    assert_eq!(outcomes, ["cancelled", "cancelled", "approved"]);
    for item in history["items"].as_array().unwrap() {
        let shown = stage.rpc("history.show", json!({ "key": item["key"] })).await;
        assert_eq!(shown["delivery"], "undeliverable", "nobody can fetch it");
    }
    assert_eq!(stage.rpc("history.verify", json!({})).await["ok"], true);
    assert_eq!(stage.refused("senders.rotate", json!({ "name": "ci" })).await.code, "sender_problem");
    assert_eq!(stage.refused("senders.revoke", json!({ "name": "ci" })).await.code, "sender_problem");

    // Added again, it has a new token and its old past.
    let new = stage.sender("ci").await;
    assert_eq!(stage.get(&token, "/v1/requests/c").await.problem(), (401, "unauthorized"));
    assert_eq!(stage.get(&new, "/v1/requests/c").await.body["state"], "approved");
    // A yes that it lost does not come back to life.
    assert_eq!(stage.get(&new, "/v1/requests/c/answer").await.problem(), (410, "acknowledged"));
    stage.ask(&new, "d").await;
    stage.close().await;
}

#[tokio::test]
async fn a_rotated_token_opens_nothing_and_the_new_one_goes_on() {
    let stage = Stage::new().await;
    let old = stage.sender("ci").await;
    stage.ask(&old, "a").await;
    let new =
        stage.rpc("senders.rotate", json!({ "name": "ci" })).await["token"].as_str().unwrap().to_owned();
    assert_ne!(old, new);
    assert_eq!(stage.get(&old, "/v1/requests/a").await.problem(), (401, "unauthorized"));
    assert_eq!(stage.get(&new, "/v1/requests/a").await.body["state"], "pending");
    stage.close().await;
}

#[tokio::test]
async fn a_name_is_set_by_the_person_and_nobody_poses_as_another() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let setup = json!({ "name": "worker", "base_url": "http://127.0.0.1:9/v1", "model": "m" });
    stage.rpc("agents.save", json!({ "config": setup.to_string() })).await;
    let taken = ["ci", "CI", "worker", "Worker", "this computer", "This Computer"];
    let broken = ["", " ci", "two\nlines", "c\u{200b}i", "\u{202e}ic", &"x".repeat(65)];
    for name in taken.into_iter().chain(broken) {
        let refused = stage.refused("senders.add", json!({ "name": name })).await;
        assert_eq!(refused.code, "sender_problem", "{name:?}");
    }
    // Nor does an agent take a sender's name.
    for name in ["ci", "CI", "this computer"] {
        let config = json!({ "name": name, "base_url": "http://127.0.0.1:9/v1", "model": "m" });
        let refused = stage.refused("agents.save", json!({ "config": config.to_string() })).await;
        assert_eq!(refused.code, "agent_problem", "{name:?}");
    }
    // What a request says of itself changes nothing of who asks.
    let mut request = approval("a");
    for key in ["source", "sender", "name", "run", "tool"] {
        request[key] = json!("worker");
    }
    assert_eq!(stage.post(&token, &request).await.status, 201);
    let item = &stage.rpc("inbox.list", json!({ "whole": true })).await["items"][0];
    assert_eq!((&item["source"], &item["run"], &item["tool"]), (&json!("ci"), &json!(null), &json!(null)));
    stage.close().await;
}

#[tokio::test]
async fn a_sender_is_listed_with_what_it_did_and_changed_without_a_new_token() {
    let stage = Stage::new().await;
    let token = stage.sender_with(json!({ "name": "deploy bot", "max_open": 5 })).await;
    stage.ask(&token, "a").await;
    stage.ask(&token, "b").await;
    stage.yes("a").await;
    let list = stage.rpc("senders.list", json!({})).await;
    let item = &list[0];
    assert_eq!((&item["name"], &item["initials"]), (&json!("deploy bot"), &json!("DB")));
    assert_eq!((&item["open"], &item["total"], &item["max_open"]), (&json!(1), &json!(2), &json!(5)));
    assert!(item["last_seen_at"].is_string() && item["revoked_at"].is_null(), "{item}");
    let change = json!({ "name": "deploy bot", "colour": "red", "per_minute": 7, "may_edit": true });
    let changed = stage.rpc("senders.update", change).await;
    assert_eq!((&changed["colour"], &changed["per_minute"]), (&json!("red"), &json!(7)));
    assert_eq!((&changed["max_open"], &changed["may_edit"]), (&json!(5), &json!(true)));
    assert_eq!(stage.get(&token, "/v1/requests/b").await.status, 200);
    for change in [json!({ "colour": "mauve" }), json!({ "initials": "abc" }), json!({ "max_open": 0 })] {
        let mut setup = json!({ "name": "deploy bot" });
        setup.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        assert_eq!(stage.refused("senders.update", setup).await.code, "sender_problem", "{change}");
    }
    assert_eq!(stage.refused("senders.update", json!({ "name": "nobody" })).await.code, "not_found");
    stage.close().await;
}

#[tokio::test]
async fn the_browser_sets_no_senders_up() {
    let stage = Stage::new().await;
    stage.sender("ci").await;
    for command in ["senders.list", "senders.add", "senders.update", "senders.rotate", "senders.revoke"] {
        let refused = stage.host.call(sayso_host::Surface::Browser, command, json!({ "name": "ci" })).await;
        assert_eq!(refused.unwrap_err().code, "forbidden_surface", "{command}");
    }
    stage.close().await;
}

#[tokio::test]
async fn a_token_is_in_no_file() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    let rotated =
        stage.rpc("senders.rotate", json!({ "name": "ci" })).await["token"].as_str().unwrap().to_owned();
    stage.get(&token, "/v1/requests/a").await;
    stage.get(&rotated, "/v1/requests/a").await;
    stage.call(Method::POST, &rotated, "/rpc").await;
    for token in [&token, &rotated] {
        let secret = token.strip_prefix("sayso_").unwrap();
        for (file, bytes) in files(&stage) {
            let is_in = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!is_in(secret) && !is_in(&secret[..32]), "{file}");
        }
    }
    stage.close().await;
}
