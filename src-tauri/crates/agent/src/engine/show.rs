use sayso_domain::run::{CallState, Effect, Event, Message, Run, SlotId, Step, Usage};

use super::Engine;
use crate::AgentEvent;

/// What has to be known of a run before a step, to tell afterwards what the step was.
pub(super) struct Before {
    /// Calls that a person was asked about: if one of these has its result now, it was refused.
    asked: Vec<SlotId>,
    usage: Option<Usage>,
}

impl Before {
    pub(super) fn of(run: &Run, event: &Event) -> Self {
        let asked = run.slots.iter().filter(|slot| slot.state.request().is_some()).map(|slot| slot.id);
        let usage = match event {
            Event::Replied { usage, .. } => Some(*usage),
            Event::Told(_)
            | Event::ModelFailed(_)
            | Event::LimitReached(_)
            | Event::Settled { .. }
            | Event::Finished { .. }
            | Event::Stale { .. }
            | Event::Stopped
            | Event::Recovered { .. } => None,
        };
        Self { asked: asked.collect(), usage }
    }
}

impl Engine {
    /// Shows a step that was committed.
    pub(super) fn show(&self, before: &Before, run: &Run, step: &Step) {
        let Some(watch) = &self.watch else { return };
        let tell = |event| watch.tell(run.id, event);
        let replied = step.messages.iter().any(|message| matches!(message, Message::Assistant { .. }));
        if let Some(usage) = before.usage.filter(|_| replied) {
            for slot in &run.slots {
                let (name, arguments) = (slot.name.clone(), slot.arguments.clone());
                tell(AgentEvent::Call { slot: slot.id, name, arguments });
            }
            tell(AgentEvent::Usage { turn: run.turn, usage, total: run.usage });
        }
        for id in &step.touched {
            let Some(slot) = run.slot(*id).filter(|_| !before.asked.contains(id)) else { continue };
            if let CallState::Finished(result) = &slot.state {
                let (name, output) = (slot.name.clone(), result.output.clone());
                tell(AgentEvent::Result { slot: *id, name, output, is_error: result.is_error });
            }
        }
        for effect in &step.effects {
            match effect {
                Effect::Ask { slot, asked } => {
                    let request = asked.shown.request.clone();
                    tell(AgentEvent::Pending { slot: *slot, key: asked.key, request });
                }
                Effect::Finish(status) => tell(AgentEvent::Done(status.clone())),
                Effect::CallModel | Effect::RunTool { .. } | Effect::Withdraw(_) | Effect::KillTool(_) => {}
            }
        }
    }
}
