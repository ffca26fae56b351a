use std::collections::HashMap;

use zbus::fdo::{DBusProxy, NameOwnerChangedStream};
use zbus::message::Type;
use zbus::zvariant::Value;
use zbus::{Connection, MatchRule, MessageStream};

use super::board::Buttons;
use super::said::Said;
use super::{DEFAULT_ACTION, NAME, PATH};
use crate::glance::Offer;
use crate::token::token;

/// The session bus with what is heard on it. Notifications are raised and heard of on one connection, so that a service
/// that answers only whoever raised them is heard too.
pub(super) struct Desktop {
    connection: Connection,
    pub(super) signals: MessageStream,
    pub(super) owners: NameOwnerChangedStream,
    /// Who serves notifications now: only what it says itself counts. Any other program on the bus can send a signal that
    /// looks the same, but the bus writes the sender's own name on it.
    pub(super) owner: Option<String>,
}

/// Raises notifications on the desktop's connection.
pub(super) struct Raiser(Connection);

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
        let rule =
            MatchRule::builder().msg_type(Type::Signal).sender(NAME)?.interface(NAME)?.path(PATH)?.build();
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

    /// What raises notifications.
    pub(super) fn raiser(&self) -> Raiser {
        Raiser(self.connection.clone())
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

impl Raiser {
    /// Raises a notification; gives its number and the service to which that means something.
    pub(super) async fn raise(&self, notice: Notice) -> Result<(u32, String), String> {
        let Notice { said, buttons, replaces, is_heard, skills } = notice;
        let body = if skills.markup { said.marked_up() } else { said.body.clone() };
        let actions = if skills.actions { actions(&buttons) } else { Vec::new() };
        let hints = HashMap::from([
            ("desktop-entry", Value::from("Sayso")),
            ("urgency", Value::from(1_u8)),
            if is_heard {
                ("sound-name", Value::from("message-new-instant"))
            } else {
                ("suppress-sound", Value::from(true))
            },
        ]);
        let replaces = replaces.unwrap_or_default();
        let notify =
            ("Sayso", replaces, "sayso-desktop", said.title.as_str(), body.as_str(), actions, hints, -1_i32);
        let reply = self
            .0
            .call_method(Some(NAME), PATH, Some(NAME), "Notify", &notify)
            .await
            .map_err(|error| error.to_string())?;
        let id = reply.body().deserialize().map_err(|error| error.to_string())?;
        Ok((id, reply.header().sender().map(ToString::to_string).unwrap_or_default()))
    }
}

fn actions(buttons: &Buttons) -> Vec<&str> {
    let Buttons { open, approve, deny } = buttons;
    let decide = [(approve, "Approve"), (deny, "Deny")];
    let decide = decide.into_iter().filter_map(|(name, label)| Some([name.as_deref()?, label]));
    [[DEFAULT_ACTION, "Open"]].into_iter().chain(decide).chain([[open.as_str(), "Open"]]).flatten().collect()
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
