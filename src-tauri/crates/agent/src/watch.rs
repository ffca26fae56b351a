use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sayso_domain::run::{SlotId, Status, Usage};
use sayso_domain::{Request, RequestKey, RunId};

/// What a run shows while it goes on (contract 34). All but the text is told once it is committed.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "each is made once and moved to whoever shows it")]
pub enum AgentEvent {
    /// The model says this: a piece as it comes from a model that streams, else the whole text of the turn.
    Text {
        /// The turn that it belongs to, from 1.
        turn: u32,
        /// The next piece.
        text: String,
    },
    /// The answer broke off and is asked for again: the text of this turn so far no longer counts.
    Restarted {
        /// The turn.
        turn: u32,
    },
    /// The model proposes a call.
    Call {
        /// Its place.
        slot: SlotId,
        /// The tool.
        name: String,
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// A call waits for a person; told before anybody waits. It is no error.
    Pending {
        /// The call.
        slot: SlotId,
        /// What the request is known by here.
        key: RequestKey,
        /// What is asked.
        request: Request,
    },
    /// A call ran, or was rejected before anybody was asked. A refused call has none: it did not run.
    Result {
        /// The call.
        slot: SlotId,
        /// The tool.
        name: String,
        /// What the model gets.
        output: String,
        /// Whether the model is told that it failed.
        is_error: bool,
    },
    /// Tokens of one model call.
    Usage {
        /// The turn.
        turn: u32,
        /// Of this call.
        usage: Usage,
        /// Of the run so far.
        total: Usage,
    },
    /// The run ended, or a [`Client`](crate::Client) gives it back to wait for a person.
    Done(Status),
}

impl AgentEvent {
    /// Whether it counts as a failure. A suspension does not (contract 34).
    pub fn is_error(&self) -> bool {
        match self {
            Self::Result { is_error, .. } => *is_error,
            Self::Done(status) => matches!(status, Status::Error(_)),
            Self::Text { .. }
            | Self::Restarted { .. }
            | Self::Call { .. }
            | Self::Pending { .. }
            | Self::Usage { .. } => false,
        }
    }
}

/// Who is shown what runs do. It is called on the run's own way, so it hands the event on and returns; what it does with
/// it is its own matter, and a panic in it changes nothing.
#[derive(Clone)]
pub struct Watch(Arc<dyn Fn(RunId, AgentEvent) + Send + Sync>);

impl Watch {
    /// With what is done about each event.
    pub fn new(tell: impl Fn(RunId, AgentEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    pub(crate) fn tell(&self, run: RunId, event: AgentEvent) {
        if catch_unwind(AssertUnwindSafe(|| (self.0)(run, event))).is_err() {
            tracing::error!(%run, "whoever watches the run panicked; the run goes on");
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}
