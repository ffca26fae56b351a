use std::sync::{Mutex, MutexGuard, PoisonError};

use sayso_host::dto::{Topic, UiEvent};
use tauri::ipc::Channel;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// The pages that want to be told of changes. A page is forgotten when its window goes or loads anew.
#[derive(Default)]
pub(crate) struct Subscribers {
    channels: Mutex<Vec<Channel<UiEvent>>>,
}

impl Subscribers {
    /// Tells this page too, from now on.
    pub(crate) fn add(&self, channel: Channel<UiEvent>) {
        self.lock().push(channel);
    }

    /// Forgets every page.
    pub(crate) fn clear(&self) {
        // Taken out first: a channel that is dropped talks to its webview.
        let gone = std::mem::take(&mut *self.lock());
        drop(gone);
    }

    /// Passes events on for as long as the host has any.
    pub(crate) async fn forward(&self, mut events: Receiver<UiEvent>) {
        loop {
            match events.recv().await {
                Ok(event) => self.send(&event),
                // What was missed is not known, so everything may have changed.
                Err(RecvError::Lagged(_)) => everything().iter().for_each(|event| self.send(event)),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn send(&self, event: &UiEvent) {
        // Not while locked: a channel talks to its webview, and a page may come or go meanwhile.
        let channels = self.lock().clone();
        let gone = channels.iter().filter(|channel| channel.send(event.clone()).is_err());
        let gone: Vec<u32> = gone.map(Channel::id).collect();
        if !gone.is_empty() {
            self.lock().retain(|channel| !gone.contains(&channel.id()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Channel<UiEvent>>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn everything() -> [UiEvent; 5] {
    [Topic::Inbox, Topic::Runs, Topic::Agents, Topic::Senders, Topic::History, Topic::Status]
        .map(|topic| UiEvent { topic, id: None })
}
