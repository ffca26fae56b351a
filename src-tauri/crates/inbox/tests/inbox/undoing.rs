use std::sync::Arc;

use sayso_domain::{Cause, DecidedBy, Outcome, RequestKey, RequestState, Surface};
use sayso_inbox::{DecideError, InboxEvent, UndoError};
use sayso_store::deliveries::{self, DeliveryState};
use sayso_store::request_events::{self, EventKind};
use sayso_store::{requests, verdicts};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::world::{World, approval, at, until};

async fn due(world: &World) -> Vec<RequestKey> {
    world.inbox.claim_due().await.unwrap();
    world.inbox.deliveries_due().await.unwrap().into_iter().map(|delivery| delivery.key).collect()
}

/// What whoever asked was told, in order.
async fn told(world: &World, key: RequestKey) -> Vec<EventKind> {
    let read = world.store.read(move |reader| {
        let source = requests::get(reader, key)?.unwrap().source;
        request_events::after(reader, source, 0, 100)
    });
    read.await.unwrap().into_iter().map(|event| event.kind).collect()
}

#[tokio::test]
async fn a_decision_is_held_until_its_time_and_not_longer() {
    let mut world = World::new().await;
    let key = world.ask_gate(0).await;
    let decided = world.inbox.decide(key, world.held_yes(key).await).await.unwrap();
    assert_eq!(decided.undo_until, Some(at(3)));
    assert_eq!(world.state(key).await, RequestState::Settled(Outcome::Approved));
    for seconds in [0, 1, 2] {
        world.wait_until(seconds);
        assert!(due(&world).await.is_empty(), "after {seconds} s");
        assert_eq!(world.inbox.next_delivery().await.unwrap(), Some(at(3)));
    }
    world.wait_until(3);
    assert_eq!(due(&world).await, [key]);
    assert_eq!(world.inbox.undo(key, Surface::Window).await, Err(UndoError::TooLate));
    let again = world.inbox.decide(key, world.yes(key, None).await).await.unwrap_err();
    let DecideError::AlreadyDecided(first) = again else { panic!("{again}") };
    assert_eq!(first.undo_until, None);
}

#[tokio::test]
async fn what_was_taken_back_waits_again_with_its_deadline_and_the_ledger_has_both() {
    let mut world = World::new().await;
    let key = world.ask(until(approval("r"), 60)).await;
    world.inbox.decide(key, world.held_yes(key).await).await.unwrap();
    world.wait_until(1);
    world.inbox.undo(key, Surface::Browser).await.unwrap();
    assert_eq!(world.state(key).await, RequestState::Pending);
    let row = world.store.read(move |reader| requests::get(reader, key)).await.unwrap().unwrap();
    assert_eq!(row.shown.request.expires_at, Some(at(60)));
    assert_eq!(world.inbox.next_change().await.unwrap(), Some(at(60)), "the deadline is as it was");
    assert_eq!(world.inbox.undo(key, Surface::Window).await, Err(UndoError::StillWaits));
    world.wait_until(10);
    assert!(due(&world).await.is_empty(), "nothing is left to deliver");

    world.inbox.decide(key, world.no(key, "not today").await).await.unwrap();
    assert_eq!(due(&world).await, [key]);
    let entries = world.entries(key).await;
    let kinds: Vec<_> = entries.iter().map(|entry| (entry.kind.as_str(), entry.field("outcome"))).collect();
    assert_eq!(kinds, [("decision", Some("approved")), ("revoked", None), ("decision", Some("declined"))]);
    assert_eq!(entries[1].field("decision"), Some(entries[0].seq.to_string().as_str()));
    assert_eq!(entries[1].field("surface"), Some("browser"));
    let said = world.store.read(move |reader| verdicts::of_request(reader, key)).await.unwrap();
    assert_eq!(said.len(), 2, "both were said");
    let events: Vec<_> = std::iter::from_fn(|| world.event()).collect();
    assert_eq!(
        events,
        [
            InboxEvent::Settled(key, Outcome::Approved),
            InboxEvent::Revoked(key),
            InboxEvent::Settled(key, Outcome::Declined)
        ]
    );
}

#[tokio::test]
async fn nobody_is_told_of_a_decision_that_can_be_taken_back() {
    let mut world = World::new().await;
    let key = world.ask(approval("r")).await;
    world.inbox.decide(key, world.held_yes(key).await).await.unwrap();
    assert_eq!(told(&world, key).await, [EventKind::Asked]);
    world.inbox.undo(key, Surface::Window).await.unwrap();
    assert_eq!(told(&world, key).await, [EventKind::Asked]);
    world.inbox.decide(key, world.held_yes(key).await).await.unwrap();
    world.wait_until(3);
    assert_eq!(world.inbox.claim_due().await.unwrap(), [key]);
    assert!(world.inbox.claim_due().await.unwrap().is_empty(), "claimed once");
    assert!(world.inbox.delivered(key).await.unwrap());
    assert_eq!(told(&world, key).await, [EventKind::Asked, EventKind::Settled, EventKind::Delivered]);
}

