//! A notification service of the test's own on a private bus.

use crate::bus::PrivateBus;
use crate::{wait, wait_value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zbus::zvariant::{OwnedValue, Value};

const PATH: &str = "/org/freedesktop/Notifications";
const NAME: &str = "org.freedesktop.Notifications";

/// A client needs time to subscribe after Notify returned; a person is never faster than this either.
const REACTION: Duration = Duration::from_millis(150);

/// The app takes no decision right after a notification came up.
const GUARD: Duration = Duration::from_millis(700);

/// How the service behaves. One that is absent is simply not started.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// What `GetCapabilities` says.
    pub capabilities: Vec<String>,
    /// Whether calls are answered at all; a service that hangs records them and stays silent.
    pub replies: bool,
    /// Whether `CloseNotification` is obeyed; one that is not keeps what it shows on the screen.
    pub closes: bool,
    /// Whether it answers and obeys only the connection that raised a notification, for as long as that is there.
    pub is_loyal: bool,
}

impl Behaviour {
    /// A desktop that draws buttons.
    pub fn with_actions() -> Self {
        Self::capable_of(&["actions", "body", "body-markup", "persistence"])
    }

    /// A desktop like dunst's default, which draws none.
    pub fn without_actions() -> Self {
        Self::capable_of(&["body"])
    }

    /// A service that takes the name and then never replies.
    pub fn hanging() -> Self {
        Self { replies: false, ..Self::with_actions() }
    }

    /// A desktop that draws buttons and takes nothing off the screen.
    pub fn sticky() -> Self {
        Self { closes: false, ..Self::with_actions() }
    }

    /// A desktop like GNOME's, which speaks to whoever raised a notification and to nobody else.
    pub fn loyal() -> Self {
        Self { is_loyal: true, ..Self::with_actions() }
    }

    fn capable_of(capabilities: &[&str]) -> Self {
        let capabilities = capabilities.iter().map(ToString::to_string).collect();
        Self { capabilities, replies: true, closes: true, is_loyal: false }
    }
}

/// One call of `Notify`, with all its arguments.
#[derive(Clone, Debug)]
pub struct Notified {
    /// The id it was given.
    pub id: u32,
    /// The name of the app.
    pub app_name: String,
    /// The id it asked to replace, 0 for none.
    pub replaces: u32,
    /// Icon name or path.
    pub icon: String,
    /// The title.
    pub summary: String,
    /// The text, possibly with markup.
    pub body: String,
    /// Pairs of key and label.
    pub actions: Vec<(String, String)>,
    /// Urgency and the like, each in its debug form.
    pub hints: HashMap<String, String>,
    /// Milliseconds, -1 for the desktop's own, 0 for never.
    pub expire_timeout: i32,
    /// The caller's own name on the bus.
    pub sender: String,
}

impl Notified {
    /// What the button with this label is called, where there is one.
    pub fn button(&self, label: &str) -> Option<&str> {
        self.actions.iter().find(|(_, shown)| shown == label).map(|(key, _)| key.as_str())
    }

    /// The labels of its buttons, the click on the notification itself left out.
    pub fn labels(&self) -> Vec<&str> {
        let buttons = self.actions.iter().filter(|(key, _)| key != "default");
        buttons.map(|(_, label)| label.as_str()).collect()
    }
}

#[derive(Debug, Default)]
struct Record {
    last_id: u32,
    is_loyal: bool,
    shown: Vec<(Instant, Notified)>,
    withdrawn: Vec<u32>,
}

impl Record {
    /// Who raised what has this number now.
    fn raiser(&self, id: u32) -> Option<&str> {
        self.shown.iter().rev().find(|(_, one)| one.id == id).map(|(_, one)| one.sender.as_str())
    }

    /// Whom a signal about this one is for, where it is not for everybody.
    fn listener(&self, id: u32) -> Option<String> {
        self.raiser(id).filter(|_| self.is_loyal).map(str::to_owned)
    }
}

