use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Who waits for news of what, so that a change wakes those alone whom it concerns, however many wait.
pub(super) struct Seats<K: Copy + Eq + Hash>(Arc<Mutex<Taken<K>>>);

type Taken<K> = HashMap<K, (Arc<Notify>, usize)>;

/// A place to wait at. It is given back when it is dropped.
pub(super) struct Seat<K: Copy + Eq + Hash> {
    key: K,
    news: Arc<Notify>,
    seats: Arc<Mutex<Taken<K>>>,
}

impl<K: Copy + Eq + Hash> Default for Seats<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Copy + Eq + Hash> Seats<K> {
    pub(super) fn take(&self, key: K) -> Seat<K> {
        let mut taken = lock(&self.0);
        let (news, count) = taken.entry(key).or_default();
        *count += 1;
        Seat { key, news: Arc::clone(news), seats: Arc::clone(&self.0) }
    }

    pub(super) fn is_empty(&self) -> bool {
        lock(&self.0).is_empty()
    }

    pub(super) fn wake(&self, key: &K) {
        if let Some((news, _)) = lock(&self.0).get(key) {
            news.notify_waiters();
        }
    }

    pub(super) fn wake_all(&self) {
        lock(&self.0).values().for_each(|(news, _)| news.notify_waiters());
    }
}

impl<K: Copy + Eq + Hash> Seat<K> {
    /// News from this call on, also before it is awaited: so whoever looks afterwards misses nothing.
    pub(super) fn news(&self) -> Notified<'_> {
        self.news.notified()
    }
}

impl<K: Copy + Eq + Hash> Drop for Seat<K> {
    fn drop(&mut self) {
        if let Entry::Occupied(mut taken) = lock(&self.seats).entry(self.key) {
            taken.get_mut().1 -= 1;
            if taken.get().1 == 0 {
                taken.remove();
            }
        }
    }
}

fn lock<K>(seats: &Mutex<Taken<K>>) -> MutexGuard<'_, Taken<K>> {
    seats.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn news_between_the_look_and_the_wait_are_not_missed_and_others_sleep_on() {
        let seats = Seats::default();
        let (one, other) = (seats.take(1), seats.take(2));
        let (news, quiet) = (one.news(), other.news());
        seats.wake(&1);
        news.await;
        assert!(tokio::time::timeout(std::time::Duration::ZERO, quiet).await.is_err());
        let all = other.news();
        seats.wake_all();
        all.await;
    }

    #[test]
    fn a_seat_that_nobody_sits_on_is_gone() {
        let seats = Seats::default();
        let (first, second) = (seats.take(1), seats.take(1));
        drop(first);
        assert!(!seats.is_empty());
        drop(second);
        assert!(seats.is_empty());
    }
}
