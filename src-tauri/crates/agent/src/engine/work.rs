use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use sayso_domain::run::{Event, Proposal, RunMode, Slot, SlotId, Verdict};
use sayso_domain::{Policy, RunId, ToolResult};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::Engine;
use super::ask::Call;
use super::guard::joined;
use crate::{
    AgentEvent, Arguments, Delta, Draft, Entry, Guard, HookedCall, ModelCall, Ran, ToolContext, ToolSpec,
    compact,
};

/// How long a stopped tool has to clean up before it is dropped.
const GRACE: Duration = Duration::from_secs(10);

/// So many calls of one turn are looked at; a person could not judge more of them.
const MAX_CALLS: usize = 64;

const PANICKED: &str = "The tool failed unexpectedly. What it had begun may have partly happened.";
const UNCHECKED: &str = "A check of the edited arguments failed unexpectedly, so the call did not run.";
const TOO_MANY: &str = "Too many calls in one turn: only the first 64 are looked at. This one did not run. Call it again \
                        in a later turn.";
const CUT: &str =
    "The model's answer was cut at its length limit, so this call may be incomplete. It did not run.";

impl Engine {
    /// Asks the model, and decides what becomes of each call that it proposes.
    pub(super) async fn next_turn(
        &self,
        (run, turn): (RunId, u32),
        transcript: Arc<Vec<Entry>>,
        stop: CancellationToken,
    ) -> Event {
        let next = async {
            let forbidden = |spec: &&ToolSpec| self.policy.get(&spec.name) != Some(&Policy::Forbid);
            let tools: Vec<_> = self.toolkit.specs().filter(forbidden).cloned().collect();
            let transcript = self.fit(transcript, &tools);
            if let Err(why) = self.before_model(run, &transcript).await {
                return Event::ModelFailed(why);
            }
            let show = |delta: Delta<'_>| self.show_delta(run, turn, delta);
            let system = self.system.as_deref();
            let reply = match self.model.complete_shown(system, &transcript, &tools, &show).await {
                Ok(reply) => reply,
                Err(error) => return Event::ModelFailed(error.to_string()),
            };
            self.after_model(run, &reply).await;
            let mut calls = Vec::with_capacity(reply.calls.len());
            let last = reply.calls.len();
            for (count, call) in (1..).zip(reply.calls) {
                let verdict = if count > MAX_CALLS {
                    Verdict::Reject(TOO_MANY.into())
                } else if reply.cut && count == last {
                    Verdict::Reject(CUT.into())
                } else {
                    self.verdict(run, &call, &stop).await
                };
                let ModelCall { call_id, name, arguments } = call;
                calls.push(Proposal { call_id, name, arguments, verdict });
            }
            Event::Replied { message: reply.message, calls, usage: reply.usage }
        };
        caught(next).await.unwrap_or_else(|| {
            Event::ModelFailed(
                "The model's answer could not be handled: this is a fault in Sayso. Nothing more was run, and everything up \
                 to here is kept. Send the run a message to try again."
                    .to_owned(),
            )
        })
    }

    async fn verdict(&self, run: RunId, call: &ModelCall, stop: &CancellationToken) -> Verdict {
        let decided = caught(self.decide(run, call, stop)).await;
        decided
            .unwrap_or_else(|| Verdict::Reject("The tool could not be prepared. It did not run.".to_owned()))
    }

    /// What policy says of a call (contract 19, 20).
    async fn decide(&self, run: RunId, call: &ModelCall, stop: &CancellationToken) -> Verdict {
        let Some(tool) = self.toolkit.get(&call.name) else {
            return Verdict::Reject(format!("Unknown tool: {}", call.name));
        };
        let arguments = match Arguments::parse(&call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return Verdict::Reject(error),
        };
        let set = self.policy.get(&call.name).copied();
        let policy = set.unwrap_or_else(|| tool.policy(&arguments.value));
        if policy == Policy::Forbid {
            return Verdict::Reject(format!(
                "The agent's set-up forbids the tool {}. It did not run, and nobody was asked.",
                call.name
            ));
        }
        let hooked = HookedCall { run, name: &call.name, arguments: &arguments };
        let asks = match self.guard(&hooked).await {
            Guard::Reject(error) => return Verdict::Reject(error),
            Guard::Pass if policy == Policy::Allow => return Verdict::Allow,
            Guard::Pass => None,
            Guard::Ask(draft) => Some(*draft),
        };
        let context =
            ToolContext { folder: self.folder.clone(), stop: stop.clone(), ..ToolContext::default() };
        match tool.draft(&arguments, &context).await {
            Ok(draft) => {
                let draft = match asks {
                    Some(hook) => joined(hook, draft),
                    None => draft,
                };
                Verdict::Ask(Box::new(self.gate(of(run, call), draft)))
            }
            Err(rejected) => Verdict::Reject(rejected.output),
        }
    }

