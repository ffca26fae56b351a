use serde_json::Value;

use super::{Asked, Limit, SlotId, Usage};
use crate::{Answer, RequestKey, ToolResult};

/// What happened to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The person gave the task, or a message later on. While the run is at work it is queued for the next turn
    /// (contract 17).
    Told(String),
    /// The model answered.
    Replied {
        /// Its message as it came (contract 21).
        message: Value,
        /// The calls in it, each with what becomes of it.
        calls: Vec<Proposal>,
        /// Tokens of this one call.
        usage: Usage,
    },
    /// The model cannot be reached, or what it sent cannot be used; says so, for a person.
    ModelFailed(String),
    /// The model was not asked for another turn, since the run used up what it may. Everything up to here is kept.
    LimitReached(Limit),
    /// A request of this run settled.
    Settled {
        /// Which.
        request: RequestKey,
        /// The answer as delivered: without the person's words.
        answer: Answer,
    },
    /// A tool ended.
    Finished {
        /// Which call.
        slot: SlotId,
        /// Its result, which may be a suspension.
        result: ToolResult,
        /// The request to raise if it is one.
        asked: Option<Box<Asked>>,
    },
    /// An approved edit no longer fits its file: it is asked about again, and nothing was done.
    Stale {
        /// Which call.
        slot: SlotId,
        /// What to ask now.
        asked: Box<Asked>,
    },
    /// A person stopped the run.
    Stopped,
    /// The process that drove the run is gone and this one took over.
    Recovered {
        /// For each running call whose effect may have happened, the question to ask. Running calls that are not listed
        /// have no effects and are run again.
        unknown: Vec<(SlotId, Asked)>,
    },
}

/// A call that the model proposes.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// The provider's id.
    pub call_id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// What becomes of it.
    pub verdict: Verdict,
}

/// What becomes of a proposed call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person decides.
    Ask(Box<Asked>),
    /// It never runs: unknown tool, arguments that are no object, forbidden. Holds the error for the model.
    Reject(String),
}
