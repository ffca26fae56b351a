//! Answers on their way to whoever asked, tried until they are acknowledged; and what came of them, for the ledger.

use sayso_domain::run::Status;
use sayso_domain::{Answer, Class, RequestKey, RunId, SourceId, Time, ToolResult};
use sayso_store::deliveries::{self, DeliveryRow};
use sayso_store::ledger::{self, Entry, EntryType};
use sayso_store::{StoreError, Tx};

use crate::{Inbox, InboxEvent};

/// An answer to deliver.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// The request that it answers.
    pub key: RequestKey,
    /// Who asked.
    pub source: SourceId,
    /// The run that waits for it; none for other sources.
    pub run: Option<RunId>,
    /// What leaves: without the person's words (contract 9).
    pub answer: Answer,
    /// Its class for the wire; none when ok.
    pub class: Option<Class>,
    /// Failed tries so far.
    pub attempts: u32,
}

impl Inbox {
    /// What is to be delivered now, oldest first.
    pub async fn deliveries_due(&self) -> Result<Vec<Delivery>, StoreError> {
        let now = (self.clock)();
        let due = self.store.read(move |reader| deliveries::due(reader, now)).await?;
        Ok(due.into_iter().map(Delivery::from).collect())
    }

    /// Claims the answers that were held until now: from here on they can leave and nobody can take them back. Says what
    /// that was.
    pub async fn claim_due(&self) -> Result<Vec<RequestKey>, StoreError> {
        let now = (self.clock)();
        if !self.store.read(move |reader| deliveries::is_claim_due(reader, now)).await? {
            return Ok(Vec::new());
        }
        let clock = self.clock.clone();
        let claimed = self.store.write(move |tx| deliveries::claim_due(tx, clock())).await?;
        claimed.iter().for_each(|key| self.tell(InboxEvent::Released(*key)));
        Ok(claimed)
    }

    /// When the next delivery that is not due yet is to be tried or claimed.
    pub async fn next_delivery(&self) -> Result<Option<Time>, StoreError> {
        let now = (self.clock)();
        self.store.read(move |reader| deliveries::next_due(reader, now)).await
    }

    /// The answer was taken, in the same commit as what the taker did with it. Whether it still waited: an answer is used
    /// once (contract 12). After the commit the caller calls [`Inbox::announce_delivered`].
    pub fn delivered_in(&self, tx: &Tx<'_>, key: RequestKey) -> Result<bool, StoreError> {
        delivered(tx, key, (self.clock)())
    }

    /// The answer was taken by somebody outside. Whether it still waited.
    pub async fn delivered(&self, key: RequestKey) -> Result<bool, StoreError> {
        let inbox = self.clone();
        let waited = self.store.write(move |tx| inbox.delivered_in(tx, key)).await?;
        if waited {
            self.announce_delivered(&[key]);
        }
        Ok(waited)
    }

    /// A try failed; the next is at `retry_at`. Whether it still waited.
    pub async fn delivery_failed(
        &self,
        key: RequestKey,
        why: impl Into<String>,
        retry_at: Time,
    ) -> Result<bool, StoreError> {
        let why = why.into();
        self.store.write(move |tx| deliveries::failed(tx, key, &why, retry_at)).await
    }

    /// There is nobody left to deliver to. Whether it still waited.
    pub fn undeliverable_in(&self, tx: &Tx<'_>, key: RequestKey, why: &str) -> Result<bool, StoreError> {
        let now = (self.clock)();
        let waited = deliveries::undeliverable(tx, key, why, now)?;
        if waited {
            record(tx, key, now)?;
        }
        Ok(waited)
    }

    /// The same for an answer that is still held: its decision stands and can no longer be taken back, since nothing waits
    /// for it any more. Whether it was held.
    pub fn drop_held_in(&self, tx: &Tx<'_>, key: RequestKey, why: &str) -> Result<bool, StoreError> {
        match deliveries::get(tx, key)?.is_some_and(|delivery| delivery.claimed_at.is_none()) {
            true => self.undeliverable_in(tx, key, why),
            false => Ok(false),
        }
    }

    /// What the call that a decision was about gave back. A request that did not settle has no effect to record.
    pub fn effect_in(&self, tx: &Tx<'_>, key: RequestKey, result: &ToolResult) -> Result<(), StoreError> {
        let fields = vec![("output", result.output.clone()), ("is_error", result.is_error.to_string())];
        append(tx, EntryType::Effect, key, (self.clock)(), fields)
    }

    /// How a run ended.
    pub fn run_ended_in(&self, tx: &Tx<'_>, run: RunId, status: &Status) -> Result<(), StoreError> {
        let detail = match status {
            Status::Running | Status::Pending | Status::Done | Status::Interrupted => None,
            Status::Incomplete(limit) => Some(limit.as_str().to_owned()),
            Status::Error(why) => Some(why.clone()),
        };
        let mut fields = vec![("status", status.as_str().to_owned())];
        fields.extend(detail.map(|detail| ("detail", detail)));
        let entry =
            Entry { kind: EntryType::RunEnd, at: (self.clock)(), request: None, run: Some(run), fields };
        ledger::append(tx, &entry)?;
        Ok(())
    }
}

impl From<DeliveryRow> for Delivery {
    fn from(row: DeliveryRow) -> Self {
        Self {
            key: row.request,
            source: row.source,
            run: row.run,
            answer: row.answer,
            class: row.class,
            attempts: row.attempts,
        }
    }
}

pub(crate) fn delivered(tx: &Tx<'_>, key: RequestKey, now: Time) -> Result<bool, StoreError> {
    let waited = deliveries::delivered(tx, key, now)?;
    if waited {
        record(tx, key, now)?;
    }
    Ok(waited)
}

/// Writes the end of a delivery into the ledger.
fn record(tx: &Tx<'_>, key: RequestKey, now: Time) -> Result<(), StoreError> {
    let delivery = deliveries::get(tx, key)?.ok_or(StoreError::Conflict)?;
    let answer =
        serde_json::to_string(&delivery.answer).map_err(|error| StoreError::Sql(error.to_string()))?;
    let mut fields = vec![
        ("state", delivery.state.as_str().to_owned()),
        ("answer", answer),
        ("attempts", delivery.attempts.to_string()),
    ];
    fields.extend(delivery.last_error.map(|error| ("error", error)));
    append(tx, EntryType::Delivery, key, now, fields)
}

/// Appends an entry that points to a decision; nothing where there is none to point to.
fn append(
    tx: &Tx<'_>,
    kind: EntryType,
    key: RequestKey,
    at: Time,
    mut fields: Vec<(&'static str, String)>,
) -> Result<(), StoreError> {
    let (Some(decision), Some(delivery)) = (ledger::decision_of(tx, key)?, deliveries::get(tx, key)?) else {
        return Ok(());
    };
    fields.push(("decision", decision.to_string()));
    ledger::append(tx, &Entry { kind, at, request: Some(key), run: delivery.run, fields })?;
    Ok(())
}
