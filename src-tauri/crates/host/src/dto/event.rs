use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What changed; a face that shows it asks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    /// Requests that wait.
    Inbox,
    /// Runs and their transcripts.
    Runs,
    /// What a model is writing right now. Told a few times a second at most, however fast it writes; nothing is committed
    /// yet.
    Live,
    /// Agents.
    Agents,
    /// Senders.
    Senders,
    /// Decisions.
    History,
    /// Long work; the id is the job's.
    Jobs,
    /// Settings, health and problems.
    Status,
}

/// A change, announced after it was committed; [`Topic::Live`] alone is of what is not.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[derive(PartialEq, Eq)]
pub struct UiEvent {
    /// What changed.
    pub topic: Topic,
    /// The request's key, or the run's or job's id, where it is about one.
    pub id: Option<String>,
}
