use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which decisions to list. All that are set must hold.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[derive(Default)]
#[serde(default)]
pub struct HistoryFilter {
    /// Words in the prompt, the arguments (also the edited ones) or the reason.
    #[ts(optional)]
    pub text: Option<String>,
    /// The outcome.
    #[ts(optional)]
    pub outcome: Option<String>,
    /// The source's name.
    #[ts(optional)]
    pub source: Option<String>,
    /// The run.
    #[ts(optional)]
    pub run: Option<String>,
    /// Decided at or after.
    #[ts(optional)]
    pub since: Option<String>,
    /// Only what follows this cursor of an earlier page.
    #[ts(optional)]
    pub after: Option<String>,
    /// At most so many; 100 unless told.
    #[ts(optional, type = "number")]
    pub limit: Option<u32>,
}

/// A page of decisions, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryPage {
    /// The decisions.
    pub items: Vec<HistoryItem>,
    /// The cursor of the next page, where there is one.
    pub next: Option<String>,
}

/// A decision.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryItem {
    /// The request's key.
    pub key: String,
    /// The request in its wire form: JSON text.
    pub request: String,
    /// Its kind.
    pub kind: String,
    /// Its prompt, as it came.
    pub prompt: String,
    /// What would run, on one line.
    pub summary: String,
    /// The answer in wire form, as JSON text; its reason is the person's own text.
    pub answer: String,
    /// The person's own words with a no.
    pub reason: Option<String>,
    /// `approved`, `answered`, `declined`, `cancelled` or `expired`.
    pub outcome: String,
    /// `declined`, `cancelled` or `expired`; none when ok.
    pub class: Option<String>,
    /// Whether the person changed the arguments.
    pub edited: bool,
    /// `person`, `rule`, `deadline`, `source` or `stop`.
    pub decided_by: String,
    /// `window`, `notification`, `tray`, `cli` or `browser`.
    pub surface: Option<String>,
    /// Who asked.
    pub source: String,
    /// The run that waited.
    pub run: Option<String>,
    /// When the request came.
    pub received_at: String,
    /// When it was decided.
    pub decided_at: String,
}

/// A decision with what was asked and what came of it.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryDetail {
    /// As in the list.
    pub item: HistoryItem,
    /// The tool.
    pub tool: Option<String>,
    /// The arguments as shown: JSON text.
    pub arguments: Option<String>,
    /// What the person made of the arguments, where they changed them: JSON text.
    pub edited_arguments: Option<String>,
    /// The folder.
    pub folder: Option<String>,
    /// For a file edit, the unified diff that was shown.
    pub diff: Option<String>,
    /// What was sent to whoever asked: JSON text of the wire answer, without the person's words.
    pub sent: String,
    /// `waiting`, `delivered` or `undeliverable`.
    pub delivery: String,
    /// SHA-256 of what was shown.
    pub digest: String,
    /// The ledger's entries about this request, oldest first.
    pub entries: Vec<HistoryEntry>,
    /// What happened next, in words, oldest first.
    pub next: Vec<String>,
}

/// An entry of the ledger.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryEntry {
    /// Its number in the chain.
    #[ts(type = "number")]
    pub seq: u64,
    /// `decision`, `delivery`, `effect`, `run_end`, `revoked`, `redaction` or `prune`.
    pub kind: String,
    /// Its hash.
    pub hash: String,
    /// When.
    pub at: String,
}

/// What is wrong with a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(rename_all = "lowercase")]
pub enum Problem {
    /// An entry's content differs from its hash.
    Changed,
    /// An entry is missing.
    Removed,
    /// An entry does not follow the one before it.
    Inserted,
    /// The chain ends before its head.
    Truncated,
}

/// Whether the ledger is intact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Verification {
    /// Whether it is.
    pub ok: bool,
    /// How many entries were read.
    #[ts(type = "number")]
    pub entries: u64,
    /// The hash of the last entry.
    pub head: Option<String>,
    /// The first entry that is wrong.
    #[ts(type = "number | null")]
    pub entry: Option<u64>,
    /// What is wrong with it.
    pub problem: Option<Problem>,
}
