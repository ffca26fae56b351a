use std::time::Duration;

use sayso_host::dto::{AppStatus, Empty, Settings, Topic, UiEvent};
use sayso_host::{Host, Surface};
use serde::de::DeserializeOwned;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::call::call;

/// How long a burst of changes is gathered before it is looked at.
const BREATH: Duration = Duration::from_millis(50);

/// What the shell itself shows and obeys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pulse {
    /// How many requests wait.
    pub(crate) waiting: u32,
    /// The person's habits.
    pub(crate) settings: Settings,
}

/// The pulse now; what cannot be read is as it is for a new person.
pub(crate) async fn read(host: &Host) -> Pulse {
    let (settings, status) =
        (ask::<Settings>(host, "settings.get").await, ask::<AppStatus>(host, "status").await);
    Pulse { waiting: status.map_or(0, |status| status.waiting), settings: settings.unwrap_or_default() }
}

/// Keeps the pulse in step with the host for as long as the host has events.
pub(crate) async fn follow(host: Host, pulse: watch::Sender<Pulse>) {
    loop {
        // Before reading, so that what changes meanwhile is heard.
        let mut events = host.events();
        let now = read(&host).await;
        pulse.send_if_modified(|pulse| {
            let changed = *pulse != now;
            *pulse = now;
            changed
        });
        loop {
            match events.recv().await {
                Ok(UiEvent { topic: Topic::Inbox | Topic::Status, .. }) | Err(RecvError::Lagged(_)) => break,
                Ok(UiEvent {
                    topic:
                        Topic::Runs | Topic::Live | Topic::Agents | Topic::Senders | Topic::History | Topic::Jobs,
                    ..
                }) => {}
                Err(RecvError::Closed) => return,
            }
        }
        tokio::time::sleep(BREATH).await;
    }
}

async fn ask<T: DeserializeOwned>(host: &Host, command: &str) -> Option<T> {
    let answer = call(host, Surface::Window, command, Empty {}).await;
    answer.map_err(|error| tracing::warn!("{command}: {error}")).ok()
}
