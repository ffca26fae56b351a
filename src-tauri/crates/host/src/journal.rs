use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sayso_agent::{CallResult, Entry, Journal, JournalError};
use sayso_domain::run::{Asked, CallState, Effect, Run, Slot, SlotId, Step};
use sayso_domain::{Cause, DecidedBy, Outcome, RequestKey, RunId, SourceId};
use sayso_store::calls;
use sayso_store::messages::{self, MessageRow};
use sayso_store::requests::{NewRequest, Purpose};
use sayso_store::runs::{self, RunRow};
use sayso_store::{StoreError, Tx};

use crate::host::Host;
use crate::pause;
use sayso_agent::system_time as now;

/// Keeps a run's steps in the database: the step, the requests that it raises and the delivery that it acknowledges are
/// one commit.
pub(crate) struct StoreJournal {
    host: Host,
    run: RunId,
    source: SourceId,
    /// The transcript as far as a model was told of it: that does not change any more.
    told: Mutex<Arc<Vec<Entry>>>,
}

impl StoreJournal {
    pub(crate) fn new(host: Host, row: &RunRow) -> Self {
        Self { host, run: row.id, source: row.source, told: Mutex::default() }
    }
}

#[async_trait]
impl Journal for StoreJournal {
    /// Tries until it is stored: a tool's result that was not stored would have to be asked about again. Ends with an
    /// error only when the host ends, or where no waiting can help.
    async fn commit(
        &self,
        run: &Run,
        step: &Step,
        delivered: Option<RequestKey>,
    ) -> Result<(), JournalError> {
        if delivered.is_none() && is_stored(step) {
            return Ok(());
        }
        let work = self.work(run, step, delivered);
        let mut wait = Duration::from_millis(50);
        let withdrawn = loop {
            let work = work.clone();
            match self.host.store().write(move |tx| work.write(tx)).await {
                Ok(withdrawn) => break withdrawn,
                Err(error) => {
                    tracing::warn!(run = %self.run, %error, "a step could not be stored");
                    self.host.set_problem("storage", Some(error.to_string()));
                    if !may_pass(&error) {
                        return Err(JournalError::new(error));
                    }
                    tokio::select! {
                        () = self.host.stop_token().cancelled() => return Err(JournalError::new(error)),
                        () = tokio::time::sleep(wait) => wait = (wait * 2).min(Duration::from_secs(5)),
                    }
                }
            }
        };
        self.host.set_problem("storage", None);
        self.announce(step, delivered, &withdrawn).await;
        Ok(())
    }

    async fn transcript(&self) -> Result<Arc<Vec<Entry>>, JournalError> {
        let told = || self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let (run, known) = (self.run, u32::try_from(told().len()).unwrap_or(u32::MAX));
        let read = self.host.store().read(move |reader| {
            let messages = messages::after(reader, run, known)?;
            let turn = messages.iter().find_map(|message| message.turn);
            let calls = turn.map(|turn| calls::from_turn(reader, run, turn)).transpose()?;
            Ok((messages, calls.unwrap_or_default()))
        });
        let (messages, calls) = read.await.map_err(JournalError::new)?;
        let mut told = told();
        Arc::make_mut(&mut told).extend(entries(messages, &calls));
        Ok(Arc::clone(&told))
    }
}

impl StoreJournal {
    /// Commits a step that no delivery led to, or fails at once.
    pub(crate) async fn commit_once(&self, run: &Run, step: &Step) -> Result<(), StoreError> {
        let work = self.work(run, step, None);
        let withdrawn = self.host.store().write(move |tx| work.write(tx)).await?;
        self.announce(step, None, &withdrawn).await;
        Ok(())
    }

    fn work(&self, run: &Run, step: &Step, delivered: Option<RequestKey>) -> Arc<Work> {
        Arc::new(Work {
            host: self.host.clone(),
            source: self.source,
            run: run.clone(),
            step: step.clone(),
            delivered,
        })
    }

    async fn announce(&self, step: &Step, delivered: Option<RequestKey>, withdrawn: &[RequestKey]) {
        let asked = asked(step).map(|(_, asked)| asked.key).collect::<Vec<_>>();
        if !asked.is_empty() {
            pause::at(pause::Point::Asked).await;
        }
        self.host.inbox().announce_asked(&asked);
        self.host.inbox().announce_settled(withdrawn, Outcome::Cancelled(Cause::RunStopped));
        self.host.inbox().announce_delivered(delivered.as_slice());
        self.host.announce_run(self.run);
        if step.effects.contains(&Effect::CallModel) && !step.touched.is_empty() {
            pause::at(pause::Point::ToolFinished).await;
        }
    }
}

/// Whether waiting can help: there may be room again, or another process may let go.
pub(crate) fn may_pass(error: &StoreError) -> bool {
    match error {
        StoreError::Full | StoreError::Locked | StoreError::ReadOnly | StoreError::Io(_) => true,
        StoreError::Damaged
        | StoreError::Conflict
        | StoreError::Refused(_)
        | StoreError::Panicked
        | StoreError::Closed
        | StoreError::Sql(_) => false,
    }
}

