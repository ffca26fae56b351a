use std::sync::Arc;

use sayso_domain::{Outcome, RequestState, Surface};
use sayso_inbox::{DecideError, InboxEvent, Verdict};
use sayso_store::{history, ledger, verdicts};
use tokio::sync::Barrier;

use super::world::{World, approval, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_surfaces_race_50_times_one_wins_and_the_other_is_told_who_was_first() {
    let mut world = World::new().await;
    for round in 0..50 {
        let key = world.ask(approval(&format!("r{round}"))).await;
        let start = Arc::new(Barrier::new(2));
        let yes = Verdict { surface: Surface::Window, ..world.yes(key, None).await };
        let no = Verdict { surface: Surface::Browser, ..world.no(key, "no").await };
        let decide = |verdict| {
            let (inbox, start) = (world.inbox.clone(), start.clone());
            async move {
                start.wait().await;
                inbox.decide(key, verdict).await
            }
        };
        let (yes, no) = tokio::join!(decide(yes), decide(no));
        let (won, lost) = match (yes, no) {
            (Ok(won), Err(lost)) | (Err(lost), Ok(won)) => (won, lost),
            other => panic!("round {round}: {other:?}"),
        };
        let DecideError::AlreadyDecided(first) = lost else { panic!("round {round}: {lost}") };
        assert_eq!(*first, won, "round {round}");
        assert_eq!(world.state(key).await, RequestState::Settled(won.settlement.outcome));
        let verdicts = world.store.read(move |reader| verdicts::of_request(reader, key)).await.unwrap();
        assert_eq!((verdicts.len(), verdicts[0].surface), (1, won.surface));
        assert_eq!(world.event(), Some(InboxEvent::Settled(key, won.settlement.outcome)));
        assert_eq!(world.event(), None);
    }
    let read = world.store.read(|reader| {
        Ok((ledger::verify(reader)?, history::list(reader, &history::HistoryQuery::default())?))
    });
    let (verified, decisions) = read.await.unwrap();
    assert_eq!((verified.ok, verified.entries, decisions.len()), (true, 50, 50));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_approval_and_the_sweeper_race_at_the_deadline_and_it_expires() {
    let mut world = World::new().await;
    for round in 0..20 {
        world.wait_until(0);
        let key = world.ask(until(approval(&format!("r{round}")), 60)).await;
        let yes = world.yes(key, None).await;
        world.wait_until(60);
        let (swept, decided) = tokio::join!(world.inbox.expire_due(), world.inbox.decide(key, yes));
        let DecideError::Late(decided) = decided.unwrap_err() else { panic!("round {round}") };
        assert_eq!(decided.settlement.outcome, Outcome::Expired);
        assert!(swept.unwrap().len() <= 1);
        assert_eq!(world.event(), Some(InboxEvent::Settled(key, Outcome::Expired)));
        assert_eq!(world.event(), None, "round {round}: told once");
    }
    assert_eq!(world.entry_count().await, 20);
}