    /// Runs a call's tool. A panic in it becomes a plain error (contract 19).
    pub(super) async fn run_tool(
        &self,
        run: RunId,
        slot: Slot,
        mode: RunMode,
        stop: CancellationToken,
    ) -> Event {
        let call = Call::of_slot(run, &slot);
        let Some(tool) = self.toolkit.get(&slot.name) else {
            return finished(slot.id, ToolResult::error(format!("Unknown tool: {}", slot.name)));
        };
        let arguments = match Arguments::parse(call.arguments) {
            Ok(arguments) => arguments,
            Err(error) => return finished(slot.id, ToolResult::error(error)),
        };
        let hooked = HookedCall { run, name: &slot.name, arguments: &arguments };
        if mode.edited().is_some()
            && let Err(error) =
                caught(self.edit_may_run(&hooked)).await.unwrap_or_else(|| Err(UNCHECKED.to_owned()))
        {
            return finished(slot.id, ToolResult::error(error));
        }
        let mut context = self.context(run, slot.id, mode, stop.clone());
        context.elicit = self.elicit(call, slot.id);
        let ran = tokio::select! {
            ran = caught(tool.run(&arguments, &context)) => ran,
            () = grace_after(&stop) => Some(Ran::Done(ToolResult::error("Stopped by the person while it was running."))),
        };
        match ran {
            Some(Ran::Done(result)) => {
                let (result, asked) = self.suspension(call, result);
                if asked.is_none() {
                    self.after_tool(&hooked, &result).await;
                }
                Event::Finished { slot: slot.id, result, asked }
            }
            Some(Ran::Stale(draft)) => self.stale(call, slot.id, draft),
            None => {
                tracing::error!(tool = slot.name, "a tool panicked");
                finished(slot.id, ToolResult::error(PANICKED))
            }
        }
    }

    /// The transcript as the model can read it.
    fn fit(&self, transcript: Arc<Vec<Entry>>, tools: &[ToolSpec]) -> Arc<Vec<Entry>> {
        let Some(limit) = self.context_tokens else { return transcript };
        let described = tools.iter().map(|tool| tool.description.len() + compact::json_size(&tool.schema));
        let beside = self.system.as_ref().map_or(0, String::len) + described.sum::<usize>();
        compact::fit(transcript, limit.saturating_sub(compact::tokens_of(beside)))
    }

    fn show_delta(&self, run: RunId, turn: u32, delta: Delta<'_>) {
        if let Some(watch) = &self.watch {
            watch.tell(
                run,
                match delta {
                    Delta::Text(text) => AgentEvent::Text { turn, text: text.to_owned() },
                    Delta::Restarted => AgentEvent::Restarted { turn },
                },
            );
        }
    }

    fn stale(&self, call: Call<'_>, slot: SlotId, draft: Draft) -> Event {
        Event::Stale { slot, asked: Box::new(self.gate(call, draft)) }
    }

    fn context(&self, run: RunId, slot: SlotId, mode: RunMode, stop: CancellationToken) -> ToolContext {
        let (answer, file_hash, approved) = match mode {
            RunMode::Allowed => (None, None, false),
            RunMode::Approved { file_hash, .. } => (None, file_hash, true),
            RunMode::Retry { answer, .. } => (Some(answer), None, true),
        };
        let mark = &self.mark;
        let call = format!("{mark}{run}-{}-{}-{}", slot.turn, slot.index, Uuid::now_v7().simple());
        ToolContext { answer, file_hash, approved, folder: self.folder.clone(), elicit: None, stop, call }
    }
}

fn of(run: RunId, call: &ModelCall) -> Call<'_> {
    Call { run, name: &call.name, arguments: &call.arguments }
}

fn finished(slot: SlotId, result: ToolResult) -> Event {
    Event::Finished { slot, result, asked: None }
}

async fn grace_after(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
}

/// The output, or none if it panicked.
pub(super) async fn caught<T>(work: impl Future<Output = T>) -> Option<T> {
    AssertUnwindSafe(work).catch_unwind().await.ok()
}