/// The running service. It leaves the bus when dropped.
#[derive(Debug)]
pub struct FakeNotifications {
    connection: zbus::Connection,
    record: Arc<Mutex<Record>>,
}

impl FakeNotifications {
    /// Takes the name on `bus` and serves.
    pub async fn start(bus: &PrivateBus, behaviour: Behaviour) -> Self {
        let record = Record { is_loyal: behaviour.is_loyal, ..Record::default() };
        let record = Arc::new(Mutex::new(record));
        let connection = bus.connect().await;
        let service = Daemon { behaviour, record: Arc::clone(&record) };
        connection.object_server().at(PATH, service).await.expect("the service can be served");
        connection.request_name(NAME).await.expect("nobody else notifies on a private bus");
        Self { connection, record }
    }

    /// Every `Notify` so far, in order. Replacements appear again.
    pub fn shown(&self) -> Vec<Notified> {
        lock(&self.record).shown.iter().map(|(_, notified)| notified.clone()).collect()
    }

    /// The ids whose `CloseNotification` was called, in order.
    pub fn withdrawn(&self) -> Vec<u32> {
        lock(&self.record).withdrawn.clone()
    }

    /// Waits for a notification whose title or text contains `text`.
    pub async fn wait_for(&self, text: &str) -> Notified {
        let what = format!("a notification that says {text:?}");
        wait_value(&what, wait::SOON, async || {
            self.shown().into_iter().rev().find(|one| one.summary.contains(text) || one.body.contains(text))
        })
        .await
    }

    /// Waits until the notification `id` was withdrawn by the app.
    pub async fn wait_withdrawn(&self, id: u32) {
        let what = format!("notification {id} is withdrawn");
        crate::wait_until(&what, wait::SOON, async || self.withdrawn().contains(&id)).await;
    }

    /// A person presses a button, or with the key `default` the notification itself. Never earlier after
    /// `Notify` than a person could, since a client still subscribes then.
    pub async fn press(&self, id: u32, action_key: &str) {
        self.react(id).await;
        self.signal(id, "ActionInvoked", &(id, action_key)).await;
        self.signal(id, "NotificationClosed", &(id, 2_u32)).await;
    }

    /// A person reads, and then presses the button with this label.
    ///
    /// # Panics
    /// When it has no such button.
    pub async fn decide(&self, shown: &Notified, label: &str) {
        let key = shown.button(label).unwrap_or_else(|| panic!("no button {label:?} on {shown:?}"));
        self.react_after(shown.id, GUARD).await;
        self.press(shown.id, key).await;
    }

    /// A person waves the notification away; nothing else is said.
    pub async fn dismiss(&self, id: u32) {
        self.react(id).await;
        self.signal(id, "NotificationClosed", &(id, 2_u32)).await;
    }

    /// Any process on a bus can claim that a button was pressed: sends that from a connection of its own.
    pub async fn forge_press(bus: &PrivateBus, id: u32, action_key: &str) {
        Self::forge_press_to(bus, None, id, action_key).await;
    }

    /// The same, told to everybody or to one connection alone.
    pub async fn forge_press_to(bus: &PrivateBus, to: Option<&str>, id: u32, action_key: &str) {
        let stranger = bus.connect().await;
        let body = (id, action_key);
        let sent = stranger.emit_signal(to, PATH, NAME, "ActionInvoked", &body).await;
        sent.expect("the signal can be sent");
        // The bus works off what a connection sends in order: an answer means that the signal was passed on.
        stranger
            .call_method(Some("org.freedesktop.DBus"), "/", Some("org.freedesktop.DBus"), "GetId", &())
            .await
            .expect("the bus answers");
    }

    async fn react(&self, id: u32) {
        self.react_after(id, REACTION).await;
    }

    async fn react_after(&self, id: u32, delay: Duration) {
        let at = lock(&self.record).shown.iter().rev().find(|(_, one)| one.id == id).map(|(at, _)| *at);
        let at = at.unwrap_or_else(|| panic!("no notification {id} was shown"));
        tokio::time::sleep(delay.saturating_sub(at.elapsed())).await;
    }

