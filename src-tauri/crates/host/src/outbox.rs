//! Brings decisions to the runs and callbacks that wait for them, and again until they were taken.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

use sayso_agent::Incoming;
use sayso_agent::system_time as now;
use sayso_domain::run::Event;
use sayso_domain::{RequestKey, Time};
use sayso_inbox::{Delivery, InboxEvent};
use tokio::sync::broadcast::Receiver;

use crate::host::Host;
use crate::{pause, webhooks};

/// A delivery that was handed over and not acknowledged is handed over again after this.
const AGAIN: Duration = Duration::from_secs(30);
/// Looks for what an event did not tell.
const IDLE: Duration = Duration::from_secs(5);
/// After an answer could not be claimed.
const PAUSE: Duration = Duration::from_secs(1);

pub(crate) async fn run(host: Host) {
    let mut events = host.inbox().events();
    let mut handed_over: HashMap<RequestKey, Instant> = HashMap::new();
    loop {
        handed_over.retain(|_, at| at.elapsed() < AGAIN);
        // What cannot be claimed, as on a full disk, is due at once again.
        let mut least = Duration::ZERO;
        if let Err(error) = host.inbox().claim_due().await {
            tracing::warn!(%error, "answers that were held could not be claimed");
            least = PAUSE;
        }
        match host.inbox().deliveries_due().await {
            Ok(due) => {
                for delivery in due {
                    if let Entry::Vacant(free) = handed_over.entry(delivery.key)
                        && deliver(&host, delivery).await
                    {
                        free.insert(Instant::now());
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "deliveries could not be read"),
        }
        // Never past the moment at which an answer may leave that is held until then.
        let next = host.inbox().next_delivery().await.ok().flatten();
        let wait = next.map_or(IDLE, |at| from_now(at).clamp(least, IDLE));
        tokio::select! {
            () = host.stop_token().cancelled() => return,
            () = settled(&mut events) => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Waits until there may be something to deliver.
async fn settled(events: &mut Receiver<InboxEvent>) {
    while let Ok(
        InboxEvent::Asked(_)
        | InboxEvent::Released(_)
        | InboxEvent::Delivered(_)
        | InboxEvent::Revoked(_)
        | InboxEvent::Snoozed(_),
    ) = events.recv().await
    {}
}

fn from_now(at: Time) -> Duration {
    let millis = at.as_millis().saturating_sub(now().as_millis());
    Duration::from_millis(u64::try_from(millis).unwrap_or_default())
}

/// Hands a decision to its run; whether the run took it. What is due of a sender is posted to its callback; whoever has
/// none fetches its answer.
async fn deliver(host: &Host, delivery: Delivery) -> bool {
    let Some(run) = delivery.run else {
        webhooks::deliver(host, delivery.key, delivery.source);
        // It keeps its own account of what is under way.
        return false;
    };
    // A connection waits for it, and acknowledges it.
    if host.questions().holds(delivery.key) {
        return true;
    }
    pause::at(pause::Point::Decided).await;
    let event = Event::Settled { request: delivery.key, answer: delivery.answer };
    host.runs().offer(host, run, Incoming { event, delivered: Some(delivery.key) })
}
