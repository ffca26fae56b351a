use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use sayso_domain::RequestKey;

use super::said::Said;

/// Which notifications should be there and which are: one for every request that waits. Keys sort by age, so the oldest
/// is raised first.
#[derive(Debug, Default)]
pub(super) struct Board {
    wanted: BTreeMap<RequestKey, Entry>,
    to_raise: BTreeSet<RequestKey>,
    to_close: VecDeque<u32>,
    by_id: HashMap<u32, RequestKey>,
}

#[derive(Debug)]
struct Entry {
    said: Said,
    raised: Raised,
    /// What an earlier run of the app raised for the same request, and the service may still show.
    replaces: Option<u32>,
}

/// A notification to raise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Raise {
    pub(super) key: RequestKey,
    pub(super) said: Said,
    /// The service puts it in the place of this one.
    pub(super) replaces: Option<u32>,
}

#[derive(Debug, PartialEq, Eq)]
enum Raised {
    NotYet,
    Asked,
    Shown {
        id: u32,
        action: String,
    },
    /// The person or the desktop put it away; the request waits on.
    Gone,
}

impl Board {
    /// This request waits.
    pub(super) fn waits(&mut self, key: RequestKey, said: impl FnOnce() -> Said) {
        self.wanted.entry(key).or_insert_with(|| {
            self.to_raise.insert(key);
            Entry { said: said(), raised: Raised::NotYet, replaces: None }
        });
    }

    /// This request waits no longer.
    pub(super) fn settled(&mut self, key: RequestKey) {
        self.to_raise.remove(&key);
        if let Some(Entry { raised: Raised::Shown { id, .. }, .. }) = self.wanted.remove(&key) {
            self.withdraw(id);
        }
    }

    /// Exactly these requests wait.
    pub(super) fn only(&mut self, keys: &BTreeSet<RequestKey>) {
        let gone: Vec<_> = self.wanted.keys().filter(|key| !keys.contains(key)).copied().collect();
        gone.into_iter().for_each(|key| self.settled(key));
    }

    /// What to raise next; it counts as asked for until [`Self::shown`] or [`Self::failed`].
    pub(super) fn next_to_raise(&mut self) -> Option<Raise> {
        let key = self.to_raise.pop_first()?;
        let entry = self.wanted.get_mut(&key)?;
        entry.raised = Raised::Asked;
        Some(Raise { key, said: entry.said.clone(), replaces: entry.replaces.take() })
    }

    /// What to withdraw next.
    pub(super) fn next_to_close(&mut self) -> Option<u32> {
        self.to_close.pop_front()
    }

    /// The service shows it. If its request settled meanwhile, it is withdrawn.
    pub(super) fn shown(&mut self, key: RequestKey, id: u32, action: String) {
        match self.wanted.get_mut(&key) {
            Some(entry) => {
                entry.raised = Raised::Shown { id, action };
                self.by_id.insert(id, key);
            }
            None => self.to_close.push_back(id),
        }
    }

    /// The service did not take it: it is raised again later.
    pub(super) fn failed(&mut self, key: RequestKey) {
        if let Some(entry) = self.wanted.get_mut(&key) {
            entry.raised = Raised::NotYet;
            self.to_raise.insert(key);
        }
    }

    /// The service says that it shows this one no longer.
    pub(super) fn closed(&mut self, id: u32) {
        self.to_close.retain(|other| *other != id);
        if let Some(entry) = self.by_id.remove(&id).and_then(|key| self.wanted.get_mut(&key)) {
            entry.raised = Raised::Gone;
        }
    }

    /// The request to open, if this is a click on a notification of ours: its body, or the button by its own key.
    pub(super) fn clicked(&self, id: u32, action: &str) -> Option<RequestKey> {
        let key = self.by_id.get(&id)?;
        match &self.wanted.get(key)?.raised {
            Raised::Shown { action: own, .. } => {
                (action == super::DEFAULT_ACTION || action == own).then_some(*key)
            }
            Raised::NotYet | Raised::Asked | Raised::Gone => None,
        }
    }

    /// An earlier run of the app left these: what still waits is put in their place, the rest is withdrawn.
    pub(super) fn left_over(&mut self, shown: impl IntoIterator<Item = (RequestKey, u32)>) {
        for (key, id) in shown {
            match self.wanted.get_mut(&key) {
                Some(entry) if entry.raised == Raised::NotYet => entry.replaces = Some(id),
                Some(_) | None => self.to_close.push_back(id),
            }
        }
    }

    /// What the service shows now.
    pub(super) fn shows(&self) -> impl Iterator<Item = (RequestKey, u32)> {
        self.by_id.iter().map(|(id, key)| (*key, *id))
    }

    /// The service is another one now, and knows nothing of what the old one showed.
    pub(super) fn forget_shown(&mut self) {
        self.by_id.clear();
        self.to_close.clear();
        self.raise_shown_again();
    }

    /// Withdraws everything, and raises what still waits once more when asked to.
    pub(super) fn withdraw_all(&mut self) {
        let ids: Vec<_> = self.by_id.keys().copied().collect();
        self.raise_shown_again();
        ids.into_iter().for_each(|id| self.withdraw(id));
    }

