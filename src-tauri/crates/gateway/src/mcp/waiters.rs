use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sayso_domain::Answer;

/// Who waits for the same request: calls that name the same use of a tool. All of them get its one answer, and the last one
/// that leaves without it takes the request back.
#[derive(Clone, Default)]
pub(super) struct Waiters(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    requests: HashMap<String, Shared>,
    /// Whose answers were used, where the host could not be told so.
    used: HashSet<String>,
}

#[derive(Default)]
struct Shared {
    calls: usize,
    answer: Option<Answer>,
}

/// One call that waits. It leaves when it is dropped.
pub(super) struct Waiter {
    id: String,
    waiters: Waiters,
    has_left: bool,
}

impl Waiters {
    /// One more waits for the request of this id; none where its answer was used.
    pub(super) fn join(&self, id: &str) -> Option<Waiter> {
        let mut waiting = self.waiting();
        if waiting.used.contains(id) {
            return None;
        }
        waiting.requests.entry(id.to_owned()).or_default().calls += 1;
        Some(Waiter { id: id.to_owned(), waiters: self.clone(), has_left: false })
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    /// Gives the answer to all who wait now.
    pub(super) fn share(&self, answer: &Answer) {
        if let Some(shared) = self.waiters.waiting().requests.get_mut(&self.id) {
            shared.answer = Some(answer.clone());
        }
    }

    /// What another one that waits was answered.
    pub(super) fn shared(&self) -> Option<Answer> {
        self.waiters.waiting().requests.get(&self.id)?.answer.clone()
    }

    /// Nobody may join any more: the answer was used.
    pub(super) fn mark_used(&self) {
        self.waiters.waiting().used.insert(self.id.clone());
    }

    /// Leaves, and tells whether nobody waits for it any more.
    pub(super) fn leave(mut self) -> bool {
        self.leave_once()
    }

    fn leave_once(&mut self) -> bool {
        if std::mem::replace(&mut self.has_left, true) {
            return false;
        }
        let mut waiting = self.waiters.waiting();
        let Some(shared) = waiting.requests.get_mut(&self.id) else { return true };
        shared.calls -= 1;
        let is_last = shared.calls == 0;
        if is_last {
            waiting.requests.remove(&self.id);
        }
        is_last
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.leave_once();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_alone_is_the_last_to_leave_and_nothing_is_left_behind() {
        let waiters = Waiters::default();
        let [first, second, third, other] = ["a", "a", "a", "b"].map(|id| waiters.join(id).unwrap());
        drop(first);
        assert!(!second.leave());
        assert!(third.leave());
        assert!(other.leave());
        assert!(waiters.waiting().requests.is_empty());
    }

    #[test]
    fn an_answer_is_for_those_who_wait_and_for_nobody_later() {
        let waiters = Waiters::default();
        let (first, second) = (waiters.join("a").unwrap(), waiters.join("a").unwrap());
        first.share(&Answer::ok("a"));
        assert!(second.shared().is_some_and(|answer| answer.is_ok()));
        drop((first, second));
        let later = waiters.join("a").unwrap();
        assert!(later.shared().is_none());
        later.mark_used();
        assert!(waiters.join("a").is_none());
    }
}
