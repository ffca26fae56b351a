use crate::{Answer, Class};

/// What an MCP server is told of an elicitation (contract 32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElicitAction {
    /// The person answered.
    Accept,
    /// The person said no.
    Decline,
    /// Dismissed, expired, or anything else.
    Cancel,
}

impl ElicitAction {
    /// The library's mapping, for hosts that have nothing but the answer: the reason exactly `declined` is a decline,
    /// any other no a cancel.
    pub fn of_answer(answer: &Answer) -> Self {
        if answer.is_ok() {
            Self::Accept
        } else if answer.reason() == Some("declined") {
            Self::Decline
        } else {
            Self::Cancel
        }
    }

    /// The app's mapping, by the settlement's class: a person's own words change nothing.
    pub fn of_class(class: Option<Class>) -> Self {
        match class {
            None => Self::Accept,
            Some(Class::Declined) => Self::Decline,
            Some(Class::Cancelled | Class::Expired) => Self::Cancel,
        }
    }

    /// `accept`, `decline` or `cancel`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}
