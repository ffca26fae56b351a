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
    /// Its MCP servers.
    pub servers: Vec<ServerItem>,
}

/// An MCP server of an agent.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct ServerItem {
    /// Its name.
    pub name: String,
    /// The command that is started for it, on one line; none for an address.
    pub command: Option<String>,
    /// Its address; none for a command.
    pub url: Option<String>,
    /// What a yes to the command is bound to; none for an address.
    pub fingerprint: Option<String>,
    /// Whether it may be used: an address always, a command once you allowed it as it is.
    pub allowed: bool,
    /// Whether it is switched off.
    pub disabled: bool,
}

/// A yes to starting an MCP server's command.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct AgentTrust {
    /// The agent's name.
    pub name: String,
    /// The server's name.
    pub server: String,
    /// Of the command that was shown: if it is another by now, nothing is allowed.
    pub fingerprint: String,
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
    /// Whether the model and all servers answered.
    pub ok: bool,
    /// What happened and what to do, in words.
    pub message: String,
    /// What came of each of its MCP servers.
    pub servers: Vec<ServerReport>,
}

/// What came of connecting an MCP server.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct ServerReport {
    /// Its name.
    pub name: String,
    /// How many tools it has.
    #[ts(type = "number")]
    pub tools: u32,
    /// Why it cannot be used, or what of it cannot, in words.
    pub problem: Option<String>,
}
