//! What MCP servers ask while a call waits: a request in the inbox like any other, except that a connection waits for its
//! answer and not the run's machine. If the connection is gone, so is whoever asked.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sayso_agent::system_time as now;
use sayso_agent::{Elicit, ElicitAnswer, ElicitAsk};
use sayso_domain::{Cause, DecidedBy, ElicitAction, Outcome, RequestKey, RunId, SourceId};
use sayso_store::requests::{self, NewRequest, Purpose};
use sayso_store::{Conn, StoreError, deliveries, runs};

use crate::host::Host;
use crate::journal::may_pass;

/// Looks for what an event did not tell.
const LOOK: Duration = Duration::from_secs(5);

/// The questions whose connections are in this process.
#[derive(Clone, Default)]
pub(crate) struct OpenQuestions(Arc<Mutex<HashSet<RequestKey>>>);

impl OpenQuestions {
    /// Whether a connection waits for the answer, so that nobody else is to get it.
    pub(crate) fn holds(&self, key: RequestKey) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&key)
    }

    fn add(&self, key: RequestKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
    }

    fn remove(&self, key: RequestKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key);
    }
}

/// Asks in the inbox, for the runs of an agent.
pub(crate) fn elicit(host: &Host, source: SourceId) -> Elicit {
    let host = host.clone();
    Elicit::new(move |ask| {
        let host = host.clone();
        async move { asked(host, source, ask).await }
    })
}

async fn asked(host: Host, source: SourceId, ask: ElicitAsk) -> ElicitAnswer {
    let key = ask.asked.key;
    let mut events = host.inbox().events();
    let new = NewRequest {
        key,
        source,
        run: Some(ask.run),
        slot: Some(ask.slot),
        purpose: Purpose::Tool,
        shown: ask.asked.shown,
        received_at: now(),
    };
    // From here on the outbox leaves it alone, and whoever drops this future takes the question back.
    let question = Question { host: host.clone(), key, run: ask.run, is_answered: false };
    host.questions().add(key);
    if let Err(error) = host.inbox().ask(new).await {
        tracing::warn!(run = %ask.run, %error, "what an MCP server asked cannot be asked");
        return ElicitAnswer::cancelled();
    }
    host.announce_run(ask.run);
    loop {
        match host.store().read(move |reader| deliveries::get(reader, key)).await {
            Ok(Some(delivery)) if delivery.claimed_at.is_some() => {
                let action = ElicitAction::of_class(delivery.class);
                let data = delivery.answer.data().cloned();
                // An answer that is not stored as delivered could be offered to somebody else: it is none (contract 33).
                return match question.answered().await {
                    true => ElicitAnswer { action, data },
                    false => ElicitAnswer::cancelled(),
                };
            }
            // Nobody decided, or the person can still take it back.
            Ok(Some(_) | None) => {}
            Err(error) => tracing::warn!(%error, "whether a question was answered could not be read"),
        }
        let _ = tokio::time::timeout(LOOK, events.recv()).await;
    }
}

/// A question of a connection of ours.
struct Question {
    host: Host,
    key: RequestKey,
    run: RunId,
    is_answered: bool,
}

impl Question {
    /// Stores that the answer goes to whoever asked; whether it may. If not, the question is taken back.
    async fn answered(mut self) -> bool {
        self.is_answered = stored(|| self.host.inbox().delivered(self.key)).await;
        self.is_answered
    }
}

/// Tries for as long as waiting can help. False where the answer waited no more, or that cannot be stored.
async fn stored<F>(deliver: impl Fn() -> F) -> bool
where
    F: Future<Output = Result<bool, StoreError>>,
{
    let mut wait = Duration::from_millis(50);
    loop {
        match deliver().await {
            Ok(waited) => return waited,
            Err(error) => {
                tracing::warn!(%error, "that an answer was delivered could not be stored");
                if !may_pass(&error) {
                    return false;
                }
            }
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(Duration::from_secs(5));
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let (host, key, run) = (self.host.clone(), self.key, self.run);
        if self.is_answered {
            host.questions().remove(key);
            return;
        }
        self.host.spawn(async move {
            if let Err(error) = take_back(&host, key, run).await {
                tracing::warn!(%error, "a question whose asker is gone could not be cancelled");
            }
            host.questions().remove(key);
        });
    }
}

/// The asker is gone: stopped with its run, or by itself.
async fn take_back(host: &Host, key: RequestKey, run: RunId) -> Result<(), StoreError> {
    let inbox = host.inbox().clone();
    let written = host.store().write(move |tx| {
        let is_over = runs::get(tx, run)?.is_none_or(|row| row.run.status.is_ended());
        let (cause, by) = match is_over {
            true => (Cause::RunStopped, DecidedBy::Stop),
            false => (Cause::CallerGone, DecidedBy::Source),
        };
        let was_pending = inbox.cancel_in(tx, key, cause, by)?;
        inbox.undeliverable_in(tx, key, GONE)?;
        Ok(was_pending.then_some(cause))
    });
    if let Some(cause) = written.await? {
        host.inbox().announce_settled(&[key], Outcome::Cancelled(cause));
        host.announce_run(run);
    }
    Ok(())
}

const GONE: &str = "whoever asked is gone";

/// Cancels what askers of an earlier process left open (contract 33): a request that waits, and that its run does not
/// wait for.
pub(crate) async fn recover(host: &Host) -> Result<(), StoreError> {
    // Answers that were decided and did not arrive are among them.
    let open = host.store().read(|reader| {
        let (waiting, decided) = (requests::pending_of_runs(reader)?, deliveries::waiting_of_runs(reader)?);
        let mut open = Vec::new();
        for (key, run) in waiting.into_iter().chain(decided) {
            if !is_waited_for(reader, run, key)? {
                open.push(key);
            }
        }
        Ok(open)
    });
    let open = open.await?;
    if open.is_empty() {
        return Ok(());
    }
    let inbox = host.inbox().clone();
    let gone = host.store().write(move |tx| {
        let mut gone = Vec::new();
        for key in &open {
            if inbox.cancel_in(tx, *key, Cause::CallerGone, DecidedBy::Source)? {
                gone.push(*key);
            }
            inbox.undeliverable_in(tx, *key, GONE)?;
        }
        Ok(gone)
    });
    host.inbox().announce_settled(&gone.await?, Outcome::Cancelled(Cause::CallerGone));
    Ok(())
}

fn is_waited_for(conn: &Conn, run: RunId, key: RequestKey) -> Result<bool, StoreError> {
    Ok(runs::get(conn, run)?.is_some_and(|row| row.run.requests().any(|waited| waited == key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_answer_goes_out_only_once_that_it_did_is_stored() {
        for (tries, expected) in [
            (vec![Ok(true)], true),
            (vec![Err(StoreError::Full), Err(StoreError::Locked), Ok(true)], true),
            (vec![Ok(false)], false),
            (vec![Err(StoreError::Locked), Ok(false)], false),
            (vec![Err(StoreError::Damaged), Ok(true)], false),
        ] {
            let tries = Mutex::new(tries.into_iter());
            let next = || std::future::ready(tries.lock().unwrap().next().unwrap());
            assert_eq!(stored(next).await, expected);
        }
    }
}
