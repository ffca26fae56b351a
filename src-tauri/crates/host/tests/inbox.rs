//! What waits, as every face gets it: in pages, put off, decided together, taken back.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sayso_domain::{Kind, Request, RequestState, Time};
use sayso_host::dto::{Topic, UiEvent};
use sayso_host::{Asker, Host, HostOptions, SenderError, Surface, code};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::broadcast::Receiver;
use tokio::task::JoinSet;

const LIMIT: Duration = Duration::from_secs(20);

struct Stage {
    host: Host,
    root: TempDir,
}

async fn stage() -> Stage {
    let root = tempfile::tempdir().unwrap();
    let host = Host::open(HostOptions { data_dir: root.path().join("data") }).await.unwrap();
    Stage { host, root }
}

impl Stage {
    async fn try_call(&self, surface: Surface, command: &str, params: Value) -> Result<Value, String> {
        self.host.call(surface, command, params).await.map_err(|error| error.code)
    }

    async fn call(&self, command: &str, params: Value) -> Value {
        self.host.call(Surface::Window, command, params).await.unwrap()
    }

    async fn refused(&self, command: &str, params: Value) -> String {
        self.try_call(Surface::Window, command, params).await.unwrap_err()
    }

    async fn hold_answers(&self, seconds: u8) {
        self.call("settings.set", json!({ "undo_seconds": seconds })).await;
    }

    async fn sender(&self, name: &str) -> Asker {
        let added = self.call("senders.add", json!({ "name": name })).await;
        self.host.sender(added["token"].as_str().unwrap()).await.unwrap()
    }

    async fn ask(&self, asker: &Asker, id: &str, kind: Kind, prompt: &str, data: Value) {
        let mut request = Request::new(id, kind, prompt);
        request.data = (!data.is_null()).then_some(data);
        self.host.ask(asker, request).await.unwrap();
    }

    async fn approval(&self, asker: &Asker, id: &str, command: &str) {
        let data = json!({ "tool": "Bash", "arguments": { "command": command } });
        self.ask(asker, id, Kind::Approval, "Run it?", data).await;
    }

    async fn items(&self) -> Vec<Value> {
        self.call("inbox.list", json!({})).await["items"].as_array().unwrap().clone()
    }

    async fn decide_many(&self, items: &[Value], with: Value) -> Result<Value, String> {
        let decisions: Vec<_> =
            items.iter().map(|item| json!({ "key": item["key"], "digest": item["digest"] })).collect();
        let mut params = json!({ "decisions": decisions });
        params.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
        self.try_call(Surface::Window, "inbox.decide_many", params).await
    }
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap())
}

/// Waits until a face is told that this request changed.
async fn told_of(events: &mut Receiver<UiEvent>, key: &Value) {
    let told = async {
        loop {
            let event = events.recv().await.unwrap();
            if event.topic == Topic::Inbox && event.id.as_deref() == key.as_str() {
                return;
            }
        }
    };
    tokio::time::timeout(LIMIT, told).await.expect("an event");
}

