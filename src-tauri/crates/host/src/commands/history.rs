use sayso_domain::{RequestKey, Time};
use sayso_store::history::{self, HistoryCursor, HistoryQuery};
use sayso_store::{Conn, StoreError, ledger};

use super::{no_request, request_key, storage};
use crate::dto::{
    HistoryCharts, HistoryChartsOf, HistoryCounts, HistoryDetail, HistoryFilter, HistoryPage, RequestRef,
};
use crate::host::Host;
use crate::view;
use crate::{RpcError, code};

const PAGE: u32 = 100;
const LARGEST_PAGE: u32 = 1000;

pub(crate) async fn list(host: &Host, filter: HistoryFilter) -> Result<HistoryPage, RpcError> {
    let asked = Asked::of(&filter)?;
    host.store().read(move |reader| page(reader, &asked)).await.map_err(storage)
}

pub(crate) async fn show(host: &Host, params: RequestRef) -> Result<HistoryDetail, RpcError> {
    let key = request_key(&params.key)?;
    let found = host.store().read(move |reader| detail(reader, key));
    found.await.map_err(storage)?.ok_or_else(|| no_request(params.key))
}

pub(crate) async fn counts(host: &Host, filter: HistoryFilter) -> Result<HistoryCounts, RpcError> {
    let Asked { query, .. } = Asked::of(&filter)?;
    let found = host.store().read(move |reader| history::counts(reader, &query));
    found.await.map(view::charts::counts).map_err(storage)
}

pub(crate) async fn charts(host: &Host, params: HistoryChartsOf) -> Result<HistoryCharts, RpcError> {
    let Asked { query, .. } = Asked::of(&params.filter)?;
    let offset = params.offset_minutes.unwrap_or_default();
    let found = host.store().read(move |reader| history::charts(reader, &query, offset));
    found.await.map(view::charts::charts).map_err(storage)
}

/// A filter, checked.
pub(crate) struct Asked {
    query: HistoryQuery,
    whole: bool,
}

impl Asked {
    pub(crate) fn of(filter: &HistoryFilter) -> Result<Self, RpcError> {
        let bad = |message: String| RpcError::new(code::BAD_REQUEST, message);
        let one_of = |what: &str, value: &Option<String>, known: &[&str]| match value {
            Some(value) if !known.contains(&value.as_str()) => {
                Err(bad(format!("There is no {what} `{value}`. It is one of {}.", known.join(", "))))
            }
            Some(_) | None => Ok(()),
        };
        one_of("outcome", &filter.outcome, &["approved", "answered", "declined", "cancelled", "expired"])?;
        one_of("decider", &filter.decided_by, &["person", "rule", "deadline", "source", "stop"])?;
        one_of("surface", &filter.surface, &["window", "notification", "tray", "cli", "browser"])?;
        one_of("risk", &filter.risk, &["low", "medium", "high"])?;
        let time = |text: &Option<String>| {
            text.as_deref().map(str::parse::<Time>).transpose().map_err(|error| bad(error.to_string()))
        };
        let after = filter.after.as_deref().map(str::parse::<HistoryCursor>).transpose();
        let query = HistoryQuery {
            text: filter.text.clone().filter(|text| !text.trim().is_empty()),
            outcome: filter.outcome.clone(),
            source: filter.source.clone(),
            kind: filter.kind.clone(),
            decided_by: filter.decided_by.clone(),
            surface: filter.surface.clone(),
            tool: filter.tool.clone(),
            risk: filter.risk.clone(),
            run: filter.run.as_deref().map(super::run_id).transpose()?,
            since: time(&filter.since)?,
            until: time(&filter.until)?,
            after: after.map_err(|error| bad(error.to_string()))?,
            limit: Some(filter.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE)),
        };
        Ok(Self { query, whole: filter.whole.unwrap_or_default() })
    }

    /// The same from the newest on, with a limit of its own or none.
    pub(crate) fn all(self, limit: Option<u32>) -> HistoryQuery {
        HistoryQuery { after: None, limit, ..self.query }
    }
}

/// A page, and where the next one begins if there is one.
pub(crate) fn page(conn: &Conn, asked: &Asked) -> Result<HistoryPage, StoreError> {
    let rows = history::list(conn, &asked.query)?;
    let is_full = asked.query.limit.is_some_and(|limit| rows.len() >= limit as usize);
    let next = rows.last().filter(|_| is_full).map(|row| row.cursor.to_string());
    Ok(HistoryPage { items: rows.iter().map(|row| view::history::item(row, asked.whole)).collect(), next })
}

/// One decision with all that is known of it.
pub(crate) fn detail(conn: &Conn, key: RequestKey) -> Result<Option<HistoryDetail>, StoreError> {
    let Some(row) = history::get(conn, key)? else { return Ok(None) };
    let entries = ledger::of_request(conn, key)?;
    let redacted = ledger::redacted_of(conn, &entries)?;
    Ok(Some(view::history::detail(&row, &entries, redacted)))
}
