use std::collections::HashMap;
use std::time::Duration;

use sayso_domain::RequestKey;
use sayso_host::dto::{AgentItem, Empty, InboxOutline, RequestDetail, RequestRef, Topic, UiEvent, Waiting};
use sayso_host::{Host, RpcError, Surface};
use tauri::{AppHandle, Manager as _, Runtime};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::{Model, Tray};
use crate::call::call;
use crate::glance::Glance;
use crate::pulse::Pulse;
use crate::quiet::Held;

/// How many requests the menu has.
const NEWEST: u32 = 5;
/// How long a menu stands at least: panels read all of it anew.
const PACE: Duration = Duration::from_millis(300);
/// How long at most until it is looked again: what was put off comes back by itself.
const LOOK: Duration = Duration::from_secs(20);

/// What changed.
enum Change {
    Some,
    Agents,
    End,
}

/// Keeps the tray in step with the host for as long as the host has events.
pub(crate) async fn follow<R: Runtime>(
    app: AppHandle<R>,
    host: Host,
    mut pulse: watch::Receiver<Pulse>,
    mut quiet: watch::Receiver<Option<Held>>,
) {
    let mut events = host.events();
    let mut known = HashMap::new();
    let mut agents = startable(&host).await;
    loop {
        let (waiting, is_paused) = {
            let pulse = pulse.borrow_and_update();
            (pulse.waiting, pulse.settings.paused_until.is_some())
        };
        let held = quiet.borrow_and_update().as_ref().map(|held| held.why.clone());
        let newest = newest(&host, &mut known).await;
        let is_paused = is_paused && held.is_some();
        show(&app, Model { waiting, newest, held, is_paused, agents: agents.clone() });
        tokio::time::sleep(PACE).await;
        match next(&mut events, &mut pulse, &mut quiet).await {
            Change::Some => {}
            Change::Agents => agents = startable(&host).await,
            Change::End => return,
        }
    }
}

async fn next(
    events: &mut Receiver<UiEvent>,
    pulse: &mut watch::Receiver<Pulse>,
    quiet: &mut watch::Receiver<Option<Held>>,
) -> Change {
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            changed = pulse.changed() => return if changed.is_ok() { Change::Some } else { Change::End },
            Ok(()) = quiet.changed() => return Change::Some,
            () = tokio::time::sleep(LOOK) => return Change::Some,
        };
        match event {
            Ok(UiEvent { topic: Topic::Inbox, .. }) => return Change::Some,
            Ok(UiEvent { topic: Topic::Agents, .. }) | Err(RecvError::Lagged(_)) => return Change::Agents,
            Ok(UiEvent {
                topic:
                    Topic::Runs | Topic::Live | Topic::Senders | Topic::History | Topic::Jobs | Topic::Status,
                ..
            }) => {}
            Err(RecvError::Closed) => return Change::End,
        }
    }
}

/// The newest requests; a request never changes, so each is read once.
async fn newest(host: &Host, known: &mut HashMap<RequestKey, Glance>) -> Vec<Glance> {
    let params = InboxOutline { newest: Some(NEWEST) };
    let waiting: Vec<Waiting> = or_nothing(call(host, Surface::Tray, "inbox.outline", params).await);
    let mut newest = Vec::new();
    for Waiting { key, .. } in waiting {
        let Ok(parsed) = key.parse::<RequestKey>() else { continue };
        let glance = match known.get(&parsed) {
            Some(glance) => glance.clone(),
            None => {
                let shown = RequestRef { key };
                let detail: Result<RequestDetail, _> = call(host, Surface::Tray, "inbox.show", shown).await;
                let Some(glance) = detail.ok().and_then(|detail| Glance::of(&detail)) else { continue };
                known.insert(parsed, glance.clone());
                glance
            }
        };
        newest.push(glance);
    }
    known.retain(|key, _| newest.iter().any(|glance| glance.key == *key));
    newest
}

async fn startable(host: &Host) -> Vec<String> {
    let agents: Vec<AgentItem> = or_nothing(call(host, Surface::Tray, "agents.list", Empty {}).await);
    agents.into_iter().filter(|agent| !agent.is_demo).map(|agent| agent.name).collect()
}

fn or_nothing<T: Default>(answer: Result<T, RpcError>) -> T {
    answer.unwrap_or_else(|error| {
        tracing::warn!("the tray cannot be brought up to date: {}", error.message);
        T::default()
    })
}

fn show<R: Runtime>(app: &AppHandle<R>, model: Model) {
    let on_main = app.clone();
    let shown = app.run_on_main_thread(move || {
        if let Some(tray) = on_main.try_state::<Tray<R>>() {
            tray.show(&on_main, model);
        }
    });
    if let Err(error) = shown {
        tracing::warn!("the tray cannot be changed: {error}");
    }
}
