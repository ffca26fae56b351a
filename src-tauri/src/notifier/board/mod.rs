//! Which notifications should be there and which are. It knows no bus and no clock: what happens and when are arguments.

mod shown;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use sayso_domain::{RequestKey, Time};
use tokio::time::Instant;

pub(super) use shown::{Buttons, Click, Raise, Shown};
use summary::Summary;

/// So many new notifications within [`BURST`]; what comes on top is told in one.
const MOST_IN_BURST: usize = 5;
const BURST: Duration = Duration::from_secs(10);
/// So many are raised one by one after notifications were held back; more are told in one.
const MOST_AFTER_HOLD: usize = 3;
/// A decision does not count so soon after its button appeared: the click was meant for what was there before.
pub(super) const GUARD: Duration = Duration::from_millis(500);
/// How many of those that were withdrawn are known, should a click on one still be on its way.
const MOST_LATE: usize = 256;
const MINUTE: i64 = 60_000;

/// One notification for every request that waits, or one for many. Keys sort by age, so the oldest is raised first.
#[derive(Debug, Default)]
pub(super) struct Board {
    wanted: BTreeMap<RequestKey, Entry>,
    to_raise: BTreeSet<RequestKey>,
    to_close: VecDeque<u32>,
    by_id: HashMap<u32, RequestKey>,
    /// Withdrawn because their request settled, with what their buttons were called.
    late: VecDeque<(u32, RequestKey, Buttons)>,
    summary: Summary,
    /// When the newest were raised.
    recent: VecDeque<Instant>,
    /// Deadlines of which the person is to be reminded.
    deadlines: BTreeSet<(Time, RequestKey)>,
    was_held: bool,
}

#[derive(Debug)]
struct Entry {
    expires_at: Option<Time>,
    raised: Raised,
    /// What the service still shows for the same request, of this run of the app or of an earlier one.
    replaces: Option<u32>,
    /// Whether its deadline is near, and the person is to be told.
    reminds: bool,
    /// Whether the person was told of it before.
    is_known: bool,
    /// When the person was told of it first.
    told_at: Option<Time>,
}

#[derive(Debug, PartialEq, Eq)]
enum Raised {
    NotYet,
    Asked,
    Shown(Shown),
    /// The person or the desktop put it away, or it is in the summary; the request waits on.
    Gone,
}

impl Board {
    /// This request waits.
    pub(super) fn waits(&mut self, key: RequestKey, expires_at: Option<Time>) {
        if self.wanted.contains_key(&key) {
            return;
        }
        self.to_raise.insert(key);
        self.deadlines.extend(expires_at.map(|at| (at, key)));
        let entry = Entry {
            expires_at,
            raised: Raised::NotYet,
            replaces: None,
            reminds: false,
            is_known: false,
            told_at: None,
        };
        self.wanted.insert(key, entry);
    }

    /// This request waits no longer, or was put off.
    pub(super) fn settled(&mut self, key: RequestKey) {
        self.to_raise.remove(&key);
        self.summary.leave(key, &mut self.to_close);
        let Some(entry) = self.wanted.remove(&key) else { return };
        if let Some(at) = entry.expires_at {
            self.deadlines.remove(&(at, key));
        }
        self.by_id.retain(|_, other| *other != key);
        if let Raised::Shown(Shown { id, buttons, .. }) = entry.raised {
            self.withdraw(id);
            self.late.push_back((id, key, buttons));
            if self.late.len() > MOST_LATE {
                self.late.pop_front();
            }
        } else if let Some(id) = entry.replaces.filter(|_| entry.raised != Raised::Asked) {
            self.withdraw(id);
        }
    }

    /// Exactly these requests wait.
    pub(super) fn only(&mut self, keys: &BTreeSet<RequestKey>) {
        let gone: Vec<_> = self.wanted.keys().filter(|key| !keys.contains(key)).copied().collect();
        gone.into_iter().for_each(|key| self.settled(key));
    }

    /// When the person is to be reminded next, so many minutes before a deadline; 0 for never.
    pub(super) fn next_reminder(&self, minutes: u8) -> Option<Time> {
        let (at, _) = self.deadlines.first().filter(|_| minutes > 0)?;
        Some(at.plus_millis(-i64::from(minutes) * MINUTE))
    }

    /// Reminds of the deadlines that are near by now. Who was told of a request while its deadline was near knows it.
    pub(super) fn remind(&mut self, now: Time, minutes: u8) {
        while let Some(due) = self.next_reminder(minutes).filter(|due| *due <= now) {
            let Some((at, key)) = self.deadlines.pop_first() else { return };
            let told_at = self.wanted.get(&key).and_then(|entry| entry.told_at);
            if at > now && told_at.is_some_and(|told_at| told_at < due) {
                self.raise_again(key, |entry| entry.reminds = true);
            }
        }
    }

