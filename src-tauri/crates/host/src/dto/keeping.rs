use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{HistoryFilter, Verification};

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// It is at work.
    Running,
    /// It did what it should.
    Done,
    /// It could not; `message` says why.
    Failed,
    /// It was called off.
    Cancelled,
}

/// Long work with progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Job {
    /// Its id.
    pub id: String,
    /// `export`, `verify`, `backup`, `compact` or `prune`.
    pub what: String,
    /// How much is done, in a unit of its own.
    #[ts(type = "number")]
    pub done: u64,
    /// Of how much, where that is known.
    #[ts(type = "number | null")]
    pub total: Option<u64>,
    /// Where it stands.
    pub state: JobState,
    /// How it ended, in words.
    pub message: Option<String>,
    /// The file that it writes.
    pub path: Option<String>,
    /// What a verification found.
    pub verification: Option<Verification>,
}

/// Names a job.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct JobRef {
    /// Its id.
    pub job: String,
}

/// What a verification is held against.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(default)]
pub struct Verify {
    /// A head that was noted earlier: 64 hexadecimal digits.
    #[ts(optional)]
    pub head: Option<String>,
}

/// The end of the record, to note or to give away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct LedgerHead {
    /// The chain's id.
    pub chain: String,
    /// The number of its last entry; 0 where there is none.
    #[ts(type = "number")]
    pub seq: u64,
    /// That one's hash.
    pub hash: String,
    /// An Ed25519 signature, in base64; none where there is no keyring.
    pub signature: Option<String>,
    /// The key that checks it, in base64.
    pub public_key: Option<String>,
    /// Why it is not signed.
    pub unsigned: Option<String>,
}

/// How decisions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(rename_all = "lowercase")]
pub enum ExportFormat {
    /// JSON Lines, which can be verified.
    Jsonl,
    /// For a spreadsheet.
    Csv,
    /// A page to read and print.
    Html,
}

/// What to export.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryExport {
    /// Which decisions; `limit` counts from the newest, `after` says nothing.
    #[serde(default)]
    pub filter: HistoryFilter,
    /// How.
    pub format: ExportFormat,
    /// Where to; a new file in the data folder's `exports` unless told. Nothing is overwritten.
    #[ts(optional)]
    #[serde(default)]
    pub path: Option<String>,
    /// Whether your own words go along; they do unless told.
    #[ts(optional)]
    #[serde(default)]
    pub reasons: Option<bool>,
}

/// What to erase.
#[derive(Clone, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Redact {
    /// The text.
    pub text: String,
    /// Whether it is erased; otherwise it is only counted.
    pub confirm: bool,
}

impl std::fmt::Debug for Redact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redact").field("confirm", &self.confirm).finish_non_exhaustive()
    }
}

/// What was erased, or would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Redacted {
    /// Entries of the record that lose a content.
    #[ts(type = "number")]
    pub entries: u64,
    /// The contents.
    #[ts(type = "number")]
    pub fields: u64,
    /// Decided requests that hold it.
    #[ts(type = "number")]
    pub requests: u64,
    /// Texts outside of the record: requests as shown, answers, transcripts.
    #[ts(type = "number")]
    pub places: u64,
    /// Requests and runs that hold it and have not ended: they are left alone.
    #[ts(type = "number")]
    pub running: u64,
    /// Set-ups that hold it, such as `agent builder`: those you change yourself.
    pub setups: Vec<String>,
    /// Backups and exports in the data folder that hold it.
    pub backups: Vec<String>,
}

/// A backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct BackupItem {
    /// Where it is.
    pub path: String,
    /// When it was made.
    pub at: String,
    /// How large it is.
    #[ts(type = "number")]
    pub bytes: u64,
}

/// Where a backup goes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(default)]
pub struct BackupCreate {
    /// The file; a new one in the data folder's `backups` unless told. Nothing is overwritten.
    #[ts(optional)]
    pub path: Option<String>,
}

/// Which backup is put in the place of the database.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct BackupRestore {
    /// The file.
    pub path: String,
}

/// A restore that is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Restored {
    /// The host starts anew to put it in place.
    pub restart: bool,
}

/// How much room the record takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct StorageInfo {
    /// The database.
    #[ts(type = "number")]
    pub bytes: u64,
    /// What of it a compaction gives back.
    #[ts(type = "number")]
    pub free_bytes: u64,
    /// How many decisions there are.
    #[ts(type = "number")]
    pub decisions: u64,
    /// When the oldest was made.
    pub oldest: Option<String>,
    /// The backups.
    #[ts(type = "number")]
    pub backups_bytes: u64,
}
