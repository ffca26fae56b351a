use std::error::Error;
use std::hash::{BuildHasher as _, Hasher as _};
use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{RequestBuilder, Response, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use url::{Host, Url};

use super::clients;
use super::endpoint::shown;
use super::stream::{Answer, Listener};
use super::{Model, ModelError, Retry, Said, Style, Wait};

/// The version of the protocol that [`super::anthropic`] speaks.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// A failed attempt.
pub(super) struct Failure {
    pub(super) error: ModelError,
    /// Whether another attempt may help, and what the provider asks to wait before it.
    pub(super) again: Option<Option<Duration>>,
}

impl Failure {
    pub(super) fn last(error: ModelError) -> Self {
        Self { error, again: None }
    }
}

impl Model {
    /// Sends a body until there is an answer, an error that another attempt cannot help, or no attempt left. With a
    /// listener, the body asks for a stream.
    pub(super) async fn answer(
        &self,
        body: String,
        listener: Option<&Listener<'_>>,
    ) -> Result<Answer, ModelError> {
        let url = self.endpoint().url().ok_or(ModelError::BadUrl)?;
        let retry = self.shared.options.retry;
        let (mut attempt, mut paused) = (0, Duration::ZERO);
        loop {
            attempt += 1;
            let failure = match self.attempt(&url, body.clone(), listener).await {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            let Some(asked) = failure.again else { return Err(failure.error) };
            let pause = retry.pause(attempt, asked);
            if attempt >= retry.attempts || paused + pause > retry.budget {
                return Err(failure.error);
            }
            tracing::debug!(attempt, ?pause, error = %failure.error, "asking the model again");
            if let Some(listener) = listener {
                listener.restart();
            }
            tokio::time::sleep(pause).await;
            paused += pause;
        }
    }

    async fn attempt(
        &self,
        url: &Url,
        body: String,
        listener: Option<&Listener<'_>>,
    ) -> Result<Answer, Failure> {
        let client = self.client(url).map_err(Failure::last)?;
        let request = client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        let response = self.signed(request).send().await.map_err(|error| self.broken(&error))?;
        let status = response.status();
        let headers = response.headers().clone();
        if let Some(listener) = listener.filter(|_| status.is_success()) {
            return self.answer_of(response, listener).await;
        }
        let answer = self.body_of(response).await?;
        if status.is_success() {
            return Ok(Answer::Whole(answer));
        }
        Err(self.failed(url, status, &headers, &answer))
    }

    fn client(&self, url: &Url) -> Result<&reqwest::Client, ModelError> {
        let find = || clients::get(&self.shared.options, is_this_machine(url));
        self.shared.client.get_or_init(find).as_ref().map_err(Clone::clone)
    }

    fn signed(&self, request: RequestBuilder) -> RequestBuilder {
        let key = self.endpoint().key.as_ref().map(|key| key.expose_secret());
        match self.endpoint().style {
            Style::OpenAi => key.into_iter().fold(request, |request, key| request.bearer_auth(key)),
            Style::Anthropic => {
                let request = request.header("anthropic-version", ANTHROPIC_VERSION);
                key.into_iter().fold(request, |request, key| {
                    // Marked, so that nothing that prints headers prints it. A key that is no header value is none.
                    match reqwest::header::HeaderValue::from_str(key) {
                        Ok(mut value) => {
                            value.set_sensitive(true);
                            request.header("x-api-key", value)
                        }
                        Err(_) => request,
                    }
                })
            }
        }
    }

    pub(super) async fn body_of(&self, mut response: Response) -> Result<Vec<u8>, Failure> {
        let limit = self.shared.options.max_answer;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.broken(&error))? {
            if body.len() + chunk.len() > limit {
                let url = self.endpoint().shown_url();
                return Err(Failure::last(ModelError::TooLarge { url, limit }));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    pub(super) fn broken(&self, error: &reqwest::Error) -> Failure {
        let url = self.endpoint().shown_url();
        let why = self.harmless(&innermost(error));
        let seconds = self.shared.options.timeout.as_secs();
        if error.is_builder() {
            return Failure::last(ModelError::NoClient(why));
        }
        match (error.is_connect(), error.is_timeout()) {
            (true, _) => Failure { error: ModelError::Unreachable { url, why }, again: Some(None) },
            // Who waited this long would wait as long again.
            (false, true) => Failure::last(ModelError::Timeout { url, seconds }),
            (false, false) => Failure { error: ModelError::Dropped { url, why }, again: Some(None) },
        }
    }

    fn failed(&self, url: &Url, status: StatusCode, headers: &HeaderMap, answer: &[u8]) -> Failure {
        let said = serde_json::from_slice::<Value>(answer).map_or(Said(None), |answer| self.said(&answer));
        let asked = headers.get(RETRY_AFTER).and_then(|value| retry_after(value.to_str().ok()?));
        let url = shown(url.clone());
        let code = status.as_u16();
        match code {
            401 | 403 => Failure::last(ModelError::KeyRefused { url, status: code, said }),
            404 => Failure::last(ModelError::NotFound { url, model: self.endpoint().model.clone(), said }),
            429 => Failure {
                error: ModelError::RateLimited { url, said, wait: Wait(asked) },
                again: Some(asked),
            },
            408 | 500..=599 => {
                Failure { error: ModelError::Failed { url, status: code, said }, again: Some(asked) }
            }
            300..=399 => {
                let to =
                    headers.get(LOCATION).and_then(|to| to.to_str().ok()).unwrap_or("it does not say which");
                let to = Url::parse(to).map_or_else(|_| self.harmless(to), shown);
                Failure::last(ModelError::Redirected { url, to })
            }
            _ => Failure::last(ModelError::Rejected { url, status: code, said }),
        }
    }
}

impl Retry {
    /// How long to pause after a failed attempt.
    fn pause(&self, attempt: u32, asked: Option<Duration>) -> Duration {
        let doubled = self.first_pause.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
        let own = doubled.min(self.longest_pause);
        // Up to a quarter less, so that many runs that failed together don't come back together.
        let chance = std::hash::RandomState::new().build_hasher().finish() % 256;
        let own = own.saturating_sub(own.mul_f64(chance as f64 / 1024.0));
        own.max(asked.unwrap_or_default())
    }
}

/// `Retry-After` in seconds, or the time until the date that it names.
fn retry_after(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let at = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value.trim()).ok()?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let at = Duration::from_secs(u64::try_from(at.as_second()).ok()?);
    Some(at.saturating_sub(now))
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// The innermost cause, which says it in the system's words and names no URL.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
