//! The stream of what happens to a sender's requests.

use futures_util::StreamExt as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::stage::{SOON, Stage, said};

/// One event: its id, its name and its data.
type Event = (u64, String, Value);

struct Stream {
    bytes: std::pin::Pin<Box<dyn futures_util::Stream<Item = reqwest::Result<axum::body::Bytes>> + Send>>,
    read: String,
    /// The last id, also of a frame that is no event.
    id: u64,
}

impl Stream {
    async fn open(stage: &Stage, token: &str, after: Option<u64>) -> Self {
        let mut request = stage.request(Method::GET, token, "/v1/events");
        if let Some(after) = after {
            request = request.header("last-event-id", after);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(
            (answer.status().as_u16(), &answer.headers()["content-type"]),
            (200, &"text/event-stream".parse().unwrap())
        );
        let mut stream = Self { bytes: Box::pin(answer.bytes_stream()), read: String::new(), id: 0 };
        // It listens once it says that it is alive.
        assert_eq!(stream.frame().await, None);
        stream
    }

    async fn frame(&mut self) -> Option<Event> {
        let end = loop {
            if let Some(end) = self.read.find("\n\n") {
                break end;
            }
            let bytes = tokio::time::timeout(SOON, self.bytes.next()).await.unwrap().unwrap().unwrap();
            self.read.push_str(std::str::from_utf8(&bytes).unwrap());
        };
        let frame: String = self.read.drain(..end + 2).collect();
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        self.id = field("id: ").unwrap().parse().unwrap();
        let data = field("data: ")?;
        Some((self.id, field("event: ").unwrap(), serde_json::from_str(&data).unwrap()))
    }

    async fn next(&mut self) -> (u64, String, String, String) {
        loop {
            if let Some((id, name, data)) = self.frame().await {
                let text = |key: &str| data[key].as_str().unwrap().to_owned();
                assert!(data["at"].is_string());
                return (id, name, text("id"), text("state"));
            }
        }
    }
}

fn event(id: u64, name: &str, request: &str, state: &str) -> (u64, String, String, String) {
    (id, name.to_owned(), request.to_owned(), state.to_owned())
}

#[tokio::test]
async fn a_sender_hears_of_its_own_requests_in_order_and_of_no_others() {
    let stage = Stage::new().await;
    let (token, other) = (stage.sender("ci").await, stage.sender("other").await);
    stage.ask(&token, "before").await;
    let mut stream = Stream::open(&stage, &token, None).await;
    assert_eq!(stream.id, 1);
    stage.ask(&other, "theirs").await;
    stage.ask(&token, "a").await;
    assert_eq!(stream.next().await, event(2, "asked", "a", "pending"));
    stage.yes("theirs").await;
    stage.decide("a", json!({ "ok": false, "reason": "my own words" })).await;
    assert_eq!(stream.next().await, event(3, "settled", "a", "declined"));
    stage.call(Method::POST, &token, "/v1/requests/a/ack").await;
    assert_eq!(stream.next().await, event(4, "delivered", "a", "declined"));
    stage.call(Method::DELETE, &token, "/v1/requests/before").await;
    assert_eq!(stream.next().await, event(5, "settled", "before", "cancelled"));
    assert_eq!(stream.next().await, event(6, "delivered", "before", "cancelled"));
    stage.close().await;
}

#[tokio::test]
async fn a_stream_that_was_cut_goes_on_after_its_last_event_also_with_the_next_host() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    stage.ask(&token, "a").await;
    stage.ask(&token, "b").await;
    stage.yes("a").await;
    let stage = stage.restart().await;
    let mut stream = Stream::open(&stage, &token, Some(1)).await;
    assert_eq!(stream.next().await, event(2, "asked", "b", "pending"));
    assert_eq!(stream.next().await, event(3, "settled", "a", "approved"));
    drop(stream);
    stage.yes("b").await;
    let mut stream = Stream::open(&stage, &token, Some(3)).await;
    assert_eq!(stream.next().await, event(4, "settled", "b", "approved"));
    // All of it from the beginning, none twice.
    let mut all = Stream::open(&stage, &token, Some(0)).await;
    for id in 1..=4 {
        assert_eq!(all.next().await.0, id);
    }
    // A number that is not reached yet counts as the newest.
    let mut ahead = Stream::open(&stage, &token, Some(1000)).await;
    assert_eq!(ahead.id, 4);
    stage.ask(&token, "c").await;
    assert_eq!(ahead.next().await, event(5, "asked", "c", "pending"));
    stage.close().await;
}

#[tokio::test]
async fn a_last_event_id_that_is_none_is_refused() {
    let stage = Stage::new().await;
    let token = stage.sender("ci").await;
    for id in ["", "-1", "x", "1.5", "99999999999999999999999"] {
        let request = stage.request(Method::GET, &token, "/v1/events").header("last-event-id", id);
        assert_eq!(said(request.send().await.unwrap()).await.problem(), (400, "bad_request"), "{id:?}");
    }
    stage.close().await;
}
