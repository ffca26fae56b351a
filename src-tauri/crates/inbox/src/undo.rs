//! Taking a decision back. It is a delay and no second settlement: the answer is held for a moment, and until it is claimed
//! the person can have the request wait again, as it was, with the deadline that it had.

use sayso_domain::{DecidedBy, RequestKey, RequestState, Surface, Time};
use sayso_store::ledger::{self, Entry, EntryType};
use sayso_store::{StoreError, Tx, deliveries, requests, settlements};

use crate::{Inbox, InboxEvent, UndoError};

impl Inbox {
    /// Takes a person's decision back while its answer is held: the request waits again, and the ledger has both, the
    /// decision and that it was taken back. Of this and the claim of its delivery, one wins.
    pub async fn undo(&self, key: RequestKey, surface: Surface) -> Result<(), UndoError> {
        let clock = self.clock.clone();
        let undone: Result<(), UndoError> =
            self.store.try_write(move |tx| undo(tx, key, surface, clock())).await;
        undone?;
        self.tell(InboxEvent::Revoked(key));
        Ok(())
    }
}

fn undo(tx: &Tx<'_>, key: RequestKey, surface: Surface, now: Time) -> Result<(), UndoError> {
    let request = requests::get(tx, key)?.ok_or(UndoError::NotFound(key))?;
    if request.state == RequestState::Pending {
        return Err(UndoError::StillWaits);
    }
    let settled = settlements::get(tx, key)?.ok_or(StoreError::Conflict)?;
    let is_held = deliveries::get(tx, key)?.is_some_and(|delivery| delivery.claimed_at.is_none());
    if settled.by != DecidedBy::Person || !is_held {
        return Err(UndoError::TooLate);
    }
    if request.shown.request.is_expired(now) {
        return Err(UndoError::Expired);
    }
    let decision = ledger::decision_of(tx, key)?.ok_or(StoreError::Conflict)?;
    if !deliveries::revoke(tx, key)? {
        return Err(UndoError::TooLate);
    }
    if !settlements::revoke(tx, key)? {
        return Err(StoreError::Conflict.into());
    }
    let fields = vec![
        ("decision", decision.to_string()),
        ("decided_by", DecidedBy::Person.as_str().to_owned()),
        ("surface", surface.as_str().to_owned()),
    ];
    let entry = Entry { kind: EntryType::Revoked, at: now, request: Some(key), run: request.run, fields };
    ledger::append(tx, &entry)?;
    Ok(())
}
