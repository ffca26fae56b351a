//! Jobs, retention and what a restored database means for runs, through the host's commands.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::time::{Duration, Instant};

use sayso_host::{Host, HostOptions, Surface, code};
use serde_json::{Value, json};
use tempfile::TempDir;

const SOON: Duration = Duration::from_secs(20);

struct Stage {
    host: Host,
    root: TempDir,
}

async fn open(root: &TempDir) -> Host {
    Host::open(HostOptions { data_dir: root.path().join("data") }).await.unwrap()
}

impl Stage {
    async fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Self { host: open(&root).await, root }
    }

    async fn call(&self, command: &str, params: Value) -> Value {
        self.host
            .call(Surface::Window, command, params)
            .await
            .unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    async fn ended(&self, job: &Value) -> Value {
        self.until(async || {
            let job = self.call("jobs.show", json!({ "job": job["id"] })).await;
            (job["state"] != "running").then_some(job)
        })
        .await
    }

    async fn until<T>(&self, mut look: impl AsyncFnMut() -> Option<T>) -> T {
        let began = Instant::now();
        loop {
            if let Some(found) = look().await {
                return found;
            }
            assert!(began.elapsed() < SOON, "it does not come");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The one request that waits; its list may be a page.
    async fn waiting(&self) -> Vec<Value> {
        let list = self.call("inbox.list", json!({})).await;
        list.as_array().or_else(|| list["items"].as_array()).unwrap().clone()
    }

    async fn decide(&self, data: Value) {
        let request = self.until(async || self.waiting().await.first().cloned()).await;
        let mut params = json!({ "key": request["key"], "ok": true, "digest": request["digest"] });
        if !data.is_null() {
            params["data"] = Value::from(data.to_string());
        }
        self.call("inbox.decide", params).await;
    }
}

#[tokio::test]
async fn a_job_shows_how_it_ended_and_what_it_found() {
    let stage = Stage::new().await;
    let mut events = stage.host.events();
    let job = stage.call("history.verify_job", json!({})).await;
    let ended = stage.ended(&job).await;
    assert_eq!((&ended["state"], &ended["verification"]["ok"]), (&json!("done"), &json!(true)), "{ended}");
    let told = events.recv().await.unwrap();
    assert_eq!((json!(told.topic), told.id.as_deref()), (json!("jobs"), job["id"].as_str()));
    let export = stage.call("history.export", json!({ "format": "jsonl" })).await;
    let ended = stage.ended(&export).await;
    assert_eq!(ended["state"], "done", "{ended}");
    assert!(std::fs::metadata(ended["path"].as_str().unwrap()).unwrap().len() > 0);
    assert_eq!(stage.call("jobs.list", json!({})).await.as_array().unwrap().len(), 2);
    let again = json!({ "format": "csv", "path": ended["path"] });
    let refused = stage.host.call(Surface::Window, "history.export", again).await.unwrap_err();
    assert!(refused.message.contains("already"), "{refused}");
    let nowhere = json!({ "format": "csv", "path": "relative.csv" });
    assert_eq!(
        stage.host.call(Surface::Cli, "history.export", nowhere).await.unwrap_err().code,
        code::BAD_REQUEST
    );
    let unknown = stage.host.call(Surface::Cli, "jobs.show", json!({ "job": "x" })).await.unwrap_err();
    assert_eq!(unknown.code, code::NOT_FOUND);
}

#[tokio::test]
async fn the_browser_exports_erases_and_restores_nothing() {
    let stage = Stage::new().await;
    for command in [
        "history.export",
        "history.redact",
        "backups.list",
        "backups.create",
        "backups.restore",
        "storage.show",
        "storage.compact",
        "storage.prune",
        "jobs.cancel",
    ] {
        let refused = stage.host.call(Surface::Browser, command, json!({})).await.unwrap_err();
        assert_eq!(refused.code, code::FORBIDDEN_SURFACE, "{command}");
    }
    for command in ["history.head", "history.verify_job", "jobs.list"] {
        stage.host.call(Surface::Browser, command, json!({})).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_of_today_is_kept_whatever_the_retention_says() {
    let stage = Stage::new().await;
    let settings = stage.call("settings.get", json!({})).await;
    assert_eq!(settings["retention"], json!({ "days": null, "megabytes": null }));
    let mut changed = settings.clone();
    changed["retention"] = json!({ "days": 1, "megabytes": 1 });
    stage.call("settings.set", changed).await;
    stage.call("demo.start", json!({})).await;
    stage.decide(json!({ "answers": ["Hello"] })).await;
    let ended = stage.ended(&stage.call("storage.prune", json!({})).await).await;
    assert_eq!(
        (&ended["state"], &ended["message"]),
        (&json!("done"), &json!("There was nothing to remove."))
    );
    assert_eq!(stage.call("storage.show", json!({})).await["decisions"], 1);
    let compacted = stage.ended(&stage.call("storage.compact", json!({})).await).await;
    assert_eq!(compacted["state"], "done", "{compacted}");
    assert_eq!(stage.call("history.verify", json!({})).await["ok"], true);
}

/// What was allowed before the backup may have been done since.
#[tokio::test]
async fn a_run_in_a_restored_database_does_nothing_again_by_itself() {
    let stage = Stage::new().await;
    let run = stage.call("demo.start", json!({})).await["run"].clone();
    stage.decide(json!({ "answers": ["Hello"] })).await;
    let file = stage.until(async || stage.waiting().await.first().cloned()).await;
    let made = stage.ended(&stage.call("backups.create", json!({})).await).await;
    assert_eq!(made["state"], "done", "{made}");
    // The file is written after the backup.
    stage.decide(Value::Null).await;
    stage
        .until(async || {
            let next = stage.waiting().await;
            next.first().filter(|next| next["key"] != file["key"]).cloned()
        })
        .await;
    let restored = stage.call("backups.restore", json!({ "path": made["path"] })).await;
    assert_eq!(restored, json!({ "restart": true }));
    tokio::time::timeout(SOON, stage.host.restart_wanted()).await.unwrap();
    let Stage { host, root } = stage;
    host.shutdown().await;
    drop(host);
    let stage = Stage { host: open(&root).await, root };
    assert!(stage.waiting().await.is_empty(), "nothing is asked by itself");
    let after = stage.call("runs.show", json!({ "run": run })).await;
    assert_eq!(after["item"]["status"], "interrupted", "{after}");
    assert_eq!(stage.call("history.verify", json!({})).await["ok"], true);
    assert_eq!(
        stage.call("storage.show", json!({})).await["decisions"],
        2,
        "the question, and what was cancelled"
    );
    // Opened once more, it is a database like any other.
    let Stage { host, root } = stage;
    host.shutdown().await;
    drop(host);
    let stage = Stage { host: open(&root).await, root };
    stage.call("runs.tell", json!({ "run": run, "text": "go on" })).await;
    assert!(stage.root.path().join("data").join("backups").exists());
}
