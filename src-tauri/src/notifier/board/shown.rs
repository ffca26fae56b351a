use sayso_domain::RequestKey;
use tokio::time::Instant;

use crate::notifier::DEFAULT_ACTION;

/// What is on the screen for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::notifier) struct Shown {
    pub(in crate::notifier) id: u32,
    pub(in crate::notifier) buttons: Buttons,
    /// Of the request as it was shown.
    pub(in crate::notifier) digest: String,
    pub(in crate::notifier) at: Instant,
}

/// What a notification's buttons are called on the bus: names that nobody can guess.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::notifier) struct Buttons {
    pub(in crate::notifier) open: String,
    pub(in crate::notifier) approve: Option<String>,
    pub(in crate::notifier) deny: Option<String>,
}

/// A notification to raise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::notifier) enum Raise {
    /// Of one request.
    Request {
        key: RequestKey,
        /// The service puts it in the place of this one.
        replaces: Option<u32>,
        /// Whether it reminds of the deadline.
        reminds: bool,
        /// Whether the person was told of it before.
        is_known: bool,
    },
    /// Of so many.
    Summary { count: usize, more: bool, replaces: Option<u32> },
}

/// What a click means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::notifier) enum Click {
    Open(RequestKey),
    Decide {
        key: RequestKey,
        ok: bool,
        digest: String,
    },
    /// It was settled meanwhile.
    Settled(RequestKey),
    Inbox,
}

impl Buttons {
    pub(super) fn has(&self, action: &str) -> bool {
        action == DEFAULT_ACTION
            || action == self.open
            || [&self.approve, &self.deny].into_iter().any(|own| own.as_deref() == Some(action))
    }
}
