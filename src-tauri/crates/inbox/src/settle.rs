use std::time::Duration;

use sayso_domain::{
    Act, Answer, Cause, DecidedBy, Digest, Outcome, Refused, RequestKey, Settlement, Surface, Time, settle,
};
use sayso_store::requests::{self, RequestRow};
use sayso_store::{StoreError, Tx, deliveries, ledger, settlements, verdicts};

use crate::outbox::delivered;
use crate::{DecideError, Decided};

/// What a person says, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The answer; it echoes the request's id.
    pub answer: Answer,
    /// Of what was shown to the person; none where the surface shows the stored request itself.
    pub digest: Option<Digest>,
    /// Where.
    pub surface: Surface,
    /// For how long the answer is held, so that it can be taken back.
    pub held_for: Duration,
}

/// What became of a verdict.
pub(crate) enum Ruling {
    /// It settled the request.
    Settled(Box<Decided>),
    /// It came too late: the request has just been settled as expired.
    Late(Box<Decided>),
    /// It changed nothing.
    Refused(DecideError),
}

/// Who or what settles a request.
#[derive(Clone, Copy)]
struct Decider {
    by: DecidedBy,
    surface: Option<Surface>,
    /// For how long the answer is held.
    held_for: Duration,
}

impl Decider {
    /// Nobody could take back what is no person's.
    fn at_once(by: DecidedBy) -> Self {
        Self { by, surface: None, held_for: Duration::ZERO }
    }
}

/// Settles a request by a person's verdict. `fits` says whether its data is what was asked for.
pub(crate) fn decide(
    tx: &Tx<'_>,
    key: RequestKey,
    verdict: &Verdict,
    fits: Result<(), String>,
    now: Time,
) -> Result<Ruling, StoreError> {
    let Some(request) = requests::get(tx, key)? else {
        return Ok(Ruling::Refused(DecideError::NotFound(key)));
    };
    let act = Act::Answer { answer: verdict.answer.clone(), digest: verdict.digest };
    let refused = match settle(&request.shown, request.state, &request.digest, &act, now) {
        Ok(settlement) => {
            if settlement.edited.is_some() && verdict.digest.is_none() {
                return Ok(Ruling::Refused(DecideError::EditWithoutDigest));
            }
            if let Err(why) = fits {
                return Ok(Ruling::Refused(DecideError::InvalidData(why)));
            }
            let person =
                Decider { by: DecidedBy::Person, surface: Some(verdict.surface), held_for: verdict.held_for };
            return Ok(match commit(tx, &request, &settlement, person)? {
                true => Ruling::Settled(Box::new(decided(tx, &request)?)),
                false => Ruling::Refused(already(tx, &request)?),
            });
        }
        Err(refused) => refused,
    };
    match refused {
        Refused::TooLate => Ok(match expire_one(tx, &request, now)? {
            true => Ruling::Late(Box::new(decided(tx, &request)?)),
            false => Ruling::Refused(already(tx, &request)?),
        }),
        Refused::AlreadySettled(_) => Ok(Ruling::Refused(already(tx, &request)?)),
        Refused::WrongId => Ok(Ruling::Refused(DecideError::WrongId)),
        Refused::NotEditable => Ok(Ruling::Refused(DecideError::NotEditable)),
        Refused::WrongDigest => Ok(Ruling::Refused(DecideError::WrongDigest)),
        // An answer is never early.
        Refused::NotDue => Err(StoreError::Conflict),
    }
}

/// Settles a request that became pointless; whether it still waited.
pub(crate) fn cancel(
    tx: &Tx<'_>,
    key: RequestKey,
    cause: Cause,
    by: DecidedBy,
    now: Time,
) -> Result<bool, StoreError> {
    let Some(request) = requests::get(tx, key)? else { return Ok(false) };
    let act = Act::Cancel(cause);
    let Ok(settlement) = settle(&request.shown, request.state, &request.digest, &act, now) else {
        return Ok(false);
    };
    let won = commit(tx, &request, &settlement, Decider::at_once(by))?;
    if won && cause == Cause::RunStopped {
        delivered(tx, key, now)?;
    }
    Ok(won)
}

/// Settles all that is at or past its deadline as expired.
pub(crate) fn expire(tx: &Tx<'_>, now: Time) -> Result<Vec<RequestKey>, StoreError> {
    let mut expired = Vec::new();
    for key in requests::due(tx, now)? {
        if let Some(request) = requests::get(tx, key)?
            && expire_one(tx, &request, now)?
        {
            expired.push(key);
        }
    }
    Ok(expired)
}

fn expire_one(tx: &Tx<'_>, request: &RequestRow, now: Time) -> Result<bool, StoreError> {
    match settle(&request.shown, request.state, &request.digest, &Act::Expire, now) {
        Ok(settlement) => commit(tx, request, &settlement, Decider::at_once(DecidedBy::Deadline)),
        Err(_) => Ok(false),
    }
}

/// Everything that a settlement is, in the caller's transaction; false if somebody was first.
fn commit(
    tx: &Tx<'_>,
    request: &RequestRow,
    settlement: &Settlement,
    decider: Decider,
) -> Result<bool, StoreError> {
    let Decider { by, surface, held_for } = decider;
    if !settlements::settle(tx, request.key, settlement, by, surface)? {
        return Ok(false);
    }
    match by {
        DecidedBy::Person | DecidedBy::Rule => {
            verdicts::insert(tx, request.key, by, surface, &settlement.answer, settlement.at)?;
        }
        DecidedBy::Deadline | DecidedBy::Source | DecidedBy::Stop => {}
    }
    let (answer, at) = (settlement.delivered(), settlement.at);
    match i64::try_from(held_for.as_millis()).unwrap_or(i64::MAX) {
        0 => deliveries::insert(tx, request.key, &answer, at)?,
        held => deliveries::insert_held(tx, request.key, &answer, at.plus_millis(held))?,
    }
    ledger::append_decision(tx, request.key)?;
    Ok(true)
}

fn decided(tx: &Tx<'_>, request: &RequestRow) -> Result<Decided, StoreError> {
    let settled = settlements::get(tx, request.key)?.ok_or(StoreError::Conflict)?;
    let held = deliveries::get(tx, request.key)?.filter(|delivery| delivery.claimed_at.is_none());
    Ok(Decided::of(request, settled, held.map(|held| held.deliver_after)))
}

/// What to say to whoever comes second.
fn already(tx: &Tx<'_>, request: &RequestRow) -> Result<DecideError, StoreError> {
    let decided = Box::new(decided(tx, request)?);
    Ok(match decided.settlement.outcome {
        Outcome::Expired => DecideError::Late(decided),
        Outcome::Approved | Outcome::Answered | Outcome::Declined | Outcome::Cancelled(_) => {
            DecideError::AlreadyDecided(decided)
        }
    })
}
