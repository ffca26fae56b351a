//! A whole setting in a temporary folder: a data folder, an agent with a folder of its own, and its scripted model.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::model::{Captured, Reply, ScriptedModel, Style, call};
use crate::sayso::Sayso;
use crate::wait::{SOON, wait_value};

/// The name of the stage's agent.
pub const AGENT: &str = "worker";

/// A data folder, an agent and its model.
pub struct Stage {
    /// The command line on the data folder.
    pub sayso: Sayso,
    /// The agent's model.
    pub model: ScriptedModel,
    root: tempfile::TempDir,
}

impl Stage {
    /// With this model; the agent is not added yet.
    pub fn new(model: ScriptedModel) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(root.path().join("work")).expect("the agent's folder");
        Self { sayso: Sayso::new(&root.path().join("data")), model, root }
    }

    /// The same with its data folder elsewhere.
    #[must_use]
    pub fn with_data_dir(self, data_dir: &Path) -> Self {
        Self { sayso: Sayso::new(data_dir), ..self }
    }

    /// With a model that calls `tool` with `arguments` once for each message of the person, and ends when it has the result.
    pub async fn calling(tool: &str, arguments: Value) -> Self {
        Self::new(calling(tool, arguments).await)
    }

    /// The agent's folder.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// A file beside the folders, for what a test needs.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What a file in the agent's folder holds; empty where there is none.
    pub fn work_file(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap_or_default()
    }

    /// The agent's set-up, changed by `more`.
    pub fn setup(&self, more: Value) -> Value {
        let mut setup = json!({
            "name": AGENT,
            "base_url": self.model.base_url(),
            "style": "openai",
            "model": "scripted",
            "api_key": null,
            "folder": self.work(),
        });
        let more = more.as_object().expect("an object").clone();
        setup.as_object_mut().expect("an object").extend(more);
        setup
    }

    /// Adds the agent through the running host.
    pub async fn add_agent(&self, more: Value) {
        let file = self.write_setup(&self.setup(more));
        self.sayso.run(&["agent", "add", file.to_str().expect("a path")]).await.exits(0);
    }

    /// Writes a set-up to a file.
    pub fn write_setup(&self, setup: &Value) -> PathBuf {
        let file = self.path("agent.json");
        std::fs::write(&file, setup.to_string()).expect("the set-up is written");
        file
    }

    /// Starts a run; returns its id.
    pub async fn start_run(&self, task: &str) -> String {
        let said = self.sayso.json(&["run", "--agent", AGENT, task]).await.exits(0);
        said.value()["run"].as_str().expect("a run").to_owned()
    }

    /// Waits for the one request that waits, and returns it as `sayso list` shows it.
    pub async fn waiting(&self) -> Value {
        wait_value("one request waits", SOON, async || {
            let mut list = self.list().await;
            assert!(list.len() < 2, "more than one request waits: {list:?}");
            list.pop()
        })
        .await
    }

    /// What waits.
    pub async fn list(&self) -> Vec<Value> {
        self.sayso.json(&["list"]).await.exits(0).values()
    }

    /// Waits until so many requests wait, and returns them as `sayso list` shows them.
    pub async fn waiting_all(&self, count: usize) -> Vec<Value> {
        wait_value(&format!("{count} requests wait"), SOON, async || {
            let list = self.list().await;
            assert!(list.len() <= count, "more than {count} wait: {list:?}");
            (list.len() == count).then_some(list)
        })
        .await
    }

    /// A call of a run, by turn and index, as `sayso runs show` shows it.
    pub async fn call(&self, run: &str, turn: u32, index: u32) -> Value {
        let shown = self.sayso.json(&["runs", "show", run]).await.exits(0).value();
        let calls = shown["calls"].as_array().expect("calls");
        let call = calls.iter().find(|call| call["turn"] == turn && call["index"] == index);
        call.cloned().unwrap_or_else(|| panic!("no call {turn}/{index} in {shown}"))
    }

    /// Waits until the run has ended or everything in it waits, and returns its `status`.
    pub async fn settled(&self, run: &str) -> String {
        wait_value("the run has ended or waits", SOON, async || {
            let status = self.run_status(run).await;
            (status != "running").then_some(status)
        })
        .await
    }

    /// Waits until the run has this status.
    pub async fn wait_status(&self, run: &str, status: &str) {
        crate::wait_until(&format!("the run is {status}"), SOON, async || {
            self.run_status(run).await == status
        })
        .await;
    }

    /// The run's status.
    pub async fn run_status(&self, run: &str) -> String {
        let shown = self.sayso.json(&["runs", "show", run]).await.exits(0).value();
        shown["status"].as_str().expect("a status").to_owned()
    }
}

/// A model that calls `tool` with `arguments` once for each message of the person, and ends when it has the result.
/// It keeps no state, so it is right however often a killed host asks again.
pub async fn calling(tool: &str, arguments: Value) -> ScriptedModel {
    let tool = tool.to_owned();
    ScriptedModel::answering(Style::OpenAi, move |captured| match last_role(captured).as_str() {
        "tool" => Reply::text("I am done."),
        _ => Reply::calls([call("call_1", &tool, &arguments)]),
    })
    .await
}

fn last_role(captured: &Captured) -> String {
    let last = captured.json["messages"]
        .as_array()
        .and_then(|messages| messages.last())
        .cloned()
        .unwrap_or_default();
    last["role"].as_str().unwrap_or_default().to_owned()
}

/// How often a file's lines hold `line`.
pub fn count_lines(file: &Path, line: &str) -> usize {
    std::fs::read_to_string(file).unwrap_or_default().lines().filter(|found| *found == line).count()
}
