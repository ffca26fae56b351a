use serde::{Deserialize, Serialize};

use super::{
    Asked, CallState, Effect, Event, Limit, Message, Proposal, RunMode, Slot, SlotId, Status, Step, Usage,
    Verdict,
};
use crate::edit::{changed_arguments, given};
use crate::{Answer, RequestKey, RunId, ToolResult};

/// What a stopped run feeds back for a call that was at work.
const STOPPED: &str = "Stopped by the person while it was running. It may have partly happened.";
/// What a declined second try feeds back.
const UNKNOWN: &str = "The outcome of this call is unknown: the app ended while it ran, so it may or may not have \
                       happened. It was not run again.";

/// A run of an agent: all that is needed to go on with it, in this process or another. The calls are those of the
/// current turn; earlier ones are in the transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Where it stands.
    pub status: Status,
    /// Model calls so far.
    pub turn: u32,
    /// The turn at which the person last spoke; the limit counts from here.
    pub told_at: u32,
    /// Model calls without a word from the person (contract 22).
    pub max_turns: u32,
    /// Tokens so far.
    pub usage: Usage,
    /// The calls of the current turn.
    pub slots: Vec<Slot>,
    /// Messages that wait for the next turn.
    pub queued: Vec<String>,
}

impl Run {
    /// A run that has not been told anything yet.
    pub fn new(id: RunId, max_turns: u32) -> Self {
        Self {
            id,
            status: Status::Done,
            turn: 0,
            told_at: 0,
            max_turns,
            usage: Usage::default(),
            slots: Vec::new(),
            queued: Vec::new(),
        }
    }

