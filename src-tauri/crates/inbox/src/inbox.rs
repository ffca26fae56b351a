use std::sync::Arc;

use sayso_domain::{Cause, DecidedBy, Outcome, Request, RequestKey, RequestState, Time};
use sayso_store::requests::{self, NewRequest};
use sayso_store::{Store, StoreError, Tx};
use tokio::sync::broadcast;

use crate::settle::{Ruling, Verdict, cancel, decide, expire};
use crate::{DecideError, Decided, InboxError, InboxEvent, check};

/// Events that a slow listener may lag behind; then it looks at the store again.
const EVENTS: usize = 1024;

/// The requests that wait, and what becomes of them. Clones share it.
#[derive(Clone)]
pub struct Inbox {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Fn() -> Time + Send + Sync>,
    events: broadcast::Sender<InboxEvent>,
}

impl Inbox {
    /// Over a store, with the clock that deadlines go by.
    pub fn new(store: Store, clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        Self { store, clock: Arc::new(clock), events: broadcast::channel(EVENTS).0 }
    }

    /// What happens from now on. A listener that lags is told so by the channel, and reads the store instead.
    pub fn events(&self) -> broadcast::Receiver<InboxEvent> {
        self.events.subscribe()
    }

    /// Whether a request from outside can be asked: its id, link, form and deadline (contract 5, 10, 13, 30, 31).
    pub fn validate(&self, request: &Request) -> Result<(), InboxError> {
        check::request_from_outside(request, (self.clock)())
    }

    /// Stores a request in the caller's transaction, so that it and what waits for it are one commit. After the commit
    /// the caller calls [`Inbox::announce_asked`]. The id, the link and the secrets of it are checked; a deadline that
    /// has passed is not refused, but expires at once.
    pub fn ask_in(&self, tx: &Tx<'_>, new: &NewRequest) -> Result<(), InboxError> {
        check::request(&new.shown.request)?;
        requests::insert(tx, new).map_err(|error| {
            if error == StoreError::Conflict { InboxError::Duplicate } else { InboxError::Storage(error) }
        })
    }

    /// Stores a request of a source that is no run of ours, then announces it.
    pub async fn ask(&self, new: NewRequest) -> Result<(), InboxError> {
        self.validate(&new.shown.request)?;
        let key = new.key;
        let inbox = self.clone();
        self.store.try_write(move |tx| inbox.ask_in(tx, &new)).await?;
        self.announce_asked(&[key]);
        Ok(())
    }

    /// A person's decision. Of several, the first wins, and the others are told who was first; at or after the deadline
    /// the request settles as expired instead (contract 12, 13, 30). The verdict, the settlement, its ledger entry and
    /// its delivery are one commit.
    pub async fn decide(&self, key: RequestKey, verdict: Verdict) -> Result<Decided, DecideError> {
        // What is shown never changes, so the answer can be checked before the writer's turn, which is short.
        let request = self.store.look(move |reader| requests::get(reader, key)).await?;
        let request = request.ok_or(DecideError::NotFound(key))?;
        let fits = match request.state {
            RequestState::Pending => check::answer(&request.shown, &verdict.answer),
            RequestState::Settled(_) => Ok(()),
        };
        let clock = Arc::clone(&self.clock);
        let ruling = self.store.write(move |tx| decide(tx, key, &verdict, fits, clock())).await?;
        match ruling {
            Ruling::Settled(decided) => {
                self.announce_settled(&[key], decided.settlement.outcome);
                Ok(*decided)
            }
            Ruling::Late(decided) => {
                self.announce_settled(&[key], decided.settlement.outcome);
                Err(DecideError::Late(decided))
            }
            Ruling::Refused(error) => Err(error),
        }
    }

    /// Settles a request that became pointless, in the caller's transaction; whether it still waited. After the commit
    /// the caller calls [`Inbox::announce_settled`]. A request whose run was stopped has nobody left to deliver to: the
    /// stop's own commit has moved the run on.
    pub fn cancel_in(
        &self,
        tx: &Tx<'_>,
        key: RequestKey,
        cause: Cause,
        by: DecidedBy,
    ) -> Result<bool, StoreError> {
        cancel(tx, key, cause, by, (self.clock)())
    }

    /// Settles a request that became pointless; whether it still waited.
    pub async fn cancel(&self, key: RequestKey, cause: Cause, by: DecidedBy) -> Result<bool, StoreError> {
        let inbox = self.clone();
        let was_pending = self.store.write(move |tx| inbox.cancel_in(tx, key, cause, by)).await?;
        if was_pending {
            self.announce_settled(&[key], Outcome::Cancelled(cause));
        }
        Ok(was_pending)
    }

    /// Settles what is at or past its deadline as expired, and says what that was (contract 13).
    pub async fn expire_due(&self) -> Result<Vec<RequestKey>, StoreError> {
        let now = (self.clock)();
        if self.store.read(move |reader| requests::due(reader, now)).await?.is_empty() {
            return Ok(Vec::new());
        }
        let clock = Arc::clone(&self.clock);
        let expired = self.store.write(move |tx| expire(tx, clock())).await?;
        self.announce_settled(&expired, Outcome::Expired);
        Ok(expired)
    }

    /// Tells that requests were asked; only after their commit.
    pub fn announce_asked(&self, keys: &[RequestKey]) {
        keys.iter().for_each(|key| self.tell(InboxEvent::Asked(*key)));
    }

    /// Tells that requests settled; only after their commit.
    pub fn announce_settled(&self, keys: &[RequestKey], outcome: Outcome) {
        keys.iter().for_each(|key| self.tell(InboxEvent::Settled(*key, outcome)));
    }

    /// Tells that answers arrived; only after their commit.
    pub fn announce_delivered(&self, keys: &[RequestKey]) {
        keys.iter().for_each(|key| self.tell(InboxEvent::Delivered(*key)));
    }

    pub(crate) fn tell(&self, event: InboxEvent) {
        // Nobody may be listening.
        let _ = self.events.send(event);
    }
}
