use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// An agent.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct AgentItem {
    /// Its name.
    pub name: String,
    /// The model's name.
    pub model: String,
    /// `openai` or `anthropic`.
    pub style: String,
    /// Where the model is.
    pub base_url: String,
    /// The agent's folder.
    pub folder: Option<String>,
    /// Its set-up as the JSON text of the file that `sayso agent add` takes. It names a key, it never holds one.
    pub config: String,
    /// Whether it is the built-in demo agent.
    pub is_demo: bool,
    /// What is wrong with its set-up, in words: a folder that vanished, a missing key.
    pub problem: Option<String>,
}

/// An agent to add, or to replace where the name is taken.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct AgentSave {
    /// Its set-up: JSON text of the file that `sayso agent add` takes.
    pub config: String,
}

/// Which agent.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct AgentName {
    /// Its name.
    pub name: String,
}

/// What came of a connection test.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct AgentTest {
    /// Whether the model answered.
    pub ok: bool,
    /// What happened and what to do, in words.
    pub message: String,
}
