use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sayso_domain::run::{Asked, Event, Run, Status, Usage};
use sayso_domain::{Answer, Policy, Request, RequestKey, RunId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::asking::{Asking, elicited};
use crate::{
    AgentEvent, Checkpoint, CheckpointId, Claims, Elicit, ElicitAsk, Elicitation, Endpoint, Engine, Folder,
    Hooks, Incoming, McpConfig, McpServers, McpSetup, MemoryJournal, Model, ModelOptions, ResumeError,
    RunStream, Style, Toolkit, Watch, claims,
};

/// What a `wait_for` may fail with. It leaves the request pending (contract 14).
pub type WaitError = Box<dyn std::error::Error + Send + Sync>;

pub(crate) type WaitFor = dyn Fn(Request) -> BoxFuture<'static, Result<Answer, WaitError>> + Send + Sync;

/// Use of the loop without the app. A run is kept in memory while it goes on; where a person is needed and there is nobody
/// to ask, it is given back as a [`Checkpoint`], which any process can resume.
#[derive(Clone)]
pub struct Client {
    endpoint: Endpoint,
    options: ModelOptions,
    wait_for: Option<Arc<WaitFor>>,
    max_turns: u32,
    claims: Arc<dyn Claims>,
    watch: Option<Watch>,
    hooks: Hooks,
    system: Option<String>,
    max_tokens: Option<u64>,
    context_tokens: Option<u64>,
    policy: BTreeMap<String, Policy>,
    folder: Option<Arc<Folder>>,
    ask_timeout: Option<Duration>,
}

/// Where a run is taken up.
pub(crate) struct Start {
    pub(crate) run: Run,
    pub(crate) memory: MemoryJournal,
    pub(crate) asked: Vec<Asked>,
    pub(crate) incoming: Vec<Incoming>,
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
    /// The requests that wait, in call order: the first is the one that contract 25 calls `pending`.
    pub pending: Vec<Request>,
    /// Tokens, as the model counted them.
    pub usage: Usage,
    /// The run as it stands, to go on with it here or elsewhere: [`Client::resume`] where it is pending, and
    /// [`Client::tell`] in any case.
    pub checkpoint: Checkpoint,
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
        Self {
            endpoint,
            options: ModelOptions::default(),
            wait_for: None,
            max_turns: 10,
            claims: claims::of_process(),
            watch: None,
            hooks: Hooks::new(),
            system: None,
            max_tokens: None,
            context_tokens: None,
            policy: BTreeMap::new(),
            folder: None,
            ask_timeout: None,
        }
    }

    /// With someone to ask. Requests that wait at the same time are asked about at the same time. An answer with another
    /// id, an error or a panic leaves the request pending (contract 12, 14); at its deadline a request is declined as
    /// expired, and a later yes changes nothing (contract 13). An ok with `data.arguments` edits the call where its tool is
    /// [editable](crate::Tool::is_editable); anything else that does not fit leaves it pending (contract 12, 30). The reason of a no stays here (contract 9).
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

    /// With a store that refuses to resume a checkpoint twice (contract 27). Without it, a checkpoint is resumed once in this
    /// process, by whichever client; nothing then stops another process, or this one when it was started anew, from
    /// resuming a copy, which runs once more what was approved. Each of the two still gives every call exactly one result,
    /// and takes each answer once.
    #[must_use]
    pub fn claims(self, claims: impl Claims + 'static) -> Self {
        Self { claims: Arc::new(claims), ..self }
    }

    /// With somebody who is shown what runs do; see also [`Client::stream`].
    #[must_use]
    pub fn watch(self, watch: Watch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// With hooks before and after model and tool calls.
    #[must_use]
    pub fn hooks(self, hooks: Hooks) -> Self {
        Self { hooks, ..self }
    }

    /// With a system prompt.
    #[must_use]
    pub fn system(self, prompt: impl Into<String>) -> Self {
        Self { system: Some(prompt.into()), ..self }
    }

    /// With a limit of the tokens that a run may use in all; it then ends as incomplete and says so.
    #[must_use]
    pub fn max_tokens(self, tokens: u64) -> Self {
        Self { max_tokens: Some(tokens), ..self }
    }

    /// With a limit of what one model call may read, in tokens: longer conversations are compacted.
    #[must_use]
    pub fn context_tokens(self, tokens: u64) -> Self {
        Self { context_tokens: Some(tokens), ..self }
    }

    /// With what a tool may do without a person; it replaces the tool's own policy.
    #[must_use]
    pub fn policy(mut self, tool: impl Into<String>, policy: Policy) -> Self {
        self.policy.insert(tool.into(), policy);
        self
    }

    /// With a folder for the tools that work on files.
    #[must_use]
    pub fn folder(self, folder: Folder) -> Self {
        Self { folder: Some(Arc::new(folder)), ..self }
    }

    /// With a deadline for requests whose tool sets none (contract 13).
    #[must_use]
    pub fn ask_timeout(self, timeout: Duration) -> Self {
        Self { ask_timeout: Some(timeout), ..self }
    }

    /// Connects MCP servers, whose tools [`McpServers::add_to`] adds to a toolkit. They may ask a person only where this
    /// client has someone to ask: call it after [`Client::wait_for`] (contract 33).
    pub async fn connect(&self, config: &McpConfig, setup: McpSetup) -> McpServers {
        let elicitation = match self.wait_for {
            Some(_) => Elicitation::Offered,
            None => Elicitation::NotOffered,
        };
        McpServers::connect(config, &McpSetup { elicitation, ..setup }).await
    }

    /// Runs a task until the model is done, a limit is reached, or everything left waits for a person.
    pub async fn run(&self, prompt: &str, toolkit: &Toolkit) -> RunResult {
        self.go_on(self.start(prompt), toolkit).await
    }

    /// Runs a task and shows what happens meanwhile (contract 34): text, calls, requests before anybody waits for them,
    /// results, usage and the end.
    pub fn stream(&self, prompt: &str, toolkit: &Toolkit) -> RunStream {
        RunStream::of(self.clone(), self.start(prompt), toolkit.clone())
    }

    fn start(&self, prompt: &str) -> Start {
        Start {
            run: Run::new(RunId::new(Uuid::now_v7()), self.max_turns),
            memory: MemoryJournal::new(),
            asked: Vec::new(),
            incoming: vec![Event::Told(prompt.to_owned()).into()],
        }
    }

    pub(crate) fn style(&self) -> Style {
        self.endpoint.style
    }

    pub(crate) fn watching(&self) -> Option<&Watch> {
        self.watch.as_ref()
    }

    pub(crate) async fn claim(&self, checkpoint: CheckpointId) -> Result<(), ResumeError> {
        match self.claims.claim(checkpoint).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(ResumeError::AlreadyResumed),
            Err(error) => Err(ResumeError::Claims(error)),
        }
    }

    pub(crate) async fn go_on(&self, start: Start, toolkit: &Toolkit) -> RunResult {
        let Start { mut run, memory, asked, incoming } = start;
        let (answers, mut events) = mpsc::channel(64 + incoming.len());
        let waiting: Vec<_> = run.requests().filter(|key| !answers_one(&incoming, *key)).collect();
        for incoming in incoming {
            // There is room: nothing else has been sent.
            let _ = answers.try_send(incoming);
        }
        let asking = Arc::new(Asking {
            memory,
            asked: Mutex::new(asked),
            waits: Mutex::new(JoinSet::new()),
            wait_for: self.wait_for.clone(),
            answers,
        });
        if self.wait_for.is_some() {
            self.ask_again(&run, &waiting, &asking);
        }
        let engine = self.engine(toolkit, &asking);
        loop {
            run = match engine.drive(run.clone(), &mut events, &*asking).await {
                Ok(run) => run,
                // A journal in memory does not fail; if it ever does, the run says so.
                Err(error) => Run { status: Status::Error(error.to_string()), ..run },
            };
            if run.status.is_ended() || !asking.settled_one(&mut events).await {
                if let (Status::Pending, Some(watch)) = (&run.status, &self.watch) {
                    watch.tell(run.id, AgentEvent::Done(Status::Pending));
                }
                return asking.result(run, &self.endpoint);
            }
        }
    }

    fn engine(&self, toolkit: &Toolkit, asking: &Arc<Asking>) -> Engine {
        let model = Model::new(self.endpoint.clone(), self.options);
        let mut engine = Engine::new(model, Arc::new(toolkit.clone()), "client");
        engine.hooks = self.hooks.clone();
        engine.system = self.system.clone();
        engine.max_tokens = self.max_tokens;
        engine.context_tokens = self.context_tokens;
        engine.policy = self.policy.clone();
        engine.folder = self.folder.clone();
        engine.ask_timeout = self.ask_timeout;
        engine.elicit = self.elicit();
        let (watch, asking) = (self.watch.clone(), Arc::clone(asking));
        engine.watch = Some(Watch::new(move |run, event: AgentEvent| {
            // A request is shown before anybody waits for it.
            let key = if let AgentEvent::Pending { key, .. } = &event { Some(*key) } else { None };
            if let Some(watch) = &watch {
                watch.tell(run, event);
            }
            if let Some(key) = key {
                asking.ask(key);
            }
        }));
        engine
    }

    /// What MCP servers ask goes to whoever waits, after it was shown.
    fn elicit(&self) -> Option<Elicit> {
        let (wait_for, watch) = (self.wait_for.clone()?, self.watch.clone());
        Some(Elicit::new(move |ask: ElicitAsk| {
            let (wait_for, watch) = (Arc::clone(&wait_for), watch.clone());
            async move {
                let ElicitAsk { run, slot, asked } = ask;
                if let Some(watch) = &watch {
                    let request = asked.shown.request.clone();
                    watch.tell(run, AgentEvent::Pending { slot, key: asked.key, request });
                }
                elicited(&asked, &*wait_for).await
            }
        }))
    }

    /// Asks about what still waits of a run that is taken up.
    fn ask_again(&self, run: &Run, waiting: &[RequestKey], asking: &Asking) {
        for key in waiting {
            let request = asking.find(*key).map(|asked| asked.shown.request);
            if let (Some(watch), Some(slot), Some(request)) = (&self.watch, run.waiting_on(*key), request) {
                watch.tell(run.id, AgentEvent::Pending { slot: slot.id, key: *key, request });
            }
            asking.ask(*key);
        }
    }
}

fn answers_one(incoming: &[Incoming], key: RequestKey) -> bool {
    incoming.iter().any(|incoming| incoming.delivered == Some(key))
}
