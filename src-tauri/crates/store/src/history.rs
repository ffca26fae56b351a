//! Decisions of the past, newest first.

use std::fmt;
use std::str::FromStr;

use rusqlite::{Row, ToSql, params_from_iter};
use sayso_domain::{RequestKey, RunId, Time};

use crate::deliveries::DeliveryState;
use crate::requests::{self, RequestRow};
use crate::settlements::{self, SettlementRow};
use crate::{Conn, StoreError, column};

/// Which decisions to list. All that are set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryQuery {
    /// Text in the prompt, the arguments (as shown, and as the person changed them), the reason or the source's name.
    pub text: Option<String>,
    /// The outcome's name.
    pub outcome: Option<String>,
    /// The source's name.
    pub source: Option<String>,
    /// The run.
    pub run: Option<RunId>,
    /// Decided at or after.
    pub since: Option<Time>,
    /// Only what follows this place of an earlier page.
    pub after: Option<HistoryCursor>,
    /// At most so many; none for all.
    pub limit: Option<u32>,
}

/// A place in the list: pages stay stable while new decisions come in. As text: `<milliseconds>-<key>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryCursor {
    /// When it was decided.
    pub at: Time,
    /// The request.
    pub key: RequestKey,
}

/// The text is no place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a place in the history")]
pub struct ParseCursorError;

/// A decision.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRow {
    /// The request as it was shown.
    pub request: RequestRow,
    /// How it ended.
    pub settled: SettlementRow,
    /// Whether its answer arrived.
    pub delivery: DeliveryState,
}

impl HistoryRow {
    /// Its place in the list.
    pub fn cursor(&self) -> HistoryCursor {
        HistoryCursor { at: self.settled.settlement.at, key: self.request.key }
    }
}

impl fmt::Display for HistoryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.at.as_millis(), self.key)
    }
}

impl FromStr for HistoryCursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        // The first character may be the minus of a moment before 1970.
        let dash = text.get(1..).and_then(|rest| rest.find('-')).ok_or(ParseCursorError)? + 1;
        let at = text[..dash].parse().map_err(|_| ParseCursorError)?;
        let key = text[dash + 1..].parse().map_err(|_| ParseCursorError)?;
        Ok(Self { at: Time::from_millis(at), key })
    }
}

const SELECT: &str = "
SELECT requests.*, settlements.outcome, settlements.answer, settlements.reason, settlements.edited_arguments,
       settlements.decided_by, settlements.surface, settlements.at, deliveries.state AS delivery
FROM settlements
JOIN requests ON requests.key = settlements.request
JOIN deliveries ON deliveries.request = settlements.request
JOIN sources ON sources.id = requests.source
";

/// The decisions that a query names, newest first.
pub fn list(conn: &Conn, query: &HistoryQuery) -> Result<Vec<HistoryRow>, StoreError> {
    let mut conditions = Vec::new();
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if let Some(outcome) = &query.outcome {
        conditions.push("settlements.outcome = ?");
        values.push(Box::new(outcome.clone()));
    }
    if let Some(source) = &query.source {
        conditions.push("sources.name = ?");
        values.push(Box::new(source.clone()));
    }
    if let Some(run) = query.run {
        conditions.push("requests.run = ?");
        values.push(Box::new(run.to_string()));
    }
    if let Some(since) = query.since {
        conditions.push("settlements.at >= ?");
        values.push(Box::new(since.as_millis()));
    }
    if let Some(after) = query.after {
        conditions.push("(settlements.at, settlements.request) < (?, ?)");
        values.push(Box::new(after.at.as_millis()));
        values.push(Box::new(after.key.to_string()));
    }
    if let Some(text) = query.text.as_ref().filter(|text| !text.is_empty()) {
        conditions.push(TEXT);
        values.extend((0..TEXT.matches('?').count()).map(|_| Box::new(like(text)) as Box<dyn ToSql>));
    }
    let all =
        if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
    values.push(Box::new(query.limit.map_or(-1, i64::from)));
    let sql = format!("{SELECT} {all} ORDER BY settlements.at DESC, settlements.request DESC LIMIT ?");
    conn.rows(&sql, params_from_iter(values), of_row)
}

const TEXT: &str = "(shown ->> '$.request.prompt' LIKE ? ESCAPE '\\' OR shown ->> '$.arguments' LIKE ? ESCAPE '\\' \
                    OR edited_arguments LIKE ? ESCAPE '\\' \
                    OR reason LIKE ? ESCAPE '\\' OR sources.name LIKE ? ESCAPE '\\')";

/// A pattern that finds a text as it is, wherever it is.
fn like(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{text}%")
}

/// One decision.
pub fn get(conn: &Conn, key: RequestKey) -> Result<Option<HistoryRow>, StoreError> {
    conn.row(&format!("{SELECT} WHERE settlements.request = ?1"), [key.to_string()], of_row)
}

fn of_row(row: &Row<'_>) -> Result<HistoryRow, StoreError> {
    Ok(HistoryRow {
        request: requests::of_row(row)?,
        settled: settlements::of_row(row)?,
        delivery: column::named(row, "delivery", DeliveryState::from_name)?,
    })
}