    async fn signal<B>(&self, id: u32, signal: &str, body: &B)
    where
        B: serde::ser::Serialize + zbus::zvariant::DynamicType + Sync,
    {
        let listener = lock(&self.record).listener(id);
        let sent = self.connection.emit_signal(listener.as_deref(), PATH, NAME, signal, body).await;
        sent.expect("the signal can be sent");
    }
}

struct Daemon {
    behaviour: Behaviour,
    record: Arc<Mutex<Record>>,
}

impl Daemon {
    async fn reply<T>(&self, value: T) -> T {
        if !self.behaviour.replies {
            std::future::pending::<()>().await;
        }
        value
    }
}

impl Daemon {
    /// Refuses a loyal service's notification to everybody but its raiser, who is still on the bus.
    async fn obeys(
        &self,
        id: u32,
        header: &zbus::message::Header<'_>,
        connection: &zbus::Connection,
    ) -> zbus::fdo::Result<()> {
        let Some(raiser) = lock(&self.record).listener(id) else { return Ok(()) };
        if header.sender().is_some_and(|sender| *sender == raiser.as_str()) {
            return Ok(());
        }
        let bus = zbus::fdo::DBusProxy::new(connection).await?;
        let raiser = zbus::names::BusName::try_from(raiser).map_err(zbus::Error::from)?;
        match bus.name_has_owner(raiser).await? {
            true => Err(zbus::fdo::Error::InvalidArgs("it is another one's".to_owned())),
            false => Ok(()),
        }
    }
}

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl Daemon {
    #[expect(clippy::too_many_arguments, reason = "the freedesktop specification's own signature")]
    async fn notify(
        &self,
        app_name: String,
        replaces_id: u32,
        app_icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        hints: HashMap<String, OwnedValue>,
        expire_timeout: i32,
        #[zbus(header)] header: zbus::message::Header<'_>,
        #[zbus(connection)] connection: &zbus::Connection,
    ) -> zbus::fdo::Result<u32> {
        self.obeys(replaces_id, &header, connection).await?;
        let id = {
            let mut record = lock(&self.record);
            let id = if replaces_id == 0 { record.last_id + 1 } else { replaces_id };
            record.last_id = record.last_id.max(id);
            let pairs = actions.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
            let notified = Notified {
                id,
                app_name,
                replaces: replaces_id,
                icon: app_icon,
                summary,
                body,
                actions: pairs.collect(),
                hints: hints
                    .into_iter()
                    .map(|(name, value)| (name, format!("{:?}", Value::from(value))))
                    .collect(),
                expire_timeout,
                sender: header.sender().map(ToString::to_string).unwrap_or_default(),
            };
            record.shown.push((Instant::now(), notified));
            id
        };
        Ok(self.reply(id).await)
    }

    async fn close_notification(
        &self,
        id: u32,
        #[zbus(header)] header: zbus::message::Header<'_>,
        #[zbus(connection)] connection: &zbus::Connection,
    ) -> zbus::fdo::Result<()> {
        self.obeys(id, &header, connection).await?;
        lock(&self.record).withdrawn.push(id);
        self.reply(()).await;
        if self.behaviour.closes {
            let listener = lock(&self.record).listener(id);
            let body = (id, 3_u32);
            let _ =
                connection.emit_signal(listener.as_deref(), PATH, NAME, "NotificationClosed", &body).await;
        }
        Ok(())
    }

    async fn get_capabilities(&self) -> Vec<String> {
        self.reply(self.behaviour.capabilities.clone()).await
    }

    async fn get_server_information(&self) -> (String, String, String, String) {
        let [name, vendor, version, specification] = ["test", "sayso", "1", "1.2"].map(str::to_owned);
        self.reply((name, vendor, version, specification)).await
    }
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}
