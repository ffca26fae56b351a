use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use sayso_host::dto::{Topic, UiEvent};
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::Interval;

use crate::caller::Caller;
use crate::problem::Problem;
use crate::routes::Shared;

/// How often a quiet stream says that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// `GET /events`: what changes from now on, each as `data: {"topic","id"}`. Whoever reads too slowly to get them all is
/// told once that everything may have changed; nothing is kept for them. It ends when the host does, or the session.
pub(crate) async fn events(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, Problem> {
    let permit = shared.streams.clone().try_acquire_owned().map_err(|_| Problem::busy())?;
    let mut alive = tokio::time::interval(ALIVE);
    alive.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let events = shared.host.events();
    let listener = Listener { shared, caller, events, alive, _permit: permit };
    let frames = stream::unfold(listener, async |mut listener| {
        let frame = listener.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(frame)), listener))
    });
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response())
}

struct Listener {
    shared: Arc<Shared>,
    caller: Caller,
    events: Receiver<UiEvent>,
    alive: Interval,
    _permit: OwnedSemaphorePermit,
}

impl Listener {
    async fn next(&mut self) -> Option<String> {
        let frame = tokio::select! {
            biased;
            () = self.shared.stop.cancelled() => return None,
            event = self.events.recv() => match event {
                Ok(event) => frame(&event),
                Err(RecvError::Lagged(_)) => everything(),
                Err(RecvError::Closed) => return None,
            },
            // The first tick is at once: it lets the other side know that it listens.
            _ = self.alive.tick() => ": alive\n\n".to_owned(),
        };
        self.shared.access.renew(&self.caller.bearer, Instant::now()).then_some(frame)
    }
}

fn everything() -> String {
    let topics = [Topic::Inbox, Topic::Runs, Topic::Agents, Topic::Senders, Topic::History, Topic::Status];
    topics.into_iter().map(|topic| frame(&UiEvent { topic, id: None })).collect()
}

fn frame(event: &UiEvent) -> String {
    format!("data: {}\n\n", serde_json::to_string(event).unwrap_or_default())
}
