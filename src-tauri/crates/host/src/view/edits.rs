use std::collections::HashMap;

use sayso_domain::changed_arguments;
use sayso_domain::run::{Slot, SlotId};
use sayso_store::history::HistoryRow;
use serde_json::Value;

/// What a person made of the arguments of a run's calls: the settlements say it, also after the calls are finished.
pub(crate) struct Edits<'a>(HashMap<SlotId, &'a str>);

impl<'a> Edits<'a> {
    /// Of a run's decisions, newest first.
    pub(crate) fn of(decisions: &'a [HistoryRow]) -> Self {
        let edit = |row: &'a HistoryRow| Some((row.request.slot?, row.settled.settlement.edited.as_deref()?));
        // Of several edits of one call the last stands.
        Self(decisions.iter().rev().filter_map(edit).collect())
    }

    /// The edited arguments of a call; none where it is as the model wrote it, or was made so again.
    pub(crate) fn of_call(&self, slot: &Slot) -> Option<&'a str> {
        let is_edit = |edited: &&str| {
            serde_json::from_str::<Value>(edited)
                .is_ok_and(|edited| changed_arguments(&slot.arguments, &edited).is_some())
        };
        self.0.get(&slot.id).copied().filter(is_edit)
    }
}

#[cfg(test)]
mod tests {
    use sayso_domain::ToolResult;
    use sayso_domain::run::CallState;

    use super::*;

    #[test]
    fn what_says_the_same_is_no_edit_and_no_arguments_are_an_empty_object() {
        let id = SlotId { turn: 1, index: 0 };
        for (arguments, edited, is_edit) in [
            ("", "{}", false),
            (r#"{ "a": 1 }"#, r#"{"a":1}"#, false),
            ("", r#"{"a":1}"#, true),
            ("{", "{}", true),
        ] {
            let slot = Slot {
                id,
                call_id: "c".to_owned(),
                name: "shell".to_owned(),
                arguments: arguments.to_owned(),
                state: CallState::Finished(ToolResult::ok("")),
            };
            let edits = Edits(HashMap::from([(id, edited)]));
            assert_eq!(edits.of_call(&slot).is_some(), is_edit, "{arguments} {edited}");
        }
    }
}
