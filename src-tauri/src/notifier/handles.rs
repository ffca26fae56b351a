use std::collections::VecDeque;
use std::sync::Arc;

use notify_rust::NotificationHandle;

/// How many of the newest notifications keep a connection.
const MOST: usize = 128;

/// The notifications that are on the screen, each with the connection that raised it: some services answer and obey that
/// one alone. No task and no thread belongs to any of them.
///
/// The first stays until none is shown. Some services tie all notifications of an app to whoever raised its first, and
/// take all away when that one goes.
pub(super) struct Handles<H = Arc<NotificationHandle>> {
    kept: VecDeque<Kept<H>>,
}

struct Kept<H> {
    id: u32,
    handle: H,
    is_shown: bool,
}

impl<H> Default for Handles<H> {
    fn default() -> Self {
        Self { kept: VecDeque::new() }
    }
}

impl<H: Clone> Handles<H> {
    /// Keeps one that is shown from now on, maybe in the place of one with the same number.
    pub(super) fn keep(&mut self, id: u32, handle: H) {
        self.take(id);
        self.kept.push_back(Kept { id, handle, is_shown: true });
        self.let_go();
        if self.kept.len() > MOST {
            self.kept.remove(1);
        }
    }

    pub(super) fn get(&self, id: u32) -> Option<H> {
        self.kept.iter().find(|kept| kept.id == id && kept.is_shown).map(|kept| kept.handle.clone())
    }

    /// It is no longer shown.
    pub(super) fn forget(&mut self, id: u32) {
        self.take(id);
        self.let_go();
    }

    /// The service is another one now.
    pub(super) fn forget_all(&mut self) {
        self.kept.clear();
    }

    fn take(&mut self, id: u32) {
        match self.kept.iter().position(|kept| kept.id == id && kept.is_shown) {
            Some(0) => self.kept[0].is_shown = false,
            Some(at) => drop(self.kept.remove(at)),
            None => {}
        }
    }

    fn let_go(&mut self) {
        if self.kept.iter().all(|kept| !kept.is_shown) {
            self.kept.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of those that are kept, and whether they are shown.
    fn kept(handles: &Handles<Arc<u32>>) -> Vec<(u32, bool)> {
        handles.kept.iter().map(|kept| (kept.id, kept.is_shown)).collect()
    }

    fn with(ids: impl IntoIterator<Item = u32>) -> Handles<Arc<u32>> {
        let mut handles = Handles::default();
        ids.into_iter().for_each(|id| handles.keep(id, Arc::new(id)));
        handles
    }

    #[test]
    fn the_connection_of_a_notification_goes_with_it_and_the_first_with_the_last() {
        let mut handles = with([1, 2, 3]);
        let second = Arc::downgrade(&handles.get(2).unwrap());
        handles.forget(2);
        assert!(second.upgrade().is_none());
        let first = Arc::downgrade(&handles.get(1).unwrap());
        handles.forget(1);
        assert_eq!(kept(&handles), [(1, false), (3, true)]);
        assert!(first.upgrade().is_some() && handles.get(1).is_none());
        handles.forget(3);
        assert!(first.upgrade().is_none() && kept(&handles).is_empty());
    }

    #[test]
    fn one_in_the_place_of_another_has_the_newer_connection() {
        let mut handles = with([1, 2]);
        let newer = Arc::new(20);
        handles.keep(2, newer.clone());
        assert_eq!(kept(&handles), [(1, true), (2, true)]);
        assert_eq!(handles.get(2), Some(newer));
    }

    #[test]
    fn no_more_connections_are_kept_than_the_newest_and_the_first() {
        let most = u32::try_from(MOST).unwrap();
        let handles = with(1..=most + 10);
        let ids: Vec<_> = kept(&handles).into_iter().map(|(id, _)| id).collect();
        assert_eq!((ids.len(), ids[0], ids[1], ids[MOST - 1]), (MOST, 1, 12, most + 10));
    }
}
