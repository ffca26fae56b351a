use std::cmp::Reverse;
use std::collections::HashSet;

use rusqlite::Row;
use sayso_domain::RequestKey;
use sayso_domain::search::Query;

use super::filter::{With, each};
use super::{HistoryCursor, HistoryQuery, HistoryRow};
use crate::deliveries::DeliveryState;
use crate::search::Texts;
use crate::{Conn, Progress, StoreError, column, decisions, requests, settlements};

const COLUMNS: &str = "
d.n, d.risk, d.redacted, d.waited, r.*, s.outcome, s.answer, s.reason, s.edited_arguments, s.decided_by, s.surface, s.at,
o.state AS delivery
";

/// The decisions that a query names, newest first; where it has a text, with where that was found.
pub fn list(conn: &Conn, query: &HistoryQuery) -> Result<Vec<HistoryRow>, StoreError> {
    let mut rows = Vec::new();
    each(conn, query, With::Records, COLUMNS, &mut |row| {
        rows.push(of_row(row)?);
        Ok(())
    })?;
    rows.sort_by_key(|row| Reverse(row.cursor));
    rows.truncate(query.limit.map_or(usize::MAX, |limit| limit as usize));
    if let Some(wanted) = query.text.as_deref().map(Query::parse).filter(|wanted| !wanted.is_empty()) {
        for row in &mut rows {
            let texts = Texts::of(conn, &row.request, &row.settled)?;
            row.snippet = wanted.snippet(&texts.fields());
        }
    }
    Ok(rows)
}

/// Which requests were decided in the decisions that a query names.
pub fn keys(
    conn: &Conn,
    query: &HistoryQuery,
    progress: &Progress,
) -> Result<HashSet<RequestKey>, StoreError> {
    let mut found = Vec::new();
    each(conn, query, With::Nothing, "d.n", &mut |row| {
        progress.go_on()?;
        found.push((row.get::<_, i64>("n")?, column::parsed(row, "request_key")?));
        Ok(())
    })?;
    found.sort_by_key(|(n, _)| Reverse(*n));
    found.truncate(query.limit.map_or(usize::MAX, |limit| limit as usize));
    Ok(found.into_iter().map(|(_, key)| key).collect())
}

/// One decision.
pub fn get(conn: &Conn, key: RequestKey) -> Result<Option<HistoryRow>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM decisions AS d
         JOIN requests AS r ON r.key = d.request
         JOIN settlements AS s ON s.request = d.request
         JOIN deliveries AS o ON o.request = d.request
         WHERE d.request = ?1"
    );
    conn.row(&sql, [key.to_string()], of_row)
}

fn of_row(row: &Row<'_>) -> Result<HistoryRow, StoreError> {
    Ok(HistoryRow {
        cursor: HistoryCursor(row.get("n")?),
        request: requests::of_row(row)?,
        settled: settlements::of_row(row)?,
        delivery: column::named(row, "delivery", DeliveryState::from_name)?,
        risk: column::named_opt(row, "risk", decisions::risk_from_name)?,
        waited_ms: row.get::<_, i64>("waited")?.unsigned_abs(),
        is_redacted: row.get("redacted")?,
        snippet: None,
    })
}
