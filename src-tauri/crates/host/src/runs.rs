//! Drives runs. A run that waits for a person holds no task and no memory: a driver exists only while the model or a
//! tool is at work, and takes the run's rows up again when something happens to it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sayso_agent::{Engine, Incoming};
use sayso_domain::RunId;
use sayso_domain::run::{Effect, Event, Run, Status};
use sayso_store::StoreError;
use sayso_store::runs::{self, RunRow};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{self, Receiver, Sender};

use crate::engine::{engine, without_model};
use crate::host::Host;
use crate::journal::StoreJournal;
use crate::mcp::Lease;

/// The runs that are at work in this process.
#[derive(Clone, Default)]
pub(crate) struct RunBook(Arc<Mutex<HashMap<RunId, Sender<Incoming>>>>);

impl RunBook {
    /// Hands an event to a run's driver, which is started where none is at work.
    pub(crate) async fn post(&self, host: &Host, run: RunId, mut incoming: Incoming) {
        loop {
            match self.try_post(host, run, incoming) {
                None => return,
                Some(back) => incoming = back,
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The same, unless its driver has as much to do as it can hold; whether it took it.
    pub(crate) fn offer(&self, host: &Host, run: RunId, incoming: Incoming) -> bool {
        self.try_post(host, run, incoming).is_none()
    }

    /// Under the lock, so that a driver cannot end between the look and the send.
    fn try_post(&self, host: &Host, run: RunId, incoming: Incoming) -> Option<Incoming> {
        let mut drivers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match drivers.entry(run) {
            Entry::Occupied(driver) => driver.into_mut(),
            Entry::Vacant(free) => {
                let (sender, receiver) = mpsc::channel(256);
                host.spawn(drive(host.clone(), run, receiver));
                free.insert(sender)
            }
        };
        match sender.try_send(incoming) {
            Ok(()) => None,
            Err(TrySendError::Full(incoming)) => Some(incoming),
            Err(TrySendError::Closed(incoming)) => {
                drivers.remove(&run);
                Some(incoming)
            }
        }
    }

    /// Whether the driver may end: nothing came in meanwhile.
    fn leave(&self, run: RunId, receiver: &Receiver<Incoming>) -> bool {
        let mut drivers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = receiver.is_empty();
        if ends {
            drivers.remove(&run);
        }
        ends
    }
}

async fn drive(host: Host, run: RunId, mut incoming: Receiver<Incoming>) {
    loop {
        let driven = tokio::select! {
            () = host.stop_token().cancelled() => return,
            driven = drive_once(&host, run, &mut incoming) => driven,
        };
        host.live().end(run);
        if let Err(error) = driven {
            tracing::warn!(%run, %error, "the run cannot go on");
            // Deliveries were not acknowledged, so they come again; whoever told or stopped the run sees that it ended.
            while incoming.try_recv().is_ok() {}
            give_up(&host, run, &error).await;
        }
        host.announce_run(run);
        if host.runs().leave(run, &incoming) {
            return;
        }
    }
}

async fn drive_once(host: &Host, run: RunId, incoming: &mut Receiver<Incoming>) -> Result<(), String> {
    let row =
        host.store().look(move |reader| runs::get(reader, run)).await.map_err(|error| error.to_string())?;
    let row = row.ok_or("there is no such run")?;
    let journal = StoreJournal::new(host.clone(), &row);
    let Ok(first) = incoming.try_recv() else { return Ok(()) };
    let begins = begins_work(&row.run, &first.event);
    let mut came_in = VecDeque::from([first]);
    let ready = if begins { engine_unless_stopped(host, &row, incoming, &mut came_in).await } else { None };
    let driven = match ready {
        Some((engine, lease)) => {
            let driven = engine.drive_from(row.run, came_in, incoming, &journal).await;
            drop(lease);
            driven
        }
        // What comes after that is for an engine with everything.
        None => {
            let (_, mut nothing) = mpsc::channel(1);
            without_model(host, &row).await.drive_from(row.run, came_in, &mut nothing, &journal).await
        }
    };
    let driven = driven.map_err(|error| error.to_string());
    if driven.as_ref().map_or(true, |run| run.status.is_ended()) {
        host.mcp().close(run).await;
    }
    driven.map(drop)
}

/// Whether an event sets the model or a tool to work. One that does not, such as a stop, waits for no key and no server.
fn begins_work(run: &Run, event: &Event) -> bool {
    run.clone().handle(event.clone()).effects.iter().any(|effect| match effect {
        Effect::CallModel | Effect::RunTool { .. } => true,
        Effect::Ask { .. } | Effect::Withdraw(_) | Effect::KillTool(_) | Effect::Finish(_) => false,
    })
}

/// What drives a run, with its key and its servers; none if the run is stopped before they are there. What comes in
/// meanwhile is kept, up to the stop.
async fn engine_unless_stopped(
    host: &Host,
    row: &RunRow,
    incoming: &mut Receiver<Incoming>,
    came_in: &mut VecDeque<Incoming>,
) -> Option<(Engine, Option<Lease>)> {
    let made = engine(host, row);
    tokio::pin!(made);
    loop {
        tokio::select! {
            biased;
            Some(next) = incoming.recv() => {
                let is_stop = next.event == Event::Stopped;
                came_in.push_back(next);
                if is_stop {
                    return None;
                }
            }
            made = &mut made => return Some(made),
        }
    }
}

/// Ends a run that nothing drives any more, in one commit, so that it does not seem to be at work for ever.
async fn give_up(host: &Host, run: RunId, why: &str) {
    let Ok(Some(mut row)) = host.store().read(move |reader| runs::get(reader, run)).await else { return };
    let status = Status::Error(format!(
        "The run could not go on: {why} What its calls had begun may have partly happened. Send it a message to try again."
    ));
    let mut step = row.run.handle(Event::Stopped);
    if step.effects.is_empty() {
        return;
    }
    row.run.status = status.clone();
    step.effects.retain(|effect| !matches!(effect, Effect::Finish(_)));
    step.effects.push(Effect::Finish(status));
    if let Err(error) = StoreJournal::new(host.clone(), &row).commit_once(&row.run, &step).await {
        tracing::warn!(%run, %error, "its end could not be stored");
    }
}

/// Takes up the runs that an earlier host was at work on. What its tools left behind must have been ended.
pub(crate) async fn recover(host: &Host) -> Result<(), StoreError> {
    let rows = host
        .store()
        .read(|reader| {
            let active = runs::active(reader)?;
            active
                .into_iter()
                .filter_map(|run| runs::get(reader, run).transpose())
                .collect::<Result<Vec<_>, _>>()
        })
        .await?;
    for row in rows.into_iter().filter(|row| row.run.status == Status::Running) {
        let event = without_model(host, &row).await.recover(&row.run);
        host.runs().post(host, row.id, Incoming { event, delivered: None }).await;
    }
    Ok(())
}
