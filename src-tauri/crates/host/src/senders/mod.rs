//! Those who ask from outside: senders with a token, and programs of this machine without one. They ask, look, wait, take
//! their answers and withdraw, each for its own requests alone. There is no function here that decides, and none of them
//! has a [`crate::Surface`]: asking and answering are separate rights.
//!
//! An asker holds nothing but its own connection. What waits is rows; a wake-up only says when to look at them again.

mod answer;
mod ask;
mod asker;
mod error;
mod events;
mod offer;
mod rate;
mod seats;
mod token;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sayso_domain::text::look_alike;
use sayso_domain::{RequestKey, SourceId, Time};
use sayso_store::{Conn, StoreError, requests, sources};
use tokio::sync::OnceCell;

pub use ask::{Asked, Held};
pub use asker::{Asker, Program};
pub(crate) use asker::{MAX_OPEN, PER_MINUTE};
pub use error::SenderError;
pub use events::{RequestEvent, RequestEvents};
pub(crate) use token::Token;

use crate::host::Host;
use rate::Rates;
use seats::Seats;

/// The kind and the name of the source that stands for programs of this machine.
pub(crate) const LOCAL_KIND: &str = "local";
/// What the person reads.
pub(crate) const LOCAL_NAME: &str = "this computer";
/// The kind of senders' sources.
pub(crate) const SENDER_KIND: &str = "sender";
/// The kind of agents' sources.
pub(crate) const AGENT_KIND: &str = "agent";
/// How often what was last seen of a sender is written down.
const SEEN: Duration = Duration::from_secs(60);
/// Whoever waits looks again after this, for what no event told.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Whether a name could be taken for that of something else that asks than a source of this kind.
pub(crate) fn is_anothers(conn: &Conn, kind: &str, name: &str) -> Result<bool, StoreError> {
    let others = sources::names(conn)?.into_iter().filter(|(other, _)| other != kind);
    Ok(look_alike(name, LOCAL_NAME) || others.into_iter().any(|(_, other)| look_alike(name, &other)))
}

/// What is known of askers only while the host runs.
#[derive(Default)]
pub(crate) struct Senders {
    rates: Rates,
    /// Who waits for a request's end.
    requests: Seats<RequestKey>,
    /// Who listens to all that happens to a source's requests.
    sources: Seats<SourceId>,
    local: OnceCell<SourceId>,
    seen: Mutex<HashMap<SourceId, Seen>>,
}

/// When a sender was last seen, and when that was last written down.
#[derive(Clone, Copy)]
struct Seen {
    at: Time,
    written: Time,
}

impl Senders {
    /// Wakes whoever a request's change concerns.
    pub(crate) async fn wake(&self, host: &Host, key: RequestKey) {
        self.requests.wake(&key);
        if self.sources.is_empty() {
            return;
        }
        match host.store().read(move |reader| requests::source_outside(reader, key)).await {
            Ok(Some(source)) => self.sources.wake(&source),
            // A run's own.
            Ok(None) => {}
            // Whose it is cannot be read: everybody looks.
            Err(_) => self.sources.wake_all(),
        }
    }

    /// Wakes everybody: some changes were missed.
    pub(crate) fn wake_all(&self) {
        self.requests.wake_all();
        self.sources.wake_all();
    }

    /// Wakes who listens to a source.
    pub(crate) fn wake_source(&self, source: SourceId) {
        self.sources.wake(&source);
    }

    /// Notes that a sender called; whether that is to be written down now.
    fn note_seen(&self, source: SourceId, at: Time) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(before) = seen.get_mut(&source) else {
            seen.insert(source, Seen { at, written: at });
            return true;
        };
        before.at = before.at.max(at);
        let since = at.as_millis().saturating_sub(before.written.as_millis());
        let is_due = u128::try_from(since).is_ok_and(|since| since >= SEEN.as_millis());
        if is_due {
            before.written = at;
        }
        is_due
    }

    /// When a sender was last seen by this process.
    pub(crate) fn last_seen(&self, source: SourceId) -> Option<Time> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(&source).map(|seen| seen.at)
    }
}
