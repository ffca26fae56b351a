use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::{Client, Method, RequestBuilder};
use sayso_gateway::{Gateway, GatewayOptions};
use sayso_host::{Host, HostOptions, Surface};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;

use crate::disk::{self, Bare};
use crate::table::{Table, median, ratio, shown, timed};

const SENDERS: usize = 200;
const PENDING: usize = 10_000;
const EACH: usize = PENDING / SENDERS;
const COMMITS: usize = 1000;
const LISTS: usize = 5;
const LIMIT: Duration = Duration::from_secs(120);

/// A host with its doors open; its owner, who looks at what changes; and senders.
struct Crowd {
    http: Client,
    url: String,
    owner: String,
    tokens: Vec<String>,
}

/// Two moments after a beginning: when it was accepted, and when whoever waits for it heard.
struct Heard {
    began: Instant,
    accepted: Instant,
    heard: Instant,
}

/// One host with ten thousand requests that wait, and two hundred senders in long polls.
pub(crate) async fn measure(table: &mut Table) {
    let folder = disk::folder();
    let host = Host::open(HostOptions { data_dir: folder.path().join("data") }).await.unwrap();
    let gateway = Gateway::start(host.clone(), GatewayOptions { port: Some(0) }).await.unwrap();
    let crowd = Arc::new(Crowd::gather(&host, &gateway).await);
    let bare = Bare::open();

    let (filled, ()) = timed(fill(&crowd)).await;
    let (bares, ()) = timed(async { (0..COMMITS).for_each(|_| bare.commit()) }).await;
    let commit = bares / u32::try_from(COMMITS).unwrap();
    let posts = PENDING as f64 / filled.as_secs_f64();
    let commits = 1.0 / commit.as_secs_f64();
    let what = format!("load: requests posted a second by {SENDERS} senders at once / bare commits a second");
    table.only(&what, format!("{posts:.0}"), format!("{commits:.0}"), posts / commits);

    let (mut polls, mut answers) = wait_for_answers(&crowd).await;
    let (asked, mut looking) = look(&crowd).await;
    let asked = ask(&crowd, asked).await;
    looking.shutdown().await;
    tell(table, "a request", "its event in the UI", asked, commit);
    let decided = decide(&crowd, &mut answers).await;
    tell(table, "a decision", "its long poll's answer", decided, commit);
    polls.shutdown().await;

    let mut lists = Vec::new();
    let mut size = 0;
    for _ in 0..LISTS {
        let (time, list) = timed(crowd.list()).await;
        lists.push(time);
        size = serde_json::to_string(&list).unwrap().len();
    }
    let list = median(&mut lists);
    table.only(
        "load: the whole list of what waits / a bare commit",
        shown(list),
        shown(commit),
        ratio(list, commit),
    );
    table.note(format!(
        "Load: {PENDING} requests waited, of {SENDERS} senders that each held a long poll; the list of them is {:.1} MB. \
         Senders, the owner and the host are one process here.",
        size as f64 / 1e6
    ));
    gateway.shutdown().await;
    host.shutdown().await;
}

impl Crowd {
    async fn gather(host: &Host, gateway: &Gateway) -> Self {
        let mut tokens = Vec::new();
        for number in 0..SENDERS {
            let setup = json!({ "name": format!("bot {number}"), "per_minute": 100_000 });
            let added = host.call(Surface::Cli, "senders.add", setup).await.unwrap();
            tokens.push(added["token"].as_str().unwrap().to_owned());
        }
        let owner = std::fs::read_to_string(host.data_dir().join("owner-token")).unwrap();
        let http = Client::builder().no_proxy().timeout(LIMIT).build().unwrap();
        Self { http, url: gateway.url().to_owned(), owner: owner.trim().to_owned(), tokens }
    }

    fn call(&self, sender: usize, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&self.tokens[sender])
    }

    /// Posts one request; its key.
    async fn post(&self, sender: usize, id: &str) -> String {
        let request = json!({
            "id": id, "kind": "approval", "prompt": format!("Deploy {id} of bot {sender}?"),
            "data": { "tool": "deploy", "arguments": { "version": id, "environment": "production" } },
        });
        let answer = self.call(sender, Method::POST, "/v1/requests").json(&request).send().await.unwrap();
        assert_eq!(answer.status(), 201);
        answer.json::<Value>().await.unwrap()["key"].as_str().unwrap().to_owned()
    }

    /// All that waits, page by page.
    async fn list(&self) -> Vec<Value> {
        let mut items = Vec::new();
        let mut after = Value::Null;
        loop {
            let page = self.rpc_text("inbox.list", json!({ "after": after, "limit": 1000 })).await;
            let mut page: Value = serde_json::from_str(&page).unwrap();
            items.append(page["result"]["items"].as_array_mut().unwrap());
            after = page["result"]["next"].take();
            if after.is_null() {
                return items;
            }
        }
    }

    async fn rpc_text(&self, command: &str, params: Value) -> String {
        let call = json!({ "command": command, "params": params });
        let call = self.http.post(format!("{}/rpc", self.url)).bearer_auth(&self.owner).json(&call);
        call.send().await.unwrap().text().await.unwrap()
    }
}

