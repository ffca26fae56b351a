use std::sync::Arc;

use async_trait::async_trait;
use sayso_domain::{RunId, ToolResult};

use crate::{Arguments, Draft, Entry, Reply};

/// A call that a hook is told of.
#[derive(Clone, Copy, Debug)]
pub struct HookedCall<'a> {
    /// The run.
    pub run: RunId,
    /// The tool.
    pub name: &'a str,
    /// Its arguments.
    pub arguments: &'a Arguments,
}

/// What a hook says of a call. The strictest of all that have a say wins: policy, the tool and every hook.
#[derive(Clone, Debug, PartialEq)]
pub enum Guard {
    /// Nothing.
    Pass,
    /// A person decides first: the call is suspended with this, and runs once it is approved.
    Ask(Box<Draft>),
    /// It does not run; the model gets this error.
    Reject(String),
}

/// Looks on before and after model and tool calls, and may hold a call back. Where one panics before something, that
/// something does not happen; afterwards, what happened stays.
#[async_trait]
pub trait Hook: Send + Sync {
    /// Before the model is asked. An error ends the run with it.
    async fn before_model(&self, _run: RunId, _transcript: &[Entry]) -> Result<(), String> {
        Ok(())
    }

    /// After the model answered, before its calls are looked at.
    async fn after_model(&self, _run: RunId, _reply: &Reply) {}

    /// Once for each call that could run, before anybody is asked and before it first runs. It has no say when the call
    /// runs after its approval, in this process or another, unless the person edited the arguments: then it is called for
    /// these, and can reject them; that it would ask is covered by the person's yes.
    async fn before_tool(&self, _call: &HookedCall<'_>) -> Guard {
        Guard::Pass
    }

    /// After a call ran and has its result. A suspension is no result.
    async fn after_tool(&self, _call: &HookedCall<'_>, _result: &ToolResult) {}
}

/// Hooks, in the order in which they are called. Cheap to clone.
#[derive(Clone, Default)]
pub struct Hooks(Vec<Arc<dyn Hook>>);

impl Hooks {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more.
    #[must_use]
    pub fn with(mut self, hook: impl Hook + 'static) -> Self {
        self.0.push(Arc::new(hook));
        self
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Hook> {
        self.0.iter().map(|hook| &**hook)
    }
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hooks({})", self.0.len())
    }
}
