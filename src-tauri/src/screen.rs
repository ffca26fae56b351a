use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio::time::timeout;
use zbus::fdo::DBusProxy;
use zbus::message::Type;
use zbus::zvariant::{OwnedObjectPath, OwnedValue};
use zbus::{Connection, MatchRule, MessageStream, Proxy};

const LIMIT: Duration = Duration::from_secs(3);
const REST: Duration = Duration::from_secs(60);
const LOGIN: &str = "org.freedesktop.login1";
const SESSION: &str = "org.freedesktop.login1.Session";

/// Those who can say that the screen is locked: name and path on the session's bus.
const SAVERS: [(&str, &str); 2] = [
    ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
    ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
];

/// Who says now that the screen is locked: the savers, and the session's keeper. Where nobody can say, it is not known, and
/// counts as not locked: what a notification says then is as the person set it.
pub(crate) type Locks = [bool; 3];

/// Whether the screen is locked.
pub(crate) fn is_locked(locks: &Locks) -> bool {
    locks.contains(&true)
}

/// Keeps `told` informed of whether the screen is locked.
pub(crate) async fn watch(told: watch::Sender<Locks>) {
    let tell = |who: usize| {
        let told = told.clone();
        move |locked: bool| {
            told.send_if_modified(|locks| std::mem::replace(&mut locks[who], locked) != locked);
        }
    };
    let savers = async |who: usize| {
        let (name, path) = SAVERS[who];
        loop {
            if let Err(error) = follow_saver(name, path, tell(who)).await {
                tracing::debug!("{name} cannot say whether the screen is locked: {error}");
            }
            tell(who)(false);
            tokio::time::sleep(REST).await;
        }
    };
    let login = async {
        loop {
            if let Err(error) = follow_login(tell(2)).await {
                tracing::debug!("{LOGIN} cannot say whether the screen is locked: {error}");
            }
            tell(2)(false);
            tokio::time::sleep(REST).await;
        }
    };
    tokio::join!(savers(0), savers(1), login);
}

/// Follows a saver, which may come and go, for as long as the bus lives. Only what itself says counts.
async fn follow_saver(name: &'static str, path: &'static str, tell: impl Fn(bool)) -> zbus::Result<()> {
    let connection = in_time(Connection::session()).await?;
    let bus = in_time(DBusProxy::new(&connection)).await?;
    let mut owners = in_time(bus.receive_name_owner_changed_with_args(&[(0, name)])).await?;
    let rule =
        MatchRule::builder().msg_type(Type::Signal).sender(name)?.interface(name)?.member("ActiveChanged")?;
    let mut signals = in_time(MessageStream::for_match_rule(rule.build(), &connection, Some(16))).await?;
    let mut owner = timeout(LIMIT, bus.get_name_owner(name.try_into()?))
        .await
        .ok()
        .and_then(Result::ok)
        .map(|owner| owner.to_string());
    loop {
        let active = async {
            let reply =
                in_time(connection.call_method(Some(name), path, Some(name), "GetActive", &())).await?;
            reply.body().deserialize::<bool>()
        };
        tell(owner.is_some() && active.await.unwrap_or_default());
        loop {
            tokio::select! {
                message = signals.next() => {
                    let Some(message) = message else { return Ok(()) };
                    let message = message?;
                    if message.header().sender().map(|sender| sender.as_str()) == owner.as_deref()
                        && let Ok(active) = message.body().deserialize::<bool>()
                    {
                        tell(active);
                    }
                }
                change = owners.next() => {
                    let Some(change) = change else { return Ok(()) };
                    owner = change.args()?.new_owner().as_ref().map(ToString::to_string);
                    break;
                }
            }
        }
    }
}

/// Follows the session's keeper on the system's bus.
async fn follow_login(tell: impl Fn(bool)) -> zbus::Result<()> {
    let connection = in_time(Connection::system()).await?;
    let own =
        in_time(Proxy::new(&connection, LOGIN, "/org/freedesktop/login1/session/auto", SESSION)).await?;
    let id: String = in_time(own.get_property("Id")).await?;
    let keeper =
        in_time(Proxy::new(&connection, LOGIN, "/org/freedesktop/login1", "org.freedesktop.login1.Manager"))
            .await?;
    let path: OwnedObjectPath = in_time(keeper.call("GetSession", &id)).await?;
    let session = in_time(Proxy::new(&connection, LOGIN, path, SESSION)).await?;
    let mut changes = session.receive_property_changed::<OwnedValue>("LockedHint").await;
    tell(in_time(session.get_property("LockedHint")).await?);
    while changes.next().await.is_some() {
        tell(in_time(session.get_property("LockedHint")).await?);
    }
    Ok(())
}

async fn in_time<T>(work: impl Future<Output = zbus::Result<T>>) -> zbus::Result<T> {
    timeout(LIMIT, work).await.unwrap_or_else(|_| Err(zbus::Error::Failure("it does not answer".to_owned())))
}