    /// Notifications are held back: nothing is raised until somebody asks for the next one.
    pub(super) fn hold(&mut self) {
        self.was_held = true;
    }

    /// What to raise next; it counts as asked for until [`Self::shown`] or [`Self::failed`].
    pub(super) fn next_to_raise(&mut self, now: Instant) -> Option<Raise> {
        self.gather(now);
        let Some(key) = self.to_raise.pop_first() else { return self.next_summary(now) };
        self.summary.leave(key, &mut self.to_close);
        let entry = self.wanted.get_mut(&key)?;
        let raise = Raise::Request {
            key,
            replaces: entry.replaces.take(),
            reminds: entry.reminds,
            is_known: entry.is_known,
        };
        entry.raised = Raised::Asked;
        if !entry.is_known {
            self.recent.push_back(now);
        }
        Some(raise)
    }

    /// Moves into the summary what would be too much one by one.
    fn gather(&mut self, now: Instant) {
        while self.recent.front().is_some_and(|at| now.duration_since(*at) >= BURST) {
            self.recent.pop_front();
        }
        let is_new = |key: &RequestKey| self.wanted.get(key).is_some_and(|entry| !entry.is_known);
        let new: Vec<_> = self.to_raise.iter().filter(|key| is_new(key)).copied().collect();
        let after_hold = std::mem::take(&mut self.was_held) && new.len() > MOST_AFTER_HOLD;
        if !after_hold && self.recent.len() < MOST_IN_BURST {
            return;
        }
        for key in new {
            self.to_raise.remove(&key);
            self.summary.join(key);
            if let Some(entry) = self.wanted.get_mut(&key) {
                (entry.raised, entry.is_known) = (Raised::Gone, true);
                self.to_close.extend(entry.replaces.take());
            }
        }
    }

    fn next_summary(&mut self, now: Instant) -> Option<Raise> {
        let more = self.wanted.len() > self.summary.len();
        self.summary.next(now, more)
    }

