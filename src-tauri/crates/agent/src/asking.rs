use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use sayso_domain::run::{Asked, CallState, Effect, Event, Run, Step};
use sayso_domain::{
    Act, Digest, ElicitAction, Refused, Request, RequestKey, RequestState, Settlement, settle,
};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::client::WaitFor;
use crate::{
    Checkpoint, ElicitAnswer, Endpoint, Entry, Incoming, Journal, JournalError, MemoryJournal, RunResult,
    ToolCallRecord, form, message_text, system_time,
};

/// A journal in memory, and whoever is asked about the requests in it.
pub(crate) struct Asking {
    pub(crate) memory: MemoryJournal,
    pub(crate) asked: Mutex<Vec<Asked>>,
    pub(crate) waits: Mutex<JoinSet<()>>,
    pub(crate) wait_for: Option<Arc<WaitFor>>,
    pub(crate) answers: mpsc::Sender<Incoming>,
}

#[async_trait]
impl Journal for Asking {
    async fn commit(
        &self,
        run: &Run,
        step: &Step,
        delivered: Option<RequestKey>,
    ) -> Result<(), JournalError> {
        self.memory.commit(run, step, delivered).await?;
        for effect in &step.effects {
            if let Effect::Ask { asked, .. } = effect {
                self.asked.lock().unwrap_or_else(PoisonError::into_inner).push((**asked).clone());
            }
        }
        Ok(())
    }

    async fn transcript(&self) -> Result<Arc<Vec<Entry>>, JournalError> {
        self.memory.transcript().await
    }
}

impl Asking {
    pub(crate) fn find(&self, key: RequestKey) -> Option<Asked> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().find(|asked| asked.key == key).cloned()
    }

    /// Asks whoever waits about a request that is kept.
    pub(crate) fn ask(&self, key: RequestKey) {
        let (Some(wait_for), Some(asked)) = (self.wait_for.clone(), self.find(key)) else { return };
        let answers = self.answers.clone();
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
            if let Some(settlement) = settlement(&asked, &*wait_for).await {
                let event = Event::Settled { request: asked.key, answer: settlement.delivered() };
                // Nobody listens only when the run is over.
                let _ = answers.send(Incoming { event, delivered: Some(asked.key) }).await;
            }
        });
    }

    /// Waits until a request settled; false if none will.
    pub(crate) async fn settled_one(&self, events: &mut mpsc::Receiver<Incoming>) -> bool {
        while events.is_empty() {
            let waits = || self.waits.lock().unwrap_or_else(PoisonError::into_inner);
            // A wait that ended may have brought nothing; the next one still can.
            if poll_fn(|context| waits().poll_join_next(context)).await.is_none() {
                return !events.is_empty();
            }
        }
        true
    }

    pub(crate) fn result(&self, run: Run, endpoint: &Endpoint) -> RunResult {
        let message = self.memory.last_message();
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = run.requests().filter_map(|key| asked.iter().find(|asked| asked.key == key));
        RunResult {
            status: run.status.clone(),
            text: message.map(|message| message_text(endpoint.style, &message)).unwrap_or_default(),
            tool_calls: self.memory.calls().into_iter().filter_map(record).collect(),
            pending: pending.map(|asked| asked.shown.request.clone()).collect(),
            usage: run.usage,
            checkpoint: Checkpoint::of(endpoint.style, run, &self.memory, &asked),
        }
    }
}

fn record(slot: sayso_domain::run::Slot) -> Option<ToolCallRecord> {
    match slot.state {
        CallState::Finished(result) => Some(ToolCallRecord {
            name: slot.name,
            arguments: slot.arguments,
            output: result.output,
            is_error: result.is_error,
        }),
        CallState::Waiting { .. }
        | CallState::Running(_)
        | CallState::Suspended { .. }
        | CallState::Unknown { .. } => None,
    }
}

/// Asks while a call waits (contract 32). Where nobody can be asked after all, or the answer cannot be used, it is a cancel.
pub(crate) async fn elicited(asked: &Asked, wait_for: &WaitFor) -> ElicitAnswer {
    match settlement(asked, wait_for).await {
        Some(Settlement { answer, .. }) => {
            ElicitAnswer { action: ElicitAction::of_answer(&answer), data: answer.data().cloned() }
        }
        None => ElicitAnswer::cancelled(),
    }
}

/// Asks, and takes the answer as every surface of the app would.
async fn settlement(asked: &Asked, wait_for: &WaitFor) -> Option<Settlement> {
    let request = &asked.shown.request;
    let digest = Digest::of(&asked.shown.to_text());
    let decide = |act: &Act| settle(&asked.shown, RequestState::Pending, &digest, act, system_time());
    let given = tokio::select! {
        given = AssertUnwindSafe(async { wait_for(request.clone()).await }).catch_unwind() => match given {
            Ok(Ok(answer)) => Act::Answer { answer, digest: None },
            Ok(Err(error)) => {
                tracing::warn!(request = request.id, %error, "nobody could be asked; the request stays pending");
                return None;
            }
            Err(_) => {
                tracing::error!(request = request.id, "asking panicked; the request stays pending");
                return None;
            }
        },
        () = deadline(request) => Act::Expire,
    };
    if let Act::Answer { answer, .. } = &given
        && let Err(misfit) = form::check(&asked.shown, answer)
    {
        tracing::warn!(
            request = request.id,
            %misfit,
            "an answer does not fit what was asked; the request stays pending"
        );
        return None;
    }
    match decide(&given) {
        Ok(settlement) => Some(settlement),
        Err(Refused::TooLate) => decide(&Act::Expire).ok(),
        Err(
            refused @ (Refused::WrongId
            | Refused::WrongDigest
            | Refused::NotEditable
            | Refused::NotDue
            | Refused::AlreadySettled(_)),
        ) => {
            tracing::warn!(request = request.id, %refused, "an answer changed nothing; the request stays pending");
            None
        }
    }
}

/// Ends once the request has expired; never if it does not expire.
async fn deadline(request: &Request) {
    while !request.is_expired(system_time()) {
        let left = request.expires_at.map(|at| at.as_millis() - system_time().as_millis());
        // Looks again at least once a minute: the clock may be set.
        let left = left.map_or(60_000, |left| left.clamp(1, 60_000));
        tokio::time::sleep(Duration::from_millis(left.unsigned_abs())).await;
    }
}
