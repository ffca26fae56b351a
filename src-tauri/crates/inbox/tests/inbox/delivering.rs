use sayso_domain::ToolResult;
use sayso_domain::run::{Limit, Status};
use sayso_inbox::InboxEvent;
use sayso_store::deliveries::{self, DeliveryState};

use super::world::{World, approval, at};

#[tokio::test]
async fn a_delivery_is_due_again_until_it_is_acknowledged_and_is_acknowledged_once() {
    let mut world = World::new().await;
    let key = world.ask_gate(0).await;
    world.inbox.decide(key, world.yes(key, None).await).await.unwrap();
    assert_eq!(world.event(), Some(InboxEvent::Settled(key, sayso_domain::Outcome::Approved)));
    for attempts in 0..5 {
        let due = world.inbox.deliveries_due().await.unwrap();
        assert_eq!((due.len(), due[0].key, due[0].attempts), (1, key, attempts));
        let retry = at(10 * (i64::from(attempts) + 1));
        assert!(world.inbox.delivery_failed(key, "no route", retry).await.unwrap());
        assert!(world.inbox.deliveries_due().await.unwrap().is_empty());
        assert_eq!(world.inbox.next_delivery().await.unwrap(), Some(retry));
        world.wait_until(10 * (i64::from(attempts) + 1));
    }
    assert!(world.inbox.delivered(key).await.unwrap());
    assert!(!world.inbox.delivered(key).await.unwrap());
    assert_eq!(world.event(), Some(InboxEvent::Delivered(key)));
    assert_eq!(world.event(), None);
    assert!(world.inbox.deliveries_due().await.unwrap().is_empty());
    assert_eq!(world.inbox.next_delivery().await.unwrap(), None);
    let entries = world.entries(key).await;
    assert_eq!(entries.len(), 2);
    assert_eq!((entries[1].field("state"), entries[1].field("attempts")), (Some("delivered"), Some("5")));
}

/// What acknowledges is the taker's own commit: if that fails, the answer is delivered again.
#[tokio::test]
async fn an_acknowledgement_that_is_rolled_back_leaves_the_delivery_waiting() {
    let mut world = World::new().await;
    let key = world.ask_gate(0).await;
    world.inbox.decide(key, world.yes(key, None).await).await.unwrap();
    let inbox = world.inbox.clone();
    let failed = world.store.write(move |tx| {
        assert!(inbox.delivered_in(tx, key)?);
        Err::<(), _>(sayso_store::StoreError::Conflict)
    });
    assert!(failed.await.is_err());
    assert_eq!(world.inbox.deliveries_due().await.unwrap().len(), 1);
    assert_eq!(world.entries(key).await.len(), 1);
}

#[tokio::test]
async fn what_nobody_waits_for_is_undeliverable_once() {
    let mut world = World::new().await;
    let key = world.ask(approval("r")).await;
    world.inbox.decide(key, world.yes(key, None).await).await.unwrap();
    let inbox = world.inbox.clone();
    let ended = world.store.write(move |tx| {
        let why = "the caller is gone";
        Ok((
            inbox.undeliverable_in(tx, key, why)?,
            inbox.undeliverable_in(tx, key, why)?,
            inbox.delivered_in(tx, key)?,
        ))
    });
    assert_eq!(ended.await.unwrap(), (true, false, false));
    let row = world.store.read(move |reader| deliveries::get(reader, key)).await.unwrap().unwrap();
    assert_eq!(
        (row.state, row.last_error.as_deref()),
        (DeliveryState::Undeliverable, Some("the caller is gone"))
    );
    assert_eq!(world.entries(key).await[1].field("error"), Some("the caller is gone"));
}

#[tokio::test]
async fn effect_and_end_of_the_run_follow_the_decision_in_the_ledger() {
    let mut world = World::new().await;
    let key = world.ask_gate(0).await;
    let unsettled = world.ask_gate(1).await;
    world.inbox.decide(key, world.yes(key, None).await).await.unwrap();
    let (inbox, run) = (world.inbox.clone(), world.run);
    let done = world.store.write(move |tx| {
        inbox.delivered_in(tx, key)?;
        inbox.effect_in(tx, key, &ToolResult::error("make: no rule"))?;
        // There is no decision that it could be the effect of.
        inbox.effect_in(tx, unsettled, &ToolResult::ok("x"))?;
        inbox.run_ended_in(tx, run, &Status::Incomplete(Limit::MaxTurns))?;
        inbox.run_ended_in(tx, run, &Status::Error("later".to_owned()))
    });
    done.await.unwrap();
    let entries = world.entries(key).await;
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).collect();
    assert_eq!(kinds, ["decision", "delivery", "effect", "run_end"]);
    assert_eq!(
        (entries[2].field("output"), entries[2].field("is_error")),
        (Some("make: no rule"), Some("true"))
    );
    assert_eq!(
        (entries[3].field("status"), entries[3].field("detail")),
        (Some("incomplete"), Some("maxTurns"))
    );
    assert!(world.entries(unsettled).await.is_empty());
}
