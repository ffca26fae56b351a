//! Desktop notifications: one for every request that waits, withdrawn when it settles anywhere. They run on a thread of
//! their own and every call has a time limit, so that a service that hangs, dies or is missing stops nothing.

mod board;
mod desktop;
mod memory;
mod said;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use futures_util::StreamExt as _;
use notify_rust::NotificationHandle;
use sayso_domain::RequestKey;
use sayso_host::dto::{Health, InboxList, InboxPage, RequestDetail, RequestItem, RequestRef, Topic, UiEvent};
use sayso_host::{Host, RpcError, Surface, code};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::pulse::Pulse;
use board::Board;
use desktop::{Desktop, Ears, Signal, Skills};
use memory::Memory;
use said::Said;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// What the desktops call a click on the notification itself.
const DEFAULT_ACTION: &str = "default";

/// How long a service may take before the person is told that it hangs.
const LIMIT: Duration = Duration::from_secs(3);
/// How long after a failure it is tried again; a service that appears is tried at once.
const REST: Duration = Duration::from_secs(20);
/// How long the notifications of an app that ends may take to go.
const FAREWELL: Duration = Duration::from_secs(1);

/// What the notifier needs of the app.
pub(crate) struct Notifier {
    pub(crate) host: Host,
    /// Holds whether the person wants notifications.
    pub(crate) pulse: watch::Receiver<Pulse>,
    pub(crate) stop: CancellationToken,
    /// A folder that lasts as long as the desktop session, where there is one.
    pub(crate) session_dir: Option<PathBuf>,
    /// Opens a request, because the person clicked its notification.
    pub(crate) open: Box<dyn Fn(RequestKey) + Send>,
}

type Doing = Pin<Box<dyn Future<Output = Done> + Send>>;

/// What one call of the service came to.
enum Done {
    Asked(Result<Skills, String>),
    Raised { key: RequestKey, action: String, result: Result<Box<NotificationHandle>, String> },
    Closed(Result<(), String>),
}

/// One thing that happened.
enum Heard {
    Stop,
    BusGone,
    Done(Done),
    Late,
    Signal(Option<Signal>),
    Owner(Option<String>),
    Changed(Result<UiEvent, RecvError>),
    Pulse,
    Rested,
}

impl Notifier {
    /// Starts the thread, which lets go of the token when it has ended.
    pub(crate) fn start(self, ended: TaskTrackerToken) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("notifications".to_owned()).spawn(move || {
            runtime.block_on(self.run());
            // Whatever still hangs is left behind.
            runtime.shutdown_background();
            drop(ended);
        })?;
        Ok(())
    }

    async fn run(self) {
        let mut life = Life::new(&self);
        loop {
            match timeout(LIMIT, Desktop::connect()).await {
                Ok(Ok(desktop)) => life.serve(desktop).await,
                Ok(Err(error)) => life.no_bus(&error.to_string()),
                Err(_) => life.no_bus("it does not answer"),
            }
            if self.stop.is_cancelled() {
                return;
            }
            let _ = timeout(REST, self.stop.cancelled()).await;
        }
    }

    async fn ask<T: DeserializeOwned>(&self, command: &str, params: impl Serialize) -> Result<T, RpcError> {
        let unreadable = |error: serde_json::Error| RpcError::new(code::BAD_REQUEST, error.to_string());
        let params = serde_json::to_value(params).map_err(unreadable)?;
        let result = self.host.call(Surface::Window, command, params).await?;
        serde_json::from_value(result).map_err(unreadable)
    }

    /// All that waits, page by page.
    async fn all(&self) -> Result<Vec<RequestItem>, RpcError> {
        let mut items = Vec::new();
        let mut after = None;
        loop {
            let params = InboxList { after, limit: Some(1000), whole: false };
            let page = self.ask::<InboxPage>("inbox.list", params).await?;
            items.extend(page.items);
            after = page.next;
            if after.is_none() {
                return Ok(items);
            }
        }
    }
}

/// The notifier at work. It survives the bus.
struct Life<'a> {
    notifier: &'a Notifier,
    events: Receiver<UiEvent>,
    pulse: watch::Receiver<Pulse>,
    board: Board,
    ears: Ears,
    skills: Option<Skills>,
    /// The one call that is under way.
    doing: Option<Doing>,
    /// When it is too late for it.
    late_at: Option<Instant>,
    /// Until when nothing is tried after a failure.
    rest_until: Option<Instant>,
    /// When to read the whole list again.
    list_at: Option<Instant>,
    /// Whether the board holds everything that waits.
    listed: bool,
    memory: Memory,
    /// Whether what an earlier run left with the service was looked at.
    recalled: bool,
    said: Option<Health>,
}

