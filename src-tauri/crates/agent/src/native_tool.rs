use std::future::Future;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use sayso_domain::{Policy, ToolResult};
use serde_json::Value;

use crate::{Arguments, Draft, Ran, Tool, ToolContext, ToolSpec};

type Check = fn(&Arguments) -> Result<(), ToolResult>;
type Body = dyn Fn(Arguments, ToolContext) -> BoxFuture<'static, ToolResult> + Send + Sync;

/// A tool made of a closure. It is allowed to run unless told otherwise, since whoever wrote the closure can suspend
/// from within: return [`ToolResult::pending`], and be called once more with [`ToolContext::answer`].
pub struct NativeTool {
    spec: ToolSpec,
    policy: Policy,
    has_effects: bool,
    is_editable: bool,
    check: Option<Check>,
    body: Box<Body>,
}

impl NativeTool {
    /// A tool with its name, what it does, the JSON schema of its arguments, and what runs.
    pub fn new<F, R>(name: impl Into<String>, description: impl Into<String>, schema: Value, body: F) -> Self
    where
        F: Fn(Arguments, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = ToolResult> + Send + 'static,
    {
        Self {
            spec: ToolSpec { name: name.into(), description: description.into(), schema },
            policy: Policy::Allow,
            has_effects: true,
            is_editable: false,
            check: None,
            body: Box::new(move |arguments, context| Box::pin(body(arguments, context))),
        }
    }

    /// What it may do without a person.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }

    /// Whether it can change anything; true unless told otherwise.
    #[must_use]
    pub fn effects(self, has_effects: bool) -> Self {
        Self { has_effects, ..self }
    }

    /// Whether a person who is asked may change the arguments and approve what they made of them (contract 12); nobody may
    /// unless told so. What they send must fit the schema, and is what runs.
    #[must_use]
    pub fn editable(self, is_editable: bool) -> Self {
        Self { is_editable, ..self }
    }

    /// With what arguments must fit before anybody is asked.
    pub(crate) fn checked(self, check: Check) -> Self {
        Self { check: Some(check), ..self }
    }
}

#[async_trait]
impl Tool for NativeTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn policy(&self, _arguments: &Value) -> Policy {
        self.policy
    }

    fn has_effects(&self) -> bool {
        self.has_effects
    }

    fn is_editable(&self) -> bool {
        self.is_editable
    }

    async fn draft(&self, arguments: &Arguments, _context: &ToolContext) -> Result<Draft, ToolResult> {
        self.check.map_or(Ok(()), |check| check(arguments))?;
        Ok(Draft::approval(format!("Run {} {}?", self.spec.name, self.summary(&arguments.value))))
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        Ran::Done((self.body)(arguments.clone(), context.clone()).await)
    }
}
