//! Senders whose host is killed: what was asked is there afterwards, and every bot gets exactly one answer to each of its
//! requests, its own.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod stage;
mod team;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Method;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use stage::{Bot, Stage};

const BOTS: usize = 5;
const REQUESTS: usize = 12;
const KILLS: usize = 5;

#[tokio::test]
async fn what_was_asked_before_a_kill_is_there_after_it_and_a_wait_that_was_cut_goes_on() {
    let stage = Stage::new();
    let host = stage.serve();
    let url = host.url.clone();
    let person = stage.person(&url);
    let token = person.add_sender("ci").await;
    let bot = Bot { http: stage.http.clone(), url: url.clone(), token };
    let asking = bot.ask("a", "One?");
    let killing = async {
        wait_until("it waits", SOON, async || person.waiting().await == 1).await;
        host.kill();
        let host = stage.serve();
        assert_eq!(host.url, url, "the port is kept");
        assert_eq!(person.waiting().await, 1);
        assert!(person.answer_all().await);
        host
    };
    let (answer, host) = tokio::join!(asking, killing);
    assert_eq!(answer, json!({ "id": "a", "ok": true, "data": { "read": "One?" } }));
    // Answered, not acknowledged, killed: it can be read again.
    let request = json!({ "id": "b", "kind": "approval", "prompt": "Two?" });
    bot.call(Method::POST, "/v1/requests", Some(&request)).await;
    assert_eq!(person.waiting().await, 1);
    assert!(person.answer_all().await);
    host.kill();
    let _host = stage.serve();
    let again = bot.call(Method::GET, "/v1/requests/b/answer", None).await;
    assert_eq!(again.json::<Value>().await.unwrap()["ok"], true);
}

#[tokio::test]
#[ignore = "kills the host again and again: `make test` runs it"]
async fn bots_whose_host_is_killed_get_exactly_one_answer_each_to_every_request() {
    let stage = Stage::new();
    let mut host = stage.serve();
    let url = host.url.clone();
    let person = stage.person(&url);
    let answered = Arc::new(AtomicUsize::new(0));
    let mut bots = JoinSet::new();
    for n in 0..BOTS {
        let token = person.add_sender(&format!("bot {n}")).await;
        let bot = Bot { http: stage.http.clone(), url: url.clone(), token };
        let answered = Arc::clone(&answered);
        bots.spawn(async move {
            // The same ids as every other bot's: they are each one's own.
            for r in 0..REQUESTS {
                let (id, prompt) = (format!("r{r}"), format!("{r} of bot {n}?"));
                let answer = bot.ask(&id, &prompt).await;
                assert_eq!(answer, json!({ "id": id, "ok": true, "data": { "read": prompt } }));
                answered.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    let all = BOTS * REQUESTS;
    for kill in 1..=KILLS {
        let enough = all * kill / (KILLS + 1);
        wait_until("the bots get on", Duration::from_secs(60), async || {
            person.answer_all().await;
            answered.load(Ordering::SeqCst) >= enough
        })
        .await;
        host.kill();
        host = stage.serve();
        assert_eq!(host.url, url);
    }
    wait_until("all is answered", Duration::from_secs(60), async || {
        person.answer_all().await;
        answered.load(Ordering::SeqCst) == all
    })
    .await;
    while let Some(bot) = bots.join_next().await {
        bot.unwrap();
    }
    host.stop().await;
    let history = stage.sayso.json(&["history", "--all"]).await.exits(0).values();
    assert_eq!(history.len(), all, "each was asked and decided once");
    stage.sayso.run(&["history", "verify"]).await.exits(0);
}
