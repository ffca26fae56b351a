use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sayso_domain::run::{Effect, Event, Limit, Run, RunMode, SlotId, Step};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::show::Before;
use super::{Engine, Incoming};
use crate::{Journal, JournalError};

/// What is at work for a run, by a number that is never used again: what comes late from work that was given up is not
/// taken for that of later work.
#[derive(Default)]
struct InFlight {
    /// Events from before.
    came_in: VecDeque<Incoming>,
    works: JoinSet<(u64, Event)>,
    live: HashMap<u64, Live>,
    count: u64,
}

struct Live {
    what: What,
    stop: CancellationToken,
    task: AbortHandle,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Model,
    Tool(SlotId),
}

impl Engine {
    /// Goes on with a run: handles what comes in, commits each step, performs its effects side by side, and handles what
    /// they bring. Returns when nothing is at work and nothing has come in: the run has ended, or waits for a person. A
    /// run that waits holds no task.
    ///
    /// If a commit fails, none of its effects is performed, what is at work is ended, and the error is returned; the run
    /// stands as it was last committed.
    pub async fn drive(
        &self,
        run: Run,
        events: &mut mpsc::Receiver<Incoming>,
        journal: &dyn Journal,
    ) -> Result<Run, JournalError> {
        self.drive_from(run, VecDeque::new(), events, journal).await
    }

    /// The same, where some events came in before: they go first.
    pub async fn drive_from(
        &self,
        mut run: Run,
        came_in: VecDeque<Incoming>,
        events: &mut mpsc::Receiver<Incoming>,
        journal: &dyn Journal,
    ) -> Result<Run, JournalError> {
        let engine = Arc::new(self.clone());
        let mut flight = InFlight { came_in, ..InFlight::default() };
        while let Some(Incoming { event, delivered }) = flight.next(events).await {
            let before = Before::of(&run, &event);
            let step = run.handle(event);
            let done = match journal.commit(&run, &step, delivered).await {
                Ok(()) => {
                    if run.status.is_ended() {
                        // A stop: what was at work is dead before anything else begins, or its last piece of text would
                        // come after the end.
                        flight.end().await;
                    }
                    engine.show(&before, &run, &step);
                    engine.perform(&run, step, &mut flight, journal).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                flight.end().await;
                return Err(error);
            }
        }
        Ok(run)
    }

    async fn perform(
        self: &Arc<Self>,
        run: &Run,
        step: Step,
        flight: &mut InFlight,
        journal: &dyn Journal,
    ) -> Result<(), JournalError> {
        for effect in step.effects {
            match effect {
                Effect::CallModel if flight.has(What::Model) => {}
                Effect::CallModel if self.max_tokens.is_some_and(|limit| run.usage.total() >= limit) => {
                    flight.begin(What::Model, |_| async { Event::LimitReached(Limit::Tokens) });
                }
                Effect::CallModel => {
                    let transcript = journal.transcript().await?;
                    let (engine, run, turn) = (Arc::clone(self), run.id, run.turn + 1);
                    flight.begin(What::Model, move |stop| async move {
                        engine.next_turn((run, turn), transcript, stop).await
                    });
                }
                Effect::RunTool { slot, mode } => self.start(run, slot, mode, flight),
                // The commit raised and withdrew the requests and ended the run; a killed tool is dead by now.
                Effect::Ask { .. } | Effect::Withdraw(_) | Effect::KillTool(_) | Effect::Finish(_) => {}
            }
        }
        Ok(())
    }

    fn start(self: &Arc<Self>, run: &Run, slot: SlotId, mode: RunMode, flight: &mut InFlight) {
        if flight.has(What::Tool(slot)) {
            return;
        }
        let Some(slot) = run.slot(slot).cloned() else { return };
        let (engine, run) = (Arc::clone(self), run.id);
        flight.begin(
            What::Tool(slot.id),
            move |stop| async move { engine.run_tool(run, slot, mode, stop).await },
        );
    }
}

impl InFlight {
    fn has(&self, what: What) -> bool {
        self.live.values().any(|live| live.what == what)
    }

    fn begin<W>(&mut self, what: What, work: impl FnOnce(CancellationToken) -> W)
    where
        W: Future<Output = Event> + Send + 'static,
    {
        self.count += 1;
        let number = self.count;
        let stop = CancellationToken::new();
        let work = work(stop.clone());
        let task = self.works.spawn(async move { (number, work.await) });
        self.live.insert(number, Live { what, stop, task });
    }

    /// What happens next: none when nothing is at work and nothing has come in. What came in goes first, so that a stop
    /// is never behind a row of results.
    async fn next(&mut self, events: &mut mpsc::Receiver<Incoming>) -> Option<Incoming> {
        loop {
            if let Some(incoming) = self.came_in.pop_front().or_else(|| events.try_recv().ok()) {
                return Some(incoming);
            }
            if self.works.is_empty() {
                return None;
            }
            tokio::select! {
                biased;
                Some(incoming) = events.recv() => return Some(incoming),
                Some(done) = self.works.join_next() => {
                    // Work that was given up is no longer live, and a task of ours that was aborted brings nothing.
                    if let Ok((number, event)) = done && self.live.remove(&number).is_some() {
                        return Some(event.into());
                    }
                }
            }
        }
    }

    /// Ends all that is at work, and waits until it is dead.
    async fn end(&mut self) {
        for live in self.live.drain().map(|(_, live)| live) {
            live.stop.cancel();
            // A tool gets the time to end its processes; a model call has nothing to clean up.
            if live.what == What::Model {
                live.task.abort();
            }
        }
        while self.works.join_next().await.is_some() {}
    }
}