    /// The call at a place of the current turn.
    pub fn slot(&self, id: SlotId) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.id == id)
    }

    /// The call that waits for a request.
    pub fn waiting_on(&self, request: RequestKey) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.state.request() == Some(request))
    }

    /// The requests that it waits for, in call order.
    pub fn requests(&self) -> impl Iterator<Item = RequestKey> {
        self.slots.iter().filter_map(|slot| slot.state.request())
    }

    /// What an event changes. Events that don't fit (a late result of a stopped call, a second answer) change nothing.
    pub fn handle(&mut self, event: Event) -> Step {
        let mut step = Step::default();
        match event {
            Event::Told(text) => self.told(text, &mut step),
            Event::Replied { message, calls, usage } => {
                if self.status == Status::Running && self.all_finished() {
                    self.usage += usage;
                    self.replied(message, calls, &mut step);
                }
            }
            Event::ModelFailed(why) => self.end_unanswered(Status::Error(why), &mut step),
            Event::LimitReached(limit) => self.end_unanswered(Status::Incomplete(limit), &mut step),
            Event::Settled { request, answer } => self.settled(request, answer, &mut step),
            Event::Finished { slot, result, asked } => self.finished(slot, result, asked, &mut step),
            Event::Stale { slot, asked } => self.stale(slot, asked, &mut step),
            Event::Stopped => self.stop(&mut step),
            Event::Recovered { unknown } => self.recovered(unknown, &mut step),
        }
        if !self.status.is_ended() {
            self.status = if self.waits() { Status::Pending } else { Status::Running };
        }
        step
    }

    /// Ends where the model was to speak next. Words that waited for it are kept.
    fn end_unanswered(&mut self, status: Status, step: &mut Step) {
        if self.status == Status::Running && self.all_finished() {
            self.say_queued(step);
            self.finish(status, step);
        }
    }

    fn told(&mut self, text: String, step: &mut Step) {
        if self.status.is_ended() {
            self.told_at = self.turn;
            self.status = Status::Running;
            step.messages.push(Message::User(text));
            step.effects.push(Effect::CallModel);
        } else {
            self.queued.push(text);
        }
    }

    fn replied(&mut self, message: serde_json::Value, calls: Vec<Proposal>, step: &mut Step) {
        self.turn += 1;
        self.slots.clear();
        step.messages.push(Message::Assistant { turn: self.turn, message });
        for (index, call) in (0..).zip(calls) {
            self.propose(SlotId { turn: self.turn, index }, call, step);
        }
        if self.slots.is_empty() && self.queued.is_empty() {
            self.finish(Status::Done, step);
        } else {
            self.go_on(step);
        }
    }

    fn propose(&mut self, id: SlotId, call: Proposal, step: &mut Step) {
        let state = match call.verdict {
            Verdict::Reject(error) => CallState::Finished(ToolResult::error(error)),
            Verdict::Allow => {
                step.effects.push(Effect::RunTool { slot: id, mode: RunMode::Allowed });
                CallState::Running(RunMode::Allowed)
            }
            Verdict::Ask(asked) => waiting(id, asked, None, step),
        };
        self.slots.push(Slot {
            id,
            call_id: call.call_id,
            name: call.name,
            arguments: call.arguments,
            state,
        });
        step.touched.push(id);
    }

    fn settled(&mut self, request: RequestKey, answer: Answer, step: &mut Step) {
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.state.request() == Some(request)) else {
            return;
        };
        let id = slot.id;
        let next = match &slot.state {
            CallState::Waiting { file_hash, editable, edited, .. } if answer.is_ok() => {
                let edited = match given(&answer).filter(|_| *editable) {
                    Some(given) => changed_arguments(&slot.arguments, given),
                    None => edited.clone(),
                };
                Ok(RunMode::Approved { file_hash: file_hash.clone(), edited })
            }
            CallState::Suspended { prompt, edited, .. } if answer.is_ok() => {
                Ok(RunMode::Retry { answer, prompt: prompt.clone(), edited: edited.clone() })
            }
            CallState::Unknown { mode, .. } if answer.is_ok() => Ok(mode.clone()),
            CallState::Waiting { prompt, .. } | CallState::Suspended { prompt, .. } => {
                Err(ToolResult::refused(prompt))
            }
            CallState::Unknown { mode, .. } => Err(of_edited(mode.edited(), ToolResult::error(UNKNOWN))),
            CallState::Running(_) | CallState::Finished(_) => return,
        };
        step.touched.push(id);
        match next {
            Ok(mode) => {
                slot.state = CallState::Running(mode.clone());
                step.effects.push(Effect::RunTool { slot: id, mode });
            }
            Err(result) => {
                slot.state = CallState::Finished(result);
                self.go_on(step);
            }
        }
    }

    fn finished(&mut self, id: SlotId, result: ToolResult, asked: Option<Box<Asked>>, step: &mut Step) {
        let Some((slot, mode)) = self.running(id) else { return };
        let suspends = result.suspension().is_some();
        let edited = mode.edited().map(str::to_owned);
        slot.state = match (suspends, mode, asked) {
            (false, _, _) => CallState::Finished(of_edited(edited.as_deref(), result)),
            (true, RunMode::Retry { prompt, .. }, _) => CallState::Finished(ToolResult::unresolved(&prompt)),
            (true, RunMode::Allowed | RunMode::Approved { .. }, Some(asked)) => {
                let state =
                    CallState::Suspended { request: asked.key, prompt: asked.prompt().to_owned(), edited };
                step.effects.push(Effect::Ask { slot: id, asked });
                state
            }
            (true, RunMode::Allowed | RunMode::Approved { .. }, None) => {
                let unusable = "The tool asked for a person, but what it asked cannot be used.";
                CallState::Finished(of_edited(edited.as_deref(), ToolResult::error(unusable)))
            }
        };
        step.touched.push(id);
        self.go_on(step);
    }

    fn stale(&mut self, id: SlotId, asked: Box<Asked>, step: &mut Step) {
        let Some((slot, mode)) = self.running(id) else { return };
        slot.state = match mode {
            RunMode::Allowed => waiting(id, asked, None, step),
            RunMode::Approved { edited, .. } => waiting(id, asked, edited, step),
            // Its one wait is used up (contract 11).
            RunMode::Retry { prompt, .. } => CallState::Finished(ToolResult::unresolved(&prompt)),
        };
        step.touched.push(id);
        self.go_on(step);
    }

    fn stop(&mut self, step: &mut Step) {
        if self.status.is_ended() {
            return;
        }
        for slot in &mut self.slots {
            let result = match &slot.state {
                CallState::Finished(_) => continue,
                CallState::Running(mode) => {
                    step.effects.push(Effect::KillTool(slot.id));
                    of_edited(mode.edited(), ToolResult::error(STOPPED))
                }
                CallState::Waiting { request, prompt, .. } | CallState::Suspended { request, prompt, .. } => {
                    step.effects.push(Effect::Withdraw(*request));
                    ToolResult::refused(prompt)
                }
                CallState::Unknown { request, mode } => {
                    step.effects.push(Effect::Withdraw(*request));
                    of_edited(mode.edited(), ToolResult::error(UNKNOWN))
                }
            };
            slot.state = CallState::Finished(result);
            step.touched.push(slot.id);
        }
        self.say_queued(step);
        self.finish(Status::Interrupted, step);
    }

    fn recovered(&mut self, unknown: Vec<(SlotId, Asked)>, step: &mut Step) {
        if self.status.is_ended() {
            return;
        }
        let mut unknown: std::collections::BTreeMap<_, _> = unknown.into_iter().collect();
        for slot in &mut self.slots {
            let CallState::Running(mode) = &slot.state else { continue };
            let mode = mode.clone();
            match unknown.remove(&slot.id) {
                Some(asked) => {
                    slot.state = CallState::Unknown { request: asked.key, mode };
                    step.touched.push(slot.id);
                    step.effects.push(Effect::Ask { slot: slot.id, asked: Box::new(asked) });
                }
                None => step.effects.push(Effect::RunTool { slot: slot.id, mode }),
            }
        }
        self.go_on(step);
    }

    fn running(&mut self, id: SlotId) -> Option<(&mut Slot, RunMode)> {
        let slot = self.slots.iter_mut().find(|slot| slot.id == id)?;
        match &slot.state {
            CallState::Running(mode) => {
                let mode = mode.clone();
                Some((slot, mode))
            }
            CallState::Waiting { .. }
            | CallState::Suspended { .. }
            | CallState::Unknown { .. }
            | CallState::Finished(_) => None,
        }
    }

    fn all_finished(&self) -> bool {
        self.slots.iter().all(|slot| matches!(slot.state, CallState::Finished(_)))
    }

    fn waits(&self) -> bool {
        !self.all_finished() && self.slots.iter().all(|slot| !matches!(slot.state, CallState::Running(_)))
    }

    /// Calls the model once every call of the turn has its result, or ends at the limit.
    fn go_on(&mut self, step: &mut Step) {
        if !self.all_finished() {
            return;
        }
        if !self.queued.is_empty() {
            self.say_queued(step);
            self.told_at = self.turn;
        }
        if self.turn - self.told_at >= self.max_turns {
            self.finish(Status::Incomplete(Limit::MaxTurns), step);
        } else {
            step.effects.push(Effect::CallModel);
        }
    }

    fn say_queued(&mut self, step: &mut Step) {
        step.messages.extend(self.queued.drain(..).map(Message::User));
    }

    fn finish(&mut self, status: Status, step: &mut Step) {
        self.status = status.clone();
        step.effects.push(Effect::Finish(status));
    }
}

/// The result of a call that a person edited says so first: its own words are still those of the transcript (contract 12).
fn of_edited(edited: Option<&str>, result: ToolResult) -> ToolResult {
    let Some(arguments) = edited else { return result };
    let output = format!(
        "A person edited this call before approving it. These arguments took the place of yours: {arguments}\n{}",
        result.output
    );
    ToolResult { output, ..result }
}

fn waiting(slot: SlotId, asked: Box<Asked>, edited: Option<String>, step: &mut Step) -> CallState {
    let state = CallState::Waiting {
        request: asked.key,
        prompt: asked.prompt().to_owned(),
        file_hash: asked.shown.file_hash.clone(),
        editable: asked.shown.is_editable(),
        edited,
    };
    step.effects.push(Effect::Ask { slot, asked });
    state
}
