use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sayso_agent::kill_marked;
use sayso_domain::{Digest, RequestKey, RunId, SourceId};
use sayso_inbox::{Inbox, InboxEvent};
use sayso_store::{Store, StoreError, meta};
use tokio::sync::{OnceCell, broadcast, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::data_dir::DataDir;
use crate::dto::{Health, Topic, UiEvent};
use crate::elicitation::{self, OpenQuestions};
use crate::jobs::Jobs;
use crate::keeping;
use crate::listed::Listed;
use crate::live::LiveTexts;
use crate::mcp::{self, McpPool};
use crate::runs::RunBook;
use crate::senders::Senders;
use crate::webhooks::Webhooks;
use crate::{OpenError, demo, outbox, runs, sweeper};

/// What a host needs to start.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// The data folder; see [`crate::data_dir`].
    pub data_dir: PathBuf,
}

/// Everything that runs behind the faces. Cheap to clone.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    dir: DataDir,
    store: Store,
    inbox: Inbox,
    /// What the environment of this data folder's tool processes begins with, so that the next host finds them.
    mark: String,
    ui: broadcast::Sender<UiEvent>,
    runs: RunBook,
    mcp: McpPool,
    questions: OpenQuestions,
    live: LiveTexts,
    listed: Listed,
    senders: Senders,
    webhooks: Webhooks,
    jobs: Jobs,
    demo: OnceCell<String>,
    state: Mutex<State>,
    tasks: TaskTracker,
    stop: CancellationToken,
    restart: CancellationToken,
}

/// What is known only while the host runs.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) url: Option<String>,
    pub(crate) notifications: Option<Health>,
    pub(crate) tray: Option<Health>,
    pub(crate) autostart: Option<Health>,
    pub(crate) global_shortcut: Option<Health>,
    pub(crate) quiet: Option<String>,
    pub(crate) problems: BTreeMap<&'static str, String>,
}

impl Host {
    /// Takes the data folder, opens the database, and goes on with what an earlier host left: deadlines that passed,
    /// decisions that were not delivered, runs that were at work.
    pub async fn open(options: HostOptions) -> Result<Self, OpenError> {
        if let Err(error) = sayso_agent::hide_memory() {
            tracing::warn!(%error, "a tool could look into this process");
        }
        let dir = DataDir::hold(&options.data_dir)?;
        let database = dir.database();
        let store = tokio::task::spawn_blocking(move || Store::open(&database))
            .await
            .map_err(|error| OpenError::Io(format!("The database could not be opened: {error}.")))?
            .map_err(|error| OpenError::Storage(error.to_string()))?;
        let storage = |error: StoreError| OpenError::Storage(error.to_string());
        let chain = store.read(|reader| meta::chain(reader)).await.map_err(storage)?;
        // The place is in it too: a copy of the folder has the same chain, and tools of its own.
        let place = Digest::of(&dir.path().to_string_lossy()).to_string();
        let mark = format!("{chain}:{}:", &place[..16]);
        let inbox = Inbox::new(store.clone(), sayso_agent::system_time);
        let host = Self(Arc::new(Inner {
            dir,
            store,
            inbox,
            mark,
            ui: broadcast::channel(1024).0,
            runs: RunBook::default(),
            mcp: McpPool::default(),
            questions: OpenQuestions::default(),
            live: LiveTexts::default(),
            listed: Listed::default(),
            senders: Senders::default(),
            webhooks: Webhooks::default(),
            jobs: Jobs::default(),
            demo: OnceCell::new(),
            state: Mutex::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            restart: CancellationToken::new(),
        }));
        match host.begin().await {
            Ok(()) => Ok(host),
            Err(error) => {
                // Its tasks hold the folder, and whoever tries again must find it free.
                host.shutdown().await;
                Err(OpenError::Storage(error.to_string()))
            }
        }
    }

    async fn begin(&self) -> Result<(), StoreError> {
        self.spawn(relay(self.clone()));
        // A full disk is no reason not to start: what is past its deadline takes no answer in any case.
        if let Err(error) = sweeper::sweep(self).await {
            tracing::warn!(%error, "what passed its deadline could not be settled");
        }
        self.end_tools().await;
        elicitation::recover(self).await?;
        keeping::end_restored_runs(self).await?;
        runs::recover(self).await?;
        self.spawn(sweeper::run(self.clone()));
        self.spawn(keeping::run(self.clone()));
        self.spawn(outbox::run(self.clone()));
        self.spawn(mcp::run(self.clone()));
        Ok(())
    }

    /// Changes, announced after they were committed. A receiver that lags behind must look at everything again.
    pub fn events(&self) -> broadcast::Receiver<UiEvent> {
        self.0.ui.subscribe()
    }

    /// Tells the faces whether desktop notifications work.
    pub fn set_notifications(&self, health: Health) {
        self.change_state(|state| state.notifications = Some(health));
    }

    /// Tells the faces whether the tray works.
    pub fn set_tray(&self, health: Health) {
        self.change_state(|state| state.tray = Some(health));
    }

    /// Tells the faces whether starting with the desktop session is as Settings say.
    pub fn set_autostart(&self, health: Health) {
        self.change_state(|state| state.autostart = Some(health));
    }

    /// Tells the faces whether the shortcut that opens the inbox works; none where none is set.
    pub fn set_global_shortcut(&self, health: Option<Health>) {
        self.change_state(|state| state.global_shortcut = health);
    }

