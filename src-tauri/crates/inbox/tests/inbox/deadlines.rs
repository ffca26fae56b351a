use sayso_domain::{DecidedBy, Outcome, RequestState};
use sayso_inbox::{DecideError, InboxEvent};

use super::world::{World, approval, at, until};

/// Tells a story of a request with a deadline at 60 s, in steps; says how it ended.
async fn check(story: &str, expected: &str) {
    let mut world = World::new().await;
    let key = world.ask(until(approval("r"), 60)).await;
    let mut told = Vec::new();
    for step in story.split("; ") {
        match step.split_once(' ').unwrap_or((step, "")) {
            ("wait", seconds) => world.wait_until(seconds.parse().unwrap()),
            ("sweep", _) => told.push(format!("{} expired", world.inbox.expire_due().await.unwrap().len())),
            (word @ ("approve" | "deny"), _) => {
                let verdict = match word {
                    "approve" => world.yes(key, None).await,
                    _ => world.no(key, "no").await,
                };
                told.push(match world.inbox.decide(key, verdict).await {
                    Ok(decided) => decided.settlement.outcome.to_string(),
                    Err(DecideError::Late(decided)) => {
                        assert_eq!((decided.by, decided.surface), (DecidedBy::Deadline, None));
                        "late".to_owned()
                    }
                    Err(DecideError::AlreadyDecided(_)) => "already".to_owned(),
                    Err(error) => panic!("{error}"),
                });
            }
            (word, _) => panic!("{word}"),
        }
    }
    assert_eq!(told.join(", "), expected, "{story}");
    let entries = world.entries(key).await;
    let settled = matches!(world.state(key).await, RequestState::Settled(_));
    assert_eq!(entries.len(), usize::from(settled), "{story}: it settles at most once");
}

#[tokio::test]
async fn contract_13_at_or_after_the_deadline_nothing_is_approved() {
    check("wait 59; approve", "approved").await;
    check("wait 60; approve", "late").await;
    check("wait 61; approve; approve", "late, late").await;
    check("wait 61; deny", "late").await;
    check("wait 60; sweep; approve", "1 expired, late").await;
    check("wait 59; sweep; approve", "0 expired, approved").await;
    check("wait 59; deny; wait 61; sweep; approve", "declined, 0 expired, already").await;
    check("wait 99; sweep; sweep", "1 expired, 0 expired").await;
}

#[tokio::test]
async fn contract_13_a_late_approval_expires_the_request_in_its_own_commit_and_says_so() {
    let mut world = World::new().await;
    let key = world.ask(until(approval("r"), 60)).await;
    world.wait_until(61);
    let error = world.inbox.decide(key, world.yes(key, None).await).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("deadline") && text.contains("2026-01-01T12:01:01.000Z"), "{text}");
    assert_eq!(world.state(key).await, RequestState::Settled(Outcome::Expired));
    assert_eq!(world.event(), Some(InboxEvent::Settled(key, Outcome::Expired)));
    let due = world.inbox.deliveries_due().await.unwrap();
    assert_eq!((due[0].answer.is_ok(), due[0].answer.reason()), (false, Some("expired")));
}

#[tokio::test]
async fn the_sweeper_takes_all_that_is_due_and_knows_the_next_change() {
    let mut world = World::new().await;
    assert_eq!(world.inbox.next_change().await.unwrap(), None);
    let mut keys = Vec::new();
    for (id, seconds) in [("a", 30), ("b", 10), ("c", 20)] {
        keys.push(world.ask(until(approval(id), seconds)).await);
    }
    world.ask(approval("never")).await;
    assert_eq!(world.inbox.next_change().await.unwrap(), Some(at(10)));
    world.wait_until(20);
    assert_eq!(world.inbox.expire_due().await.unwrap(), [keys[1], keys[2]]);
    assert_eq!(world.event(), Some(InboxEvent::Settled(keys[1], Outcome::Expired)));
    assert_eq!(world.event(), Some(InboxEvent::Settled(keys[2], Outcome::Expired)));
    assert_eq!(world.inbox.next_change().await.unwrap(), Some(at(30)));
    world.wait_until(30);
    assert_eq!(world.inbox.expire_due().await.unwrap(), [keys[0]]);
    assert_eq!(world.inbox.next_change().await.unwrap(), None);
}
