use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use sayso_domain::RequestKey;
use tokio::time::Instant;

use super::Raise;

/// How long a summary stands before its number is set right.
const PACE: Duration = Duration::from_secs(2);

/// The one notification for the requests that would be too many one by one.
#[derive(Debug, Default)]
pub(super) struct Summary {
    keys: BTreeSet<RequestKey>,
    id: Option<u32>,
    is_asked: bool,
    /// Whether what it says is no longer so.
    is_stale: bool,
    raised_at: Option<Instant>,
}

impl Summary {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// One more is in it.
    pub(super) fn join(&mut self, key: RequestKey) {
        self.is_stale |= self.keys.insert(key);
    }

    /// This one is in it no longer; with the last one it goes.
    pub(super) fn leave(&mut self, key: RequestKey, to_close: &mut VecDeque<u32>) {
        if !self.keys.remove(&key) {
            return;
        }
        if self.keys.is_empty() {
            self.is_stale = false;
            to_close.extend(self.id.take());
        } else {
            // One that the person put away is not shown again for becoming smaller.
            self.is_stale |= self.id.is_some();
        }
    }

    pub(super) fn next(&mut self, now: Instant, more: bool) -> Option<Raise> {
        let is_due = self.raised_at.is_none_or(|at| now.duration_since(at) >= PACE);
        if !self.is_stale || self.is_asked || self.keys.is_empty() || !is_due {
            return None;
        }
        (self.is_stale, self.is_asked, self.raised_at) = (false, true, Some(now));
        Some(Raise::Summary { count: self.keys.len(), more, replaces: self.id.take() })
    }

    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.raised_at.filter(|_| self.is_stale && !self.is_asked).map(|at| at + PACE)
    }

    pub(super) fn shown(&mut self, id: u32, to_close: &mut VecDeque<u32>) {
        self.is_asked = false;
        if self.keys.is_empty() { to_close.push_back(id) } else { self.id = Some(id) }
    }

    pub(super) fn failed(&mut self, replaces: Option<u32>) {
        (self.is_asked, self.is_stale, self.raised_at, self.id) = (false, true, None, replaces);
    }

    pub(super) fn closed(&mut self, id: u32) {
        if self.id == Some(id) {
            self.id = None;
        }
    }

    pub(super) fn is(&self, id: u32) -> bool {
        self.id == Some(id)
    }

    /// It has no buttons of its own.
    pub(super) fn is_click(&self, action: &str) -> bool {
        action == super::super::DEFAULT_ACTION
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.id
    }

    pub(super) fn say_anew(&mut self) {
        self.is_stale |= self.id.is_some();
    }

    /// The service is another one now.
    pub(super) fn forget(&mut self) {
        self.is_stale |= self.id.take().is_some();
        self.is_asked = false;
        self.raised_at = None;
    }

    pub(super) fn withdraw(&mut self, to_close: &mut VecDeque<u32>) {
        if let Some(id) = self.id.take() {
            to_close.push_back(id);
            (self.is_stale, self.raised_at) = (true, None);
        }
    }
}
