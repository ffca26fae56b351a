//! Senders whose host is killed: what was asked is there afterwards, and every bot gets exactly one answer to each of its
//! requests, its own.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::{Method, Response};
use sayso_tests::sayso::{Host, Sayso};
use sayso_tests::wait::SOON;
use sayso_tests::{wait_until, wait_value};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const BOTS: usize = 5;
const REQUESTS: usize = 12;
const KILLS: usize = 5;

/// A data folder with a host that keeps its port.
struct Stage {
    sayso: Sayso,
    http: reqwest::Client,
    _root: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(90)).build().unwrap();
        Self { sayso: Sayso::new(&root.path().join("data")), http, _root: root }
    }

    fn serve(&self) -> Host {
        self.sayso.serve_with(&[])
    }

    fn person(&self, url: &str) -> Person {
        Person { http: self.http.clone(), url: url.to_owned(), data_dir: self.sayso.data_dir().to_owned() }
    }
}

/// The person, who decides with the owner's own token.
struct Person {
    http: reqwest::Client,
    url: String,
    data_dir: PathBuf,
}

impl Person {
    /// What a command gives; none while no host answers.
    async fn rpc(&self, command: &str, params: Value) -> Option<Value> {
        let token = owner_token(&self.data_dir)?;
        let call = json!({ "command": command, "params": params });
        let answer = self.http.post(format!("{}/rpc", self.url)).bearer_auth(token).json(&call).send().await;
        let answer: Value = answer.ok()?.json().await.ok()?;
        answer.get("result").cloned()
    }

    async fn add_sender(&self, name: &str) -> String {
        let added = self.rpc("senders.add", json!({ "name": name })).await.expect("a host");
        added["token"].as_str().unwrap().to_owned()
    }

    /// How many wait. A connection to the host before is no answer of this one.
    async fn waiting(&self) -> usize {
        let list = wait_value("the host answers", SOON, async || self.rpc("inbox.list", json!({})).await);
        list.await.as_array().unwrap().len()
    }

    /// Answers whatever waits, with the prompt that it read.
    async fn answer_all(&self) -> bool {
        let Some(list) = self.rpc("inbox.list", json!({})).await else { return false };
        for item in list.as_array().unwrap() {
            let data = json!({ "read": item["prompt"] }).to_string();
            self.rpc("inbox.decide", json!({ "key": item["key"], "ok": true, "data": data })).await;
        }
        true
    }
}

fn owner_token(data_dir: &Path) -> Option<String> {
    std::fs::read_to_string(data_dir.join("owner-token")).ok().filter(|token| !token.is_empty())
}

/// A bot that tries again whenever its connection breaks, and changes nothing else because of it.
struct Bot {
    http: reqwest::Client,
    url: String,
    token: String,
}

impl Bot {
    async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Response {
        let limit = Instant::now() + SOON;
        loop {
            let url = format!("{}{path}", self.url);
            let request = self.http.request(method.clone(), url).bearer_auth(&self.token);
            let request = match body {
                Some(body) => request.json(body),
                None => request,
            };
            match request.send().await {
                Ok(answer) if !answer.status().is_server_error() => return answer,
                other => assert!(Instant::now() < limit, "the host does not answer: {other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
    }

    /// Asks, waits and acknowledges; gives the answer.
    async fn ask(&self, id: &str, prompt: &str) -> Value {
        let request = json!({ "id": id, "kind": "input", "prompt": prompt });
        let asked = self.call(Method::POST, "/v1/requests", Some(&request)).await;
        assert!(matches!(asked.status().as_u16(), 200 | 201), "{asked:?}");
        let answer = loop {
            let answer = self.call(Method::GET, &format!("/v1/requests/{id}/answer?wait=25"), None).await;
            match answer.status().as_u16() {
                204 => {}
                // A body that broke off is read again.
                200 => {
                    if let Ok(answer) = answer.json::<Value>().await {
                        break answer;
                    }
                }
                other => panic!("{other} for {id}"),
            }
        };
        let acked = self.call(Method::POST, &format!("/v1/requests/{id}/ack"), None).await;
        assert_eq!(acked.status().as_u16(), 200);
        answer
    }
}

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
