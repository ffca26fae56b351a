use std::time::Instant;

use sayso_agent::system_time as now;
use sayso_domain::{Cause, DecidedBy, Outcome, Request, RequestKey, RequestState, Time};
use sayso_store::deliveries::{self, DeliveryState};
use sayso_store::requests::{self, NewRequest, Purpose, RequestRow};
use sayso_store::{Conn, Reader, StoreError, settlements};
use uuid::Uuid;

use super::offer::{Offer, Rights};
use super::{Asker, SenderError};
use crate::host::Host;
use crate::pause;

/// The longest kind.
const LONGEST_KIND: usize = 64;

/// What became of a request that was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// It waits.
    New(Held),
    /// It was asked before, with the same content.
    Known(Held),
}

/// A request as its asker sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    /// Its key, which the person's own tools call it by.
    pub key: RequestKey,
    /// What was asked.
    pub request: Request,
    /// Where it stands. The cause of a cancellation is for the person alone; what an asker gets is its class.
    pub state: RequestState,
    /// When it came.
    pub received_at: Time,
    /// When it ended.
    pub decided_at: Option<Time>,
    /// When its answer was acknowledged.
    pub acknowledged_at: Option<Time>,
}

impl Host {
    /// Asks. The same request again changes nothing and gives what is there; another one under the same id is refused.
    ///
    /// # Errors
    /// The request or its asker is refused, a limit is reached, or the database cannot be written: nobody was asked.
    pub async fn ask(&self, asker: &Asker, request: Request) -> Result<Asked, SenderError> {
        check(&request)?;
        let per_minute = asker.per_minute;
        self.senders()
            .rates
            .take(asker.source, per_minute, Instant::now())
            .map_err(|retry_after| SenderError::TooFast { per_minute, retry_after })?;
        let (by, wanted) = (asker.clone(), request.clone());
        let rights = match self.look(move |reader| known(reader, &by, &wanted)).await? {
            Before::Asked(held) => return Ok(Asked::Known(*held)),
            Before::Nothing(rights) => rights,
        };
        self.inbox().validate(&request)?;
        let offer = Offer::of(&request, rights)?;
        let (host, asker) = (self.clone(), asker.clone());
        self.finish(async move { host.ask_new(asker, request, offer).await }).await?
    }

    async fn ask_new(&self, asker: Asker, request: Request, offer: Offer) -> Result<Asked, SenderError> {
        let inbox = self.inbox().clone();
        let asked = self.store().try_write(move |tx| {
            // Another call of the same asker may have come first, or the person have changed what it may.
            match known(tx, &asker, &request)? {
                Before::Asked(held) => return Ok(Asked::Known(*held)),
                Before::Nothing(rights) => offer.check(rights)?,
            }
            if requests::count_open_of_source(tx, asker.source)? >= asker.max_open {
                return Err(SenderError::TooManyOpen(asker.max_open));
            }
            let new = NewRequest {
                key: RequestKey::new(Uuid::now_v7()),
                source: asker.source,
                run: None,
                slot: None,
                purpose: Purpose::Tool,
                shown: asker.shown(request, offer),
                received_at: now(),
            };
            inbox.ask_in(tx, &new)?;
            let row = requests::get(tx, new.key)?.ok_or(StoreError::Conflict)?;
            Ok(Asked::New(held(tx, row)?))
        });
        let asked = asked.await?;
        if let Asked::New(held) = &asked {
            pause::at(pause::Point::SenderAsked).await;
            self.inbox().announce_asked(&[held.key]);
        }
        Ok(asked)
    }

    /// One of the asker's own requests.
    ///
    /// # Errors
    /// [`SenderError::NotFound`], also for another's id.
    pub async fn held(&self, asker: &Asker, id: &str) -> Result<Held, SenderError> {
        let (asker, id) = (asker.clone(), id.to_owned());
        self.look(move |reader| held(reader, own(reader, &asker, &id)?)).await
    }

    /// Takes a request back: it settles as cancelled. Doing it again changes nothing.
    ///
    /// # Errors
    /// [`SenderError::AlreadyDecided`] where somebody was first; [`SenderError::BeingDecided`] while they can take it back.
    pub async fn withdraw(&self, asker: &Asker, id: &str) -> Result<Held, SenderError> {
        let (host, asker, id) = (self.clone(), asker.clone(), id.to_owned());
        self.finish(async move { host.withdraw_now(asker, id).await }).await?
    }

