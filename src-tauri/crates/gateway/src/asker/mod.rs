//! A client of the senders' API, for programs of ours that ask: `sayso ask`, `sayso mcp`. It uses nobody's rights but the
//! sender's whose token it was given, or those of the built-in source "this computer"; it can never answer.

mod ask_error;
mod call;
mod patience;
mod place;
mod sender_token;

use std::path::Path;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use sayso_domain::{Answer, Request};
use serde_json::Value;

use crate::segment::segment;

pub use ask_error::{AskError, Refusal};
pub use patience::Contact;
pub use place::{Place, PlaceError};
pub use sender_token::{SenderToken, TokenError};

use call::Reply;

/// How long a host may take to answer what it can answer at once.
const SLOWEST: Duration = Duration::from_secs(5);
/// How long one look for an answer stays open; the host allows up to 60 seconds.
const LONG_POLL: Duration = Duration::from_secs(25);

/// Asks a host, as one sender.
#[derive(Clone, Debug)]
pub struct Asker {
    place: Place,
    token: Option<SenderToken>,
}

/// A request that the host has.
#[derive(Clone, Debug)]
pub struct Posted {
    /// Whether this post put it there; else the host had the same one already.
    pub is_new: bool,
    /// What the host says of it: `id`, `state` and more.
    pub state: Value,
}

impl Asker {
    /// Through the Unix socket of a data folder, as "this computer" unless a token is given. Nothing is reached yet.
    pub fn new(data_dir: &Path) -> Self {
        Self::at(Place::Socket(data_dir.to_owned()))
    }

    /// At a place.
    pub fn at(place: Place) -> Self {
        Self { place, token: None }
    }

    /// The same as the sender whose token this is.
    #[must_use]
    pub fn with_token(self, token: SenderToken) -> Self {
        Self { token: Some(token), ..self }
    }

    /// Whether something listens there.
    ///
    /// # Errors
    /// [`AskError::Down`] where nothing does.
    pub async fn reach(&self) -> Result<(), AskError> {
        self.place.connect().await.map(drop)
    }

    /// Puts a request into the inbox. The same id with the same content again asks nothing twice, so it can be repeated
    /// whenever it is not known whether it came through.
    ///
    /// # Errors
    /// See [`AskError`]; after [`AskError::Silent`] and [`AskError::Cut`] the host may have it.
    pub async fn post(&self, request: &Request) -> Result<Posted, AskError> {
        let body = serde_json::to_string(request).map_err(AskError::foreign)?;
        let reply = self.call(Method::POST, "/v1/requests", Some(body), SLOWEST).await?;
        let is_new = reply.status == StatusCode::CREATED;
        if !is_new && reply.status != StatusCode::OK {
            return Err(reply.unexpected());
        }
        let state = reply.json()?;
        if state.get("id").and_then(Value::as_str) == Some(&request.id) {
            Ok(Posted { is_new, state })
        } else {
            Err(AskError::Foreign("it speaks of another request".to_owned()))
        }
    }

    /// What the host says of a request: `id`, `state` and more.
    ///
    /// # Errors
    /// See [`AskError`].
    pub async fn state(&self, id: &str) -> Result<Value, AskError> {
        self.expect(Method::GET, &path(id, ""), StatusCode::OK).await?.json()
    }

    /// The answer, once there is one: none if none came within `wait`, of which the host takes up to 60 seconds.
    ///
    /// # Errors
    /// See [`AskError`]. An error is never an answer.
    pub async fn answer(&self, id: &str, wait: Duration) -> Result<Option<Answer>, AskError> {
        let path = format!("{}?wait={}", path(id, "/answer"), wait.as_secs());
        let reply = self.call(Method::GET, &path, None, wait + SLOWEST).await?;
        if reply.status == StatusCode::NO_CONTENT {
            return Ok(None);
        }
        if reply.status != StatusCode::OK {
            return Err(reply.unexpected());
        }
        let answer = Answer::try_from(reply.json()?).map_err(AskError::foreign)?;
        // An answer counts for the request that it names (contract 12).
        if answer.id() == id {
            Ok(Some(answer))
        } else {
            Err(AskError::Foreign("it answered another request".to_owned()))
        }
    }

    /// Tells that the answer was taken, after which it may not be read again.
    ///
    /// # Errors
    /// See [`AskError`].
    pub async fn ack(&self, id: &str) -> Result<(), AskError> {
        self.call(Method::POST, &path(id, "/ack"), Some("{}".to_owned()), SLOWEST).await?.succeeded()
    }

    /// Takes a request back: nobody can approve it any more.
    ///
    /// # Errors
    /// See [`AskError`]; a refusal where it was decided already.
    pub async fn withdraw(&self, id: &str) -> Result<(), AskError> {
        self.call(Method::DELETE, &path(id, ""), None, SLOWEST).await?.succeeded()
    }

    async fn expect(&self, method: Method, path: &str, status: StatusCode) -> Result<Reply, AskError> {
        let reply = self.call(method, path, None, SLOWEST).await?;
        if reply.status == status { Ok(reply) } else { Err(reply.unexpected()) }
    }
}

/// The address of a request.
fn path(id: &str, rest: &str) -> String {
    format!("/v1/requests/{}{rest}", segment(id))
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn an_id_stays_one_part_of_the_address() {
        let check = |id: &str, expected: &str| assert_eq!(path(id, "/answer"), expected);
        check("0198-a_B~", "/v1/requests/0198-a_B~/answer");
        check("../x?y#z", "/v1/requests/%2E%2E%2Fx%3Fy%23z/answer");
        check("ä b", "/v1/requests/%C3%A4%20b/answer");
        check("a/b?c#d%e", "/v1/requests/a%2Fb%3Fc%23d%25e/answer");
    }
}
