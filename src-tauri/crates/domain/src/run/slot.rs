use serde::{Deserialize, Serialize};

use crate::{Answer, RequestKey, Shown, ToolResult};

/// A call's place: slots are keyed by turn and index, not by the provider's call id, which can repeat (contract 16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SlotId {
    /// The turn, from 1.
    pub turn: u32,
    /// The call's index within its turn, from 0.
    pub index: u32,
}

/// A request to raise, with the key that it will have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Its key.
    pub key: RequestKey,
    /// The request and everything shown with it.
    pub shown: Shown,
}

impl Asked {
    /// The prompt that a refusal echoes.
    pub fn prompt(&self) -> &str {
        &self.shown.request.prompt
    }
}

/// How a tool is started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RunMode {
    /// For the first time; policy allowed it.
    Allowed,
    /// A person approved what was shown; holds the file hash that the approval is bound to, where there is one.
    Approved {
        /// SHA-256 of the file that was shown, or `absent`.
        file_hash: Option<String>,
    },
    /// The one retry of a call that suspended itself, with the answer (contract 10, 11).
    Retry {
        /// What the person answered; never a reason.
        answer: Answer,
        /// The first prompt.
        prompt: String,
    },
}

/// Where a call stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CallState {
    /// Our own gate: policy asked before the tool ran.
    Waiting {
        /// What waits for the person.
        request: RequestKey,
        /// Its prompt.
        prompt: String,
        /// What the approval will be bound to.
        file_hash: Option<String>,
    },
    /// The tool is at work, or was when the process died.
    Running(RunMode),
    /// The tool itself asked (contract 5).
    Suspended {
        /// What waits for the person.
        request: RequestKey,
        /// Its prompt.
        prompt: String,
    },
    /// The process died while the tool ran: the person is asked whether to run it again.
    Unknown {
        /// What waits for the person.
        request: RequestKey,
        /// How it was started.
        mode: RunMode,
    },
    /// It has its one result.
    Finished(ToolResult),
}

/// One tool call of the current turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// Its place.
    pub id: SlotId,
    /// The provider's id, echoed to it.
    pub call_id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// Where it stands.
    pub state: CallState,
}

impl Slot {
    /// Its one result, once it has it.
    pub fn result(&self) -> Option<&ToolResult> {
        match &self.state {
            CallState::Finished(result) => Some(result),
            CallState::Waiting { .. }
            | CallState::Running(_)
            | CallState::Suspended { .. }
            | CallState::Unknown { .. } => None,
        }
    }
}

impl CallState {
    /// `waiting`, `running`, `suspended`, `unknown` or `finished`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Waiting { .. } => "waiting",
            Self::Running(_) => "running",
            Self::Suspended { .. } => "suspended",
            Self::Unknown { .. } => "unknown",
            Self::Finished(_) => "finished",
        }
    }

    /// The request that it waits for.
    pub fn request(&self) -> Option<RequestKey> {
        match self {
            Self::Waiting { request, .. }
            | Self::Suspended { request, .. }
            | Self::Unknown { request, .. } => Some(*request),
            Self::Running(_) | Self::Finished(_) => None,
        }
    }
}