    fn raise_shown_again(&mut self) {
        for (key, entry) in &mut self.wanted {
            entry.replaces = None;
            if matches!(entry.raised, Raised::Shown { .. }) {
                entry.raised = Raised::NotYet;
                self.to_raise.insert(*key);
            }
        }
    }

    fn withdraw(&mut self, id: u32) {
        self.by_id.remove(&id);
        self.to_close.push_back(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> RequestKey {
        format!("0198c0de-0000-7000-8000-0000000000{n:02x}").parse().unwrap()
    }

    fn waits(board: &mut Board, n: u8) {
        board.waits(key(n), || Said { summary: format!("{n} asks"), body: String::new() });
    }

    fn raise(board: &mut Board, id: u32) -> RequestKey {
        let Raise { key, .. } = board.next_to_raise().expect("something to raise");
        board.shown(key, id, format!("open-{id}"));
        key
    }

    #[test]
    fn every_request_is_raised_once_the_oldest_first() {
        let mut board = Board::default();
        [3, 1, 2, 1].into_iter().for_each(|n| waits(&mut board, n));
        assert_eq!(
            [raise(&mut board, 7), raise(&mut board, 8), raise(&mut board, 9)],
            [key(1), key(2), key(3)]
        );
        waits(&mut board, 2);
        assert!(board.next_to_raise().is_none(), "said again, raised once");
    }

    #[test]
    fn what_settles_is_withdrawn_once() {
        let mut board = Board::default();
        [1, 2].into_iter().for_each(|n| waits(&mut board, n));
        raise(&mut board, 7);
        board.settled(key(1));
        board.settled(key(1));
        board.settled(key(2));
        assert_eq!(board.next_to_close(), Some(7));
        assert_eq!(board.next_to_close(), None);
        assert!(board.next_to_raise().is_none(), "settled before it was raised");
    }

    #[test]
    fn what_settles_while_the_service_is_slow_leaves_no_ghost() {
        let mut board = Board::default();
        waits(&mut board, 1);
        let Raise { key: asked, .. } = board.next_to_raise().unwrap();
        board.settled(key(1));
        board.shown(asked, 7, String::new());
        assert_eq!(board.next_to_close(), Some(7));
    }

    #[test]
    fn a_click_opens_its_own_request_and_nothing_else_does() {
        let mut board = Board::default();
        [1, 2].into_iter().for_each(|n| waits(&mut board, n));
        raise(&mut board, 7);
        raise(&mut board, 8);
        assert_eq!(board.clicked(8, "default"), Some(key(2)));
        assert_eq!(board.clicked(8, "open-8"), Some(key(2)));
        assert_eq!(board.clicked(8, "open-7"), None, "another one's button");
        assert_eq!(board.clicked(9, "default"), None, "not ours");
        board.settled(key(2));
        assert_eq!(board.clicked(8, "default"), None, "settled");
    }

    #[test]
    fn what_a_person_put_away_stays_away() {
        let mut board = Board::default();
        waits(&mut board, 1);
        raise(&mut board, 7);
        board.closed(7);
        waits(&mut board, 1);
        board.forget_shown();
        assert!(board.next_to_raise().is_none());
        board.settled(key(1));
        assert_eq!(board.next_to_close(), None, "nothing is left to withdraw");
    }

    #[test]
    fn another_service_is_told_of_what_waits() {
        let mut board = Board::default();
        [1, 2].into_iter().for_each(|n| waits(&mut board, n));
        raise(&mut board, 7);
        let Raise { key: refused, .. } = board.next_to_raise().unwrap();
        board.failed(refused);
        board.forget_shown();
        assert_eq!([raise(&mut board, 1), raise(&mut board, 2)], [key(1), key(2)]);
        assert_eq!(board.next_to_close(), None, "the old one's ids mean nothing now");
    }

    #[test]
    fn a_list_of_what_waits_settles_the_rest() {
        let mut board = Board::default();
        [1, 2, 3].into_iter().for_each(|n| waits(&mut board, n));
        for id in 7..10 {
            raise(&mut board, id);
        }
        board.only(&BTreeSet::from([key(2)]));
        assert_eq!(
            [board.next_to_close(), board.next_to_close(), board.next_to_close()],
            [Some(7), Some(9), None]
        );
        board.withdraw_all();
        assert_eq!(board.next_to_close(), Some(8));
        assert_eq!(board.next_to_raise().map(|raise| raise.key), Some(key(2)), "it still waits");
    }

    #[test]
    fn what_an_earlier_run_left_is_replaced_or_withdrawn() {
        let mut board = Board::default();
        [1, 2].into_iter().for_each(|n| waits(&mut board, n));
        raise(&mut board, 7);
        board.left_over([(key(1), 3), (key(2), 4), (key(9), 5)]);
        assert_eq!(
            [board.next_to_close(), board.next_to_close(), board.next_to_close()],
            [Some(3), Some(5), None]
        );
        let again = board.next_to_raise().unwrap();
        assert_eq!((again.key, again.replaces), (key(2), Some(4)));
    }
}
