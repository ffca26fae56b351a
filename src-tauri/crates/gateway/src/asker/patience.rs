//! Asking across restarts of the host: what was cut goes on.

use std::time::{Duration, Instant};

use sayso_domain::{Answer, Request};

use super::{AskError, Asker, LONG_POLL, Posted};

/// The first pause before another try; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause, so that an answer given after a restart arrives soon.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long a post is tried again at most: a host that restarts is back by then.
const POSTING: Duration = Duration::from_secs(30);

/// What became of the contact with the host, for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contact {
    /// It cannot be reached any more, or has too much to do. What was asked is kept.
    Lost,
    /// It can be reached again.
    Back,
}

impl Asker {
    /// Posts until the host has the request or refuses it: a post that was cut is made again under the same id, so that
    /// nothing is asked twice. A host that was not there at all fails at once.
    ///
    /// # Errors
    /// What does not pass by itself, or the last error once `until` has come, or half a minute has passed.
    pub async fn post_surely(
        &self,
        request: &Request,
        until: Option<Instant>,
        mut told: impl FnMut(Contact) + Send,
    ) -> Result<Posted, AskError> {
        let latest = Instant::now() + POSTING;
        let mut pauses = Pauses::new(Some(until.map_or(latest, |until| until.min(latest))));
        let (mut was_there, mut was_silent) = (false, false);
        loop {
            let error = match self.post(request).await {
                Ok(posted) => {
                    pauses.over(&mut told);
                    return Ok(posted);
                }
                Err(error) => error,
            };
            // One that took the connection and said nothing may have the request, and may be hung: it is tried once more.
            let hangs = matches!(error, AskError::Silent(_)) && std::mem::replace(&mut was_silent, true);
            was_there |= matches!(error, AskError::Cut(_) | AskError::Silent(_) | AskError::Refused(_));
            if !was_there || hangs {
                return Err(error);
            }
            pauses.after(error, &mut told).await?;
        }
    }

    /// Waits for the answer to a request that was posted, across restarts of the host: none once `until` has come.
    ///
    /// # Errors
    /// What does not pass by itself: the sender was revoked, the request is unknown. When `until` has come while the host
    /// cannot be reached, the last error. An error is never an answer.
    pub async fn wait(
        &self,
        id: &str,
        until: Option<Instant>,
        mut told: impl FnMut(Contact) + Send,
    ) -> Result<Option<Answer>, AskError> {
        let mut pauses = Pauses::new(until);
        loop {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let poll = left.map_or(LONG_POLL, |left| left.min(LONG_POLL));
            let began = Instant::now();
            match self.answer(id, poll).await {
                Ok(Some(answer)) => {
                    pauses.over(&mut told);
                    return Ok(Some(answer));
                }
                Ok(None) => {
                    pauses.over(&mut told);
                    if until.is_some_and(|until| Instant::now() >= until) {
                        return Ok(None);
                    }
                    // A host that is about to end, or the last part of a second, ends a look early.
                    if began.elapsed() < FIRST_PAUSE {
                        tokio::time::sleep(FIRST_PAUSE).await;
                    }
                }
                Err(error) => pauses.after(error, &mut told).await?,
            }
        }
    }
}

/// How long to pause between tries that failed.
struct Pauses {
    next: Duration,
    until: Option<Instant>,
    is_lost: bool,
}

impl Pauses {
    fn new(until: Option<Instant>) -> Self {
        Self { next: FIRST_PAUSE, until, is_lost: false }
    }

    /// Pauses after an error that passes by itself; gives any other back, and this one too when there is no time left.
    async fn after(&mut self, error: AskError, told: &mut impl FnMut(Contact)) -> Result<(), AskError> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if !error.is_passing() || left.is_some_and(|left| left.is_zero()) {
            return Err(error);
        }
        if !self.is_lost {
            self.is_lost = true;
            told(Contact::Lost);
        }
        let pause = error.retry_after().unwrap_or(self.next).max(self.next);
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        tokio::time::sleep(left.map_or(pause, |left| left.min(pause))).await;
        Ok(())
    }

    /// It answered.
    fn over(&mut self, told: &mut impl FnMut(Contact)) {
        self.next = FIRST_PAUSE;
        if std::mem::take(&mut self.is_lost) {
            told(Contact::Back);
        }
    }
}
