use std::collections::HashMap;

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
        let read = |text: &str| serde_json::from_str::<Value>(text).ok();
        self.0.get(&slot.id).copied().filter(|edited| read(edited) != read(&slot.arguments))
    }
}
