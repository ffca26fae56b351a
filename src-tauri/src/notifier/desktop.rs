use std::collections::{HashMap, VecDeque};

use notify_rust::{Hint, Notification, NotificationHandle, NotificationResponse, Timeout, Urgency};
use tokio::task::{AbortHandle, JoinSet};
use zbus::fdo::{DBusProxy, NameOwnerChangedStream};
use zbus::{Connection, MatchRule, MessageStream};

use super::board::Raise;
use super::{DEFAULT_ACTION, NAME, PATH};

/// How many of the newest notifications keep a connection of their own. Some services answer only whoever raised a
/// notification; all others tell everybody, and are heard on one connection however many there are.
const OWN_EARS: usize = 64;

/// The session bus with what is heard on it.
pub(super) struct Desktop {
    connection: Connection,
    pub(super) signals: MessageStream,
    pub(super) owners: NameOwnerChangedStream,
    /// Who serves notifications now: only what it says itself counts.
    pub(super) owner: Option<String>,
}

/// What a notification service can do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skills {
    actions: bool,
    markup: bool,
}

/// Something that happened to a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Clicked { id: u32, action: String },
    Closed { id: u32 },
}

impl Desktop {
    /// Connects to the session bus and starts to listen.
    pub(super) async fn connect() -> zbus::Result<Self> {
        let connection = Connection::session().await?;
        let rule =
            MatchRule::builder().msg_type(zbus::message::Type::Signal).interface(NAME)?.path(PATH)?.build();
        let signals = MessageStream::for_match_rule(rule, &connection, Some(1024)).await?;
        let bus = DBusProxy::new(&connection).await?;
        let owners = bus.receive_name_owner_changed_with_args(&[(0, NAME)]).await?;
        let owner = bus.get_name_owner(NAME.try_into()?).await.ok().map(|owner| owner.to_string());
        Ok(Self { connection, signals, owners, owner })
    }

    /// To whom the numbers of notifications mean something: this service on this bus.
    pub(super) fn service(&self) -> Option<String> {
        self.owner.as_ref().map(|owner| format!("{} {owner}", self.connection.server_guid()))
    }

    /// Reads a signal, if the service itself sent it.
    pub(super) fn signal(&self, message: &zbus::Message) -> Option<Signal> {
        let header = message.header();
        if header.sender().map(|sender| sender.as_str()) != self.owner.as_deref() {
            return None;
        }
        match header.member()?.as_str() {
            "ActionInvoked" => {
                let (id, action) = message.body().deserialize().ok()?;
                Some(Signal::Clicked { id, action })
            }
            "NotificationClosed" => {
                let (id, _reason): (u32, u32) = message.body().deserialize().ok()?;
                Some(Signal::Closed { id })
            }
            _ => None,
        }
    }

    /// Asks the service what it can do; starts it where the bus can.
    pub(super) fn skills(&self) -> impl Future<Output = Result<Skills, String>> + use<> {
        let connection = self.connection.clone();
        async move {
            let reply = connection.call_method(Some(NAME), PATH, Some(NAME), "GetCapabilities", &()).await;
            let names: Vec<String> =
                reply.and_then(|reply| reply.body().deserialize()).map_err(|error| error.to_string())?;
            let has = |name: &str| names.iter().any(|known| known == name);
            Ok(Skills { actions: has("actions"), markup: has("body-markup") })
        }
    }

    /// Withdraws a notification.
    pub(super) fn close(&self, id: u32) -> impl Future<Output = Result<(), String>> + use<> {
        let connection = self.connection.clone();
        async move {
            let closed = connection.call_method(Some(NAME), PATH, Some(NAME), "CloseNotification", &id).await;
            match closed {
                Ok(_) => Ok(()),
                // The service has it no longer, which is what was wanted.
                Err(zbus::Error::MethodError(..)) => Ok(()),
                Err(error) => Err(error.to_string()),
            }
        }
    }
}

/// Raises a notification that opens its request.
pub(super) async fn raise(
    raise: Raise,
    skills: Skills,
    action: String,
) -> Result<NotificationHandle, String> {
    let Raise { said, replaces, .. } = raise;
    let mut notification = Notification::new();
    notification
        .appname("Sayso")
        .summary(&said.summary)
        .body(&if skills.markup { said.marked_up() } else { said.body })
        .icon("sayso-desktop")
        .hint(Hint::DesktopEntry("Sayso".to_owned()))
        .urgency(Urgency::Normal)
        .timeout(Timeout::Default);
    if let Some(id) = replaces {
        notification.id(id);
    }
    if skills.actions {
        notification.action(DEFAULT_ACTION, "Open").action(&action, "Open");
    }
    notification.show_async().await.map_err(|error| error.to_string())
}

/// Listens for services that answer only whoever raised a notification.
#[derive(Default)]
pub(super) struct Ears {
    tasks: JoinSet<Option<Signal>>,
    by_id: HashMap<u32, AbortHandle>,
    oldest_first: VecDeque<u32>,
}

impl Ears {
    pub(super) fn listen(&mut self, handle: NotificationHandle) {
        let id = handle.id();
        let task = self.tasks.spawn(async move {
            let mut heard = None;
            handle
                .wait_for_action_async(|response: &NotificationResponse| heard = Some(response.clone()))
                .await;
            match heard? {
                NotificationResponse::Default => {
                    Some(Signal::Clicked { id, action: DEFAULT_ACTION.to_owned() })
                }
                NotificationResponse::Action(action) => Some(Signal::Clicked { id, action }),
                NotificationResponse::Closed(_) => Some(Signal::Closed { id }),
                NotificationResponse::Reply(_) => None,
            }
        });
        self.by_id.insert(id, task);
        self.oldest_first.push_back(id);
        if self.oldest_first.len() > OWN_EARS
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.stop(oldest);
        }
    }

    /// Stops listening for one that is withdrawn or gone.
    pub(super) fn stop(&mut self, id: u32) {
        self.oldest_first.retain(|other| *other != id);
        if let Some(task) = self.by_id.remove(&id) {
            task.abort();
        }
    }

    pub(super) fn stop_all(&mut self) {
        self.tasks.abort_all();
        self.by_id.clear();
        self.oldest_first.clear();
    }

    /// The next thing heard; pending for ever while there is nothing to listen to.
    pub(super) async fn next(&mut self) -> Signal {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(Some(signal))) => return signal,
                Some(Ok(None) | Err(_)) => {}
                None => std::future::pending().await,
            }
        }
    }
}
