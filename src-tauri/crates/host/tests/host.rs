//! The host through its one list of commands, over a real folder and a real database.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use sayso_host::{Host, HostOptions, OpenError, Surface, code};
use serde_json::{Value, json};
use tempfile::TempDir;

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
    async fn call(&self, command: &str, params: Value) -> Result<Value, (String, String)> {
        self.host.call(Surface::Cli, command, params).await.map_err(|error| (error.code, error.message))
    }

    async fn refused(&self, command: &str, params: Value) -> (String, String) {
        self.call(command, params).await.unwrap_err()
    }

    fn setup(&self, more: Value) -> Value {
        let mut setup = json!({ "name": "worker", "base_url": "http://127.0.0.1:1/v1", "model": "m" });
        setup.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "config": setup.to_string() })
    }
}

#[tokio::test]
async fn the_folder_is_closed_to_others_and_has_one_host() {
    use std::os::unix::fs::PermissionsExt;
    let stage = stage().await;
    let dir = stage.root.path().join("data");
    assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let Err(second) = Host::open(HostOptions { data_dir: dir.clone() }).await else { panic!("two hosts") };
    assert!(matches!(second, OpenError::InUse(_)));
    assert!(second.to_string().contains(&std::process::id().to_string()), "{second}");
    stage.host.shutdown().await;
    drop(stage.host);
    Host::open(HostOptions { data_dir: dir }).await.unwrap();
}

#[tokio::test]
async fn the_browser_sets_nothing_up() {
    let stage = stage().await;
    for command in ["agents.save", "agents.remove", "agents.test", "settings.set"] {
        let refused = stage.host.call(Surface::Browser, command, json!({})).await.unwrap_err();
        assert_eq!(refused.code, code::FORBIDDEN_SURFACE, "{command}");
    }
    for command in ["status", "inbox.list", "runs.list", "agents.list", "history.verify", "settings.get"] {
        stage.host.call(Surface::Browser, command, json!({})).await.unwrap();
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_its_code() {
    let stage = stage().await;
    assert_eq!(stage.refused("inbox.approve_all", json!({})).await.0, code::UNKNOWN_COMMAND);
    assert_eq!(stage.refused("inbox.show", json!({})).await.0, code::BAD_REQUEST);
    assert_eq!(stage.refused("inbox.show", json!({ "key": "7" })).await.0, code::NOT_FOUND);
    let nowhere = "0198c0de-0000-7000-8000-000000000000";
    assert_eq!(stage.refused("inbox.decide", json!({ "key": nowhere, "ok": true })).await.0, code::NOT_FOUND);
    assert_eq!(stage.refused("runs.stop", json!({ "run": nowhere })).await.0, code::NOT_FOUND);
    assert_eq!(
        stage.refused("runs.start", json!({ "agent": "nobody", "task": "x" })).await.0,
        code::NOT_FOUND
    );
    assert_eq!(stage.refused("history.list", json!({ "outcome": "maybe" })).await.0, code::BAD_REQUEST);
    assert_eq!(stage.refused("history.list", json!({ "after": "x" })).await.0, code::BAD_REQUEST);
}

#[tokio::test]
async fn a_set_up_that_cannot_work_is_refused_in_words() {
    let stage = stage().await;
    let data = stage.root.path().join("data");
    for (more, word) in [
        (json!({ "name": "" }), "name"),
        (json!({ "name": "two\nlines" }), "name"),
        (json!({ "base_url": "localhost:11434" }), "base_url"),
        (json!({ "base_url": "https://me:secret@example.com" }), "base_url"),
        (json!({ "style": "other" }), "style"),
        (json!({ "api_key": "sk-plain" }), "names a key"),
        (json!({ "folder": "relative" }), "folder"),
        (json!({ "folder": "/no/such/folder" }), "/no/such/folder"),
        (json!({ "folder": data }), "data folder"),
        (json!({ "folder": stage.root.path() }), "data folder"),
        (json!({ "tools": { "shell": "maybe" } }), "tools.shell"),
        (json!({ "max_turns": 0 }), "max_turns"),
        (json!({ "max_turns": 1.5 }), "max_turns"),
        (json!({ "ask_timeout_seconds": -1 }), "ask_timeout_seconds"),
        (json!({ "colour": "red" }), "colour"),
    ] {
        let (code, message) = stage.refused("agents.save", stage.setup(more.clone())).await;
        assert_eq!(code, code::AGENT_PROBLEM, "{more}");
        assert!(message.contains(word), "{more}: {message}");
    }
    assert_eq!(stage.call("agents.list", json!({})).await.unwrap(), json!([]));
}

#[tokio::test]
async fn a_set_up_is_kept_replaced_and_removed() {
    let stage = stage().await;
    let saved =
        stage.call("agents.save", stage.setup(json!({ "mcpServers": { "files": {} } }))).await.unwrap();
    assert!(saved["problem"].as_str().unwrap().contains("MCP"), "{saved}");
    stage.call("agents.save", stage.setup(json!({ "model": "other" }))).await.unwrap();
    let list = stage.call("agents.list", json!({})).await.unwrap();
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["model"], "other");
    let tested = stage.call("agents.test", json!({ "name": "worker" })).await.unwrap();
    assert_eq!(tested["ok"], json!(false));
    assert!(tested["message"].as_str().unwrap().contains("cannot be reached"), "{tested}");
    stage.call("agents.remove", json!({ "name": "worker" })).await.unwrap();
    assert_eq!(stage.refused("agents.remove", json!({ "name": "worker" })).await.0, code::NOT_FOUND);
}

#[tokio::test]
async fn settings_are_kept() {
    let stage = stage().await;
    let before = stage.call("settings.get", json!({})).await.unwrap();
    assert_eq!(before, json!({ "appearance": "system", "notifications": true, "close_to_tray": true }));
    let wanted = json!({ "appearance": "dark", "notifications": false, "close_to_tray": true });
    stage.call("settings.set", wanted.clone()).await.unwrap();
    assert_eq!(stage.call("settings.get", json!({})).await.unwrap(), wanted);
    assert_eq!(stage.refused("settings.set", json!({ "appearance": "pink" })).await.0, code::BAD_REQUEST);
}

#[tokio::test]
async fn a_host_that_ends_leaves_no_log_behind_and_its_history_can_be_read() {
    let stage = stage().await;
    stage.host.shutdown().await;
    let file = stage.root.path().join("data/sayso.db");
    let log = stage.root.path().join("data/sayso.db-wal");
    assert_eq!(log.metadata().map_or(0, |log| log.len()), 0);
    let page = sayso_host::read_history(&file, &Default::default()).unwrap();
    assert!(page.items.is_empty());
    assert!(sayso_host::verify_history(&file).unwrap().ok);
}
