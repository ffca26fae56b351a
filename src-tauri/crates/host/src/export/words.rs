use sayso_domain::Time;
use sayso_store::ledger::{EntryRow, EntryType, Record};

/// What stands where a content was erased.
const ERASED: &str = "[redacted]";

/// A decision's parts as text, for faces without types.
pub(super) struct Words<'a>(pub(super) &'a Record);

impl<'a> Words<'a> {
    /// A field of the decision; a mark where it was erased, empty where it does not apply.
    pub(super) fn field(&self, name: &str) -> &'a str {
        text(&self.0.decision, name)
    }

    pub(super) fn decided_at(&self) -> String {
        self.0.decision.at.to_string()
    }

    /// How long it waited, in milliseconds.
    pub(super) fn waited_ms(&self) -> String {
        let received: Option<Time> = self.field("received_at").parse().ok();
        let waited = received.map(|at| (self.0.decision.at.as_millis() - at.as_millis()).max(0));
        waited.map(|waited| waited.to_string()).unwrap_or_default()
    }

    pub(super) fn was_edited(&self) -> bool {
        !self.field("edited_arguments").is_empty()
    }

    pub(super) fn delivery(&self) -> (String, &'a str) {
        let delivery = self.next(EntryType::Delivery).last();
        delivery.map(|entry| (entry.at.to_string(), text(entry, "state"))).unwrap_or_default()
    }

    /// What the call gave back, and whether that was an error.
    pub(super) fn effect(&self) -> (&'a str, &'a str) {
        let effect = self.next(EntryType::Effect).last();
        effect.map(|entry| (text(entry, "output"), text(entry, "is_error"))).unwrap_or_default()
    }

    pub(super) fn run_end(&self) -> &'a str {
        self.next(EntryType::RunEnd).last().map(|entry| text(entry, "status")).unwrap_or_default()
    }

    fn next(&self, kind: EntryType) -> impl Iterator<Item = &'a EntryRow> {
        self.0.next.iter().filter(move |entry| entry.kind == kind)
    }
}

fn text<'a>(entry: &'a EntryRow, name: &str) -> &'a str {
    let field = entry.fields.iter().find(|(known, _)| known == name);
    field.map(|(_, content)| content.as_deref().unwrap_or(ERASED)).unwrap_or_default()
}
