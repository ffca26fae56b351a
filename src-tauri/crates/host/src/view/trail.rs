use sayso_domain::run::CallState;
use sayso_domain::text::cut;
use sayso_store::calls::CallRow;
use sayso_store::history::HistoryRow;
use sayso_store::messages::MessageRow;
use sayso_store::requests::RequestRow;

use super::edits::Edits;
use super::summary;
use crate::dto::TrailStep;

/// How many steps are shown.
const STEPS: usize = 8;

/// What led to a request: the last steps of its run before it, oldest first, and the step that it is.
pub(crate) fn trail(
    messages: &[MessageRow],
    calls: &[CallRow],
    decisions: &[HistoryRow],
    request: &RequestRow,
) -> Vec<TrailStep> {
    let edits = Edits::of(decisions);
    let own_turn = request.slot.map(|slot| slot.turn);
    let mut steps = Vec::new();
    for message in messages {
        let Some(turn) = message.turn else {
            steps.push(step("person", format!("You asked: {}", cut(&message.content, 200))));
            continue;
        };
        let of_turn = calls.iter().filter(|call| call.slot.id.turn == turn);
        steps.extend(
            of_turn
                .take_while(|call| Some(call.slot.id) != request.slot)
                .map(|call| call_step(call, &edits, decisions)),
        );
        if Some(turn) == own_turn {
            break;
        }
    }
    steps.drain(..steps.len().saturating_sub(STEPS));
    steps.push(step("now", format!("Wants to {}", what(request))));
    steps
}

fn what(request: &RequestRow) -> String {
    match &request.shown.tool {
        Some(tool) => format!("use {tool}: {}", summary::of_shown(&request.shown)),
        None => cut(&request.shown.request.prompt, 200),
    }
}

fn call_step(call: &CallRow, edits: &Edits<'_>, decisions: &[HistoryRow]) -> TrailStep {
    let arguments = edits.of_call(&call.slot).unwrap_or(&call.slot.arguments);
    let what = format!("{} {}", call.slot.name, summary::of_arguments(arguments));
    let decided = decisions.iter().find(|decision| Some(decision.request.key) == call.request);
    let refused = decided.is_some_and(|decision| decision.settled.settlement.outcome.class().is_some());
    let end = match &call.slot.state {
        CallState::Finished(_) if refused => "not allowed",
        CallState::Finished(result) if result.is_error => "failed",
        CallState::Finished(_) => "done",
        CallState::Running(_) => "at work",
        CallState::Waiting { .. } | CallState::Suspended { .. } | CallState::Unknown { .. } => {
            "waits for you"
        }
    };
    step("call", format!("{what}, {end}"))
}

fn step(kind: &str, text: String) -> TrailStep {
    TrailStep { kind: kind.to_owned(), text }
}
