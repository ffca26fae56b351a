//! A host that is killed and comes back, bots that go on, and the person.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reqwest::{Method, Response};
use sayso_tests::sayso::{Host, Sayso};
use sayso_tests::wait::SOON;
use sayso_tests::wait_value;
use serde_json::{Value, json};

/// A data folder with a host that keeps its port.
pub(crate) struct Stage {
    pub(crate) sayso: Sayso,
    pub(crate) http: reqwest::Client,
    _root: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let http = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(90)).build().unwrap();
        Self { sayso: Sayso::new(&root.path().join("data")), http, _root: root }
    }

    pub(crate) fn serve(&self) -> Host {
        self.sayso.serve_with(&[])
    }

    pub(crate) fn person(&self, url: &str) -> Person {
        Person { http: self.http.clone(), url: url.to_owned(), data_dir: self.sayso.data_dir().to_owned() }
    }
}

/// The person, who decides with the owner's own token.
pub(crate) struct Person {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    data_dir: PathBuf,
}

impl Person {
    /// What a command gives; none while no host answers.
    pub(crate) async fn rpc(&self, command: &str, params: Value) -> Option<Value> {
        let token = owner_token(&self.data_dir)?;
        let call = json!({ "command": command, "params": params });
        let answer = self.http.post(format!("{}/rpc", self.url)).bearer_auth(token).json(&call).send().await;
        let answer: Value = answer.ok()?.json().await.ok()?;
        answer.get("result").cloned()
    }

    pub(crate) async fn add_sender(&self, name: &str) -> String {
        let added = self.rpc("senders.add", json!({ "name": name })).await.expect("a host");
        added["token"].as_str().unwrap().to_owned()
    }

    /// How many wait. A connection to the host before is no answer of this one.
    pub(crate) async fn waiting(&self) -> usize {
        let list = wait_value("the host answers", SOON, async || self.rpc("inbox.list", json!({})).await);
        list.await["items"].as_array().unwrap().len()
    }

    /// Answers whatever waits, with the prompt that it read.
    pub(crate) async fn answer_all(&self) -> bool {
        let Some(list) = self.rpc("inbox.list", json!({})).await else { return false };
        for item in list["items"].as_array().unwrap() {
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
pub(crate) struct Bot {
    pub(crate) http: reqwest::Client,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Bot {
    pub(crate) async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Response {
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
    pub(crate) async fn ask(&self, id: &str, prompt: &str) -> Value {
        let request = json!({ "id": id, "kind": "input", "prompt": prompt });
        let asked = self.call(Method::POST, "/v1/requests", Some(&request)).await;
        assert!(matches!(asked.status().as_u16(), 200 | 201), "{asked:?}");
        self.answer(id).await
    }

    /// Waits for the answer to what was asked, and acknowledges it.
    pub(crate) async fn answer(&self, id: &str) -> Value {
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