/// Every sender posts its share, one after another.
async fn fill(crowd: &Arc<Crowd>) {
    let mut senders = JoinSet::new();
    for sender in 0..SENDERS {
        let crowd = Arc::clone(crowd);
        senders.spawn(async move {
            for number in 0..EACH {
                crowd.post(sender, &format!("r{number}")).await;
            }
        });
    }
    senders.join_all().await;
}

/// Every sender waits for the answer to its first request.
async fn wait_for_answers(crowd: &Arc<Crowd>) -> (JoinSet<()>, UnboundedReceiver<(usize, Instant)>) {
    let (tell, answers) = unbounded_channel();
    let mut polls = JoinSet::new();
    for sender in 0..SENDERS {
        let (crowd, tell) = (Arc::clone(crowd), tell.clone());
        polls.spawn(async move {
            loop {
                let poll = crowd.call(sender, Method::GET, "/v1/requests/r0/answer?wait=60").send();
                let answer = poll.await.unwrap();
                match answer.status().as_u16() {
                    204 => {}
                    200 => {
                        answer.bytes().await.unwrap();
                        let _ = tell.send((sender, Instant::now()));
                        return;
                    }
                    other => panic!("{other} for a long poll"),
                }
            }
        });
    }
    // All of them wait by the time that the last of them was let in.
    tokio::time::sleep(Duration::from_secs(2)).await;
    (polls, answers)
}

/// What the window does: it listens to the owner's events.
async fn look(crowd: &Arc<Crowd>) -> (UnboundedReceiver<(String, Instant)>, JoinSet<()>) {
    let (tell, events) = unbounded_channel();
    let stream = crowd.http.get(format!("{}/events", crowd.url)).bearer_auth(&crowd.owner).send();
    let mut stream = stream.await.unwrap();
    // The first line says that it listens.
    let mut text = String::from_utf8(stream.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    let mut looking = JoinSet::new();
    looking.spawn(async move {
        while let Ok(Some(piece)) = stream.chunk().await {
            let now = Instant::now();
            text.push_str(std::str::from_utf8(&piece).unwrap());
            while let Some((event, rest)) = text.split_once("\n\n") {
                let data =
                    event.strip_prefix("data: ").and_then(|data| serde_json::from_str::<Value>(data).ok());
                if let Some(id) = data
                    .filter(|data| data["topic"] == "inbox")
                    .and_then(|data| Some(data["id"].as_str()?.to_owned()))
                {
                    let _ = tell.send((id, now));
                }
                text = rest.to_owned();
            }
        }
    });
    (events, looking)
}

/// One more request of each sender, one after another.
async fn ask(crowd: &Crowd, mut events: UnboundedReceiver<(String, Instant)>) -> Vec<Heard> {
    let mut asked = Vec::new();
    for sender in 0..SENDERS {
        let began = Instant::now();
        let key = crowd.post(sender, "more").await;
        let accepted = Instant::now();
        let heard = loop {
            let (id, at) = events.recv().await.unwrap();
            if id == key {
                break at;
            }
        };
        asked.push(Heard { began, accepted, heard });
    }
    asked
}

/// Decides what the senders wait for, one after another.
async fn decide(crowd: &Crowd, answers: &mut UnboundedReceiver<(usize, Instant)>) -> Vec<Heard> {
    let list = crowd.list().await;
    let list = list.iter();
    let keys: HashMap<_, _> = list.map(|item| (item["prompt"].as_str().unwrap(), &item["key"])).collect();
    let mut decided = Vec::new();
    for sender in 0..SENDERS {
        let key = keys[format!("Deploy r0 of bot {sender}?").as_str()];
        let began = Instant::now();
        let said = crowd.rpc_text("inbox.decide", json!({ "key": key, "ok": true })).await;
        let accepted = Instant::now();
        assert!(said.contains("approved"), "{said}");
        let (of, heard) = answers.recv().await.unwrap();
        assert_eq!(of, sender, "its own answer");
        decided.push(Heard { began, accepted, heard });
    }
    decided
}

fn tell(table: &mut Table, what: &str, then: &str, heard: Vec<Heard>, commit: Duration) {
    let whole = heard.iter().map(|one| one.heard - one.began).collect();
    let after = heard.iter().map(|one| one.heard.saturating_duration_since(one.accepted)).collect();
    for (from, mut times) in [("accepted", after), ("sent", whole)] as [(&str, Vec<Duration>); 2] {
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100];
        let what = format!("load: from {what} {from} to {then}, p50 and p99 / a bare commit");
        let times = format!("{} and {}", shown(at(50)), shown(at(99)));
        table.only(&what, times, shown(commit), ratio(at(50), commit));
    }
}
