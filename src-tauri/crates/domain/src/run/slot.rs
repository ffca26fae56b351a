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
        /// What a person made of the arguments: JSON text that runs in place of the model's (contract 12).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<String>,
    },
    /// The one retry of a call that suspended itself, with the answer (contract 10, 11).
    Retry {
        /// What the person answered; never a reason.
        answer: Answer,
        /// The first prompt.
        prompt: String,
        /// What a person made of the arguments before the call first ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<String>,
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
        /// Whether a person may change the arguments that are shown.
        #[serde(default)]
        editable: bool,
        /// What a person made of the arguments already: it was approved, and its file changed before it could be made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<String>,
    },
    /// The tool is at work, or was when the process died.
    Running(RunMode),
    /// The tool itself asked (contract 5).
    Suspended {
        /// What waits for the person.
        request: RequestKey,
        /// Its prompt.
        prompt: String,
        /// What a person made of the arguments before the call ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<String>,
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
    /// The arguments that run, or would: what a person made of the model's, or these. Once the call is finished, always the
    /// model's.
    pub fn effective_arguments(&self) -> &str {
        self.state.edited().unwrap_or(&self.arguments)
    }

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

impl RunMode {
    /// What a person made of the arguments (contract 12).
    pub fn edited(&self) -> Option<&str> {
        match self {
            Self::Allowed => None,
            Self::Approved { edited, .. } | Self::Retry { edited, .. } => edited.as_deref(),
        }
    }
}

impl CallState {
    /// What a person made of the arguments, while the call is not finished.
    pub fn edited(&self) -> Option<&str> {
        match self {
            Self::Waiting { edited, .. } | Self::Suspended { edited, .. } => edited.as_deref(),
            Self::Running(mode) | Self::Unknown { mode, .. } => mode.edited(),
            Self::Finished(_) => None,
        }
    }

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