/// One commit.
struct Work {
    host: Host,
    source: SourceId,
    run: Run,
    step: Step,
    delivered: Option<RequestKey>,
}

impl Work {
    /// Gives the requests that it withdrew: those that somebody had decided already are not among them.
    fn write(&self, tx: &Tx<'_>) -> Result<Vec<RequestKey>, StoreError> {
        let (inbox, run, now) = (self.host.inbox(), &self.run, now());
        for message in &self.step.messages {
            messages::append(tx, run.id, message, now)?;
        }
        self.acknowledge(tx)?;
        let withdrawn = self.withdraw(tx)?;
        for (slot, asked) in asked(&self.step) {
            let new = NewRequest {
                key: asked.key,
                source: self.source,
                run: Some(run.id),
                slot: Some(slot),
                purpose: purpose(run, slot),
                shown: asked.shown.clone(),
                received_at: now,
            };
            inbox.ask_in(tx, &new)?;
        }
        runs::save(tx, run, now)?;
        for id in &self.step.touched {
            let Some(slot) = run.slot(*id) else { continue };
            if let CallState::Finished(result) = &slot.state
                && let Some(request) = calls::request_of(tx, run.id, *id)?
            {
                inbox.effect_in(tx, request, result)?;
            }
        }
        for effect in &self.step.effects {
            if let Effect::Finish(status) = effect {
                inbox.run_ended_in(tx, run.id, status)?;
            }
        }
        Ok(withdrawn)
    }

    /// The answer that this step acts on arrived.
    fn acknowledge(&self, tx: &Tx<'_>) -> Result<(), StoreError> {
        let inbox = self.host.inbox();
        if let Some(key) = self.delivered {
            if self.step.touched.is_empty() {
                inbox.undeliverable_in(tx, key, "the run no longer waits for it")?;
            } else {
                inbox.delivered_in(tx, key)?;
            }
        }
        Ok(())
    }

    /// What a stopped run asked is cancelled.
    fn withdraw(&self, tx: &Tx<'_>) -> Result<Vec<RequestKey>, StoreError> {
        let mut withdrawn = Vec::new();
        for key in withdraws(&self.step) {
            let inbox = self.host.inbox();
            if inbox.cancel_in(tx, key, Cause::RunStopped, DecidedBy::Stop)? {
                withdrawn.push(key);
            } else {
                // A decision that could still be taken back would have its request wait for a run that waits no more.
                inbox.drop_held_in(tx, key, "the run no longer waits for it")?;
            }
        }
        Ok(withdrawn)
    }
}

fn purpose(run: &Run, slot: SlotId) -> Purpose {
    match run.slot(slot).map(|slot| &slot.state) {
        Some(CallState::Suspended { .. }) => Purpose::Tool,
        Some(CallState::Unknown { .. }) => Purpose::Unknown,
        Some(CallState::Waiting { .. } | CallState::Running(_) | CallState::Finished(_)) | None => {
            Purpose::Gate
        }
    }
}

fn withdraws(step: &Step) -> impl Iterator<Item = RequestKey> {
    step.effects.iter().filter_map(|effect| match effect {
        Effect::Withdraw(key) => Some(*key),
        Effect::CallModel
        | Effect::RunTool { .. }
        | Effect::Ask { .. }
        | Effect::KillTool(_)
        | Effect::Finish(_) => None,
    })
}

fn asked(step: &Step) -> impl Iterator<Item = (SlotId, &Asked)> {
    step.effects.iter().filter_map(|effect| match effect {
        Effect::Ask { slot, asked } => Some((*slot, &**asked)),
        Effect::CallModel
        | Effect::RunTool { .. }
        | Effect::Withdraw(_)
        | Effect::KillTool(_)
        | Effect::Finish(_) => None,
    })
}

/// Whether all that a step says is stored already: a run that is taken up only goes on with what it was at.
fn is_stored(step: &Step) -> bool {
    let begins = |effect: &Effect| match effect {
        Effect::CallModel | Effect::RunTool { .. } => true,
        Effect::Ask { .. } | Effect::Withdraw(_) | Effect::KillTool(_) | Effect::Finish(_) => false,
    };
    let changes = !step.messages.is_empty() || !step.touched.is_empty();
    // A step with no effect at all queues the person's words.
    !changes && !step.effects.is_empty() && step.effects.iter().all(begins)
}

/// The transcript in the order of the conversation; results stand with the message that called for them.
fn entries(messages: Vec<MessageRow>, calls: &[Slot]) -> Vec<Entry> {
    let mut results: HashMap<u32, Vec<CallResult>> = HashMap::new();
    for call in calls {
        results.entry(call.id.turn).or_default().extend(CallResult::of(call));
    }
    let entry = |message: MessageRow| match message.turn {
        None => Entry::User(message.content),
        Some(turn) => Entry::Assistant {
            message: serde_json::from_str(&message.content).unwrap_or_default(),
            results: results.remove(&turn).unwrap_or_default(),
        },
    };
    messages.into_iter().map(entry).collect()
}
