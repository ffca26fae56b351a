use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::ServerReport;

/// A run, as the list shows it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RunItem {
    /// Its id.
    pub run: String,
    /// The agent's name.
    pub agent: String,
    /// The task's first words.
    pub title: String,
    /// `running`, `pending`, `done`, `incomplete`, `interrupted` or `error`.
    pub status: String,
    /// Why, where the status needs words: the limit, the error.
    pub detail: Option<String>,
    /// Model calls so far.
    #[ts(type = "number")]
    pub turns: u32,
    /// Tokens so far.
    pub usage: UsageItem,
    /// When it began.
    pub started_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// How many of its requests wait.
    #[ts(type = "number")]
    pub waiting: u32,
}

/// Tokens.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct UsageItem {
    /// Read by the model.
    #[ts(type = "number")]
    pub input_tokens: u64,
    /// Written by the model.
    #[ts(type = "number")]
    pub output_tokens: u64,
}

/// A run with its transcript.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RunDetail {
    /// As in the list.
    pub item: RunItem,
    /// The whole task.
    pub task: String,
    /// The model's name.
    pub model: String,
    /// The agent's folder.
    pub folder: Option<String>,
    /// What was said, in order.
    pub messages: Vec<TranscriptItem>,
    /// Every call, in order.
    pub calls: Vec<CallItem>,
    /// Messages that wait for the next turn.
    pub queued: Vec<String>,
    /// MCP servers that cannot be used, as far as this is known.
    pub servers: Vec<ServerReport>,
    /// What the model is writing right now: the turn that is not in `messages` yet.
    pub live: Option<LiveText>,
    /// Model calls that it may make without a word from the person.
    #[ts(type = "number")]
    pub max_turns: u32,
    /// The tokens that it may use in all, where the set-up limits them.
    #[ts(type = "number | null")]
    pub max_tokens: Option<u64>,
}

/// The text of a turn that is being written. It is in memory only, and replaced by the turn's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct LiveText {
    /// The turn.
    #[ts(type = "number")]
    pub turn: u32,
    /// The text so far; of a very long one its end.
    pub text: String,
    /// How many characters before it are left out.
    #[ts(type = "number")]
    pub left_out: usize,
}

/// One message of a transcript.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct TranscriptItem {
    /// `user` or `assistant`.
    pub role: String,
    /// The text in it; empty where the model only called tools.
    pub text: String,
    /// The turn that an assistant's message opened; its calls carry the same number.
    #[ts(type = "number | null")]
    pub turn: Option<u32>,
    /// When.
    pub at: String,
}

/// One tool call.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct CallItem {
    /// Its turn.
    #[ts(type = "number")]
    pub turn: u32,
    /// Its index within the turn.
    #[ts(type = "number")]
    pub index: u32,
    /// The tool.
    pub tool: String,
    /// The arguments: JSON text as the model wrote it.
    pub arguments: String,
    /// What the person made of the arguments, where they changed them: JSON text. This is what runs.
    pub edited: Option<String>,
    /// The call as it runs, on one line: a command, a path, a url.
    pub summary: String,
    /// `waiting`, `running`, `suspended`, `unknown` or `finished`.
    pub state: String,
    /// The result, once finished.
    pub output: Option<String>,
    /// Whether the result is an error.
    pub is_error: bool,
    /// The request that it waits for or that let it through.
    pub request: Option<String>,
    /// That request's outcome.
    pub outcome: Option<String>,
    /// Who decided it.
    pub decided_by: Option<String>,
}

/// Which run.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RunRef {
    /// Its id.
    pub run: String,
}

/// A run to start.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RunStart {
    /// The agent's name.
    pub agent: String,
    /// What it shall do.
    pub task: String,
}

/// A run that was started.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RunStarted {
    /// Its id.
    pub run: String,
}

/// A message for a run: delivered with its next turn.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RunTell {
    /// Which run.
    pub run: String,
    /// The message.
    pub text: String,
}
