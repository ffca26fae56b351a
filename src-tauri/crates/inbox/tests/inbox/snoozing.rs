use sayso_domain::{Outcome, RequestState};
use sayso_inbox::{InboxEvent, SnoozeError};
use sayso_store::waiting;

use super::world::{World, approval, at, until};

const DAY: i64 = 24 * 60 * 60;

async fn snoozed(world: &World, seconds: i64) -> u32 {
    world.store.read(move |reader| waiting::count_snoozed(reader, at(seconds))).await.unwrap()
}

#[tokio::test]
async fn what_is_put_off_wakes_at_its_time_and_is_announced_then() {
    let mut world = World::new().await;
    let key = world.ask(approval("r")).await;
    world.inbox.snooze(key, Some(at(60))).await.unwrap();
    assert_eq!(world.event(), Some(InboxEvent::Snoozed(key)));
    assert_eq!((snoozed(&world, 0).await, snoozed(&world, 60).await), (1, 0));
    assert_eq!(world.inbox.next_change().await.unwrap(), Some(at(60)));
    world.wait_until(59);
    assert!(world.inbox.wake_due().await.unwrap().is_empty());
    world.wait_until(60);
    assert_eq!(world.inbox.wake_due().await.unwrap(), [key]);
    assert_eq!(world.event(), Some(InboxEvent::Snoozed(key)));
    assert!(world.inbox.wake_due().await.unwrap().is_empty(), "once");
    assert_eq!(world.inbox.next_change().await.unwrap(), None);

    world.inbox.snooze(key, Some(at(120))).await.unwrap();
    world.inbox.snooze(key, None).await.unwrap();
    assert_eq!(snoozed(&world, 61).await, 0, "woken by hand");
}

#[tokio::test]
async fn what_is_put_off_can_be_decided_and_still_expires() {
    let mut world = World::new().await;
    let (decided, expires) = (world.ask(approval("d")).await, world.ask(until(approval("e"), 30)).await);
    world.inbox.snooze(decided, Some(at(60))).await.unwrap();
    world.inbox.snooze(expires, Some(at(30))).await.unwrap();
    world.inbox.decide(decided, world.yes(decided, None).await).await.unwrap();
    world.wait_until(30);
    assert_eq!(world.inbox.expire_due().await.unwrap(), [expires]);
    assert_eq!(world.state(expires).await, RequestState::Settled(Outcome::Expired));
    assert!(world.inbox.wake_due().await.unwrap().is_empty(), "neither waits");
    assert_eq!(world.inbox.snooze(decided, Some(at(90))).await, Err(SnoozeError::Settled(Outcome::Approved)));
}

#[tokio::test]
async fn nothing_is_put_off_past_its_deadline_nor_into_the_past_nor_for_ever() {
    let mut world = World::new().await;
    let (key, endless) = (world.ask(until(approval("r"), 100)).await, world.ask(approval("n")).await);
    for (key, seconds, expected) in [
        (key, 101, Err(SnoozeError::PastDeadline(at(100)))),
        (key, 0, Err(SnoozeError::Past(at(0)))),
        (key, -1, Err(SnoozeError::Past(at(-1)))),
        (endless, 30 * DAY + 1, Err(SnoozeError::TooFar)),
        (endless, 30 * DAY, Ok(())),
        (key, 100, Ok(())),
    ] {
        assert_eq!(world.inbox.snooze(key, Some(at(seconds))).await, expected, "{seconds}");
    }
}