/// Of the person who takes a decision back and the delivery that claims it, one wins, each time and never both.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn undo_and_claim_race_200_times_and_exactly_one_wins() {
    let world = World::new().await;
    let mut undone = 0;
    for round in 0..200 {
        let new = world.new_request(approval(&format!("r{round}")));
        let key = new.key;
        world.inbox.ask(new).await.unwrap();
        world.wait_until(10 * round);
        world.inbox.decide(key, world.held_yes(key).await).await.unwrap();
        world.wait_until(10 * round + 3);
        let start = Arc::new(Barrier::new(2));
        let (inbox, gate) = (world.inbox.clone(), start.clone());
        let (mut undoing, mut claiming) = (JoinSet::new(), JoinSet::new());
        undoing.spawn(async move {
            gate.wait().await;
            inbox.undo(key, Surface::Window).await
        });
        let (inbox, gate) = (world.inbox.clone(), start.clone());
        claiming.spawn(async move {
            gate.wait().await;
            inbox.claim_due().await
        });
        let undo = undoing.join_next().await.unwrap().unwrap();
        let claimed = claiming.join_next().await.unwrap().unwrap().unwrap();
        let delivery = world.store.read(move |reader| deliveries::get(reader, key)).await.unwrap();
        match undo {
            Ok(()) => {
                undone += 1;
                assert!(claimed.is_empty(), "round {round}: both won");
                assert_eq!(world.state(key).await, RequestState::Pending, "round {round}");
                assert_eq!(delivery, None, "round {round}");
                world.inbox.cancel(key, Cause::CallerGone, DecidedBy::Source).await.unwrap();
            }
            Err(UndoError::TooLate) => {
                assert_eq!(claimed, [key], "round {round}: nobody won");
                assert_eq!(world.state(key).await, RequestState::Settled(Outcome::Approved));
                assert_eq!(delivery.unwrap().claimed_at, Some(at(10 * round + 3)));
            }
            Err(other) => panic!("round {round}: {other}"),
        }
    }
    println!("taken back {undone} of 200 times");
    // Each cancelled one has one entry more, and each that was taken back one more.
    assert_eq!(world.entry_count().await, 200 + 2 * undone);
}

#[tokio::test]
async fn a_deadline_that_passes_while_a_decision_is_held_changes_nothing_and_nobody_takes_it_back_after_it() {
    let mut world = World::new().await;
    let key = world.ask(until(approval("r"), 2)).await;
    world.wait_until(1);
    world.inbox.decide(key, world.held_yes(key).await).await.unwrap();
    world.wait_until(2);
    assert!(world.inbox.expire_due().await.unwrap().is_empty());
    assert_eq!(world.inbox.undo(key, Surface::Window).await, Err(UndoError::Expired));
    assert_eq!(world.state(key).await, RequestState::Settled(Outcome::Approved), "it was in time");
    world.wait_until(4);
    assert_eq!(world.inbox.claim_due().await.unwrap(), [key]);
}

#[tokio::test]
async fn only_a_persons_decision_is_taken_back() {
    let mut world = World::new().await;
    let (expired, cancelled) = (world.ask(until(approval("e"), 5)).await, world.ask(approval("c")).await);
    world.wait_until(5);
    world.inbox.expire_due().await.unwrap();
    world.inbox.cancel(cancelled, Cause::CallerGone, DecidedBy::Source).await.unwrap();
    for key in [expired, cancelled] {
        assert_eq!(world.inbox.undo(key, Surface::Window).await, Err(UndoError::TooLate));
    }
    while world.event().is_some() {}
    let at_once = world.ask(approval("a")).await;
    world.inbox.decide(at_once, world.yes(at_once, None).await).await.unwrap();
    assert_eq!(world.inbox.undo(at_once, Surface::Cli).await, Err(UndoError::TooLate), "it was never held");
}

/// Whoever asked may go while a decision is held: the decision stands, and its answer goes nowhere.
#[tokio::test]
async fn a_held_decision_is_never_cancelled_and_one_that_nobody_waits_for_is_dropped() {
    let mut world = World::new().await;
    let key = world.ask_gate(0).await;
    world.inbox.decide(key, world.held_yes(key).await).await.unwrap();
    assert!(!world.inbox.cancel(key, Cause::RunStopped, DecidedBy::Stop).await.unwrap());
    let inbox = world.inbox.clone();
    let dropped = world.store.write(move |tx| {
        Ok((inbox.drop_held_in(tx, key, "the run no longer waits")?, inbox.drop_held_in(tx, key, "again")?))
    });
    assert_eq!(dropped.await.unwrap(), (true, false));
    assert_eq!(world.inbox.undo(key, Surface::Window).await, Err(UndoError::TooLate));
    assert_eq!(world.state(key).await, RequestState::Settled(Outcome::Approved));
    let row = world.store.read(move |reader| deliveries::get(reader, key)).await.unwrap().unwrap();
    assert_eq!(row.state, DeliveryState::Undeliverable);
    world.wait_until(4);
    assert!(due(&world).await.is_empty());
}

#[tokio::test]
async fn a_decision_that_vanished_without_being_taken_back_is_found() {
    let mut world = World::new().await;
    let key = world.ask(approval("r")).await;
    world.inbox.decide(key, world.held_yes(key).await).await.unwrap();
    world.change("DELETE FROM deliveries");
    world.change("DELETE FROM settlements");
    world.change("UPDATE requests SET state = 'pending'");
    let found = world.store.read(|reader| sayso_store::ledger::verify(reader)).await.unwrap();
    assert_eq!((found.ok, found.entry), (false, Some(1)));
}
