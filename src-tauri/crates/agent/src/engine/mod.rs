//! Performs what [`sayso_domain::run`] decides.

mod ask;
mod drive;
mod guard;
mod show;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use sayso_domain::run::Event;
use sayso_domain::{Policy, RequestKey, Time};

use crate::{Elicit, Folder, Hooks, Model, Toolkit, Watch};

/// Tells the time; tests bring their own.
pub type Clock = fn() -> Time;

/// The time of this machine.
pub fn system_time() -> Time {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// An agent at work: its model, its tools and what they may do. It keeps nothing of a run: that is in the
/// [`Run`](sayso_domain::run::Run) and the [`Journal`](crate::Journal), so that any process can go on with it.
#[derive(Clone, Debug)]
pub struct Engine {
    /// What is asked for the next turn.
    pub model: Model,
    /// What the model may call.
    pub toolkit: Arc<Toolkit>,
    /// Per tool, what the person set; it replaces the tool's own policy.
    pub policy: BTreeMap<String, Policy>,
    /// The system prompt.
    pub system: Option<String>,
    /// The agent's name, as requests show it.
    pub source: String,
    /// Where the tools work.
    pub folder: Option<Arc<Folder>>,
    /// How long a request waits before it expires, where the tool itself sets no deadline.
    pub ask_timeout: Option<Duration>,
    /// What the mark of every child process begins with, before the run's id: with a mark of its own, a host finds all
    /// that a dead predecessor left behind. See [`kill_marked`](crate::kill_marked).
    pub mark: String,
    /// Who is asked while a call waits, such as by an MCP server. Nobody by default.
    pub elicit: Option<Elicit>,
    /// The time.
    pub clock: Clock,
    /// What looks on, and may hold calls back. None by default.
    pub hooks: Hooks,
    /// Who is shown what runs do (contract 34). Nobody by default.
    pub watch: Option<Watch>,
    /// The tokens that a run may use in all. Where they are used up, the model is not asked for another turn: the run ends
    /// as incomplete with [`Limit::Tokens`](sayso_domain::run::Limit::Tokens). No limit by default.
    pub max_tokens: Option<u64>,
    /// The tokens that one model call may read. A longer transcript is compacted on its way to the model, never splitting
    /// a call from its result; what is stored stays whole. No limit by default.
    pub context_tokens: Option<u64>,
}

/// Something that happened to a run, and the request whose answer it carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    /// What.
    pub event: Event,
    /// The request, so that its delivery is acknowledged in the commit that acts on it.
    pub delivered: Option<RequestKey>,
}

impl From<Event> for Incoming {
    fn from(event: Event) -> Self {
        Self { event, delivered: None }
    }
}

impl Engine {
    /// With no folder, no system prompt, no deadline, and each tool's own policy.
    pub fn new(model: Model, toolkit: Arc<Toolkit>, source: impl Into<String>) -> Self {
        Self {
            model,
            toolkit,
            policy: BTreeMap::new(),
            system: None,
            source: source.into(),
            folder: None,
            ask_timeout: None,
            mark: String::new(),
            elicit: None,
            clock: system_time,
            hooks: Hooks::new(),
            watch: None,
            max_tokens: None,
            context_tokens: None,
        }
    }
}
