use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Request;

const PENDING: &str = "pending";

/// What a tool gives back. It is a suspension when `metadata.pending` is a [`Request`] (contract 5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// What the model gets.
    pub output: String,
    /// Whether the model is told that it failed.
    #[serde(default)]
    pub is_error: bool,
    /// For hosts, never for a model.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

impl ToolResult {
    /// A success.
    pub fn ok(output: impl Into<String>) -> Self {
        Self { output: output.into(), is_error: false, metadata: Map::new() }
    }

    /// A failure that the model can react to.
    pub fn error(output: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::ok(output) }
    }

    /// A suspension: the output is the prompt, then a newline and the url where there is one, and it is an error.
    pub fn pending(request: &Request) -> Self {
        let output = match &request.url {
            Some(url) => format!("{}\n{url}", request.prompt),
            None => request.prompt.clone(),
        };
        let mut metadata = Map::new();
        if let Ok(wire) = serde_json::to_value(request) {
            metadata.insert(PENDING.to_owned(), wire);
        }
        Self { output, is_error: true, metadata }
    }

    /// The error that a refused call feeds back: exactly `declined/expired: <prompt>` (contract 8).
    pub fn refused(prompt: &str) -> Self {
        Self::error(format!("declined/expired: {prompt}"))
    }

    /// The error of a retry that suspended again: exactly `unresolved: <first prompt>` (contract 11).
    pub fn unresolved(first_prompt: &str) -> Self {
        Self::error(format!("unresolved: {first_prompt}"))
    }

    /// The request of a suspension.
    pub fn suspension(&self) -> Option<Request> {
        self.metadata.get(PENDING).cloned().and_then(|wire| Request::try_from(wire).ok())
    }
}