impl<'a> Life<'a> {
    fn new(notifier: &'a Notifier) -> Self {
        Self {
            events: notifier.host.events(),
            pulse: notifier.pulse.clone(),
            notifier,
            board: Board::default(),
            ears: Ears::default(),
            skills: None,
            doing: None,
            late_at: None,
            rest_until: None,
            list_at: Some(Instant::now()),
            listed: false,
            memory: Memory::new(notifier.session_dir.clone()),
            recalled: false,
            said: None,
        }
    }

    /// Keeps notifications and requests in step for as long as the bus lives.
    async fn serve(&mut self, mut desktop: Desktop) {
        loop {
            self.go_on(&desktop);
            match self.hear(&mut desktop).await {
                Heard::Stop => return self.say_goodbye(&desktop).await,
                Heard::BusGone => break,
                Heard::Done(done) => self.done(done),
                Heard::Late => {
                    self.late_at = None;
                    self.health(HANGS);
                }
                Heard::Signal(Some(signal)) => self.signal(signal),
                Heard::Signal(None) => {}
                Heard::Owner(owner) => {
                    desktop.owner = owner;
                    self.another_service();
                }
                Heard::Changed(event) => self.changed(event).await,
                Heard::Pulse => {
                    if !self.pulse.borrow_and_update().settings.notifications {
                        self.board.withdraw_all();
                    }
                }
                Heard::Rested => self.rested().await,
            }
        }
        self.another_service();
        self.doing = None;
        self.late_at = None;
        self.health(NO_BUS);
    }

    async fn hear(&mut self, desktop: &mut Desktop) -> Heard {
        let never = Instant::now() + Duration::from_secs(86_400);
        let wake = self.rest_until.into_iter().chain(self.list_at).min();
        tokio::select! {
            biased;
            () = self.notifier.stop.cancelled() => Heard::Stop,
            message = desktop.signals.next() => match message {
                Some(Ok(message)) => Heard::Signal(desktop.signal(&message)),
                Some(Err(_)) | None => Heard::BusGone,
            },
            change = desktop.owners.next() => match change {
                Some(change) => Heard::Owner(change.args().ok().and_then(|args| args.new_owner().as_ref().map(ToString::to_string))),
                None => Heard::BusGone,
            },
            signal = self.ears.next() => Heard::Signal(Some(signal)),
            done = under_way(&mut self.doing) => Heard::Done(done),
            () = sleep_until(self.late_at.unwrap_or(never)), if self.late_at.is_some() => Heard::Late,
            changed = self.pulse.changed() => if changed.is_ok() { Heard::Pulse } else { Heard::Stop },
            event = self.events.recv() => Heard::Changed(event),
            () = sleep_until(wake.unwrap_or(never)), if wake.is_some() => Heard::Rested,
        }
    }

    /// Begins the next call where none is under way: withdrawing comes first.
    fn go_on(&mut self, desktop: &Desktop) {
        if self.doing.is_some() || self.rest_until.is_some() {
            return;
        }
        self.remember(desktop);
        let next: Doing = if let Some(id) = self.board.next_to_close() {
            self.ears.stop(id);
            let close = desktop.close(id);
            Box::pin(async move { Done::Closed(close.await) })
        } else if let Some(skills) = self.skills {
            if !self.wanted() {
                return;
            }
            if !self.listed {
                return;
            }
            let Some(raise) = self.board.next_to_raise() else { return };
            let key = raise.key;
            // Any program on the bus can claim that a button was pressed; this one's name it cannot know.
            let action = format!("open-{}", uuid::Uuid::new_v4().simple());
            Box::pin(async move {
                let result = desktop::raise(raise, skills, action.clone()).await.map(Box::new);
                Done::Raised { key, action, result }
            })
        } else {
            let skills = desktop.skills();
            Box::pin(async move { Done::Asked(skills.await) })
        };
        self.doing = Some(next);
        self.late_at = Some(Instant::now() + LIMIT);
    }

    /// Keeps in mind what is shown; at first, finds out what an earlier run left.
    fn remember(&mut self, desktop: &Desktop) {
        let Some(service) = desktop.service() else { return };
        if !self.listed || self.skills.is_none() {
            return;
        }
        if !self.recalled {
            self.recalled = true;
            self.board.left_over(self.memory.left_with(&service));
        }
        self.memory.keep(&service, self.board.shows());
    }

    fn wanted(&self) -> bool {
        self.pulse.borrow().settings.notifications
    }

    fn done(&mut self, done: Done) {
        self.doing = None;
        self.late_at = None;
        let result = match done {
            Done::Asked(Ok(skills)) => {
                self.skills = Some(skills);
                Ok(())
            }
            Done::Raised { key, action, result: Ok(handle) } => {
                self.board.shown(key, handle.id(), action);
                self.ears.listen(*handle);
                if !self.wanted() {
                    self.board.withdraw_all();
                }
                Ok(())
            }
            Done::Raised { key, result: Err(error), .. } => {
                self.board.failed(key);
                Err(error)
            }
            Done::Closed(Ok(())) => Ok(()),
            Done::Asked(Err(error)) | Done::Closed(Err(error)) => Err(error),
        };
        match result {
            Ok(()) => self.health(Health { ok: true, message: String::new() }),
            Err(error) => {
                tracing::info!("the notification service did not take a call: {error}");
                self.skills = None;
                self.rest_until = Some(Instant::now() + REST);
                self.health(MISSING);
            }
        }
    }

