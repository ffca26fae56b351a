use super::*;

const MINUTES: u8 = 5;

fn key(n: u8) -> RequestKey {
    format!("0198c0de-0000-7000-8000-0000000000{n:02x}").parse().unwrap()
}

fn at(minute: i64) -> Time {
    Time::from_millis(minute * MINUTE)
}

/// A board and a clock that stands still until it is told.
struct Stage {
    board: Board,
    now: Instant,
    minute: i64,
}

impl Stage {
    fn with(keys: impl IntoIterator<Item = u8>) -> Self {
        let mut stage = Self { board: Board::default(), now: Instant::now(), minute: 0 };
        keys.into_iter().for_each(|n| stage.waits(n));
        stage
    }

    fn waits(&mut self, n: u8) {
        self.board.waits(key(n), None);
    }

    fn next(&mut self) -> Option<Raise> {
        self.board.next_to_raise(self.now)
    }

    /// Raises the next one as this number, with buttons that are called after it.
    fn raise(&mut self, id: u32) -> RequestKey {
        let Some(Raise::Request { key, .. }) = self.next() else { panic!("nothing to raise") };
        self.show(key, id);
        key
    }

    fn show(&mut self, key: RequestKey, id: u32) {
        let buttons = Buttons {
            open: format!("open-{id}"),
            approve: Some(format!("approve-{id}")),
            deny: Some(format!("deny-{id}")),
        };
        let shown = Shown { id, buttons, digest: format!("digest-{id}"), at: self.now };
        self.board.shown(key, shown, at(self.minute));
    }

    /// So much later, when what is called so is clicked.
    fn click(&mut self, after: Duration, id: u32, action: &str) -> Option<Click> {
        self.now += after;
        self.board.clicked(id, action, self.now)
    }

    fn closing(&mut self) -> Vec<u32> {
        std::iter::from_fn(|| self.board.next_to_close()).collect()
    }
}

fn request(n: u8, replaces: Option<u32>) -> Option<Raise> {
    Some(Raise::Request { key: key(n), replaces, reminds: false, is_known: replaces.is_some() })
}

fn summary(count: usize, more: bool, replaces: Option<u32>) -> Option<Raise> {
    Some(Raise::Summary { count, more, replaces })
}

#[test]
fn every_request_is_raised_once_the_oldest_first() {
    let mut stage = Stage::with([3, 1, 2, 1]);
    assert_eq!([stage.raise(7), stage.raise(8), stage.raise(9)], [key(1), key(2), key(3)]);
    stage.waits(2);
    assert_eq!(stage.next(), None, "said again, raised once");
}

#[test]
fn what_settles_is_withdrawn_once() {
    let mut stage = Stage::with([1, 2]);
    stage.raise(7);
    [1, 1, 2].into_iter().for_each(|n| stage.board.settled(key(n)));
    assert_eq!(stage.closing(), [7]);
    assert_eq!(stage.next(), None, "settled before it was raised");
}

#[test]
fn what_settles_while_the_service_is_slow_leaves_no_ghost() {
    let mut stage = Stage::with([1]);
    assert_eq!(stage.next(), request(1, None));
    stage.board.settled(key(1));
    stage.show(key(1), 7);
    assert_eq!(stage.closing(), [7]);
    // And where it took the place of another one and the service did not take it.
    stage.waits(2);
    stage.raise(8);
    stage.board.say_anew();
    let again = stage.next().unwrap();
    assert_eq!(Some(again), request(2, Some(8)));
    stage.board.settled(key(2));
    stage.board.failed(&again);
    assert_eq!(stage.closing(), [8]);
}

