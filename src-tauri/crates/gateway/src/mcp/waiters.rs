use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many calls wait for the same request, so that only the last one that leaves takes it back.
#[derive(Clone, Default)]
pub(super) struct Waiters(Arc<Mutex<HashMap<String, usize>>>);

/// One that waits.
pub(super) struct Waiter {
    key: String,
    waiters: Waiters,
}

impl Waiters {
    /// One more waits for the request that `key` stands for.
    pub(super) fn join(&self, key: String) -> Waiter {
        *self.counts().entry(key.clone()).or_default() += 1;
        Waiter { key, waiters: self.clone() }
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    /// Whether nobody else waits for it.
    pub(super) fn is_last(&self) -> bool {
        self.waiters.counts().get(&self.key).is_none_or(|count| *count == 1)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut counts = self.waiters.counts();
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_one_is_the_last_and_nothing_is_left_behind() {
        let waiters = Waiters::default();
        let (first, second) = (waiters.join("a".to_owned()), waiters.join("a".to_owned()));
        let other = waiters.join("b".to_owned());
        assert!(!first.is_last() && !second.is_last() && other.is_last());
        drop(first);
        assert!(second.is_last());
        drop((second, other));
        assert!(waiters.counts().is_empty());
    }
}
