use std::sync::Arc;

use notify_rust::{Hint, Notification, NotificationHandle, Timeout, Urgency};
use zbus::fdo::{DBusProxy, MonitoringProxy, NameOwnerChangedStream};
use zbus::message::Type;
use zbus::{Connection, MatchRule, MessageStream};

use super::board::Buttons;
use super::handles::Handles;
use super::said::Said;
use super::{DEFAULT_ACTION, NAME, PATH};
use crate::glance::Offer;
use crate::token::token;

/// How many signals may wait to be read.
const MOST_WAITING: usize = 1024;

/// The session bus with what is heard on it.
pub(super) struct Desktop {
    connection: Connection,
    pub(super) signals: MessageStream,
    pub(super) owners: NameOwnerChangedStream,
    /// Who serves notifications now: only what it says itself counts. Any other program on the bus can send a signal that
    /// looks the same, but the bus writes the sender's own name on it.
    pub(super) owner: Option<String>,
    /// What is on the screen. What these hear is never listened to, since they do not look at who says it.
    pub(super) handles: Handles,
}

/// Raises one notification.
pub(super) struct Raiser {
    bus: Connection,
    replaced: Option<Arc<NotificationHandle>>,
}

/// A notification that the service took.
pub(super) struct Raised {
    pub(super) handle: Arc<NotificationHandle>,
    /// Who took it; none if that was changing.
    pub(super) service: Option<String>,
}

/// What a notification service can do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skills {
    pub(super) actions: bool,
    pub(super) body: bool,
    pub(super) markup: bool,
}

/// Something that happened to a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Clicked { id: u32, action: String },
    Closed { id: u32 },
}

/// A notification as it goes to the service.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    pub(super) said: Said,
    pub(super) buttons: Buttons,
    /// The service puts it in the place of this one.
    pub(super) replaces: Option<u32>,
    /// Whether it may make a sound.
    pub(super) is_heard: bool,
    pub(super) skills: Skills,
}

impl Desktop {
    /// Connects to the session bus and starts to listen.
    pub(super) async fn connect() -> zbus::Result<Self> {
        let connection = Connection::session().await?;
        let signals = listen(&connection).await?;
        let bus = DBusProxy::new(&connection).await?;
        let owners = bus.receive_name_owner_changed_with_args(&[(0, NAME)]).await?;
        let owner = bus.get_name_owner(NAME.try_into()?).await.ok().map(|owner| owner.to_string());
        Ok(Self { connection, signals, owners, owner, handles: Handles::default() })
    }

    /// To whom the numbers of notifications mean something: this service on this bus.
    pub(super) fn service(&self) -> Option<String> {
        self.owner.as_ref().map(|owner| format!("{} {owner}", self.connection.server_guid()))
    }

    /// Reads a signal, if the service itself sent it.
    pub(super) fn signal(&self, message: &zbus::Message) -> Option<Signal> {
        let header = message.header();
        let sender = header.sender().map(|sender| sender.as_str());
        if sender.is_none() || sender != self.owner.as_deref() {
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
            Ok(Skills { actions: has("actions"), body: has("body"), markup: has("body-markup") })
        }
    }

    /// What raises a notification, in the place of this one.
    pub(super) fn raiser(&self, replaces: Option<u32>) -> Raiser {
        let replaced = replaces.and_then(|id| self.handles.get(id));
        Raiser { bus: self.connection.clone(), replaced }
    }

    /// Withdraws a notification.
    pub(super) fn close(&mut self, id: u32) -> impl Future<Output = Result<(), String>> + use<> {
        let (connection, handle) = (self.connection.clone(), self.handles.get(id));
        self.handles.forget(id);
        async move {
            // Some services take it from nobody but whoever raised it.
            if let Some(handle) = handle {
                handle.close_async().await;
                return Ok(());
            }
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

/// Hears what the service says, also where it says it to nobody but the connection that raised a notification: each has a
/// connection of its own, and hears without looking at who speaks. Where the bus does not let that be heard, what is said
/// to everybody is.
async fn listen(connection: &Connection) -> zbus::Result<MessageStream> {
    let rule = MatchRule::builder().msg_type(Type::Signal).sender(NAME)?.interface(NAME)?.path(PATH)?.build();
    let mut ear = Connection::session().await?;
    ear.set_max_queued(MOST_WAITING);
    match MonitoringProxy::new(&ear).await?.become_monitor(std::slice::from_ref(&rule), 0).await {
        Ok(()) => Ok(MessageStream::from(ear)),
        Err(error) => {
            tracing::info!("only what the notification service says to everybody is heard: {error}");
            MessageStream::for_match_rule(rule, connection, Some(MOST_WAITING)).await
        }
    }
}

impl Raiser {
    /// Raises a notification.
    pub(super) async fn raise(self, notice: Notice) -> Result<Raised, String> {
        let before = self.owner().await;
        let mut notification = notification(&notice);
        let shown = match notification.show_async().await {
            // Some services let nobody replace a notification but the connection that raised it.
            Err(_) if notice.replaces.is_some() => {
                if let Some(replaced) = self.replaced.as_ref() {
                    replaced.close_async().await;
                }
                notification.id(0).show_async().await
            }
            shown => shown,
        };
        let handle = Arc::new(shown.map_err(|error| error.to_string())?);
        let after = self.owner().await;
        let service = after.filter(|after| before.is_none_or(|before| before == *after));
        Ok(Raised { handle, service })
    }

    /// Who serves notifications, by the bus's own word.
    async fn owner(&self) -> Option<String> {
        let bus = DBusProxy::new(&self.bus).await.ok()?;
        bus.get_name_owner(NAME.try_into().ok()?).await.ok().map(|owner| owner.to_string())
    }
}

fn notification(notice: &Notice) -> Notification {
    let Notice { said, buttons, replaces, is_heard, skills } = notice;
    let mut notification = Notification::new();
    notification
        .appname("Sayso")
        .summary(&said.title)
        .body(&if skills.markup { said.marked_up() } else { said.body.clone() })
        .icon("sayso-desktop")
        .hint(Hint::DesktopEntry("Sayso".to_owned()))
        .urgency(Urgency::Normal)
        .hint(if *is_heard {
            Hint::SoundName("message-new-instant".to_owned())
        } else {
            Hint::SuppressSound(true)
        })
        .timeout(Timeout::Default);
    if let Some(id) = replaces {
        notification.id(*id);
    }
    if skills.actions {
        for (name, label) in actions(buttons) {
            notification.action(name, label);
        }
    }
    notification
}

fn actions(buttons: &Buttons) -> impl Iterator<Item = (&str, &'static str)> {
    let Buttons { open, approve, deny } = buttons;
    let decide = [(approve, "Approve"), (deny, "Deny")];
    let decide = decide.into_iter().filter_map(|(name, label)| Some((name.as_deref()?, label)));
    [(DEFAULT_ACTION, "Open")].into_iter().chain(decide).chain([(open.as_str(), "Open")])
}

impl Buttons {
    /// Each with a name of its own, which no other notification ever has.
    pub(super) fn new(offer: Offer) -> Self {
        let name = |what: &str| format!("{what}-{}", token());
        Self {
            open: name("open"),
            approve: (offer == Offer::ApproveAndDeny).then(|| name("approve")),
            deny: (offer != Offer::Nothing).then(|| name("deny")),
        }
    }
}
