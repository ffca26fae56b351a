use sayso_agent::system_time as now;
use sayso_store::history::{self, HistoryQuery};
use sayso_store::{calls, messages, requests, settlements};

use super::{no_request, request_key, storage};
use crate::RpcError;
use crate::dto::{InboxOutline, RequestDetail, RequestItem, RequestRef, Waiting};
use crate::host::Host;
use crate::view;

pub(crate) async fn list(host: &Host) -> Result<Vec<RequestItem>, RpcError> {
    let pending = host.store().read(|reader| requests::pending(reader)).await.map_err(storage)?;
    Ok(pending.iter().map(view::request::item).collect())
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
        let settled = settlements::get(reader, key)?;
        Ok(Some(view::request::detail(&row, trail, settled.as_ref())))
    });
    found.await.map_err(storage)?.ok_or_else(|| no_request(params.key))
}