    /// Tells the faces why notifications are held back now, in words.
    pub fn set_quiet(&self, why: Option<String>) {
        self.change_state(|state| state.quiet = why);
    }

    /// Tells the faces where the browser finds the app.
    pub fn set_url(&self, url: String) {
        self.change_state(|state| state.url = Some(url));
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        self.0.dir.path()
    }

    /// Waits until the host should be ended and opened anew: a backup is to be put in the place of the database.
    pub async fn restart_wanted(&self) {
        self.0.restart.cancelled().await;
    }

    /// Ends what runs, so that the next host can go on with it. Runs are not stopped: they are rows.
    pub async fn shutdown(&self) {
        self.0.stop.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.mcp().close_all().await;
        // Their calls are given up by now; nothing of them may go on while no host is there to see it.
        self.end_tools().await;
        if let Err(error) = self.0.store.clone().close().await {
            tracing::warn!(%error, "the database was not closed in order; its log is kept");
        }
    }

    /// Ends whatever tools of this folder's host started and left.
    async fn end_tools(&self) {
        let mark = self.mark().to_owned();
        match tokio::task::spawn_blocking(move || kill_marked(&mark)).await {
            Ok(0) => {}
            Ok(ended) => tracing::info!(ended, "processes that tools left behind were ended"),
            Err(error) => tracing::warn!(%error, "processes that tools left behind could not be ended"),
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.0.inbox
    }

    pub(crate) fn mark(&self) -> &str {
        &self.0.mark
    }

    pub(crate) fn runs(&self) -> &RunBook {
        &self.0.runs
    }

    pub(crate) fn mcp(&self) -> &McpPool {
        &self.0.mcp
    }

    pub(crate) fn questions(&self) -> &OpenQuestions {
        &self.0.questions
    }

    pub(crate) fn live(&self) -> &LiveTexts {
        &self.0.live
    }

    pub(crate) fn listed(&self) -> &Listed {
        &self.0.listed
    }

    pub(crate) fn webhooks(&self) -> &Webhooks {
        &self.0.webhooks
    }

    pub(crate) fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    pub(crate) fn want_restart(&self) {
        self.0.restart.cancel();
    }

    pub(crate) fn senders(&self) -> &Senders {
        &self.0.senders
    }

    pub(crate) fn stop_token(&self) -> &CancellationToken {
        &self.0.stop
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(task);
    }

    /// Runs work to its end even if whoever waits for it goes away, so that what was committed is announced too.
    pub(crate) async fn finish<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, result) = oneshot::channel();
        self.spawn(async move {
            // Nobody may be waiting any more.
            let _ = reply.send(work.await);
        });
        result.await.map_err(|_| StoreError::Panicked)
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn announce(&self, topic: Topic, id: Option<String>) {
        // Nobody may be looking.
        let _ = self.0.ui.send(UiEvent { topic, id });
    }

    pub(crate) fn announce_run(&self, run: RunId) {
        self.announce(Topic::Runs, Some(run.to_string()));
    }

    /// Shows what is wrong right now, or that it no longer is.
    pub(crate) fn set_problem(&self, part: &'static str, problem: Option<String>) {
        let changed = {
            let mut state = self.state();
            match problem {
                Some(problem) => state.problems.insert(part, problem.clone()).as_ref() != Some(&problem),
                None => state.problems.remove(part).is_some(),
            }
        };
        if changed {
            self.announce(Topic::Status, None);
        }
    }

    /// Where the demo model is; it is served from the first use on.
    pub(crate) async fn demo_url(&self) -> std::io::Result<&str> {
        self.0.demo.get_or_try_init(|| demo::serve(self)).await.map(String::as_str)
    }

    fn change_state(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state());
        self.announce(Topic::Status, None);
    }
}

/// Hands the inbox's events on to the faces.
async fn relay(host: Host) {
    let mut events = host.inbox().events();
    loop {
        let event = tokio::select! {
            () = host.stop_token().cancelled() => return,
            event = events.recv() => event,
        };
        let tell = |topics: &[Topic], key: Option<RequestKey>| {
            topics.iter().for_each(|topic| host.announce(*topic, key.map(|key| key.to_string())));
        };
        match event {
            Ok(InboxEvent::Asked(key) | InboxEvent::Snoozed(key)) => tell(&[Topic::Inbox], Some(key)),
            Ok(InboxEvent::Settled(key, _) | InboxEvent::Revoked(key)) => {
                tell(&[Topic::Inbox, Topic::History], Some(key))
            }
            Ok(InboxEvent::Delivered(key) | InboxEvent::Released(key)) => tell(&[Topic::History], Some(key)),
            Err(broadcast::error::RecvError::Lagged(_)) => {
                tell(&[Topic::Inbox, Topic::History, Topic::Runs], None);
                host.senders().wake_all();
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
        match event {
            Ok(
                InboxEvent::Asked(key)
                | InboxEvent::Settled(key, _)
                | InboxEvent::Released(key)
                | InboxEvent::Delivered(key),
            ) => host.senders().wake(&host, key).await,
            // Of these whoever asked is not told.
            Ok(InboxEvent::Revoked(_) | InboxEvent::Snoozed(_)) | Err(_) => {}
        }
    }
}

pub(crate) fn new_source_id() -> SourceId {
    SourceId::new(Uuid::now_v7())
}

pub(crate) fn new_run_id() -> RunId {
    RunId::new(Uuid::now_v7())
}