#[test]
fn a_click_opens_or_decides_its_own_request_and_nothing_else_does() {
    let mut stage = Stage::with([1, 2]);
    stage.raise(7);
    stage.raise(8);
    assert_eq!(stage.click(Duration::ZERO, 8, "default"), Some(Click::Open(key(2))));
    assert_eq!(stage.click(Duration::ZERO, 8, "open-8"), Some(Click::Open(key(2))));
    for (id, action) in [(8, "approve-7"), (8, "approve"), (8, ""), (9, "default"), (7, "open-8")] {
        assert_eq!(stage.click(GUARD, id, action), None, "{id} {action}");
    }
    let decide = |n: u8, id: u32, ok| Some(Click::Decide { key: key(n), ok, digest: format!("digest-{id}") });
    assert_eq!(stage.click(GUARD, 8, "approve-8"), decide(2, 8, true));
    assert_eq!(stage.click(GUARD, 8, "approve-8"), None, "a click decides once");
    assert_eq!(stage.click(GUARD, 7, "deny-7"), decide(1, 7, false));
    assert_eq!(stage.next(), None);
}

#[test]
fn a_click_right_after_a_notification_came_up_decides_nothing_and_shows_it_anew() {
    let mut stage = Stage::with([1]);
    stage.raise(7);
    assert_eq!(stage.click(GUARD - Duration::from_millis(1), 7, "approve-7"), None);
    assert_eq!(stage.closing(), [7]);
    stage.raise(8);
    assert_eq!(stage.click(GUARD, 8, "approve-7"), None, "the old name means nothing now");
    assert!(stage.click(GUARD, 8, "approve-8").is_some());
}

#[test]
fn a_click_that_comes_late_says_that_it_is_settled() {
    let mut stage = Stage::with([1]);
    stage.raise(7);
    stage.board.settled(key(1));
    for action in ["approve-7", "deny-7", "open-7", "default"] {
        assert_eq!(stage.click(GUARD, 7, action), Some(Click::Settled(key(1))), "{action}");
    }
    assert_eq!(stage.click(GUARD, 7, "approve-8"), None);
    stage.board.closed(7);
    assert!(!stage.board.knows(7));
}

#[test]
fn what_a_person_put_away_stays_away() {
    let mut stage = Stage::with([1]);
    stage.raise(7);
    stage.board.closed(7);
    stage.waits(1);
    stage.board.forget_shown();
    assert_eq!(stage.next(), None);
    stage.board.settled(key(1));
    assert_eq!(stage.closing(), [] as [u32; 0], "nothing is left to withdraw");
}

#[test]
fn another_service_is_told_of_what_waits() {
    let mut stage = Stage::with([1, 2]);
    stage.raise(7);
    let refused = stage.next().unwrap();
    stage.board.failed(&refused);
    stage.board.forget_shown();
    assert_eq!([stage.raise(1), stage.raise(2)], [key(1), key(2)]);
    assert_eq!(stage.closing(), [] as [u32; 0], "the old one's ids mean nothing now");
}

#[test]
fn a_list_of_what_waits_settles_the_rest() {
    let mut stage = Stage::with([1, 2, 3]);
    for id in 7..10 {
        stage.raise(id);
    }
    stage.board.only(&BTreeSet::from([key(2)]));
    assert_eq!(stage.closing(), [7, 9]);
    stage.board.withdraw_all();
    assert_eq!(stage.closing(), [8]);
    assert_eq!(stage.next(), request(2, None), "it still waits");
}

#[test]
fn what_an_earlier_run_left_is_replaced_or_withdrawn() {
    let mut stage = Stage::with([1, 2]);
    stage.raise(7);
    stage.board.left_over([(key(1), 3), (key(2), 4), (key(9), 5)], Some(6));
    assert_eq!(stage.closing(), [3, 5, 6]);
    let Some(Raise::Request { key: again, replaces, .. }) = stage.next() else { panic!("nothing to raise") };
    assert_eq!((again, replaces), (key(2), Some(4)));
}

