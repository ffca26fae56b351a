use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use sayso_domain::run::{Asked, CallState, Effect, Event, Run, Status, Step};
use sayso_domain::{Act, Answer, Digest, Refused, Request, RequestKey, RequestState, RunId, settle};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{
    Endpoint, Engine, Entry, Incoming, Journal, JournalError, MemoryJournal, Model, ModelOptions, Toolkit,
    message_text, system_time,
};

/// What a `wait_for` may fail with. It leaves the request pending (contract 14).
pub type WaitError = Box<dyn std::error::Error + Send + Sync>;

type WaitFor = dyn Fn(Request) -> BoxFuture<'static, Result<Answer, WaitError>> + Send + Sync;

/// Use of the loop without the app: one process, kept in memory.
#[derive(Clone)]
pub struct Client {
    endpoint: Endpoint,
    options: ModelOptions,
    wait_for: Option<Arc<WaitFor>>,
    max_turns: u32,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResult {
    /// Where it stands (contract 28).
    pub status: Status,
    /// The model's last words.
    pub text: String,
    /// Every call that has its result, in order.
    pub tool_calls: Vec<ToolCallRecord>,
    /// The requests that wait, in call order.
    pub pending: Vec<Request>,
}

/// A call and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCallRecord {
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
    /// What the model got.
    pub output: String,
    /// Whether it was told that the call failed.
    pub is_error: bool,
}

impl Client {
    /// A client that halts where a person is needed.
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, options: ModelOptions::default(), wait_for: None, max_turns: 10 }
    }

    /// With someone to ask. Requests that wait at the same time are asked about at the same time. An answer with another
    /// id, an error or a panic leaves the request pending (contract 12, 14); at its deadline a request is declined as
    /// expired, and a later yes changes nothing (contract 13). The reason of a no stays here (contract 9).
    #[must_use]
    pub fn wait_for<F, R, E>(mut self, ask: F) -> Self
    where
        F: Fn(Request) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Answer, E>> + Send + 'static,
        E: Into<WaitError> + 'static,
    {
        self.wait_for = Some(Arc::new(move |request| {
            let answer = ask(request);
            Box::pin(async move { answer.await.map_err(Into::into) })
        }));
        self
    }

    /// With other limits of a model call.
    #[must_use]
    pub fn options(self, options: ModelOptions) -> Self {
        Self { options, ..self }
    }

    /// With another number of model calls after which the run ends as incomplete (contract 22); 10 by default.
    #[must_use]
    pub fn max_turns(self, max_turns: u32) -> Self {
        Self { max_turns, ..self }
    }

    /// Runs a task until the model is done, a limit is reached, or everything left waits for a person.
    pub async fn run(&self, prompt: &str, toolkit: &Toolkit) -> RunResult {
        let model = Model::new(self.endpoint.clone(), self.options);
        let engine = Engine::new(model, Arc::new(toolkit.clone()), "client");
        let (answers, mut events) = mpsc::channel(64);
        let journal = Asking {
            memory: MemoryJournal::new(),
            asked: Mutex::default(),
            waits: Mutex::new(JoinSet::new()),
            wait_for: self.wait_for.clone(),
            answers: answers.clone(),
        };
        let mut run = Run::new(RunId::new(Uuid::now_v7()), self.max_turns);
        // There is room: nothing else has been sent.
        let _ = answers.try_send(Event::Told(prompt.to_owned()).into());
        loop {
            run = match engine.drive(run.clone(), &mut events, &journal).await {
                Ok(run) => run,
                // A journal in memory does not fail; if it ever does, the run says so.
                Err(error) => Run { status: Status::Error(error.to_string()), ..run },
            };
            if run.status.is_ended() || !journal.settled_one(&mut events).await {
                return journal.result(&run, &self.endpoint);
            }
        }
    }
}

/// A journal in memory that asks about each request once it is committed.
struct Asking {
    memory: MemoryJournal,
    asked: Mutex<Vec<Asked>>,
    waits: Mutex<JoinSet<()>>,
    wait_for: Option<Arc<WaitFor>>,
    answers: mpsc::Sender<Incoming>,
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
                self.ask(asked);
            }
        }
        Ok(())
    }

    async fn transcript(&self) -> Result<Vec<Entry>, JournalError> {
        self.memory.transcript().await
    }
}

impl Asking {
    fn ask(&self, asked: &Asked) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked.clone());
        let Some(wait_for) = self.wait_for.clone() else { return };
        let (asked, answers) = (asked.clone(), self.answers.clone());
        self.waits.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
            if let Some(answer) = answer(&asked, &*wait_for).await {
                let event = Event::Settled { request: asked.key, answer };
                // Nobody listens only when the run is over.
                let _ = answers.send(Incoming { event, delivered: Some(asked.key) }).await;
            }
        });
    }

    /// Waits until a request settled; false if none will.
    async fn settled_one(&self, events: &mut mpsc::Receiver<Incoming>) -> bool {
        while events.is_empty() {
            let waits = || self.waits.lock().unwrap_or_else(PoisonError::into_inner);
            // A wait that ended may have brought nothing; the next one still can.
            if poll_fn(|context| waits().poll_join_next(context)).await.is_none() {
                return !events.is_empty();
            }
        }
        true
    }

    fn result(&self, run: &Run, endpoint: &Endpoint) -> RunResult {
        let message = self.memory.last_message();
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = run.requests().filter_map(|key| asked.iter().find(|asked| asked.key == key));
        RunResult {
            status: run.status.clone(),
            text: message.map(|message| message_text(endpoint.style, &message)).unwrap_or_default(),
            tool_calls: self.memory.calls().into_iter().filter_map(record).collect(),
            pending: pending.map(|asked| asked.shown.request.clone()).collect(),
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

/// Asks, and takes the answer as every surface of the app would: what is left of it is what may leave.
async fn answer(asked: &Asked, wait_for: &WaitFor) -> Option<Answer> {
    let request = &asked.shown.request;
    let digest = Digest::of(&asked.shown.to_text());
    let decide = |act: &Act| settle(request, RequestState::Pending, &digest, act, system_time());
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
    match decide(&given) {
        Ok(settlement) => Some(settlement.delivered()),
        Err(Refused::TooLate) => decide(&Act::Expire).ok().map(|settlement| settlement.delivered()),
        Err(
            refused
            @ (Refused::WrongId | Refused::WrongDigest | Refused::NotDue | Refused::AlreadySettled(_)),
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
