//! Answers that are posted to a sender's own server.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::stage::{SOON, Stage};

/// What a receiver got: the head of the request, and its body.
#[derive(Clone, Debug)]
struct Got {
    head: String,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.unwrap_or_else(|| panic!("no {name} in {}", self.head)).1.trim()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// As a receiver checks it.
    fn is_signed_with(&self, secret: &str) -> bool {
        let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
        let (id, at) = (self.header("webhook-id"), self.header("webhook-timestamp"));
        mac.update(format!("{id}.{at}.{}", self.body).as_bytes());
        let expected = format!("v1,{}", BASE64.encode(mac.finalize().into_bytes()));
        self.header("webhook-signature") == expected && at.parse::<i64>().is_ok()
    }
}

/// A server that a sender runs. What it answers can be changed while it runs.
struct Receiver {
    url: String,
    got: Arc<Mutex<Vec<Got>>>,
    answer: Arc<Mutex<Vec<u8>>>,
    _serving: JoinSet<()>,
}

const TAKEN: &[u8] = b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n";

impl Receiver {
    async fn start(answer: &[u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hooks/secret-path", listener.local_addr().unwrap());
        let (got, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(answer.to_vec())));
        let (seen, says) = (Arc::clone(&got), Arc::clone(&answer));
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.spawn(serve(stream, Arc::clone(&seen), Arc::clone(&says)));
            }
        });
        Self { url, got, answer, _serving: serving }
    }

    fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    fn says(&self, answer: &[u8]) {
        *self.answer.lock().unwrap() = answer.to_vec();
    }

    async fn until_got(&self, count: usize) -> Vec<Got> {
        until(async || self.got().len() >= count).await;
        self.got()
    }
}

/// An empty answer stands for a server that stalls.
async fn serve(mut stream: TcpStream, got: Arc<Mutex<Vec<Got>>>, answer: Arc<Mutex<Vec<u8>>>) {
    let mut bytes = Vec::new();
    let whole = loop {
        let mut piece = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut piece).await else { return };
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let got = Got { head: head.to_owned(), body: body.to_owned() };
        if body.len() >= got.header("content-length").parse::<usize>().unwrap() {
            break got;
        }
    };
    got.lock().unwrap().push(whole);
    let answer = answer.lock().unwrap().clone();
    if answer.is_empty() {
        std::future::pending::<()>().await;
    }
    let _ = stream.write_all(&answer).await;
}