    fn signal(&mut self, signal: Signal) {
        match signal {
            Signal::Clicked { id, action } => {
                if let Some(key) = self.board.clicked(id, &action) {
                    (self.notifier.open)(key);
                }
            }
            Signal::Closed { id } => {
                self.ears.stop(id);
                self.board.closed(id);
            }
        }
    }

    fn another_service(&mut self) {
        self.ears.stop_all();
        self.board.forget_shown();
        self.skills = None;
        self.rest_until = None;
        self.recalled = true;
    }

    async fn changed(&mut self, event: Result<UiEvent, RecvError>) {
        match event {
            Ok(UiEvent { topic: Topic::Inbox, id: Some(id) }) => match id.parse() {
                Ok(key) => self.look_at(key).await,
                Err(_) => self.list_at = Some(Instant::now()),
            },
            Ok(UiEvent { topic: Topic::Inbox, id: None }) | Err(RecvError::Lagged(_)) => {
                self.list_at = Some(Instant::now());
            }
            Ok(UiEvent {
                topic:
                    Topic::Runs | Topic::Live | Topic::Agents | Topic::Senders | Topic::History | Topic::Status,
                ..
            }) => {}
            // The host has ended, and the app ends too.
            Err(RecvError::Closed) => self.notifier.stop.cancelled().await,
        }
    }

    async fn look_at(&mut self, key: RequestKey) {
        let detail =
            self.notifier.ask::<RequestDetail>("inbox.show", RequestRef { key: key.to_string() }).await;
        match detail {
            Ok(detail) if detail.item.state == "pending" && detail.item.snoozed_until.is_none() => {
                self.board.waits(key, || Said::of(&detail.item))
            }
            Ok(_) => self.board.settled(key),
            Err(error) if error.code == code::NOT_FOUND => self.board.settled(key),
            Err(_) => self.list_at = Some(Instant::now() + LIMIT),
        }
    }

    async fn rested(&mut self) {
        let now = Instant::now();
        if self.rest_until.is_some_and(|until| until <= now) {
            self.rest_until = None;
        }
        if self.list_at.is_some_and(|at| at <= now) {
            self.list_at = None;
            match self.notifier.all().await {
                Ok(items) => {
                    self.is_exactly(&items);
                    self.listed = true;
                }
                Err(_) => self.list_at = Some(Instant::now() + LIMIT),
            }
        }
    }

    fn is_exactly(&mut self, items: &[RequestItem]) {
        let mut keys = BTreeSet::new();
        for item in items {
            // It is raised when its time has come.
            if item.snoozed_until.is_some() {
                continue;
            }
            let Ok(key) = item.key.parse::<RequestKey>() else { continue };
            keys.insert(key);
            self.board.waits(key, || Said::of(item));
        }
        self.board.only(&keys);
    }

    /// An app that has ended answers no click, so its notifications go with it.
    async fn say_goodbye(&mut self, desktop: &Desktop) {
        self.ears.stop_all();
        self.board.withdraw_all();
        let _ = timeout(FAREWELL, async {
            while let Some(id) = self.board.next_to_close() {
                let _ = desktop.close(id).await;
            }
            self.remember(desktop);
        })
        .await;
    }

    fn no_bus(&mut self, error: &str) {
        tracing::info!("no session bus: {error}");
        self.health(NO_BUS);
    }

    fn health(&mut self, health: impl Into<Health>) {
        let health = health.into();
        if self.said.as_ref() != Some(&health) {
            self.said = Some(health.clone());
            self.notifier.host.set_notifications(health);
        }
    }
}

/// The outcome of the call that is under way; pending for ever where there is none.
async fn under_way(doing: &mut Option<Doing>) -> Done {
    match doing {
        Some(doing) => doing.await,
        None => std::future::pending().await,
    }
}

/// A state that the person can do something about.
struct Trouble(&'static str);

const NO_BUS: Trouble = Trouble(
    "There is no session bus, so the desktop cannot show notifications. Requests still arrive in the inbox and wait. \
     Start Sayso from a desktop session to get them.",
);
const MISSING: Trouble = Trouble(
    "No notification service answers on this desktop. Requests still arrive in the inbox and wait. Start or install a \
     notification service, such as dunst; Sayso finds it by itself.",
);
const HANGS: Trouble = Trouble(
    "The desktop's notification service does not answer. Requests still arrive in the inbox and wait. Restart the \
     notification service; Sayso goes on by itself.",
);

impl From<Trouble> for Health {
    fn from(trouble: Trouble) -> Self {
        Self { ok: false, message: trouble.0.to_owned() }
    }
}
