use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::way::Way;

/// Who calls: the way to the host as them, and whether their connection is there.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) way: Way,
    /// What tells this caller from others of the same source.
    pub(super) scope: String,
    /// Cancelled when their connection is gone.
    pub(super) left: CancellationToken,
}

/// One call of a tool.
pub(super) struct Call {
    pub(super) caller: Caller,
    cancelled: CancellationToken,
    progress: Option<ProgressToken>,
    peer: Peer<RoleServer>,
    /// Whether the host cannot be reached right now.
    pub(super) is_lost: AtomicBool,
}

impl Call {
    pub(super) fn new(caller: Caller, context: &RequestContext<RoleServer>) -> Self {
        Self {
            caller,
            cancelled: context.ct.clone(),
            progress: context.meta.get_progress_token(),
            peer: context.peer.clone(),
            is_lost: AtomicBool::new(false),
        }
    }

    /// Until nobody waits for the result any more: the call was cancelled, or the connection is gone.
    pub(super) async fn gone(&self) {
        tokio::select! {
            () = self.cancelled.cancelled() => {}
            () = self.caller.left.cancelled() => {}
        }
    }

    /// Tells the caller at once and then with every beat that somebody is being waited for, if it wants to know. Returns
    /// when it cannot be told any more.
    pub(super) async fn tell(&self, beat: Duration) {
        let Some(token) = &self.progress else { return std::future::pending().await };
        let began = Instant::now();
        let mut beats = tokio::time::interval(beat);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut told = 0_u32;
        loop {
            beats.tick().await;
            told = told.saturating_add(1);
            let message = if self.is_lost.load(Ordering::Relaxed) {
                "Sayso cannot be reached right now. What was asked is kept; waiting for it to come back."
                    .to_owned()
            } else {
                format!("Waiting for a person to decide, for {} seconds.", began.elapsed().as_secs())
            };
            let progress = ProgressNotificationParam::new(token.clone(), told.into()).with_message(message);
            if self.peer.notify_progress(progress).await.is_err() {
                return;
            }
        }
    }
}
