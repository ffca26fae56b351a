//! Settles what passed its deadline, and wakes what was put off until now. The decision itself never depends on it: at or past a deadline no answer is
//! accepted, even if nothing swept.

use std::time::Duration;

use sayso_agent::system_time as now;
use sayso_inbox::InboxEvent;
use sayso_store::StoreError;
use tokio::sync::broadcast::Receiver;

use crate::host::Host;

/// Wakes at the next deadline or waking; at least this often, since a clock may jump.
const LONGEST: Duration = Duration::from_secs(30);

pub(crate) async fn sweep(host: &Host) -> Result<(), StoreError> {
    host.inbox().expire_due().await?;
    host.inbox().wake_due().await.map(drop)
}

pub(crate) async fn run(host: Host) {
    let mut events = host.inbox().events();
    loop {
        let next = host.inbox().next_change().await.ok().flatten();
        let wait = next.map_or(LONGEST, |at| {
            let millis = at.as_millis().saturating_sub(now().as_millis());
            Duration::from_millis(u64::try_from(millis).unwrap_or(0)).min(LONGEST)
        });
        tokio::select! {
            () = host.stop_token().cancelled() => return,
            () = tokio::time::sleep(wait) => {
                if let Err(error) = sweep(&host).await {
                    tracing::warn!(%error, "what passed its deadline could not be settled or woken");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
            () = changed(&mut events) => {}
        }
    }
}

/// Waits until there may be an earlier moment.
async fn changed(events: &mut Receiver<InboxEvent>) {
    while let Ok(InboxEvent::Settled(..) | InboxEvent::Released(_) | InboxEvent::Delivered(_)) =
        events.recv().await
    {}
}
