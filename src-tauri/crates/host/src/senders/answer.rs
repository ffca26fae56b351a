use std::time::Duration;

use sayso_domain::{Answer, Cause, Outcome, RequestKey, RequestState};
use sayso_store::deliveries::{self, DeliveryState};
use sayso_store::requests::RequestRow;
use sayso_store::{Conn, StoreError, requests};
use tokio::time::Instant;

use super::ask::{held, own};
use super::{Asker, Held, LOOK_AGAIN, SenderError};
use crate::host::Host;

/// What a look at a request's answer finds.
enum Found {
    /// The answer, as it may leave.
    Answer(Answer),
    /// It was acknowledged.
    Taken,
    /// Nobody decided; or somebody did who can still take it back.
    Nothing(RequestKey),
}

impl Host {
    /// The answer to one of the asker's own requests, as soon as there is one; none after `wait`. It is what may leave: of
    /// a no only the class, never a person's words (contract 9). It can be read until it is acknowledged.
    ///
    /// # Errors
    /// [`SenderError::NotFound`], [`SenderError::Acknowledged`], or the asker lost its right.
    pub async fn answer(
        &self,
        asker: &Asker,
        id: &str,
        wait: Duration,
    ) -> Result<Option<Answer>, SenderError> {
        let end = Instant::now() + wait;
        let key = match self.find_answer(asker, id).await? {
            Found::Answer(answer) => return Ok(Some(answer)),
            Found::Taken => return Err(SenderError::Acknowledged),
            Found::Nothing(_) if wait.is_zero() => return Ok(None),
            Found::Nothing(key) => key,
        };
        let seat = self.senders().requests.take(key);
        loop {
            let news = seat.news();
            match self.find_answer(asker, id).await? {
                Found::Answer(answer) => return Ok(Some(answer)),
                Found::Taken => return Err(SenderError::Acknowledged),
                Found::Nothing(_) => {}
            }
            tokio::select! {
                () = self.stop_token().cancelled() => return Ok(None),
                () = tokio::time::sleep_until(end) => return Ok(None),
                () = news => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// The asker has the answer: it is delivered. Doing it again changes nothing.
    ///
    /// # Errors
    /// [`SenderError::StillWaits`] where there is none yet.
    pub async fn acknowledge(&self, asker: &Asker, id: &str) -> Result<Held, SenderError> {
        let (host, asker, id) = (self.clone(), asker.clone(), id.to_owned());
        self.finish(async move { host.acknowledge_now(asker, id).await }).await?
    }

    async fn acknowledge_now(&self, asker: Asker, id: String) -> Result<Held, SenderError> {
        let inbox = self.inbox().clone();
        let taken = self.store().try_write(move |tx| {
            let row = own(tx, &asker, &id)?;
            let key = row.key;
            let waited = match find(tx, &row)? {
                Found::Nothing(_) => return Err(SenderError::StillWaits),
                Found::Answer(_) | Found::Taken => inbox.delivered_in(tx, key)?,
            };
            let row = requests::get(tx, key)?.ok_or(StoreError::Conflict)?;
            Ok((waited, held(tx, row)?))
        });
        let (waited, held) = taken.await?;
        if waited {
            self.inbox().announce_delivered(&[held.key]);
        }
        Ok(held)
    }

    async fn find_answer(&self, asker: &Asker, id: &str) -> Result<Found, SenderError> {
        let (asker, id) = (asker.clone(), id.to_owned());
        self.look(move |reader| Ok(find(reader, &own(reader, &asker, &id)?)?)).await
    }
}

fn find(conn: &Conn, row: &RequestRow) -> Result<Found, StoreError> {
    let key = row.key;
    let delivery = deliveries::get(conn, key)?.filter(|delivery| delivery.claimed_at.is_some());
    let Some(delivery) = delivery else { return Ok(Found::Nothing(key)) };
    // What its asker took back was never acknowledged by a word: whoever still waits for it is told.
    let is_withdrawn = row.state == RequestState::Settled(Outcome::Cancelled(Cause::CallerGone));
    Ok(match delivery.state {
        DeliveryState::Delivered if !is_withdrawn => Found::Taken,
        // Its sender lost the right to it: a yes of then is none for whoever has the name now.
        DeliveryState::Undeliverable if delivery.answer.is_ok() => Found::Taken,
        DeliveryState::Delivered | DeliveryState::Waiting | DeliveryState::Undeliverable => {
            Found::Answer(delivery.answer)
        }
    })
}
