use serde_json::Value;

use super::{Asked, RunMode, SlotId, Status};
use crate::RequestKey;

/// What one event changed and what is to be done about it. Everything in it is committed before any effect is performed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// New messages of the transcript, in order.
    pub messages: Vec<Message>,
    /// Calls that are new or changed.
    pub touched: Vec<SlotId>,
    /// What to do.
    pub effects: Vec<Effect>,
}

/// A message of the transcript. Results are not here: they belong to their calls.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The person's words.
    User(String),
    /// The model's message of this turn, as it came.
    Assistant {
        /// The turn that it opened.
        turn: u32,
        /// The provider's own object.
        message: Value,
    },
}

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a step holds a handful, and the large one is the usual one")]
pub enum Effect {
    /// Ask the model for its next turn.
    CallModel,
    /// Start a tool.
    RunTool {
        /// Which call.
        slot: SlotId,
        /// How.
        mode: RunMode,
    },
    /// Raise a request.
    Ask {
        /// The call that waits.
        slot: SlotId,
        /// What to ask.
        asked: Box<Asked>,
    },
    /// The run was stopped: this request settles as cancelled.
    Withdraw(RequestKey),
    /// The run was stopped: this tool and its children end.
    KillTool(SlotId),
    /// The run ended.
    Finish(Status),
}