    /// When there is more to raise, though nothing happens until then.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.summary.wake_at()
    }

    /// What to withdraw next.
    pub(super) fn next_to_close(&mut self) -> Option<u32> {
        self.to_close.pop_front()
    }

    /// The service shows it. If its request settled meanwhile, it is withdrawn.
    pub(super) fn shown(&mut self, key: RequestKey, shown: Shown, now: Time) {
        self.to_close.retain(|other| *other != shown.id);
        self.late.retain(|(id, _, _)| *id != shown.id);
        match self.wanted.get_mut(&key) {
            Some(entry) => {
                self.by_id.retain(|_, other| *other != key);
                self.by_id.insert(shown.id, key);
                (entry.raised, entry.reminds, entry.is_known) = (Raised::Shown(shown), false, true);
                entry.told_at = entry.told_at.or(Some(now));
            }
            None => self.to_close.push_back(shown.id),
        }
    }

    /// The service shows the summary.
    pub(super) fn summary_shown(&mut self, id: u32) {
        self.to_close.retain(|other| *other != id);
        self.summary.shown(id, &mut self.to_close);
    }

    /// The service did not take it: it is raised again later.
    pub(super) fn failed(&mut self, raise: &Raise) {
        match raise {
            Raise::Request { key, replaces, .. } => match self.wanted.get_mut(key) {
                Some(entry) => {
                    (entry.raised, entry.replaces) = (Raised::NotYet, *replaces);
                    self.to_raise.insert(*key);
                }
                None => self.to_close.extend(*replaces),
            },
            Raise::Summary { replaces, .. } => self.summary.failed(*replaces),
        }
    }

    /// The service says that it shows this one no longer.
    pub(super) fn closed(&mut self, id: u32) {
        self.to_close.retain(|other| *other != id);
        self.late.retain(|(other, _, _)| *other != id);
        self.summary.closed(id);
        if let Some(entry) = self.by_id.remove(&id).and_then(|key| self.wanted.get_mut(&key)) {
            entry.replaces = entry.replaces.filter(|other| *other != id);
            if matches!(entry.raised, Raised::Shown(_)) {
                entry.raised = Raised::Gone;
            }
        }
    }

    /// Whether this is a notification of ours.
    pub(super) fn knows(&self, id: u32) -> bool {
        self.by_id.contains_key(&id)
            || self.summary.is(id)
            || self.late.iter().any(|(late, _, _)| *late == id)
    }

    /// What a click on a notification of ours means: on its body, or on a button by its own name. A decision is taken once;
    /// one that comes too soon shows the notification anew.
    pub(super) fn clicked(&mut self, id: u32, action: &str, now: Instant) -> Option<Click> {
        if self.summary.is(id) {
            return self.summary.is_click(action).then_some(Click::Inbox);
        }
        if let Some((_, key, buttons)) = self.late.iter().find(|(late, _, _)| *late == id) {
            return buttons.has(action).then_some(Click::Settled(*key));
        }
        let key = *self.by_id.get(&id)?;
        let Raised::Shown(shown) = &self.wanted.get(&key)?.raised else { return None };
        if action == super::DEFAULT_ACTION || action == shown.buttons.open {
            return Some(Click::Open(key));
        }
        let ok = shown.buttons.approve.as_deref() == Some(action);
        if !ok && shown.buttons.deny.as_deref() != Some(action) {
            return None;
        }
        if now.duration_since(shown.at) < GUARD {
            self.show_anew(key);
            return None;
        }
        let digest = shown.digest.clone();
        self.put_away(key);
        Some(Click::Decide { key, ok, digest })
    }

    /// Takes it off the screen; the request waits on.
    fn put_away(&mut self, key: RequestKey) {
        let Some(entry) = self.wanted.get_mut(&key) else { return };
        if let Raised::Shown(shown) = std::mem::replace(&mut entry.raised, Raised::Gone) {
            self.withdraw(shown.id);
        }
    }

    /// Takes it off the screen and raises it anew, with new names for its buttons.
    pub(super) fn show_anew(&mut self, key: RequestKey) {
        self.put_away(key);
        if let Some(entry) = self.wanted.get_mut(&key) {
            entry.raised = Raised::NotYet;
            self.to_raise.insert(key);
        }
    }

    /// What may be said has changed: everything on the screen is said anew, in its place.
    pub(super) fn say_anew(&mut self) {
        let shown: Vec<_> = self.by_id.values().copied().collect();
        shown.into_iter().for_each(|key| self.raise_again(key, |_| {}));
        self.summary.say_anew();
    }

    fn raise_again(&mut self, key: RequestKey, change: impl FnOnce(&mut Entry)) {
        let Some(entry) = self.wanted.get_mut(&key) else { return };
        change(entry);
        if entry.raised == Raised::Asked {
            return;
        }
        if let Raised::Shown(shown) = &entry.raised {
            entry.replaces = Some(shown.id);
        }
        entry.raised = Raised::NotYet;
        // It is told by itself from now on, and is no news.
        entry.is_known = true;
        self.to_raise.insert(key);
    }

    /// An earlier run of the app left these: what still waits is put in their place, the rest is withdrawn.
    pub(super) fn left_over(
        &mut self,
        shown: impl IntoIterator<Item = (RequestKey, u32)>,
        summary: Option<u32>,
    ) {
        for (key, id) in shown {
            match self.wanted.get_mut(&key) {
                Some(entry) if entry.raised == Raised::NotYet => entry.replaces = Some(id),
                Some(_) | None => self.to_close.push_back(id),
            }
        }
        self.to_close.extend(summary);
    }

    /// What the service shows now.
    pub(super) fn shows(&self) -> impl Iterator<Item = (RequestKey, u32)> {
        self.by_id.iter().map(|(id, key)| (*key, *id))
    }

    /// The summary that the service shows now.
    pub(super) fn shows_summary(&self) -> Option<u32> {
        self.summary.id()
    }

    /// The service is another one now, and knows nothing of what the old one showed.
    pub(super) fn forget_shown(&mut self) {
        self.by_id.clear();
        self.late.clear();
        self.to_close.clear();
        self.summary.forget();
        self.raise_shown_again();
    }

    /// Withdraws everything, and raises what still waits once more when asked to.
    pub(super) fn withdraw_all(&mut self) {
        let ids: Vec<_> = self.by_id.keys().copied().collect();
        self.raise_shown_again();
        ids.into_iter().for_each(|id| self.withdraw(id));
        self.summary.withdraw(&mut self.to_close);
    }

    fn raise_shown_again(&mut self) {
        for (key, entry) in &mut self.wanted {
            entry.replaces = None;
            if matches!(entry.raised, Raised::Shown(_)) {
                (entry.raised, entry.is_known) = (Raised::NotYet, false);
                self.to_raise.insert(*key);
            }
        }
    }

    fn withdraw(&mut self, id: u32) {
        self.by_id.remove(&id);
        self.to_close.push_back(id);
    }
}
