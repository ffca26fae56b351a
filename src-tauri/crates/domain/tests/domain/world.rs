//! A run with everything that ever happened to it. [`World::apply`] checks, at each step, what must hold for any
//! interleaving of events.

use std::collections::{BTreeMap, BTreeSet};

use sayso_domain::run::{
    Asked, CallState, Effect, Event, Message, Proposal, Run, RunMode, Slot, SlotId, Status, Step, Usage,
    Verdict,
};
use sayso_domain::{Answer, Kind, Request, RequestKey, RunId, Shown, ToolResult};
use serde_json::json;
use uuid::Uuid;

/// What a person types with a no, and what must never be in a run.
pub(crate) const WORDS: &str = "the-person-s-own-words";

pub(crate) struct World {
    pub(crate) run: Run,
    /// Requests asked for, in order: `r1` is the first.
    pub(crate) asked: Vec<RequestKey>,
    made: u128,
    settled: BTreeSet<RequestKey>,
    results: BTreeMap<SlotId, ToolResult>,
    retries: BTreeMap<SlotId, u32>,
    told: Vec<String>,
    said: Vec<String>,
}

impl World {
    pub(crate) fn new(max_turns: u32) -> Self {
        Self {
            run: Run::new(RunId::new(Uuid::from_u128(0)), max_turns),
            asked: Vec::new(),
            made: 0,
            settled: BTreeSet::new(),
            results: BTreeMap::new(),
            retries: BTreeMap::new(),
            told: Vec::new(),
            said: Vec::new(),
        }
    }

    /// A request with a key that was never used.
    pub(crate) fn ask(&mut self, prompt: &str) -> Asked {
        self.made += 1;
        let request = Request::new(format!("r{}", self.made), Kind::Approval, prompt);
        let mut shown = Shown::new(request, "agent");
        shown.file_hash = Some(format!("hash{}", self.made));
        // Every other gate lets its arguments be changed.
        shown.editable = self.made.is_multiple_of(2).then(|| json!({}));
        Asked { key: RequestKey::new(Uuid::from_u128(self.made)), shown }
    }

    pub(crate) fn reply(&mut self, verdicts: &[&str]) -> Event {
        let calls = verdicts.iter().enumerate().map(|(at, verdict)| Proposal {
            // Providers repeat ids; nothing may lean on them (contract 16).
            call_id: "call".to_owned(),
            name: format!("tool{at}"),
            arguments: r#"{"n":9007199254740993}"#.to_owned(),
            verdict: match *verdict {
                "allow" => Verdict::Allow,
                "ask" => Verdict::Ask(Box::new(self.ask(&format!("Run tool{at}?")))),
                _ => Verdict::Reject(format!("Unknown tool: tool{at}")),
            },
        });
        let calls = calls.collect();
        let message = json!({"content": "", "thinking": {"signature": "x"}, "n": 1});
        Event::Replied { message, calls, usage: Usage { input_tokens: 2, output_tokens: 1 } }
    }

    pub(crate) fn suspend(&mut self, slot: SlotId) -> Event {
        let asked = self.ask(&format!("Tool{} asks?", slot.index));
        let result = ToolResult::pending(&asked.shown.request);
        Event::Finished { slot, result, asked: Some(Box::new(asked)) }
    }

    /// Does it, and holds it against what was before.
    pub(crate) fn apply(&mut self, event: Event) -> Step {
        let before = self.run.clone();
        if let Event::Told(text) = &event {
            self.told.push(text.clone());
        }
        let step = self.run.handle(event.clone());

        self.check_late(&before, &event, &step);
        self.check_effects(&before, &event, &step);
        self.check_results(&before, &step);
        self.check_status(&before, &step);
        self.check_messages(&before, &step);
        self.check_stored();
        step
    }