async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let limit = tokio::time::Instant::now() + LIMIT;
    while !holds().await {
        assert!(tokio::time::Instant::now() < limit, "{what}: not within {LIMIT:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn the_list_comes_in_thin_pages_and_whole_only_where_it_is_asked_for() {
    let stage = stage().await;
    let ci = stage.sender("ci").await;
    let prompt = format!("{}the tail that matters", "long ".repeat(2000));
    for n in 0..5 {
        stage.ask(&ci, &format!("r{n}"), Kind::Approval, &prompt, Value::Null).await;
    }
    let mut keys = Vec::new();
    let mut after = Value::Null;
    loop {
        let page = stage.call("inbox.list", json!({ "after": after, "limit": 2 })).await;
        assert_eq!((&page["total"], &page["snoozed"]), (&json!(5), &json!(0)));
        for item in page["items"].as_array().unwrap() {
            let shown = item["prompt"].as_str().unwrap();
            assert_eq!((shown.chars().count(), shown.ends_with('…')), (301, true));
            assert!(item.get("request").is_none(), "{item}");
            keys.push(item["key"].clone());
        }
        after = page["next"].clone();
        if after.is_null() {
            break;
        }
    }
    assert_eq!(keys.len(), 5);
    let whole = stage.call("inbox.list", json!({ "whole": true })).await;
    let request: Value = serde_json::from_str(whole["items"][0]["request"].as_str().unwrap()).unwrap();
    assert_eq!(request["prompt"], json!(prompt));
    let shown = stage.call("inbox.show", json!({ "key": keys[0] })).await;
    assert_eq!((&shown["prompt"], &shown["request"]), (&json!(prompt), &whole["items"][0]["request"]));

    stage.call("inbox.decide", json!({ "key": keys[0], "ok": false })).await;
    let left = stage.call("inbox.items", json!({ "keys": [keys[1], keys[0], "no key"] })).await;
    let left: Vec<_> = left.as_array().unwrap().iter().map(|item| &item["key"]).collect();
    assert_eq!(left, [&keys[1]]);
    assert_eq!(stage.refused("inbox.list", json!({ "after": "yesterday" })).await, code::BAD_REQUEST);
}

#[tokio::test]
async fn requests_with_the_same_text_are_identical_and_no_others() {
    let stage = stage().await;
    let (ci, other) = (stage.sender("ci").await, stage.sender("other").await);
    stage.approval(&ci, "a", "ls").await;
    let mut with_deadline = Request::new("b", Kind::Approval, "Run it?");
    with_deadline.data = Some(json!({ "tool": "Bash", "arguments": { "command": "ls" } }));
    with_deadline.expires_at = Some(now().plus_millis(3_600_000));
    stage.host.ask(&ci, with_deadline).await.unwrap();
    stage.approval(&ci, "c", "ls -l").await;
    stage.approval(&other, "d", "ls").await;
    let schema = json!({ "schema": { "type": "object", "properties": { "n": { "type": "integer" } } } });
    stage.ask(&ci, "e", Kind::Input, "Run it?", schema).await;
    let whole = stage.call("inbox.list", json!({ "whole": true })).await;
    let of = |id: &str| {
        let items = whole["items"].as_array().unwrap();
        let wire = |item: &Value| serde_json::from_str::<Value>(item["request"].as_str().unwrap()).unwrap();
        items.iter().find(|item| wire(item)["id"] == id).unwrap().clone()
    };
    assert_eq!(of("a")["group"], of("b")["group"], "id and deadline are nobody's business");
    for id in ["c", "d", "e"] {
        assert_ne!(of("a")["group"], of(id)["group"], "{id}");
    }
    assert_eq!((&of("a")["plain"], &of("e")["plain"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn a_yes_to_many_needs_each_to_be_harmless_or_all_to_be_identical() {
    let stage = stage().await;
    let ci = stage.sender("ci").await;
    let commands = ["ls", "ls -l", "git push", "git push", "rm -rf /", "rm -rf /"];
    for (n, command) in commands.into_iter().enumerate() {
        stage.approval(&ci, &format!("r{n}"), command).await;
    }
    let form = json!({ "schema": { "type": "object", "properties": { "n": { "type": "integer" } } } });
    for id in ["f1", "f2"] {
        stage.ask(&ci, id, Kind::Input, "How many?", form.clone()).await;
    }
    let items = stage.items().await;
    let risks: Vec<_> = items.iter().map(|item| item["risk"].as_str().unwrap()).collect();
    assert_eq!(risks, ["low", "low", "medium", "medium", "high", "high", "low", "low"]);
    let yes = json!({ "ok": true });
    let with_data = json!({ "ok": true, "data": "{\"n\":1}" });
    for (which, with) in [
        (&[0, 2][..], &yes),
        (&[4, 5], &yes),
        (&[4], &yes),
        (&[0, 6], &yes),
        (&[0, 1], &with_data),
        (&[0, 0], &yes),
    ] {
        let picked: Vec<_> = which.iter().map(|at| items[*at].clone()).collect();
        assert_eq!(
            stage.decide_many(&picked, with.clone()).await,
            Err(code::INVALID_DATA.to_owned()),
            "{which:?}"
        );
    }
    assert_eq!(stage.items().await.len(), 8, "nothing was decided");

    for (which, with, outcome) in
        [(&[0, 1][..], yes.clone(), "approved"), (&[2, 3], yes, "approved"), (&[6, 7], with_data, "answered")]
    {
        let picked: Vec<_> = which.iter().map(|at| items[*at].clone()).collect();
        let done = stage.decide_many(&picked, with).await.unwrap();
        for (result, item) in done["results"].as_array().unwrap().iter().zip(&picked) {
            assert_eq!((&result["key"], &result["error"]), (&item["key"], &Value::Null));
            assert_eq!(result["decision"]["outcome"], outcome);
        }
    }
    let done = stage.decide_many(&items[4..6], json!({ "ok": false, "reason": "never" })).await.unwrap();
    assert!(done["results"].as_array().unwrap().iter().all(|one| one["decision"]["outcome"] == "declined"));
    assert!(stage.items().await.is_empty());
}

#[tokio::test]
async fn each_of_many_is_decided_in_its_own_right() {
    let stage = stage().await;
    let ci = stage.sender("ci").await;
    for id in ["a", "b", "c"] {
        stage.approval(&ci, id, "ls").await;
    }
    let mut items = stage.items().await;
    stage.call("inbox.decide", json!({ "key": items[0]["key"], "ok": false })).await;
    items[1]["digest"] = items[0]["digest"].clone();
    items[1]["digest"] = json!("00".repeat(32));
    let done = stage.decide_many(&items, json!({ "ok": true })).await.unwrap();
    let codes: Vec<_> = (0..3).map(|n| done["results"][n]["error"]["code"].clone()).collect();
    assert_eq!(codes, [json!(code::ALREADY_DECIDED), json!(code::DIGEST_MISMATCH), Value::Null]);
    assert_eq!(stage.items().await.len(), 1);
}

#[tokio::test]
async fn what_is_put_off_is_told_of_again_at_its_time() {
    let stage = stage().await;
    let ci = stage.sender("ci").await;
    stage.approval(&ci, "a", "ls").await;
    let key = stage.items().await[0]["key"].clone();
    let mut events = stage.host.events();
    let until = now().plus_millis(600);
    let item = stage.call("inbox.snooze", json!({ "key": key, "until": until.to_string() })).await;
    assert_eq!(item["snoozed_until"], json!(until.to_string()));
    told_of(&mut events, &key).await;
    assert_eq!(stage.call("status", json!({})).await["snoozed"], 1);
    told_of(&mut events, &key).await;
    assert!(now() >= until, "not before its time");
    assert_eq!(stage.items().await[0]["snoozed_until"], Value::Null);
    assert_eq!(stage.call("status", json!({})).await["snoozed"], 0);

    let far = now().plus_millis(31 * 24 * 3_600_000).to_string();
    for until in [json!(far), json!("2020-01-01T00:00:00Z"), json!("tomorrow")] {
        assert_eq!(
            stage.refused("inbox.snooze", json!({ "key": key, "until": until })).await,
            code::BAD_REQUEST,
            "{until}"
        );
    }
    let later = now().plus_millis(3_600_000).to_string();
    stage.call("inbox.snooze", json!({ "key": key, "until": later })).await;
    stage.call("inbox.decide", json!({ "key": key, "ok": true })).await;
    assert_eq!(
        stage.refused("inbox.snooze", json!({ "key": key, "until": null })).await,
        code::ALREADY_DECIDED
    );
}

#[tokio::test]
async fn an_answer_is_held_where_a_click_decides_and_for_as_long_as_the_person_set() {
    let stage = stage().await;
    let ci = stage.sender("ci").await;
    for (surface, is_held) in [
        (Surface::Window, true),
        (Surface::Browser, true),
        (Surface::Notification, true),
        (Surface::Tray, true),
        (Surface::Cli, false),
    ] {
        let id = surface.as_str();
        stage.approval(&ci, id, "ls").await;
        stage.hold_answers(10).await;
        let key = stage.items().await[0]["key"].clone();
        let decision =
            stage.try_call(surface, "inbox.decide", json!({ "key": key, "ok": true })).await.unwrap();
        assert_eq!(decision["undo_until"].is_string(), is_held, "{id}");
        let undone = stage.try_call(surface, "inbox.undo", json!({ "key": key })).await;
        assert_eq!(
            undone.map_err(|code| code == code::TOO_LATE).map(drop),
            if is_held { Ok(()) } else { Err(true) }
        );
        if is_held {
            assert_eq!(stage.refused("inbox.undo", json!({ "key": key })).await, code::NOT_FOUND);
            stage.hold_answers(0).await;
            let decision = stage.call("inbox.decide", json!({ "key": key, "ok": true })).await;
            assert_eq!(decision["undo_until"], Value::Null);
        }
    }
    let verified = stage.call("history.verify", json!({})).await;
    assert_eq!((&verified["ok"], &verified["entries"]), (&json!(true), &json!(5 + 4 * 2)));
}

#[tokio::test]
async fn a_held_answer_leaves_at_its_time_and_neither_before_nor_much_later() {
    let stage = stage().await;
    let ci = stage.sender("ci").await;
    stage.hold_answers(1).await;
    stage.approval(&ci, "a", "ls").await;
    let key = stage.items().await[0]["key"].clone();
    let decision = stage.call("inbox.decide", json!({ "key": key, "ok": true })).await;
    let until: Time = decision["undo_until"].as_str().unwrap().parse().unwrap();
    assert_eq!(stage.host.held(&ci, "a").await.unwrap().state, RequestState::Pending);
    assert_eq!(stage.host.withdraw(&ci, "a").await, Err(SenderError::BeingDecided));
    let answer = stage.host.answer(&ci, "a", LIMIT).await.unwrap().expect("an answer");
    assert!(answer.is_ok() && now() >= until, "before its time");
    let late = now().as_millis() - until.as_millis();
    assert!(late < 3000, "{late} ms after its time");
    assert_eq!(stage.refused("inbox.undo", json!({ "key": key })).await, code::TOO_LATE);
}

#[tokio::test]
async fn a_decision_stands_where_the_host_ended_while_its_answer_was_held() {
    let stage = stage().await;
    let ci = stage.sender("ci").await;
    stage.hold_answers(2).await;
    stage.approval(&ci, "a", "ls").await;
    let key = stage.items().await[0]["key"].clone();
    stage.call("inbox.decide", json!({ "key": key, "ok": true })).await;
    stage.host.shutdown().await;
    let Stage { host, root } = stage;
    drop(host);
    let host = Host::open(HostOptions { data_dir: root.path().join("data") }).await.unwrap();
    let stage = Stage { host, root };
    assert!(stage.items().await.is_empty(), "it is decided");
    let answer = stage.host.answer(&ci, "a", LIMIT).await.unwrap().expect("an answer");
    assert!(answer.is_ok());
}

/// The decision stands in History, and nothing comes of it: whoever stopped the run meant that.
#[tokio::test]
async fn a_run_that_is_stopped_while_a_decision_is_held_runs_nothing_and_nobody_takes_it_back() {
    let stage = stage().await;
    let work = stage.root.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    let (model, _serving) = model("touch here").await;
    let config = json!({ "name": "worker", "base_url": model, "model": "m", "folder": work, "max_turns": 1 });
    stage.try_call(Surface::Cli, "agents.save", json!({ "config": config.to_string() })).await.unwrap();
    stage.hold_answers(10).await;
    let run = stage.call("runs.start", json!({ "agent": "worker", "task": "go" })).await["run"].clone();
    wait_until("it asks", async || !stage.items().await.is_empty()).await;
    let key = stage.items().await[0]["key"].clone();
    stage.call("inbox.decide", json!({ "key": key, "ok": true })).await;
    stage.call("runs.stop", json!({ "run": run })).await;
    wait_until("it is stopped", async || {
        stage.call("runs.show", json!({ "run": run })).await["item"]["status"] == "interrupted"
    })
    .await;
    assert_eq!(stage.refused("inbox.undo", json!({ "key": key })).await, code::TOO_LATE);
    let past = stage.call("history.show", json!({ "key": key })).await;
    assert_eq!((&past["item"]["outcome"], &past["delivery"]), (&json!("approved"), &json!("undeliverable")));
    assert!(stage.items().await.is_empty() && !work.join("here").exists());
}

#[tokio::test]
async fn a_decision_that_is_taken_back_runs_nothing_and_the_next_one_counts() {
    let stage = stage().await;
    let work = stage.root.path().join("work");
    std::fs::create_dir_all(&work).unwrap();
    let (model, _serving) = model("touch here").await;
    let config = json!({ "name": "worker", "base_url": model, "model": "m", "folder": work, "max_turns": 1 });
    stage.try_call(Surface::Cli, "agents.save", json!({ "config": config.to_string() })).await.unwrap();
    stage.hold_answers(1).await;
    stage.call("runs.start", json!({ "agent": "worker", "task": "go" })).await;
    wait_until("it asks", async || !stage.items().await.is_empty()).await;
    let key = stage.items().await[0]["key"].clone();
    stage.call("inbox.decide", json!({ "key": key, "ok": true })).await;
    let back = stage.call("inbox.undo", json!({ "key": key })).await;
    assert_eq!(back["key"], key);
    assert!(!work.join("here").exists());
    stage.call("inbox.decide", json!({ "key": key, "ok": true })).await;
    wait_until("it runs", async || work.join("here").exists()).await;
    let past = stage.call("history.show", json!({ "key": key })).await;
    let kinds: Vec<_> =
        past["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(&kinds[..3], ["decision", "revoked", "decision"]);
    assert_eq!(stage.call("history.verify", json!({})).await["ok"], true);
}

/// A model that wants one command run, for as long as the set lives; and its base URL.
async fn model(command: &'static str) -> (String, JoinSet<()>) {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let reply = move || async move {
        let call = json!({ "name": "shell", "arguments": json!({ "command": command }).to_string() });
        let calls = json!([{ "id": "1", "type": "function", "function": call }]);
        let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
        axum::Json(json!({ "choices": [{ "message": message }] }))
    };
    let app = axum::Router::new().route("/v1/chat/completions", axum::routing::post(reply));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
    (url, tasks)
}
