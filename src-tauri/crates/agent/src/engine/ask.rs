use sayso_domain::run::{Asked, CallState, Event, Run, Slot, SlotId};
use sayso_domain::{
    Kind, Request, RequestKey, RunId, Shown, Time, ToolResult, check_request_url, find_secret_field, risk,
};
use serde_json::json;
use uuid::Uuid;

use super::Engine;
use crate::{Arguments, CallElicit, Draft};

/// A call, as far as a request shows it.
#[derive(Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) run: RunId,
    pub(super) name: &'a str,
    /// Those that run, or would.
    pub(super) arguments: &'a str,
}

impl<'a> Call<'a> {
    pub(super) fn of_slot(run: RunId, slot: &'a Slot) -> Self {
        Self { run, name: &slot.name, arguments: slot.effective_arguments() }
    }
}

impl Engine {
    /// What to do about calls that were at work when another process died: each that can change anything is asked about
    /// again; the others run again.
    pub fn recover(&self, run: &Run) -> Event {
        let running = run.slots.iter().filter(|slot| matches!(slot.state, CallState::Running(_)));
        let unknown =
            running.filter(|slot| self.toolkit.get(&slot.name).is_none_or(|tool| tool.has_effects()));
        Event::Recovered { unknown: unknown.map(|slot| (slot.id, self.ask_again(run.id, slot))).collect() }
    }

    fn ask_again(&self, run: RunId, slot: &Slot) -> Asked {
        let call = Call::of_slot(run, slot);
        let summary = self.toolkit.summary(&slot.name, call.arguments);
        let prompt = format!("This may already have happened: run it again? {} {summary}", slot.name);
        // It may have happened just so: only that may happen again.
        self.asked_before(call, Draft::approval(prompt))
    }

    /// The request of our own gate. Its arguments may be edited where the tool says so (contract 12).
    pub(super) fn gate(&self, call: Call<'_>, draft: Draft) -> Asked {
        let mut asked = self.asked_before(call, draft);
        if asked.shown.request.kind == Kind::Approval {
            asked.shown.editable = self.toolkit.editable(call.name);
        }
        asked
    }

    /// A request that is ours, not the tool's.
    fn asked_before(&self, call: Call<'_>, draft: Draft) -> Asked {
        let key = new_key();
        let mut request = Request::new(key.to_string(), draft.kind, draft.prompt);
        request.data = draft.data.or_else(|| Some(tool_data(call)));
        let mut asked = self.asked(key, request, call);
        asked.shown.file_hash = draft.file_hash;
        asked.shown.diff = draft.diff;
        asked.shown.notes = draft.notes;
        noted(asked)
    }

    /// The request of a tool that suspended itself. An error replaces a suspension that cannot be asked.
    pub(super) fn suspension(&self, call: Call<'_>, result: ToolResult) -> (ToolResult, Option<Box<Asked>>) {
        let Some(mut request) = result.suspension() else {
            return match result.metadata.contains_key("pending") {
                true => (unusable("it is no request"), None),
                false => (result, None),
            };
        };
        if let Some(Err(error)) = request.url.as_deref().map(check_request_url) {
            return (unusable(&error.to_string()), None);
        }
        let secret = request.schema().and_then(find_secret_field).filter(|_| request.kind.collects_data());
        if let Some(secret) = secret {
            return (unusable(&secret.to_string()), None);
        }
        let key = new_key();
        if request.id.is_empty() {
            request.id = key.to_string();
        }
        (result, Some(Box::new(noted(self.asked(key, request, call)))))
    }

    fn asked(&self, key: RequestKey, mut request: Request, call: Call<'_>) -> Asked {
        request.expires_at = request.expires_at.or_else(|| self.deadline());
        Asked { key, shown: self.shown(request, call) }
    }

    /// A way to ask while a call waits.
    pub(super) fn elicit(&self, call: Call<'_>, slot: SlotId) -> Option<CallElicit> {
        let beside = self.shown(Request::new("", Kind::Input, ""), call);
        self.elicit.clone().map(|elicit| CallElicit {
            elicit,
            run: call.run,
            slot,
            beside,
            timeout: self.ask_timeout,
            clock: self.clock,
        })
    }

    fn shown(&self, request: Request, call: Call<'_>) -> Shown {
        let mut shown = Shown::new(request, self.source.clone());
        shown.run = Some(call.run);
        shown.tool = Some(call.name.to_owned());
        shown.arguments = Some(call.arguments.to_owned());
        shown.folder = self.folder.as_ref().map(|folder| folder.path().display().to_string());
        shown
    }

    fn deadline(&self) -> Option<Time> {
        let timeout = self.ask_timeout?;
        Some((self.clock)().plus_millis(i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// With the notes on its risk behind those that it has: the decision is bound to what the person was told.
fn noted(mut asked: Asked) -> Asked {
    for note in risk::of_shown(&asked.shown).notes {
        if !asked.shown.notes.contains(&note.text) {
            asked.shown.notes.push(note.text);
        }
    }
    asked
}

/// So that the request's wire form alone says what will run.
fn tool_data(call: Call<'_>) -> serde_json::Value {
    let arguments = Arguments::parse(call.arguments).map(|arguments| arguments.value);
    json!({ "tool": call.name, "arguments": arguments.unwrap_or_else(|_| call.arguments.into()) })
}

fn unusable(why: &str) -> ToolResult {
    ToolResult::error(format!("The tool asked for a person, but what it asked cannot be used: {why}."))
}

fn new_key() -> RequestKey {
    RequestKey::new(Uuid::now_v7())
}
