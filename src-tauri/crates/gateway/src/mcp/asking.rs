//! Putting one request into the inbox and waiting for what becomes of it.

use std::time::Duration;

use sayso_domain::{Answer, Request};
use tokio::time::Instant;

use super::call::Call;
use super::failed::{Failed, Why};

/// How long taking a request back may take before it is left to wait.
const WITHDRAWING: Duration = Duration::from_secs(3);
/// A decision can be taken back for ten seconds at most; then it is known.
const DECIDING: Duration = Duration::from_secs(15);
/// How long to pause before another try of that.
const PAUSE: Duration = Duration::from_millis(100);

/// How waiting ended.
pub(super) enum Ended {
    /// With an answer.
    Answered(Answer),
    /// Before anybody was asked.
    NotAsked(Failed),
    /// Without an answer.
    Failed(Failed),
    /// Nobody waits for the result any more.
    Gone,
}

/// Asks for one call alone: what is not waited for any more is taken back.
pub(super) async fn ask(call: &Call, request: &Request, beat: Duration) -> Ended {
    let ended = put_and_wait(call, request, beat).await;
    match &ended {
        Ended::Answered(_) => {
            // Where the host cannot be told, nobody else knows the id.
            call.caller.way.acknowledge(&request.id).await;
        }
        Ended::NotAsked(_) => {}
        Ended::Failed(_) | Ended::Gone => take_back(call, &request.id).await,
    }
    ended
}

/// Asks and waits, with progress notifications. It neither acknowledges nor takes back.
pub(super) async fn put_and_wait(call: &Call, request: &Request, beat: Duration) -> Ended {
    let way = &call.caller.way;
    {
        let mut posting = std::pin::pin!(way.ask(request, &call.is_lost));
        tokio::select! {
            biased;
            posted = &mut posting => match posted {
                Ok(()) => {}
                Err(failed) if failed.may_wait => return Ended::Failed(failed),
                Err(failed) => return Ended::NotAsked(failed),
            },
            () = call.gone() => {
                // What is on its way must be there before it can be taken back.
                let _ = tokio::time::timeout(WITHDRAWING, posting).await;
                return Ended::Gone;
            }
        }
    }
    tokio::select! {
        biased;
        () = call.gone() => Ended::Gone,
        answer = way.answer(request, &call.is_lost) => match answer {
            Ok(answer) => Ended::Answered(answer),
            Err(failed) => Ended::Failed(failed),
        },
        () = call.tell(beat) => Ended::Gone,
    }
}

/// Takes a request back, also where it is not known whether it came through. One that was decided meanwhile is marked as
/// used: nobody is left to use it.
pub(super) async fn take_back(call: &Call, id: &str) {
    let begun = Instant::now();
    loop {
        let failed = match call.caller.way.withdraw(id).await {
            Ok(()) => return,
            Err(failed) => failed,
        };
        match failed.why {
            Why::AlreadyDecided => {
                call.caller.way.acknowledge(id).await;
                return;
            }
            Why::Passing if begun.elapsed() < WITHDRAWING => tokio::time::sleep(PAUSE).await,
            Why::BeingDecided if begun.elapsed() < DECIDING => tokio::time::sleep(PAUSE).await,
            Why::NotFound => return,
            Why::Passing | Why::BeingDecided | Why::OtherContent | Why::Acknowledged | Why::Final => {
                tracing::debug!(error = failed.text, "a request that nobody waits for was not taken back");
                return;
            }
        }
    }
}
