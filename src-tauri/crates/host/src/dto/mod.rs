//! What crosses the boundary between the host and its faces, as JSON. Times are RFC 3339 UTC with milliseconds, ids are
//! UUIDs in text. JSON that came from outside (requests, arguments, data) crosses as text, so that a face without big
//! numbers still shows every digit (contract 4). TypeScript types are generated into `ui/src/bindings`.

mod agents;
mod event;
mod history;
mod inbox;
mod keeping;
mod keys;
mod risk;
mod runs;
mod senders;
mod status;

pub use agents::{AgentItem, AgentName, AgentSave, AgentTest, AgentTrust, ServerItem, ServerReport};
pub use event::{Topic, UiEvent};
pub use history::{
    HistoryDetail, HistoryEntry, HistoryFilter, HistoryItem, HistoryPage, Problem, Verification,
};
pub use inbox::{
    Decide, DecideMany, DecideOne, DecidedMany, DecidedOne, Decision, InboxList, InboxOutline, InboxPage,
    RequestChoice, RequestDetail, RequestItem, RequestKeys, RequestRef, Snooze, TrailStep, Waiting,
};
pub use keeping::{
    BackupCreate, BackupItem, BackupRestore, ExportFormat, HistoryExport, Job, JobRef, JobState, LedgerHead,
    Redact, Redacted, Restored, StorageInfo, Verify,
};
pub use keys::{KeyItem, KeyName, KeySet};
pub use risk::{Risk, RiskMark};
pub use runs::{
    CallItem, LiveText, RunDetail, RunItem, RunRef, RunStart, RunStarted, RunTell, TranscriptItem, UsageItem,
};
pub use senders::{Resent, SenderCallback, SenderItem, SenderName, SenderSecret, SenderSetup, SenderToken};
pub use status::{
    AppStatus, Appearance, Density, Empty, Health, LONGEST_UNDO, QuietHours, Retention, Settings,
};
