//! Putting a request off. It waits all the same: it can be decided, and its deadline comes when it comes.

use sayso_domain::{RequestKey, RequestState, Time};
use sayso_store::{StoreError, Tx, requests, waiting};

use crate::{Inbox, InboxEvent, SnoozeError};

/// The longest, in milliseconds.
const LONGEST: i64 = 30 * 24 * 60 * 60 * 1000;

impl Inbox {
    /// Puts a request off until a moment, never past its deadline; with none it is woken.
    pub async fn snooze(&self, key: RequestKey, until: Option<Time>) -> Result<(), SnoozeError> {
        let clock = self.clock.clone();
        let snoozed: Result<(), SnoozeError> =
            self.store.try_write(move |tx| snooze(tx, key, until, clock())).await;
        snoozed?;
        self.tell(InboxEvent::Snoozed(key));
        Ok(())
    }

    /// Wakes what was put off until now, and says what that was.
    pub async fn wake_due(&self) -> Result<Vec<RequestKey>, StoreError> {
        let now = (self.clock)();
        if self.store.read(move |reader| waiting::to_wake(reader, now)).await?.is_empty() {
            return Ok(Vec::new());
        }
        let clock = self.clock.clone();
        let woken = self.store.write(move |tx| waiting::wake(tx, clock())).await?;
        woken.iter().for_each(|key| self.tell(InboxEvent::Snoozed(*key)));
        Ok(woken)
    }

    /// The next moment at which a request expires or wakes.
    pub async fn next_change(&self) -> Result<Option<Time>, StoreError> {
        let read =
            self.store.read(|reader| Ok([requests::next_deadline(reader)?, waiting::next_wake(reader)?]));
        Ok(read.await?.into_iter().flatten().min())
    }
}

fn snooze(tx: &Tx<'_>, key: RequestKey, until: Option<Time>, now: Time) -> Result<(), SnoozeError> {
    let request = requests::get(tx, key)?.ok_or(SnoozeError::NotFound(key))?;
    if let RequestState::Settled(outcome) = request.state {
        return Err(SnoozeError::Settled(outcome));
    }
    if let Some(until) = until {
        let deadline = request.shown.request.expires_at;
        if until <= now {
            return Err(SnoozeError::Past(until));
        }
        if let Some(deadline) = deadline.filter(|deadline| until > *deadline) {
            return Err(SnoozeError::PastDeadline(deadline));
        }
        if until > now.plus_millis(LONGEST) {
            return Err(SnoozeError::TooFar);
        }
    }
    match waiting::snooze(tx, key, until)? {
        true => Ok(()),
        false => Err(StoreError::Conflict.into()),
    }
}