    async fn withdraw_now(&self, asker: Asker, id: String) -> Result<Held, SenderError> {
        const WITHDRAWN: Outcome = Outcome::Cancelled(Cause::CallerGone);
        let inbox = self.inbox().clone();
        let withdrawn = self.store().try_write(move |tx| {
            let row = own(tx, &asker, &id)?;
            let won = inbox.cancel_in(tx, row.key, Cause::CallerGone, DecidedBy::Source)?;
            if won {
                // Whoever takes it back knows, and nobody else asks for the answer.
                inbox.delivered_in(tx, row.key)?;
            }
            let row = requests::get(tx, row.key)?.ok_or(StoreError::Conflict)?;
            match row.state {
                RequestState::Settled(outcome) if outcome != WITHDRAWN => Err(if is_held(tx, row.key)? {
                    SenderError::BeingDecided
                } else {
                    SenderError::AlreadyDecided(outcome)
                }),
                RequestState::Settled(_) | RequestState::Pending => Ok((won, held(tx, row)?)),
            }
        });
        let (won, held) = withdrawn.await?;
        if won {
            self.inbox().announce_settled(&[held.key], WITHDRAWN);
            self.inbox().announce_delivered(&[held.key]);
        }
        Ok(held)
    }

    /// Reads for an asker, in one moment.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, SenderError> + Send + 'static,
    ) -> Result<T, SenderError> {
        let looked = self.store().read(move |reader| match work(reader) {
            Err(SenderError::Storage(error)) => Err(error),
            other => Ok(other),
        });
        looked.await?
    }
}

/// What must hold so that a request has an address and a name that a person can read.
fn check(request: &Request) -> Result<(), SenderError> {
    let id = &request.id;
    if id.is_empty() || id == "." || id == ".." || id.chars().any(char::is_control) {
        return Err(SenderError::Id);
    }
    let kind = request.kind.as_str();
    if kind.is_empty() || kind.chars().count() > LONGEST_KIND || kind.chars().any(char::is_control) {
        return Err(SenderError::Kind);
    }
    if request.prompt.trim().is_empty() { Err(SenderError::Prompt) } else { Ok(()) }
}

/// What the asker asked before under an id.
enum Before {
    /// The same.
    Asked(Box<Held>),
    /// Nothing; here is what it may offer now.
    Nothing(Rights),
}

fn known(conn: &Conn, asker: &Asker, request: &Request) -> Result<Before, SenderError> {
    let row = asker.check(conn)?;
    match requests::of_source(conn, asker.source, &request.id)? {
        None => Ok(Before::Nothing(row.into())),
        Some(row) if row.shown.request == *request => Ok(Before::Asked(Box::new(held(conn, row)?))),
        Some(_) => Err(SenderError::OtherContent),
    }
}

/// The asker's request of this id, and nobody else's.
pub(super) fn own(conn: &Conn, asker: &Asker, id: &str) -> Result<RequestRow, SenderError> {
    asker.check(conn)?;
    requests::of_source(conn, asker.source, id)?.ok_or(SenderError::NotFound)
}

/// A request as its asker sees it. A decision that can still be taken back has not ended it yet.
pub(super) fn held(conn: &Conn, row: RequestRow) -> Result<Held, SenderError> {
    let delivery = deliveries::get(conn, row.key)?.filter(|delivery| delivery.claimed_at.is_some());
    let settled = settlements::get(conn, row.key)?;
    let acknowledged_at = delivery
        .as_ref()
        .filter(|delivery| delivery.state == DeliveryState::Delivered)
        .and_then(|delivery| delivery.ended_at);
    Ok(Held {
        key: row.key,
        request: row.shown.request,
        state: if delivery.is_some() { row.state } else { RequestState::Pending },
        received_at: row.received_at,
        decided_at: settled.filter(|_| delivery.is_some()).map(|settled| settled.settlement.at),
        acknowledged_at,
    })
}

/// Whether a person decided who can still take it back. Their asker learns nothing of it until then.
fn is_held(conn: &Conn, key: RequestKey) -> Result<bool, StoreError> {
    Ok(deliveries::get(conn, key)?.is_some_and(|delivery| delivery.claimed_at.is_none()))
}
