use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::time::timeout;
use zbus::Connection;
use zbus::fdo::DBusProxy;

/// The panel that shows trays, as the desktops agreed to call it.
const WATCHER: &str = "org.kde.StatusNotifierWatcher";
const LIMIT: Duration = Duration::from_secs(3);
const REST: Duration = Duration::from_secs(20);

/// Says whether the desktop shows trays: once it is known, and whenever it changes.
pub(crate) async fn watch(mut say: impl FnMut(bool)) {
    loop {
        if let Err(error) = follow(&mut say).await {
            tracing::info!("nobody can say whether there is a tray: {error}");
        }
        say(false);
        tokio::time::sleep(REST).await;
    }
}

/// Follows the panel for as long as the bus lives.
async fn follow(say: &mut impl FnMut(bool)) -> zbus::Result<()> {
    let late = |_| zbus::Error::Failure("the session bus does not answer".to_owned());
    let (bus, mut changes) = timeout(LIMIT, async {
        let bus = DBusProxy::new(&Connection::session().await?).await?;
        let changes = bus.receive_name_owner_changed_with_args(&[(0, WATCHER)]).await?;
        zbus::Result::Ok((bus, changes))
    })
    .await
    .map_err(late)??;
    say(timeout(LIMIT, bus.name_has_owner(WATCHER.try_into()?)).await.map_err(late)??);
    while let Some(change) = changes.next().await {
        say(change.args()?.new_owner().is_some());
    }
    Ok(())
}
