use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sayso_domain::{Answer, Request};
use sayso_host::Host;

use super::arguments::now;
use super::failed::{Failed, Why};
use crate::{Asker, Contact};

/// How long one look for an answer within the host stays open.
const LOOK: Duration = Duration::from_secs(60);
/// How long after its deadline a request is given to be settled, or the host to come back and tell.
const GRACE: Duration = Duration::from_secs(5);
/// A look that ends earlier was ended by the host.
const SHORTEST_LOOK: Duration = Duration::from_secs(1);

/// The way to a host, as one asker.
#[derive(Clone)]
pub(super) enum Way {
    /// Through its API.
    Api(Asker),
    /// Within its process.
    Host { host: Host, asker: sayso_host::Asker },
}

/// What is there under an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Nothing was asked, or what was asked has an answer to come.
    Free,
    /// Its answer was used.
    Used,
}

impl Way {
    /// Asks. The same again asks nothing twice.
    pub(super) async fn ask(&self, request: &Request, is_lost: &AtomicBool) -> Result<(), Failed> {
        match self {
            Self::Api(asker) => {
                asker.post_surely(request, None, |contact| note(is_lost, contact)).await?;
            }
            Self::Host { host, asker } => {
                host.ask(asker, request.clone()).await?;
            }
        }
        Ok(())
    }

    /// The answer, however long it takes; through the API also across restarts of the host, but no longer than anybody can
    /// answer.
    pub(super) async fn answer(&self, request: &Request, is_lost: &AtomicBool) -> Result<Answer, Failed> {
        let id = &request.id;
        match self {
            Self::Api(asker) => {
                let until = request.expires_at.and_then(|deadline| {
                    let left = deadline.as_millis().saturating_sub(now().as_millis());
                    let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
                    Instant::now().checked_add(left + GRACE)
                });
                let answer = asker.wait(id, until, |contact| note(is_lost, contact)).await?;
                answer.ok_or_else(Failed::no_answer)
            }
            Self::Host { host, asker } => loop {
                let began = Instant::now();
                if let Some(answer) = host.answer(asker, id, LOOK).await? {
                    return Ok(answer);
                }
                if began.elapsed() < SHORTEST_LOOK {
                    return Err(Failed::host_ends());
                }
            },
        }
    }

    /// What is there under an id.
    pub(super) async fn standing(&self, id: &str) -> Result<Standing, Failed> {
        let is_used = match self {
            Self::Api(asker) => match asker.state(id).await {
                Ok(state) => Ok(state.get("acknowledgedAt").is_some()),
                Err(error) => Err(Failed::from(error)),
            },
            Self::Host { host, asker } => match host.held(asker, id).await {
                Ok(held) => Ok(held.acknowledged_at.is_some()),
                Err(error) => Err(Failed::from(error)),
            },
        };
        match is_used {
            Ok(true) => Ok(Standing::Used),
            Ok(false) => Ok(Standing::Free),
            Err(failed) if failed.why == Why::NotFound => Ok(Standing::Free),
            Err(failed) => Err(failed),
        }
    }

    /// The answer arrived, and is used by nobody else from now on. Gives whether the host knows.
    pub(super) async fn acknowledge(&self, id: &str) -> bool {
        let acknowledged = match self {
            Self::Api(asker) => asker.ack(id).await.map_err(Failed::from),
            Self::Host { host, asker } => host.acknowledge(asker, id).await.map(drop).map_err(Failed::from),
        };
        match acknowledged {
            Ok(()) => true,
            Err(failed) => {
                tracing::debug!(error = failed.text, "an answer was not acknowledged");
                false
            }
        }
    }

    /// Takes a request back.
    pub(super) async fn withdraw(&self, id: &str) -> Result<(), Failed> {
        match self {
            Self::Api(asker) => asker.withdraw(id).await?,
            Self::Host { host, asker } => {
                host.withdraw(asker, id).await?;
            }
        }
        Ok(())
    }
}

fn note(is_lost: &AtomicBool, contact: Contact) {
    is_lost.store(contact == Contact::Lost, Ordering::Relaxed);
}
