use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, header};
use sayso_domain::{Answer, RequestKey, Time};
use serde_json::json;

use super::key::Secret;

/// How long a server has to take a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// How long it has to answer.
const ANSWER: Duration = Duration::from_secs(15);
/// The longest wait that a server may ask for.
const LONGEST_WAIT: u64 = 60 * 60;

/// Why a post was not taken, for a person. The address is not in it: it may hold a token.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) why: String,
    /// How long the server asked to be left alone.
    pub(super) wait: Option<Duration>,
}

impl Failure {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), wait: None }
    }
}

/// Redirects are not followed: a server that was trusted with answers does not choose another. Proxies of the environment
/// are not asked either, so that what the person wrote is where it goes.
pub(super) fn client() -> Result<Client, String> {
    let client = Client::builder()
        .redirect(Policy::none())
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        .no_proxy()
        .user_agent(concat!("Sayso/", env!("CARGO_PKG_VERSION")))
        .build();
    client.map_err(|error| format!("No connection to any server can be made: {error}."))
}

/// The message that an answer is: without the person's words (contract 9).
pub(super) fn message(request: &str, answer: &Answer, settled_at: Time) -> String {
    json!({
        "type": "request.settled",
        "timestamp": settled_at.to_string(),
        "data": { "id": request, "answer": answer },
    })
    .to_string()
}

/// Posts a message, signed. Only the status of what comes back counts: its body is never read.
pub(super) async fn post(
    client: &Client,
    url: &str,
    secret: &Secret,
    (key, body): (RequestKey, String),
    now: Time,
) -> Result<(), Failure> {
    let (id, seconds) = (key.to_string(), now.as_millis().div_euclid(1000));
    let Some(signature) = secret.sign(&id, seconds, &body) else {
        return Err(Failure::new("The signing secret is damaged. Set the callback again to make a new one."));
    };
    let sent = client
        .post(url)
        .header(header::CONTENT_TYPE, "application/json")
        .header("webhook-id", id)
        .header("webhook-timestamp", seconds)
        .header("webhook-signature", signature)
        .body(body)
        .send()
        .await;
    let answer = sent.map_err(|error| Failure::new(reason(&error)))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    let why = if status.is_redirection() {
        format!("The server answered {status}: redirects are not followed. Set the address that it leads to.")
    } else {
        format!("The server answered {status}.")
    };
    Err(Failure { why, wait: asked_wait(status, answer.headers()) })
}

fn asked_wait(status: StatusCode, headers: &header::HeaderMap) -> Option<Duration> {
    if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        return None;
    }
    let seconds = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse::<u64>().ok()?;
    Some(Duration::from_secs(seconds.min(LONGEST_WAIT)))
}

fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        format!("The server did not answer within {} seconds.", ANSWER.as_secs())
    } else if error.is_connect() {
        "No connection to the server could be made.".to_owned()
    } else {
        "The connection broke before the server answered.".to_owned()
    }
}