#[test]
fn a_flood_is_one_notification_beyond_the_first_few() {
    let mut stage = Stage::with(1..=40);
    for id in 1..=5 {
        stage.raise(id);
    }
    assert_eq!(stage.next(), summary(35, true, None));
    stage.board.summary_shown(6);
    assert_eq!(stage.click(Duration::ZERO, 6, "default"), Some(Click::Inbox));
    assert_eq!(stage.click(Duration::ZERO, 6, "approve-1"), None);
    stage.waits(41);
    assert_eq!(stage.next(), None, "its number is set right at a pace");
    stage.now = stage.board.wake_at().unwrap();
    assert_eq!(stage.next(), summary(36, true, Some(6)));
    stage.board.summary_shown(6);
    stage.now += BURST;
    stage.waits(42);
    assert_eq!(stage.raise(7), key(42), "the flood is over");
    (6..=41).for_each(|n| stage.board.settled(key(n)));
    assert_eq!(stage.closing(), [6], "the last of them is settled");
}

#[test]
fn what_waited_while_notifications_were_held_back_is_told_after() {
    let mut stage = Stage::with([1, 2, 3]);
    stage.board.hold();
    assert_eq!([stage.raise(1), stage.raise(2), stage.raise(3)], [key(1), key(2), key(3)], "each, if few");
    stage.board.hold();
    (4..=7).for_each(|n| stage.waits(n));
    stage.board.settled(key(5));
    stage.waits(8);
    assert_eq!(stage.next(), summary(4, true, None), "more are one; what was told before is not told again");
    let mut alone = Stage::with(1..=9);
    alone.board.hold();
    assert_eq!(alone.next(), summary(9, false, None));
}

#[test]
fn a_deadline_is_reminded_of_once_in_the_same_place() {
    let mut stage = Stage::with([]);
    stage.board.waits(key(1), Some(at(60)));
    stage.raise(7);
    assert_eq!(stage.board.next_reminder(MINUTES), Some(at(55)));
    assert_eq!(stage.board.next_reminder(0), None);
    stage.board.remind(at(54), MINUTES);
    assert_eq!(stage.next(), None);
    stage.board.remind(at(55), MINUTES);
    let reminder = Raise::Request { key: key(1), replaces: Some(7), reminds: true, is_known: true };
    assert_eq!(stage.next(), Some(reminder));
    stage.show(key(1), 7);
    stage.board.remind(at(56), MINUTES);
    assert_eq!(stage.next(), None, "once");
    let approved = Click::Decide { key: key(1), ok: true, digest: "digest-7".to_owned() };
    assert_eq!(stage.click(GUARD, 7, "approve-7"), Some(approved));
}

#[test]
fn a_deadline_that_was_near_when_the_person_was_told_is_not_reminded_of() {
    let mut stage = Stage::with([]);
    stage.minute = 2;
    stage.board.waits(key(1), Some(at(6)));
    stage.raise(7);
    stage.board.remind(at(3), MINUTES);
    assert_eq!(stage.next(), None);
    // Nor is one of which nobody was told yet: its first notification will do. Nor one that has passed.
    stage.board.waits(key(2), Some(at(60)));
    stage.board.remind(at(56), MINUTES);
    let first = Raise::Request { key: key(2), replaces: None, reminds: false, is_known: false };
    assert_eq!(stage.next(), Some(first));
    stage.show(key(2), 8);
    stage.board.waits(key(3), Some(at(70)));
    stage.raise(9);
    stage.board.remind(at(71), MINUTES);
    assert_eq!(stage.next(), None);
}

#[test]
fn what_was_put_away_comes_back_before_its_deadline() {
    let mut stage = Stage::with([]);
    stage.board.waits(key(1), Some(at(60)));
    stage.raise(7);
    stage.board.closed(7);
    stage.board.remind(at(55), MINUTES);
    assert_eq!(
        stage.next(),
        Some(Raise::Request { key: key(1), replaces: None, reminds: true, is_known: true })
    );
}

#[test]
fn what_may_be_said_no_longer_is_replaced_in_its_place() {
    let mut stage = Stage::with([1, 2]);
    stage.raise(7);
    stage.raise(8);
    stage.board.closed(8);
    stage.board.say_anew();
    assert_eq!(stage.click(GUARD, 7, "approve-7"), None, "the old buttons mean nothing from here on");
    assert_eq!(stage.next(), request(1, Some(7)));
    assert_eq!(stage.next(), None, "what the person put away is not shown again");
}
