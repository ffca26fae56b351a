use sayso_domain::{Outcome, RequestKey};

/// What happened to a request, told after it was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboxEvent {
    /// It waits for a person.
    Asked(RequestKey),
    /// It ended.
    Settled(RequestKey, Outcome),
    /// Its answer can leave: the decision can no longer be taken back.
    Released(RequestKey),
    /// Its answer arrived.
    Delivered(RequestKey),
    /// Its decision was taken back: it waits again.
    Revoked(RequestKey),
    /// It still waits, and was put off or woken.
    Snoozed(RequestKey),
}
