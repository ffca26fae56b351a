use sayso_domain::Time;
use sayso_store::history::{self, HistoryCursor, HistoryQuery};
use sayso_store::{Conn, StoreError, ledger};

use super::{no_request, request_key, storage};
use crate::dto::{HistoryDetail, HistoryFilter, HistoryPage, RequestRef};
use crate::host::Host;
use crate::view;
use crate::{RpcError, code};

const PAGE: u32 = 100;
const LARGEST_PAGE: u32 = 1000;

pub(crate) async fn list(host: &Host, filter: HistoryFilter) -> Result<HistoryPage, RpcError> {
    let query = query(&filter)?;
    host.store().read(move |reader| page(reader, &query)).await.map_err(storage)
}

pub(crate) async fn show(host: &Host, params: RequestRef) -> Result<HistoryDetail, RpcError> {
    let key = request_key(&params.key)?;
    let found = host.store().read(move |reader| {
        let Some(row) = history::get(reader, key)? else { return Ok(None) };
        Ok(Some(view::history::detail(&row, &ledger::of_request(reader, key)?)))
    });
    found.await.map_err(storage)?.ok_or_else(|| no_request(params.key))
}

/// A filter, checked.
pub(crate) fn query(filter: &HistoryFilter) -> Result<HistoryQuery, RpcError> {
    let bad = |message: String| RpcError::new(code::BAD_REQUEST, message);
    let outcomes = ["approved", "answered", "declined", "cancelled", "expired"];
    if let Some(outcome) = &filter.outcome
        && !outcomes.contains(&outcome.as_str())
    {
        return Err(bad(format!(
            "There is no outcome `{outcome}`; the outcomes are {}.",
            outcomes.join(", ")
        )));
    }
    let since = filter.since.as_deref().map(str::parse::<Time>).transpose();
    let after = filter.after.as_deref().map(str::parse::<HistoryCursor>).transpose();
    Ok(HistoryQuery {
        text: filter.text.clone().filter(|text| !text.trim().is_empty()),
        outcome: filter.outcome.clone(),
        source: filter.source.clone(),
        run: filter.run.as_deref().map(super::run_id).transpose()?,
        since: since.map_err(|error| bad(error.to_string()))?,
        after: after.map_err(|error| bad(error.to_string()))?,
        limit: Some(filter.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE)),
    })
}

/// A page, and where the next one begins if there is one.
pub(crate) fn page(conn: &Conn, query: &HistoryQuery) -> Result<HistoryPage, StoreError> {
    let rows = history::list(conn, query)?;
    let is_full = query.limit.is_some_and(|limit| rows.len() >= limit as usize);
    let next = rows.last().filter(|_| is_full).map(|row| row.cursor().to_string());
    Ok(HistoryPage { items: rows.iter().map(view::history::item).collect(), next })
}
