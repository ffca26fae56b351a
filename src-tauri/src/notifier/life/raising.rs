use std::pin::Pin;

use jiff::ZonedDateTime;
use tokio::time::Instant;

use super::super::board::{Buttons, Raise, Shown};
use super::super::desktop::{Desktop, Notice, Raised, Skills};
use super::super::said::{Said, time_left};
use super::Life;
use super::requests::detail;
use crate::glance::Glance;
use crate::quiet;

pub(super) type Doing = Pin<Box<dyn Future<Output = Done> + Send>>;

/// What one call of the service came to.
pub(super) enum Done {
    Asked(Result<Skills, String>),
    Raised(Raise, Result<Outcome, String>),
    Closed(Result<(), String>),
}

/// What became of a notification that was to be raised.
pub(super) enum Outcome {
    Shown {
        shown: Shown,
        raised: Raised,
    },
    /// Its request waits no longer.
    Settled,
    /// Its request cannot be read right now.
    Unread,
}

impl Life<'_> {
    pub(super) fn raise(&self, raise: Raise, skills: Skills, sound: bool, desktop: &Desktop) -> Doing {
        let openness = self.openness;
        match raise {
            Raise::Summary { count, more, replaces } => {
                let said = Said::of_many(count, more);
                let buttons = Buttons::new(said.offer);
                let is_heard = sound && replaces.is_none();
                let notice = Notice { said, buttons: buttons.clone(), replaces, is_heard, skills };
                let raiser = desktop.raiser(replaces);
                Box::pin(async move {
                    let raised = raiser.raise(notice).await;
                    Done::Raised(raise, raised.map(|raised| shown(raised, buttons, String::new())))
                })
            }
            Raise::Request { key, replaces, reminds, is_known } => {
                let (host, raiser) = (self.notifier.host.clone(), desktop.raiser(replaces));
                Box::pin(async move {
                    let detail = match detail(&host, key).await {
                        Ok(Some(detail)) => detail,
                        Ok(None) => return Done::Raised(raise, Ok(Outcome::Settled)),
                        Err(_) => return Done::Raised(raise, Ok(Outcome::Unread)),
                    };
                    let Some(glance) = Glance::of(&detail) else {
                        return Done::Raised(raise, Ok(Outcome::Settled));
                    };
                    let left = glance.expires_at.filter(|_| reminds);
                    let left = left.map(|at| time_left(at, quiet::time_of(&ZonedDateTime::now())));
                    let said = Said::of(&glance, openness, skills, left.as_deref());
                    let buttons = Buttons::new(said.offer);
                    let is_heard = sound && (reminds || !is_known);
                    let notice = Notice { said, buttons: buttons.clone(), replaces, is_heard, skills };
                    let raised = raiser.raise(notice).await;
                    Done::Raised(raise, raised.map(|raised| shown(raised, buttons, glance.digest)))
                })
            }
        }
    }
}

fn shown(raised: Raised, buttons: Buttons, digest: String) -> Outcome {
    Outcome::Shown { shown: Shown { id: raised.handle.id(), buttons, digest, at: Instant::now() }, raised }
}

/// The outcome of the call that is under way; pending for ever where there is none.
pub(super) async fn under_way(doing: &mut Option<Doing>) -> Done {
    match doing {
        Some(doing) => doing.await,
        None => std::future::pending().await,
    }
}
