use std::path::PathBuf;
use std::sync::Mutex;

use rusqlite::{Connection, OpenFlags};
use sayso_host::dto::{Topic, UiEvent};
use sayso_host::{Host, HostOptions, Surface};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::disk;

/// A real host over a real folder, with one agent, and somebody who looks at its events.
pub(crate) struct Office {
    pub(crate) host: Host,
    pub(crate) events: Receiver<UiEvent>,
    database: PathBuf,
    look: Mutex<Connection>,
    _folder: TempDir,
}

impl Office {
    /// The agent may list an empty folder; whether it asks before, `policy` says.
    pub(crate) async fn open(base_url: &str, policy: &str, max_turns: u32) -> Self {
        let folder = disk::folder();
        let (data, work) = (folder.path().join("data"), folder.path().join("work"));
        std::fs::create_dir(&work).unwrap();
        let host = Host::open(HostOptions { data_dir: data.clone() }).await.unwrap();
        let agent = json!({
            "name": "worker", "base_url": base_url, "model": "scripted", "folder": work,
            "tools": { "list_files": policy }, "max_turns": max_turns,
        });
        host.call(Surface::Cli, "agents.save", json!({ "config": agent.to_string() })).await.unwrap();
        let database = data.join("sayso.db");
        let look = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        Self { events: host.events(), host, database, look: Mutex::new(look), _folder: folder }
    }

    pub(crate) async fn call(&self, command: &str, params: Value) -> Value {
        self.host.call(Surface::Cli, command, params).await.unwrap()
    }

    /// Starts a run; its id.
    pub(crate) async fn start(&self) -> String {
        let started =
            self.call("runs.start", json!({ "agent": "worker", "task": "look at the folder" })).await;
        started["run"].as_str().unwrap().to_owned()
    }

    /// The key of the next request that is announced.
    pub(crate) async fn asked(&mut self) -> String {
        self.next(Topic::Inbox).await
    }

    /// Waits until a run is done.
    pub(crate) async fn done(&mut self, run: &str) {
        loop {
            if self.next(Topic::Runs).await != run {
                continue;
            }
            match self.status(run).as_str() {
                "done" => return,
                "running" | "pending" => {}
                other => panic!("the run ended as {other}"),
            }
        }
    }

    pub(crate) fn commits(&self) -> u32 {
        disk::commits(&self.database)
    }

    pub(crate) fn waiting(&self) -> u32 {
        let count = "SELECT count(*) FROM requests WHERE state = 'pending'";
        self.look.lock().unwrap().query_row(count, [], |row| row.get(0)).unwrap()
    }

    async fn next(&mut self, topic: Topic) -> String {
        loop {
            match self.events.recv().await {
                Ok(UiEvent { topic: of, id: Some(id) }) if of == topic => return id,
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => panic!("the host ended"),
            }
        }
    }

    fn status(&self, run: &str) -> String {
        let look = self.look.lock().unwrap();
        let mut find = look.prepare_cached("SELECT status FROM runs WHERE id = ?1").unwrap();
        find.query_row([run], |row| row.get(0)).unwrap()
    }
}
