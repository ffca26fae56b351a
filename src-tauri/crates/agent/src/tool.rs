use std::sync::Arc;

use async_trait::async_trait;
use sayso_domain::{Answer, Kind, Policy, ToolResult};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Arguments, CallElicit, Folder};

/// What a model is told of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments: an object.
    pub schema: Value,
}

/// What a tool may know of the call that it serves.
#[derive(Clone, Debug, Default)]
pub struct ToolContext {
    /// On the one retry of a call that suspended itself: the answer, which is ok (contract 10).
    pub answer: Option<Answer>,
    /// What the approval is bound to: the SHA-256 of the file that was shown, or `absent`.
    pub file_hash: Option<String>,
    /// Whether a person let this call through, rather than policy.
    pub approved: bool,
    /// The agent's folder.
    pub folder: Option<Arc<Folder>>,
    /// Asks a person while the call waits; none where there is nobody to ask.
    pub elicit: Option<CallElicit>,
    /// Cancelled when the run is stopped.
    pub stop: CancellationToken,
    /// An unguessable name of this call. Child processes carry it as `SAYSO_CALL`; it begins with the engine's mark
    /// and the run's id.
    pub call: String,
}

/// What our own gate asks before a tool first runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// The question.
    pub prompt: String,
    /// The kind; approval as a rule.
    pub kind: Kind,
    /// More for the request's `data`. The tool and its arguments are shown beside it in any case.
    pub data: Option<Value>,
    /// For a file edit, the SHA-256 of the file that it applies to, or `absent`.
    pub file_hash: Option<String>,
    /// For a file edit, what would change, as a unified diff.
    pub diff: Option<String>,
    /// Notes on the risk, in words.
    pub notes: Vec<String>,
}

impl Draft {
    /// A plain approval.
    pub fn approval(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            kind: Kind::Approval,
            data: None,
            file_hash: None,
            diff: None,
            notes: Vec::new(),
        }
    }
}

/// What came of running a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum Ran {
    /// It has a result, which may be a suspension.
    Done(ToolResult),
    /// The file changed since it was shown: nothing was done, and this is what to ask now.
    Stale(Draft),
}

/// Something that a model can call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn spec(&self) -> ToolSpec;

    /// What it may do without a person, unless the agent's set-up says otherwise. Asks by default.
    fn policy(&self, _arguments: &Value) -> Policy {
        Policy::Ask
    }

    /// Whether it can change anything. If the process dies while such a tool runs, a person is asked before it runs again.
    fn has_effects(&self) -> bool {
        true
    }

    /// Whether a person who is asked about a call of it may change the arguments and approve what they made of them
    /// (contract 12): what runs then must fit the schema of [`ToolSpec`], and the model is told. Not unless the tool says so.
    fn is_editable(&self) -> bool {
        false
    }

    /// The call on one line: a command, a path, a URL.
    fn summary(&self, arguments: &Value) -> String {
        sayso_domain::text::cut(&arguments.to_string(), 200)
    }

    /// What to ask before it runs. An error rejects the call: the model gets it, and nobody is asked.
    async fn draft(&self, arguments: &Arguments, _context: &ToolContext) -> Result<Draft, ToolResult> {
        Ok(Draft::approval(format!("Run {} {}?", self.spec().name, self.summary(&arguments.value))))
    }

    /// Runs it. Called once for a call, and once more with the answer if it suspended.
    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran;
}