    fn check_late(&mut self, before: &Run, event: &Event, step: &Step) {
        let late = match event {
            Event::Told(_) => false,
            Event::Settled { request, .. } => {
                before.waiting_on(*request).is_none() || !self.settled.insert(*request)
            }
            Event::Replied { .. } | Event::ModelFailed(_) | Event::LimitReached(_) => {
                before.status != Status::Running || unfinished(before).next().is_some()
            }
            Event::Finished { slot, .. } | Event::Stale { slot, .. } => !is_running(before, *slot),
            Event::Stopped | Event::Recovered { .. } => before.status.is_ended(),
        };
        let ended = before.status.is_ended() && !matches!(event, Event::Told(_));
        if late || ended {
            assert_eq!(
                (step, &self.run),
                (&Step::default(), before),
                "late events change nothing: {event:?}"
            );
        }
    }

    fn check_effects(&mut self, before: &Run, event: &Event, step: &Step) {
        let mut started = BTreeSet::new();
        let mut ends = 0;
        for effect in &step.effects {
            match effect {
                Effect::CallModel => {
                    assert_eq!(unfinished(&self.run).count(), 0, "the model is called with every result in");
                    assert_eq!(self.run.status, Status::Running);
                    assert!(self.run.turn - self.run.told_at < self.run.max_turns, "contract 22");
                    assert_eq!(step.effects.len(), 1, "and nothing else happens beside it");
                }
                Effect::RunTool { slot, mode } => {
                    assert!(started.insert(*slot), "one start a step");
                    self.check_permission(before, event, *slot, mode);
                    assert!(
                        is_running(&self.run, *slot),
                        "`Running` is in the commit before the tool starts"
                    );
                    assert!(step.touched.contains(slot) || matches!(event, Event::Recovered { .. }));
                }
                Effect::Ask { slot, asked } => {
                    assert!(!self.asked.contains(&asked.key), "a request is asked once");
                    self.asked.push(asked.key);
                    let state = &self.run.slot(*slot).unwrap().state;
                    assert_eq!(state.request(), Some(asked.key), "its call waits for it");
                }
                Effect::Withdraw(request) => {
                    assert!(matches!(event, Event::Stopped));
                    assert!(before.waiting_on(*request).is_some(), "only what waits is withdrawn");
                    self.settled.insert(*request);
                }
                Effect::KillTool(slot) => {
                    assert!(matches!(event, Event::Stopped) && is_running(before, *slot));
                }
                Effect::Finish(status) => {
                    ends += 1;
                    assert_eq!(status, &self.run.status);
                }
            }
        }
        assert_eq!(
            ends,
            usize::from(self.run.status.is_ended() && !before.status.is_ended()),
            "an end is said once"
        );
        if matches!(event, Event::Stopped) && !before.status.is_ended() {
            let withdrawn =
                step.effects.iter().filter(|effect| matches!(effect, Effect::Withdraw(_))).count();
            let killed = step.effects.iter().filter(|effect| matches!(effect, Effect::KillTool(_))).count();
            assert_eq!(withdrawn, before.requests().count(), "everything that waits is withdrawn");
            assert_eq!(withdrawn + killed, unfinished(before).count(), "everything at work is ended");
        }
    }

    /// A tool starts only by policy, by a yes to its own request, or again after a crash if it has no effects.
    fn check_permission(&mut self, before: &Run, event: &Event, id: SlotId, mode: &RunMode) {
        match event {
            Event::Replied { calls, .. } => {
                assert_eq!(calls[id.index as usize].verdict, Verdict::Allow);
                assert_eq!(mode, &RunMode::Allowed);
            }
            Event::Settled { request, answer } => {
                assert!(answer.is_ok(), "a no starts nothing");
                let slot = before.waiting_on(*request).unwrap();
                assert_eq!(slot.id, id, "an answer is used for the one call that it was asked for");
                let expected = match &slot.state {
                    CallState::Waiting { file_hash, editable, edited, .. } => {
                        let given = answer.data().and_then(|data| data.get("arguments"));
                        let edited = match given.filter(|_| *editable).map(ToString::to_string) {
                            Some(given) => Some(given).filter(|given| *given != slot.arguments),
                            None => edited.clone(),
                        };
                        RunMode::Approved { file_hash: file_hash.clone(), edited }
                    }
                    CallState::Suspended { prompt, edited, .. } => RunMode::Retry {
                        answer: answer.clone(),
                        prompt: prompt.clone(),
                        edited: edited.clone(),
                    },
                    CallState::Unknown { mode, .. } => mode.clone(),
                    CallState::Running(_) | CallState::Finished(_) => panic!("it did not wait"),
                };
                assert_eq!(mode, &expected);
                if matches!(slot.state, CallState::Suspended { .. }) {
                    let retries = self.retries.entry(id).or_default();
                    *retries += 1;
                    assert_eq!(*retries, 1, "a call waits for its own request once (contract 11)");
                }
            }
            Event::Recovered { unknown } => {
                assert!(unknown.iter().all(|(slot, _)| *slot != id), "what may have happened is asked about");
                assert_eq!(before.slot(id).unwrap().state, CallState::Running(mode.clone()));
            }
            Event::Told(_)
            | Event::ModelFailed(_)
            | Event::LimitReached(_)
            | Event::Finished { .. }
            | Event::Stale { .. }
            | Event::Stopped => {
                panic!("{event:?} starts no tool")
            }
        }
    }

