//! What waits, from the command line: listed to its end, put off, woken, taken back.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::path::PathBuf;
use std::process::Stdio;

use sayso_domain::{Kind, Request};
use sayso_gateway::{Gateway, GatewayOptions};
use sayso_host::{Asker, Host, HostOptions, Surface};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

/// A host of this process, and the real command beside it.
struct Stage {
    root: TempDir,
    host: Host,
    gateway: Gateway,
}

struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Stage {
    async fn new() -> Self {
        let root = TempDir::new().unwrap();
        let host = Host::open(HostOptions { data_dir: root.path().join("data") }).await.unwrap();
        let gateway = Gateway::start(host.clone(), GatewayOptions { port: None }).await.unwrap();
        Self { root, host, gateway }
    }

    fn data_dir(&self) -> PathBuf {
        self.root.path().join("data")
    }

    async fn run(&self, args: &[&str]) -> Said {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_sayso"));
        command.args(args).arg("--data-dir").arg(self.data_dir()).stdin(Stdio::null());
        let output = command.env_remove("SAYSO_LOG").output().await.unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// The one value that a command prints.
    async fn json(&self, args: &[&str]) -> Value {
        let said = self.run(&[args, &["--json"]].concat()).await;
        assert_eq!(said.code, 0, "{args:?}: {}", said.stderr);
        serde_json::from_str(&said.stdout).unwrap()
    }

    async fn call(&self, command: &str, params: Value) -> Value {
        self.host.call(Surface::Window, command, params).await.unwrap()
    }

    async fn sender(&self) -> Asker {
        let setup = json!({ "name": "ci", "max_open": 5000, "per_minute": 5000 });
        let added = self.call("senders.add", setup).await;
        self.host.sender(added["token"].as_str().unwrap()).await.unwrap()
    }

    async fn close(self) {
        self.gateway.shutdown().await;
        self.host.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_waits_is_listed_however_many_pages_it_is() {
    const COUNT: usize = 1050;
    let stage = Stage::new().await;
    let ci = stage.sender().await;
    let mut asking = JoinSet::new();
    for n in 0..COUNT {
        let (host, ci) = (stage.host.clone(), ci.clone());
        asking.spawn(async move {
            host.ask(&ci, Request::new(format!("r{n}"), Kind::Approval, format!("Deploy {n}?")))
                .await
                .unwrap();
        });
    }
    asking.join_all().await;
    let said = stage.run(&["list", "--json"]).await;
    let lines: Vec<Value> = said.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut ids: Vec<_> = lines.iter().map(|line| line["request"]["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((lines.len(), ids.len()), (COUNT, COUNT));
    let table = stage.run(&["list"]).await;
    assert_eq!(table.stdout.lines().count(), COUNT + 1, "a line each, and the heading");
    // A beginning is enough also for what stands on the last page.
    let last = lines.last().unwrap()["key"].as_str().unwrap();
    assert_eq!(stage.json(&["show", &last[..35]]).await["key"], last);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_put_off_woken_and_a_decision_taken_back() {
    let stage = Stage::new().await;
    let ci = stage.sender().await;
    let mut request = Request::new("a", Kind::Approval, "Deploy?");
    request.expires_at = Some("2099-01-01T00:00:00Z".parse().unwrap());
    stage.host.ask(&ci, request).await.unwrap();
    let key = stage.call("inbox.list", json!({})).await["items"][0]["key"].as_str().unwrap().to_owned();
    let key = key.as_str();
    let begins = &key[..20];

    let put_off = stage.json(&["snooze", begins, "--for", "2h"]).await;
    assert!(put_off["snoozed_until"].is_string(), "{put_off}");
    assert!(stage.run(&["show", key]).await.stdout.contains("put off"));
    assert_eq!(stage.json(&["list"]).await["key"], key, "it waits all the same");
    let woken = stage.json(&["snooze", key, "--wake"]).await;
    assert_eq!(woken["snoozed_until"], Value::Null);
    let past = stage.run(&["snooze", key, "--until", "2020-01-01T00:00:00Z"]).await;
    assert!(past.code == 2 && past.stderr.contains("Choose a later time"), "{}", past.stderr);
    assert_eq!(stage.run(&["snooze", key]).await.code, 2, "until when?");

    assert_eq!(stage.run(&["undo", key]).await.code, 5, "nothing was decided");
    stage.call("settings.set", json!({ "undo_seconds": 10 })).await;
    stage.call("inbox.decide", json!({ "key": key, "ok": true })).await;
    let back = stage.json(&["undo", begins]).await;
    assert_eq!((&back["key"], &back["state"]), (&json!(key), &json!("pending")));
    stage.run(&["approve", key]).await;
    let late = stage.run(&["undo", key]).await;
    assert!(late.code == 5 && late.stderr.contains("too late"), "{}", late.stderr);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_that_pass_for_others_are_shown_on_the_command_line() {
    let stage = Stage::new().await;
    let ci = stage.sender().await;
    let mut request = Request::new("a", Kind::Approval, "Log in to p\u{430}ypal?");
    request.data =
        Some(json!({ "tool": "Bash", "arguments": { "command": "\u{441}url https://g\u{456}thub.com" } }));
    stage.host.ask(&ci, request).await.unwrap();
    let key = stage.call("inbox.list", json!({})).await["items"][0]["key"].as_str().unwrap().to_owned();
    assert!(stage.run(&["list"]).await.stdout.contains("p‹U+0430 like a›ypal"));
    let shown = stage.run(&["show", &key]).await.stdout;
    assert!(shown.contains("p‹U+0430 like a›ypal") && shown.contains("g‹U+0456 like i›thub"), "{shown}");
    stage.close().await;
}
