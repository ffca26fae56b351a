use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use sayso_host::{RequestEvent, RequestEvents};
use tokio::time::{Instant, Interval, interval_at};

use super::Fault;
use super::asker::Asking;
use super::body::EventBody;
use crate::routes::Shared;
use crate::waits::Place;

/// How often a quiet stream says that it is alive.
const ALIVE: Duration = Duration::from_secs(15);

/// Listen to what happens to your requests.
///
/// Server-sent events: `asked`, `settled`, `delivered` (the answer was acknowledged, or taken by a webhook) and
/// `undeliverable`, each with an id and `data` as in the schema `Event`. They come in order, none twice and none left out;
/// `Last-Event-ID` goes on after that one, also with a host that was started anew. Without it they begin now.
#[utoipa::path(
    get, path = "/v1/events", operation_id = "events", tag = "events",
    params(("Last-Event-ID" = Option<u64>, Header, description = "The id of the last event that you had.")),
    responses(
        (status = 200, description = "The stream.", body = EventBody, content_type = "text/event-stream"),
        (status = 400, description = "`bad_request`: `Last-Event-ID` is none of these.", body = Fault, content_type = "application/problem+json"),
        (status = 401, description = "`unauthorized` or `revoked`.", body = Fault, content_type = "application/problem+json"),
        (status = 429, description = "`too_many_waits`.", body = Fault, content_type = "application/problem+json",
            headers(("Retry-After" = u64, description = "Seconds."))),
        (status = 503, description = "`storage`.", body = Fault, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn events(
    State(shared): State<Arc<Shared>>,
    Asking(asker): Asking,
    headers: HeaderMap,
) -> Result<Response, Fault> {
    let after =
        match headers.get("last-event-id") {
            None => None,
            Some(id) => Some(number(id.as_bytes()).ok_or_else(|| {
                Fault::bad_request("`Last-Event-ID` must be the id of an event that you had.")
            })?),
        };
    let place = shared.waits.take(asker.source()).ok_or_else(Fault::too_many_waits)?;
    let events = shared.host.request_events(&asker, after).await?;
    let mut alive = interval_at(Instant::now() + ALIVE, ALIVE);
    alive.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let listener = Listener { shared, events, alive, is_greeted: false, _place: place };
    let frames = stream::unfold(listener, async |mut listener| {
        let frame = listener.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(frame)), listener))
    });
    Ok(([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(frames)).into_response())
}

struct Listener {
    shared: Arc<Shared>,
    events: RequestEvents,
    alive: Interval,
    is_greeted: bool,
    _place: Place,
}

impl Listener {
    /// Ends with the host, and when the sender loses its right.
    async fn next(&mut self) -> Option<String> {
        // Its id lets a stream that is cut before its first event go on from here.
        if !std::mem::replace(&mut self.is_greeted, true) {
            return Some(self.alive());
        }
        tokio::select! {
            biased;
            () = self.shared.stop.cancelled() => None,
            _ = self.alive.tick() => Some(self.alive()),
            events = self.events.next() => {
                let events = events.ok().filter(|events| !events.is_empty())?;
                Some(events.into_iter().map(frame).collect())
            }
        }
    }

    fn alive(&self) -> String {
        format!("id: {}\n: alive\n\n", self.events.seq())
    }
}

fn frame(event: RequestEvent) -> String {
    let (seq, kind) = (event.seq, event.kind);
    let data = serde_json::to_string(&EventBody::from(event)).unwrap_or_default();
    format!("id: {seq}\nevent: {kind}\ndata: {data}\n\n")
}

fn number(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}
