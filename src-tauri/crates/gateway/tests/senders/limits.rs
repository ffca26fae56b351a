//! How much a sender may ask.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::stage::{Stage, approval, said};

#[tokio::test]
async fn no_more_wait_than_may_however_fast_they_come() {
    let stage = Stage::new().await;
    let token = stage.sender_with(json!({ "name": "ci", "max_open": 5 })).await;
    let mut posts = JoinSet::new();
    for n in 0..40 {
        let post = stage.request(Method::POST, &token, "/v1/requests").json(&approval(&format!("r{n}")));
        posts.spawn(async move { post.send().await.unwrap().status().as_u16() });
    }
    let statuses = posts.join_all().await;
    let count = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((count(201), count(429)), (5, 35));
    let waiting = stage.rpc("inbox.list", json!({ "whole": true })).await["items"].clone();
    assert_eq!(waiting.as_array().unwrap().len(), 5);
    let refused = stage.post(&token, &approval("more")).await;
    assert_eq!(refused.problem(), (429, "too_many_open"));
    assert!(refused.retry_after.unwrap() > 0);
    // What is asked already is given back all the same, and one that ends makes room.
    let known: Value = serde_json::from_str(waiting[0]["request"].as_str().unwrap()).unwrap();
    assert_eq!(stage.post(&token, &known).await.status, 200);
    stage.yes(known["id"].as_str().unwrap()).await;
    stage.ask(&token, "more").await;
    stage.close().await;
}

#[tokio::test]
async fn a_flood_is_told_when_to_come_back_and_others_are_served() {
    let stage = Stage::new().await;
    let token = stage.sender_with(json!({ "name": "flood", "per_minute": 3 })).await;
    let other = stage.sender("other").await;
    for id in ["a", "b", "c"] {
        stage.ask(&token, id).await;
    }
    for id in ["d", "a"] {
        let refused = stage.post(&token, &approval(id)).await;
        assert_eq!(refused.problem(), (429, "too_fast"));
        assert!((1..=20).contains(&refused.retry_after.unwrap()), "{refused:?}");
    }
    assert_eq!(stage.get(&token, "/v1/requests/a").await.status, 200);
    stage.ask(&other, "a").await;
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"].as_array().unwrap().len(), 4);
    stage.close().await;
}

#[tokio::test]
async fn the_same_request_sent_many_times_at_once_is_asked_once() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    let mut posts = JoinSet::new();
    for _ in 0..30 {
        let post = stage.request(Method::POST, &token, "/v1/requests").json(&approval("a"));
        posts.spawn(async move { post.send().await.unwrap().status().as_u16() });
    }
    let statuses = posts.join_all().await;
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1);
    assert!(statuses.iter().all(|status| matches!(status, 200 | 201)), "{statuses:?}");
    assert_eq!(stage.rpc("inbox.list", json!({ "whole": true })).await["items"].as_array().unwrap().len(), 1);
    stage.close().await;
}

#[tokio::test]
async fn one_source_does_not_take_every_place_to_wait() {
    let stage = Stage::new().await;
    let (token, other) = (stage.sender("ci").await, stage.sender("other").await);
    stage.ask(&token, "a").await;
    stage.ask(&other, "a").await;
    let mut waits = JoinSet::new();
    for _ in 0..300 {
        let wait = stage.request(Method::GET, &token, "/v1/requests/a/answer?wait=60");
        waits.spawn(async move { wait.send().await.unwrap().status().as_u16() });
    }
    // The ones that found no place come back at once; the others wait.
    for _ in 0..300 - 256 {
        assert_eq!(waits.join_next().await.unwrap().unwrap(), 429);
    }
    let refused = stage.get(&token, "/v1/requests/a/answer?wait=1").await;
    assert_eq!(refused.problem(), (429, "too_many_waits"));
    assert!(refused.retry_after.is_some());
    assert_eq!(stage.get(&token, "/v1/requests/a/answer").await.status, 204);
    assert_eq!(stage.get(&other, "/v1/requests/a/answer?wait=1").await.status, 204);
    let list = stage.rpc("inbox.list", json!({ "whole": true })).await["items"].clone();
    let key = list.as_array().unwrap().iter().find(|item| item["source"] == "ci").unwrap()["key"].clone();
    stage.rpc("inbox.decide", json!({ "key": key, "ok": true })).await;
    assert!(waits.join_all().await.iter().all(|status| *status == 200));
    stage.close().await;
}

#[tokio::test]
async fn two_hundred_senders_wait_at_once_and_each_gets_its_own_answer() {
    const SENDERS: usize = 200;
    let stage = Stage::new().await;
    let mut tokens = Vec::new();
    for n in 0..SENDERS {
        tokens.push(stage.sender(&format!("bot {n}")).await);
    }
    let mut asks = JoinSet::new();
    for (n, token) in tokens.iter().enumerate() {
        for id in ["a", "b", "c"] {
            let request = json!({ "id": id, "kind": "input", "prompt": format!("{id} of bot {n}?") });
            let post = stage.request(Method::POST, token, "/v1/requests").json(&request);
            asks.spawn(async move { post.send().await.unwrap().status().as_u16() });
        }
    }
    assert!(asks.join_all().await.iter().all(|status| *status == 201));
    let mut waits = JoinSet::new();
    for (n, token) in tokens.iter().enumerate() {
        let wait = stage.request(Method::GET, token, "/v1/requests/a/answer?wait=60");
        waits.spawn(async move { (n, said(wait.send().await.unwrap()).await) });
    }
    let list = stage.rpc("inbox.list", json!({ "whole": true, "limit": 1000 })).await["items"].clone();
    assert_eq!(list.as_array().unwrap().len(), 3 * SENDERS);
    for item in list.as_array().unwrap() {
        if let Some(bot) = item["prompt"].as_str().unwrap().strip_prefix("a of ") {
            let data = json!({ "for": bot }).to_string();
            stage.rpc("inbox.decide", json!({ "key": item["key"], "ok": true, "data": data })).await;
        }
    }
    for (n, answer) in waits.join_all().await {
        assert_eq!(answer.body, json!({ "id": "a", "ok": true, "data": { "for": format!("bot {n}?") } }));
    }
    stage.close().await;
}
