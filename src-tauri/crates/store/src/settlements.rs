//! Settlements: how a request ended, once. The person's reason has a column of its own, here and in the verdict, and is
//! nowhere else but in the ledger. A decision that was taken back has no settlement: it is in the ledger alone.

use rusqlite::{Row, params};
use sayso_domain::{Answer, Class, DecidedBy, Outcome, RequestKey, Settlement, Surface};
use serde_json::Value;

use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE settlements (
    request          TEXT PRIMARY KEY REFERENCES requests (key),
    outcome          TEXT NOT NULL CHECK (outcome IN ('approved', 'answered', 'declined', 'expired', 'cancelled')),
    cause            TEXT CHECK ((cause IS NOT NULL) = (outcome = 'cancelled')),
    answer           TEXT NOT NULL CHECK (json_valid(answer)),
    reason           TEXT,
    edited_arguments TEXT,
    decided_by       TEXT NOT NULL CHECK (decided_by IN ('person', 'rule', 'deadline', 'source', 'stop')),
    surface          TEXT CHECK (surface IN ('window', 'notification', 'tray', 'cli', 'browser')),
    at               INTEGER NOT NULL
) STRICT;
CREATE INDEX settlements_newest ON settlements (at DESC, request DESC);
";

/// How a request ended, by whom and where.
#[derive(Clone, Debug, PartialEq)]
pub struct SettlementRow {
    /// The outcome, the answer with the person's own reason, and when.
    pub settlement: Settlement,
    /// Who or what decided.
    pub by: DecidedBy,
    /// Where a person decided.
    pub surface: Option<Surface>,
    /// The person's own words, where there are any.
    pub reason: Option<String>,
}

/// Settles a request if it still waits; whether it did. Of two that try, SQL lets the first win.
pub fn settle(
    tx: &Tx<'_>,
    request: RequestKey,
    settlement: &Settlement,
    by: DecidedBy,
    surface: Option<Surface>,
) -> Result<bool, StoreError> {
    let outcome = settlement.outcome.as_str();
    let cause = settlement.outcome.cause().map(sayso_domain::Cause::as_str);
    let won = tx.run_one(
        "UPDATE requests SET state = ?2, cause = ?3 WHERE key = ?1 AND state = 'pending'",
        params![request.to_string(), outcome, cause],
    )?;
    if !won {
        return Ok(false);
    }
    let kept = Kept::of(&settlement.answer, settlement.outcome.class())?;
    tx.run(
        "INSERT INTO settlements (request, outcome, cause, answer, reason, edited_arguments, decided_by, surface,
                                  at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            request.to_string(),
            outcome,
            cause,
            kept.answer,
            kept.reason,
            settlement.edited,
            by.as_str(),
            surface.map(Surface::as_str),
            settlement.at.as_millis(),
        ],
    )?;
    Ok(true)
}

/// Takes back how a request ended, so that it waits again; its answer is out of the outbox already
/// ([`crate::deliveries::revoke`]). Whether it had ended.
pub fn revoke(tx: &Tx<'_>, request: RequestKey) -> Result<bool, StoreError> {
    let ended = tx.run_one("DELETE FROM settlements WHERE request = ?1", [request.to_string()])?;
    let waits = tx.run_one(
        "UPDATE requests SET state = 'pending', cause = NULL WHERE key = ?1 AND state <> 'pending'",
        [request.to_string()],
    )?;
    if ended == waits { Ok(ended) } else { Err(StoreError::damaged("a request and how it ended")) }
}

/// How a request ended, if it did.
pub fn get(conn: &Conn, request: RequestKey) -> Result<Option<SettlementRow>, StoreError> {
    conn.row("SELECT * FROM settlements WHERE request = ?1", [request.to_string()], of_row)
}

/// From a row that has this table's columns.
pub(crate) fn of_row(row: &Row<'_>) -> Result<SettlementRow, StoreError> {
    let cause: Option<String> = row.get("cause")?;
    let name: String = row.get("outcome")?;
    let outcome = Outcome::from_names(&name, cause.as_deref())
        .ok_or_else(|| StoreError::damaged(format_args!("a settlement's outcome: {name}")))?;
    let kept = Kept { answer: row.get("answer")?, reason: row.get("reason")? };
    Ok(SettlementRow {
        settlement: Settlement {
            outcome,
            answer: kept.restore(outcome.class())?,
            edited: row.get("edited_arguments")?,
            at: column::time(row, "at")?,
        },
        by: column::named(row, "decided_by", DecidedBy::from_name)?,
        surface: column::named_opt(row, "surface", Surface::from_name)?,
        reason: kept.reason,
    })
}

/// An answer as its two columns: all but the reason, and the person's own reason. The words that stand for no reason,
/// such as `declined`, are not the person's own.
pub(crate) struct Kept {
    pub(crate) answer: String,
    pub(crate) reason: Option<String>,
}

impl Kept {
    pub(crate) fn of(answer: &Answer, class: Option<Class>) -> Result<Self, StoreError> {
        let default = default_reason(answer.is_ok(), class);
        let reason = answer.reason().filter(|reason| Some(*reason) != default).map(str::to_owned);
        let mut wire = serde_json::to_value(answer).map_err(|error| StoreError::Sql(error.to_string()))?;
        if let Value::Object(keys) = &mut wire {
            keys.shift_remove("reason");
        }
        Ok(Self { answer: column::to_json(&wire)?, reason })
    }

    pub(crate) fn restore(&self, class: Option<Class>) -> Result<Answer, StoreError> {
        let mut wire: Value = column::json(&self.answer, "an answer")?;
        let ok = wire.get("ok").and_then(Value::as_bool).unwrap_or_default();
        let reason = self.reason.as_deref().or(default_reason(ok, class));
        if let (Value::Object(keys), Some(reason)) = (&mut wire, reason) {
            keys.insert("reason".to_owned(), Value::from(reason));
        }
        Answer::try_from(wire).map_err(|error| StoreError::damaged(format_args!("an answer: {error}")))
    }
}

fn default_reason(ok: bool, class: Option<Class>) -> Option<&'static str> {
    (!ok).then(|| class.unwrap_or(Class::Declined).as_str())
}
