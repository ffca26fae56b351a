use sayso_domain::{Outcome, RequestKey};

/// What happened to a request, told after it was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboxEvent {
    /// It waits for a person.
    Asked(RequestKey),
    /// It ended.
    Settled(RequestKey, Outcome),
    /// Its answer arrived.
    Delivered(RequestKey),
}
