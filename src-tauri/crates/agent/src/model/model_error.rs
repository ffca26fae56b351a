use std::time::Duration;

/// Why a model gave no usable answer. Each says what happened, what is safe and what to do; none holds a key, nor what
/// else was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The base URL is no web address.
    #[error(
        "The agent's base URL is not a web address, so no model was asked. {SAFE} Write one such as \
         http://localhost:11434/v1 into the agent's set-up."
    )]
    BadUrl,
    /// The set-up does not allow to ask: a key that is missing. Says so in words of its own.
    #[error("{0}")]
    SetUp(String),
    /// The client could not be made, for example because the system has no certificates.
    #[error("No connection to a model could be prepared ({0}). {SAFE} Check the system's certificates.")]
    NoClient(String),
    /// No connection.
    #[error(
        "The model at {url} cannot be reached ({why}). {SAFE} Check that it runs and that the address is right, {GO_ON}"
    )]
    Unreachable {
        /// Where it should be.
        url: String,
        /// What the system said.
        why: String,
    },
    /// No whole answer in time.
    #[error(
        "The model at {url} did not answer within {seconds} seconds. {SAFE} Check whether it is busy, {GO_ON}"
    )]
    Timeout {
        /// Where it is.
        url: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The connection ended before the answer did.
    #[error(
        "The connection to the model at {url} broke before its answer was complete ({why}). {SAFE} Check the model and the network, {GO_ON}"
    )]
    Dropped {
        /// Where it is.
        url: String,
        /// What the system said.
        why: String,
    },
    /// 401 or 403.
    #[error(
        "The model at {url} refused the key (status {status}{said}). {SAFE} Check the key that the agent's set-up names, {GO_ON}"
    )]
    KeyRefused {
        /// Where it is.
        url: String,
        /// 401 or 403.
        status: u16,
        /// What it said, as ` : text`, or nothing.
        said: Said,
    },
    /// 404.
    #[error(
        "There is no model {model} at {url} (status 404{said}). {SAFE} Check the base URL and the model's name in the agent's set-up, {GO_ON}"
    )]
    NotFound {
        /// Where it should be.
        url: String,
        /// The model's name.
        model: String,
        /// What it said.
        said: Said,
    },
    /// 429, after all attempts.
    #[error(
        "The model at {url} takes no more calls for now (status 429{said}).{wait} {SAFE} Wait a little, {GO_ON}"
    )]
    RateLimited {
        /// Where it is.
        url: String,
        /// What it said.
        said: Said,
        /// For how long, if it said so.
        wait: Wait,
    },
    /// 408 or 5xx, after all attempts.
    #[error(
        "The model at {url} failed (status {status}{said}), also when asked again. {SAFE} Check the model's own log or status page, {GO_ON}"
    )]
    Failed {
        /// Where it is.
        url: String,
        /// The status.
        status: u16,
        /// What it said.
        said: Said,
    },
    /// Another 4xx.
    #[error(
        "The model at {url} did not accept the call (status {status}{said}). {SAFE} Check the model's name and what it supports, {GO_ON}"
    )]
    Rejected {
        /// Where it is.
        url: String,
        /// The status.
        status: u16,
        /// What it said.
        said: Said,
    },
    /// 3xx. Not followed: the key would go to another place than the person named.
    #[error(
        "The model at {url} points to another address ({to}), which is not followed so that the key goes nowhere else. {SAFE} Write the right address into the agent's set-up, {GO_ON}"
    )]
    Redirected {
        /// Where it was asked.
        url: String,
        /// Where it points.
        to: String,
    },
    /// A web page.
    #[error(
        "What answers at {url} sent a web page instead of a model's answer. {SAFE} Check that the base URL is that of the API, often with /v1 at the end, {GO_ON}"
    )]
    Html {
        /// Where it was asked.
        url: String,
    },
    /// No JSON, or half of one.
    #[error(
        "The model at {url} sent an answer that is not valid JSON ({why}). {SAFE} Check the model server's version and log, {GO_ON}"
    )]
    BrokenJson {
        /// Where it is.
        url: String,
        /// What the parser said.
        why: String,
    },
    /// A success with no body.
    #[error("The model at {url} sent an empty answer. {SAFE} Check the model server's log, {GO_ON}")]
    Empty {
        /// Where it is.
        url: String,
    },
    /// JSON with no message in it.
    #[error(
        "The model at {url} sent JSON that holds no message{said}. {SAFE} Check that the style (openai or anthropic) in the agent's set-up fits this address, {GO_ON}"
    )]
    NoMessage {
        /// Where it is.
        url: String,
        /// What it said.
        said: Said,
    },
    /// It broke off its answer and said why, also after all attempts.
    #[error(
        "The model at {url} broke off its answer with an error{said}. {SAFE} Check the model's own log or status page, {GO_ON}"
    )]
    GaveUp {
        /// Where it is.
        url: String,
        /// What it said.
        said: Said,
    },
    /// Larger than the limit.
    #[error("The model at {url} sent more than {} MiB, so its answer was not read to the end. {SAFE} Check the model, {GO_ON}", limit / (1024 * 1024))]
    TooLarge {
        /// Where it is.
        url: String,
        /// The limit, in bytes.
        limit: usize,
    },
}

impl ModelError {
    /// Whether the call was refused because of a field that it names: `stream` also where it says streaming, and not
    /// where it says upstream.
    pub(super) fn is_about(&self, field: &str) -> bool {
        let Self::Rejected { said: Said(Some(said)), .. } = self else { return false };
        let said = said.to_lowercase();
        said.match_indices(field).any(|(at, _)| !said[..at].ends_with(char::is_alphanumeric))
    }
}

const SAFE: &str = "Nothing more was run, and everything up to here is kept.";
const GO_ON: &str = "then send the run a message to go on.";

/// What a provider said of a failure: already cut, on one line and without the key. It shows as `: text`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said(pub Option<String>);

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

/// For how long a provider asks to wait. It shows as a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait(pub Option<Duration>);

impl std::fmt::Display for Wait {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(wait) => write!(f, " It asks to wait {} seconds.", wait.as_secs().max(1)),
            None => Ok(()),
        }
    }
}
