use std::fmt;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use url::Url;

/// How a model is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// `POST {base}/chat/completions`: OpenAI, Ollama, llama.cpp, LM Studio, vLLM, OpenRouter.
    OpenAi,
    /// `POST {base}/v1/messages`, the `/v1` added only if it is not there.
    Anthropic,
}

/// Where a model is.
#[derive(Clone)]
pub struct Endpoint {
    /// Such as `http://localhost:11434/v1`; a slash at the end makes no difference.
    pub base_url: String,
    /// How it is spoken to.
    pub style: Style,
    /// The model's name.
    pub model: String,
    /// Its key. It is sent to the endpoint and shows nowhere else.
    pub key: Option<SecretString>,
}

/// Limits of one model call.
#[derive(Clone, Copy, Debug)]
pub struct ModelOptions {
    /// For the connection alone.
    pub connect_timeout: Duration,
    /// For one whole attempt; local models think for minutes.
    pub timeout: Duration,
    /// What is tried again, and how often.
    pub retry: Retry,
    /// The most that a model may write. Anthropic style needs a number: 8,192 where there is none.
    pub max_tokens: Option<u32>,
    /// The largest answer that is read, in bytes.
    pub max_answer: usize,
    /// Whether answers are asked for in pieces, so that their text shows as it comes. Off by default.
    pub stream: bool,
}

/// How often a failed call is tried again (contract 24).
#[derive(Clone, Copy, Debug)]
pub struct Retry {
    /// Attempts in all, the first included.
    pub attempts: u32,
    /// The pause after the first failure; it doubles each time, with some chance in it.
    pub first_pause: Duration,
    /// The longest pause of our own. A `Retry-After` may ask for more, within the budget.
    pub longest_pause: Duration,
    /// The most time that all pauses may take together.
    pub budget: Duration,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(15),
            timeout: Duration::from_secs(600),
            retry: Retry::default(),
            max_tokens: None,
            max_answer: 32 * 1024 * 1024,
            stream: false,
        }
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 4,
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(20),
            budget: Duration::from_secs(120),
        }
    }
}

impl Endpoint {
    /// Where calls go, or nothing if the base URL is no web address.
    pub(crate) fn url(&self) -> Option<Url> {
        let mut url = Url::parse(self.base_url.trim()).ok()?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return None;
        }
        url.set_fragment(None);
        let base = url.path().trim_end_matches('/').to_owned();
        let path = match self.style {
            Style::OpenAi => format!("{base}/chat/completions"),
            Style::Anthropic if base.ends_with("/v1") => format!("{base}/messages"),
            Style::Anthropic => format!("{base}/v1/messages"),
        };
        url.set_path(&path);
        Some(url)
    }

    /// The address as it may be shown: a user, a password or a query in it could be a secret.
    pub(crate) fn shown_url(&self) -> String {
        match self.url() {
            Some(url) => shown(url),
            None => "the base URL of this agent".to_owned(),
        }
    }
}

/// A URL without what could be a secret.
pub(crate) fn shown(mut url: Url) -> String {
    // These fail only for URLs that cannot have either.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.shown_url())
            .field("style", &self.style)
            .field("model", &self.model)
            .field("has_key", &self.key.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_follows_from_style_and_base() {
        let check = |style, base_url: &str, expected: Option<&str>| {
            let endpoint = Endpoint { base_url: base_url.to_owned(), style, model: String::new(), key: None };
            assert_eq!(endpoint.url().map(String::from).as_deref(), expected, "{base_url}");
        };
        check(Style::OpenAi, "http://h/v1", Some("http://h/v1/chat/completions"));
        check(Style::OpenAi, "http://h/v1/", Some("http://h/v1/chat/completions"));
        check(Style::OpenAi, "http://h", Some("http://h/chat/completions"));
        check(Style::OpenAi, " https://h/a?v=1 ", Some("https://h/a/chat/completions?v=1"));
        check(Style::Anthropic, "http://h", Some("http://h/v1/messages"));
        check(Style::Anthropic, "http://h/", Some("http://h/v1/messages"));
        check(Style::Anthropic, "http://h/v1", Some("http://h/v1/messages"));
        check(Style::Anthropic, "http://h/proxy/v1//", Some("http://h/proxy/v1/messages"));
        check(Style::OpenAi, "ftp://h", None);
        check(Style::OpenAi, "localhost:11434", None);
        check(Style::OpenAi, "", None);
    }

    #[test]
    fn nothing_secret_is_shown() {
        let endpoint = Endpoint {
            base_url: "https://user:hunter2@h/v1?key=hunter2".to_owned(),
            style: Style::OpenAi,
            model: "m".to_owned(),
            key: Some("hunter2".to_owned().into()),
        };
        let shown = format!("{endpoint:?} {}", endpoint.shown_url());
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
