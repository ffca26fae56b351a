//! The hooks' part in a turn.

use sayso_domain::{Policy, RunId, ToolResult};

use super::Engine;
use super::work::caught;
use crate::{Draft, Entry, Guard, HookedCall, Reply};

const REFUSED: &str = "A check before this call failed unexpectedly, so the call did not run.";

impl Engine {
    pub(super) async fn before_model(&self, run: RunId, transcript: &[Entry]) -> Result<(), String> {
        for hook in self.hooks.iter() {
            caught(hook.before_model(run, transcript)).await.unwrap_or_else(|| {
                Err("A hook failed unexpectedly before the model was asked. Nothing more was run, and everything up to here \
                     is kept."
                    .to_owned())
            })?;
        }
        Ok(())
    }

    pub(super) async fn after_model(&self, run: RunId, reply: &Reply) {
        for hook in self.hooks.iter() {
            if caught(hook.after_model(run, reply)).await.is_none() {
                tracing::error!(%run, "a hook panicked after the model answered; the answer stays");
            }
        }
    }

    /// The strictest that the hooks say. Of several that ask, the first has the prompt and the others' prompts are notes:
    /// one yes must cover them all.
    pub(super) async fn guard(&self, call: &HookedCall<'_>) -> Guard {
        let mut asks: Option<Box<Draft>> = None;
        for hook in self.hooks.iter() {
            let said = caught(hook.before_tool(call)).await;
            match said.unwrap_or_else(|| Guard::Reject(REFUSED.to_owned())) {
                Guard::Pass => {}
                Guard::Reject(error) => return Guard::Reject(error),
                Guard::Ask(draft) => match &mut asks {
                    None => asks = Some(draft),
                    Some(first) => {
                        first.notes.push(draft.prompt);
                        first.notes.extend(draft.notes);
                    }
                },
            }
        }
        asks.map_or(Guard::Pass, Guard::Ask)
    }

    /// Whether a call may run with what a person made of its arguments: its tool and every hook have their say on these as
    /// they had on the model's. The person's yes stands for a yes to those that would ask.
    pub(super) async fn edit_may_run(&self, call: &HookedCall<'_>) -> Result<(), String> {
        let policy = self.toolkit.get(call.name).map(|tool| tool.policy(&call.arguments.value));
        if !self.policy.contains_key(call.name) && policy == Some(Policy::Forbid) {
            return Err("The tool forbids these arguments, so it did not run.".to_owned());
        }
        match self.guard(call).await {
            Guard::Pass | Guard::Ask(_) => Ok(()),
            Guard::Reject(error) => Err(error),
        }
    }

    pub(super) async fn after_tool(&self, call: &HookedCall<'_>, result: &ToolResult) {
        for hook in self.hooks.iter() {
            if caught(hook.after_tool(call, result)).await.is_none() {
                tracing::error!(tool = call.name, "a hook panicked after a call; its result stays");
            }
        }
    }
}

/// A hook's question about a call: it says why, the tool's own draft says what is bound to the approval.
pub(super) fn joined(hook: Draft, tool: Draft) -> Draft {
    let notes = hook.notes.into_iter().chain(tool.notes).collect();
    Draft {
        prompt: hook.prompt,
        kind: hook.kind,
        data: hook.data.or(tool.data),
        file_hash: tool.file_hash,
        diff: tool.diff,
        notes,
    }
}