async fn until(mut done: impl AsyncFnMut() -> bool) {
    let waited = tokio::time::timeout(SOON * 3, async {
        while !done().await {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
    waited.await.expect("it happens in time");
}

impl Stage {
    /// A sender with a callback: its token and its signing secret, which lies in a file.
    async fn called_back(&self, name: &str, url: &str) -> (String, String) {
        let token = self.sender(name).await;
        (token, self.callback(name, url).await)
    }

    async fn callback(&self, name: &str, url: &str) -> String {
        let set = self.rpc("senders.callback", json!({ "name": name, "url": url, "keep_in": "file" })).await;
        set["secret"].as_str().unwrap().to_owned()
    }

    async fn listed(&self, name: &str) -> Value {
        let list = self.rpc("senders.list", json!({})).await;
        list.as_array().unwrap().iter().find(|item| item["name"] == name).unwrap().clone()
    }

    async fn delivery(&self, id: &str) -> (String, String) {
        let page = self.rpc("history.list", json!({ "whole": true })).await;
        let is = |item: &&Value| item["request"].as_str().unwrap().contains(&format!("\"{id}\""));
        let key =
            page["items"].as_array().unwrap().iter().find(is).unwrap()["key"].as_str().unwrap().to_owned();
        let detail = self.rpc("history.show", json!({ "key": key })).await;
        (key, detail["delivery"].as_str().unwrap().to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_posted_once_signed_and_without_the_persons_words() {
    let (stage, receiver) = (Stage::new().await, Receiver::start(TAKEN).await);
    let (token, secret) = stage.called_back("bot", &receiver.url).await;
    stage.ask(&token, "d1").await;
    stage.decide("d1", json!({ "ok": false, "reason": "not on a Friday" })).await;
    let got = receiver.until_got(1).await[0].clone();
    assert!(got.is_signed_with(&secret), "{got:?}");
    assert_eq!(got.json()["type"], "request.settled");
    assert_eq!(
        got.json()["data"],
        json!({ "id": "d1", "answer": { "id": "d1", "ok": false, "reason": "declined" } })
    );
    assert!(!got.body.contains("Friday"));
    until(async || stage.delivery("d1").await.1 == "delivered").await;
    assert_eq!(got.header("webhook-id"), stage.delivery("d1").await.0);
    // A second one is a message of its own.
    stage.ask(&token, "d2").await;
    stage.yes("d2").await;
    let both = receiver.until_got(2).await;
    assert_eq!(both[1].json()["data"]["answer"], json!({ "id": "d2", "ok": true }));
    assert_eq!(both.len(), 2, "each was posted once");
    assert_eq!(stage.listed("bot").await["failing"], 0);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_refuses_redirects_or_answers_garbage_is_tried_again_and_shown_as_failing() {
    for answer in [
        "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n".to_owned(),
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n"
            .to_owned(),
        "\u{1}\u{2}this is no HTTP\r\n\r\n".to_owned(),
    ] {
        let (stage, receiver) = (Stage::new().await, Receiver::start(answer.as_bytes()).await);
        let (token, _) = stage.called_back("bot", &receiver.url).await;
        stage.ask(&token, "d1").await;
        stage.yes("d1").await;
        receiver.until_got(1).await;
        until(async || stage.listed("bot").await["failing"] == 1).await;
        let why = stage.listed("bot").await["last_failure"].as_str().unwrap().to_owned();
        assert!(
            !why.contains("secret-path") && !why.contains("127.0.0.1"),
            "the address may hold a token: {why}"
        );
        assert_eq!(stage.delivery("d1").await.1, "waiting");
        // It can be fetched meanwhile, and is taken at the next try.
        assert_eq!(stage.get(&token, "/v1/requests/d1/answer").await.status, 200);
        receiver.says(TAKEN);
        until(async || stage.delivery("d1").await.1 == "delivered").await;
        let got = receiver.got();
        assert!(got.len() >= 2);
        assert!(
            got.iter().all(|one| one.header("webhook-id") == got[0].header("webhook-id")),
            "one id for all tries"
        );
        assert_eq!(stage.listed("bot").await["failing"], 0);
        stage.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stalls_holds_up_no_other_sender() {
    let stage = Stage::new().await;
    let (stalls, takes) = (Receiver::start(b"").await, Receiver::start(TAKEN).await);
    let (slow, _) = stage.called_back("slow", &stalls.url).await;
    let (quick, _) = stage.called_back("quick", &takes.url).await;
    for n in 0..8 {
        stage.ask(&slow, &format!("s{n}")).await;
        stage.yes(&format!("s{n}")).await;
    }
    stalls.until_got(4).await;
    stage.ask(&quick, "q").await;
    stage.yes("q").await;
    takes.until_got(1).await;
    until(async || stage.delivery("q").await.1 == "delivered").await;
    assert_eq!(stalls.got().len(), 4, "no more than its share is under way");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_answers_follow_one_another_without_a_pause() {
    let (stage, receiver) = (Stage::new().await, Receiver::start(TAKEN).await);
    let token = stage.sender("bot").await;
    for n in 0..40 {
        stage.ask(&token, &format!("d{n}")).await;
        stage.yes(&format!("d{n}")).await;
    }
    stage.callback("bot", &receiver.url).await;
    // More than one look at what is due, each of which takes no more than the sender's share.
    receiver.until_got(40).await;
    let ids: std::collections::BTreeSet<_> =
        receiver.got().iter().map(|got| got.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), 40, "each is posted once");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_was_not_taken_is_posted_by_the_next_host() {
    let receiver = Receiver::start(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n").await;
    let stage = Stage::new().await;
    let (token, secret) = stage.called_back("bot", &receiver.url).await;
    stage.ask(&token, "d1").await;
    stage.yes("d1").await;
    receiver.until_got(1).await;
    until(async || stage.listed("bot").await["failing"] == 1).await;
    let stage = stage.restart().await;
    receiver.says(TAKEN);
    until(async || stage.delivery("d1").await.1 == "delivered").await;
    assert!(receiver.got().iter().all(|got| got.is_signed_with(&secret)));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_can_be_sent_again_by_hand_also_one_that_was_delivered() {
    let (stage, receiver) = (Stage::new().await, Receiver::start(TAKEN).await);
    let (token, _) = stage.called_back("bot", &receiver.url).await;
    stage.ask(&token, "d1").await;
    stage.yes("d1").await;
    until(async || stage.delivery("d1").await.1 == "delivered").await;
    let key = stage.delivery("d1").await.0;
    let again = stage.rpc("senders.resend", json!({ "key": key })).await;
    assert_eq!(again["ok"], true, "{again}");
    let got = receiver.until_got(2).await;
    assert_eq!(
        got[0].header("webhook-id"),
        got[1].header("webhook-id"),
        "a receiver sees that it is the same"
    );
    receiver.says(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n");
    let refused = stage.rpc("senders.resend", json!({ "key": key })).await;
    assert_eq!(refused["ok"], false);
    assert!(refused["message"].as_str().unwrap().contains("410"), "{refused}");
    assert_eq!(stage.delivery("d1").await.1, "delivered", "what was delivered stays so");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_person_sets_a_callback_and_only_to_an_address_that_is_safe() {
    let (stage, receiver) = (Stage::new().await, Receiver::start(TAKEN).await);
    let token = stage.sender("bot").await;
    for url in ["http://example.com/", "ftp://x/", "https://user:pw@example.com/", "nonsense", ""] {
        let params = json!({ "name": "bot", "url": url, "keep_in": "file" });
        let refused = stage.refused("senders.callback", params).await;
        assert_eq!(refused.code, "sender_problem", "{url}: {refused:?}");
    }
    let refused = stage
        .refused("senders.callback", json!({ "name": "bot", "url": receiver.url, "keep_in": "mail" }))
        .await;
    assert_eq!(refused.code, "sender_problem");
    // A request that names one is a request like any other.
    let asked = json!({ "id": "d1", "kind": "approval", "prompt": "P", "callback_url": receiver.url,
                        "data": { "callback_url": receiver.url } });
    assert_eq!(stage.post(&token, &asked).await.status, 201);
    stage.yes("d1").await;
    assert_eq!(stage.get(&token, "/v1/requests/d1/answer").await.status, 200);
    assert_eq!(stage.listed("bot").await["callback_url"], Value::Null);
    assert!(receiver.got().is_empty());
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_that_is_set_later_gets_what_waits_and_one_that_is_taken_away_gets_nothing() {
    let (stage, receiver) = (Stage::new().await, Receiver::start(TAKEN).await);
    let token = stage.sender("bot").await;
    stage.ask(&token, "d1").await;
    stage.yes("d1").await;
    let first = stage.callback("bot", &receiver.url).await;
    assert!(receiver.until_got(1).await[0].is_signed_with(&first));
    let second = stage.callback("bot", &receiver.url).await;
    assert_ne!(first, second, "a new one each time");
    let gone = stage.rpc("senders.callback", json!({ "name": "bot", "url": null })).await;
    assert_eq!(gone["secret"], Value::Null);
    let keys = stage.host.data_dir().join("webhook-keys");
    assert_eq!(std::fs::read_dir(keys).unwrap().count(), 0, "a secret that is not used is erased");
    stage.ask(&token, "d2").await;
    stage.yes("d2").await;
    assert_eq!(stage.get(&token, "/v1/requests/d2/answer").await.status, 200);
    assert_eq!(stage.delivery("d2").await.1, "waiting");
    assert_eq!(receiver.got().len(), 1);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_that_cannot_be_set_leaves_the_one_that_is() {
    let (stage, receiver) = (Stage::new().await, Receiver::start(TAKEN).await);
    let (token, secret) = stage.called_back("bot", &receiver.url).await;
    stage
        .refused(
            "senders.callback",
            json!({ "name": "bot", "url": "http://example.com/", "keep_in": "file" }),
        )
        .await;
    stage
        .refused("senders.callback", json!({ "name": "nobody", "url": receiver.url, "keep_in": "file" }))
        .await;
    stage.ask(&token, "d1").await;
    stage.yes("d1").await;
    assert!(receiver.until_got(1).await[0].is_signed_with(&secret));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn revoking_a_sender_erases_its_signing_secret_and_posts_nothing_more() {
    let (stage, receiver) =
        (Stage::new().await, Receiver::start(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n").await);
    let (token, _) = stage.called_back("bot", &receiver.url).await;
    stage.ask(&token, "d1").await;
    stage.yes("d1").await;
    receiver.until_got(1).await;
    until(async || stage.listed("bot").await["failing"] == 1).await;
    stage.rpc("senders.revoke", json!({ "name": "bot" })).await;
    let keys = stage.host.data_dir().join("webhook-keys");
    assert_eq!(std::fs::read_dir(keys).unwrap().count(), 0);
    let listed = stage.listed("bot").await;
    assert_eq!((&listed["callback_url"], &listed["failing"]), (&Value::Null, &json!(0)));
    assert_eq!(stage.delivery("d1").await.1, "undeliverable");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signing_secret_is_shown_once_and_is_not_in_the_database() {
    let (stage, receiver) = (Stage::new().await, Receiver::start(TAKEN).await);
    let (_, secret) = stage.called_back("bot", &receiver.url).await;
    assert!(!stage.rpc("senders.list", json!({})).await.to_string().contains(&secret));
    let data = stage.host.data_dir().to_owned();
    stage.host.shutdown().await;
    let key = &secret.as_bytes()[6..];
    for file in ["sayso.db", "sayso.db-wal"] {
        let bytes = std::fs::read(data.join(file)).unwrap_or_default();
        assert!(!bytes.windows(key.len()).any(|part| part == key), "{file}");
    }
}