    /// Each call gets exactly one result, which never changes, and no turn begins before all have theirs.
    fn check_results(&mut self, before: &Run, step: &Step) {
        if self.run.turn != before.turn {
            assert_eq!((self.run.turn, unfinished(before).count()), (before.turn + 1, 0));
            let first = before.slots.first().map_or(self.run.turn, |slot| slot.id.turn + 1);
            assert!(first <= self.run.turn);
        }
        for (at, slot) in self.run.slots.iter().enumerate() {
            assert_eq!((slot.id.turn, slot.id.index as usize), (self.run.turn, at), "call order");
            if before.slot(slot.id) != Some(slot) {
                assert!(step.touched.contains(&slot.id), "a change is in the commit");
            }
            if let CallState::Finished(result) = &slot.state {
                let first = self.results.entry(slot.id).or_insert_with(|| result.clone());
                assert_eq!(first, result, "one result");
                assert!(result.suspension().is_none(), "nothing unfinished is a result (contract 17)");
            } else {
                assert!(!self.results.contains_key(&slot.id), "a result is the end of a call");
            }
        }
    }

    fn check_status(&self, before: &Run, step: &Step) {
        let run = &self.run;
        let running = run.slots.iter().filter(|slot| is_running(run, slot.id)).count();
        match &run.status {
            Status::Pending => assert!(running == 0 && run.requests().next().is_some()),
            Status::Running => assert!(running > 0 || unfinished(run).count() == 0),
            Status::Done | Status::Incomplete(_) | Status::Interrupted | Status::Error(_) => {
                assert_eq!(unfinished(run).count(), 0, "an ended run is balanced");
                assert!(run.queued.is_empty(), "and has swallowed no word");
            }
        }
        let at_work = |run: &Run| run.status == Status::Running && unfinished(run).count() == 0;
        if at_work(run) && !at_work(before) {
            assert!(step.effects.contains(&Effect::CallModel), "a run that is not waiting goes on");
        }
    }

    fn check_messages(&mut self, before: &Run, step: &Step) {
        for message in &step.messages {
            match message {
                Message::User(text) => self.said.push(text.clone()),
                Message::Assistant { turn, .. } => {
                    assert_eq!((*turn, before.turn + 1), (self.run.turn, *turn))
                }
            }
        }
        let whole: Vec<_> = self.said.iter().chain(&self.run.queued).collect();
        assert_eq!(whole, self.told.iter().collect::<Vec<_>>(), "every word once, in order");
    }

    fn check_stored(&self) {
        let text = serde_json::to_string(&self.run).unwrap();
        let back: Run = serde_json::from_str(&text).unwrap();
        assert_eq!(back, self.run, "a run reads back to itself");
        assert!(!text.contains(WORDS), "a person's words stay home (contract 9)");
    }
}

fn unfinished(run: &Run) -> impl Iterator<Item = &Slot> {
    run.slots.iter().filter(|slot| !matches!(slot.state, CallState::Finished(_)))
}

fn is_running(run: &Run, id: SlotId) -> bool {
    run.slot(id).is_some_and(|slot| matches!(slot.state, CallState::Running(_)))
}

/// A no as the machine would get it if its host forgot to strip it.
pub(crate) fn no(id: &str) -> Answer {
    Answer::declined(id, WORDS)
}
