use sayso_agent::system_time as now;
use sayso_domain::RequestKey;
use sayso_store::history::{self, HistoryQuery};
use sayso_store::waiting::{self, WaitingPlace, WaitingRow};
use sayso_store::{Conn, StoreError, calls, deliveries, messages, requests, settlements};

use super::{no_request, request_key, storage};
use crate::dto::{
    InboxList, InboxOutline, InboxPage, RequestDetail, RequestItem, RequestKeys, RequestRef, Waiting,
};
use crate::host::Host;
use crate::{RpcError, code, view};

/// How many a page holds unless told, and at most.
const PAGE: u32 = 200;
const LARGEST_PAGE: u32 = 1000;
/// How many characters of whole requests a page holds at most, beyond its first.
const WHOLE: usize = 4 << 20;
/// How many requests are asked for by key at once.
const KEYS: usize = 1000;

pub(crate) async fn list(host: &Host, params: InboxList) -> Result<InboxPage, RpcError> {
    let not_ours = |_| RpcError::new(code::BAD_REQUEST, "`after` is not a place in the list.");
    let after = params.after.as_deref().map(str::parse::<WaitingPlace>).transpose().map_err(not_ours)?;
    let limit = params.limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE);
    let at_work = host.clone();
    let read = host.store().read(move |reader| {
        let rows = waiting::page(reader, after, limit + 1)?;
        let mut items = Vec::new();
        let (mut next, mut length) = (None, 0);
        for row in &rows {
            if items.len() >= limit as usize || (length > WHOLE && !items.is_empty()) {
                break;
            }
            next = Some(row.place);
            let Some(item) = item(&at_work, reader, row, params.whole)? else { continue };
            length += item.request.as_ref().map_or(0, String::len);
            items.push(item);
        }
        let last = rows.last().map(|row| row.place);
        Ok(InboxPage {
            items,
            next: next.filter(|place| Some(*place) != last).map(|place| place.to_string()),
            total: requests::count_pending(reader)?,
            snoozed: waiting::count_snoozed(reader, sayso_agent::system_time())?,
        })
    });
    read.await.map_err(storage)
}

/// Those of these requests that still wait.
pub(crate) async fn items(host: &Host, params: RequestKeys) -> Result<Vec<RequestItem>, RpcError> {
    if params.keys.len() > KEYS {
        let message = format!("At most {KEYS} requests can be asked for at once.");
        return Err(RpcError::new(code::BAD_REQUEST, message));
    }
    // What is no key of ours is no request that waits.
    let keys: Vec<_> = params.keys.iter().filter_map(|key| key.parse().ok()).collect();
    items_of(host, keys).await
}

pub(crate) async fn items_of(host: &Host, keys: Vec<RequestKey>) -> Result<Vec<RequestItem>, RpcError> {
    let at_work = host.clone();
    let read = host.store().read(move |reader| {
        let rows = waiting::of_keys(reader, &keys)?;
        rows.iter().filter_map(|row| item(&at_work, reader, row, false).transpose()).collect()
    });
    read.await.map_err(storage)
}

fn item(host: &Host, conn: &Conn, row: &WaitingRow, whole: bool) -> Result<Option<RequestItem>, StoreError> {
    let Some(mut item) = host.listed().item(conn, row)? else { return Ok(None) };
    if whole {
        let found = requests::get(conn, row.place.key)?;
        item.request = found.map(|found| view::request::json(&found.shown.request));
    }
    Ok(Some(item))
}

pub(crate) async fn outline(host: &Host, params: InboxOutline) -> Result<Vec<Waiting>, RpcError> {
    let found = host.store().read(move |reader| match params.newest {
        None => requests::outline(reader),
        Some(most) => requests::newest(reader, most, now()),
    });
    Ok(found.await.map_err(storage)?.iter().map(view::request::waiting).collect())
}

pub(crate) async fn show(host: &Host, params: RequestRef) -> Result<RequestDetail, RpcError> {
    let key = request_key(&params.key)?;
    let found = host.store().read(move |reader| {
        let Some(row) = requests::get(reader, key)? else { return Ok(None) };
        let trail = match row.run {
            Some(run) => {
                let decisions = HistoryQuery { run: Some(run), ..HistoryQuery::default() };
                let decisions = history::list(reader, &decisions)?;
                let (messages, calls) = (messages::of_run(reader, run)?, calls::of_run(reader, run)?);
                view::trail::trail(&messages, &calls, &decisions, &row)
            }
            None => Vec::new(),
        };
        let decision = settlements::get(reader, key)?.map(|settled| {
            let delivery = deliveries::get(reader, key)?;
            Ok::<_, StoreError>(view::decision::of_row(key, &settled, delivery.as_ref()))
        });
        let mut detail = view::request::detail(&row, trail, decision.transpose()?);
        let waits = waiting::of_keys(reader, &[key])?;
        detail.item.snoozed_until = waits.first().and_then(|row| row.snoozed_until).map(|at| at.to_string());
        Ok(Some(detail))
    });
    found.await.map_err(storage)?.ok_or_else(|| no_request(params.key))
}
