//! Putting a request off, and taking a decision back: both end with a request that waits.

use sayso_domain::{RequestKey, Surface, Time};
use sayso_inbox::{SnoozeError, UndoError};

use super::{inbox, no_request, request_key, storage};
use crate::dto::{RequestItem, RequestRef, Snooze};
use crate::host::Host;
use crate::{RpcError, code};

pub(crate) async fn snooze(host: &Host, params: Snooze) -> Result<RequestItem, RpcError> {
    let key = request_key(&params.key)?;
    let not_a_time = |_| {
        RpcError::new(code::BAD_REQUEST, "`until` must be a moment, such as 2026-01-31T12:00:00Z, or null.")
    };
    let until = params.until.as_deref().map(str::parse::<Time>).transpose().map_err(not_a_time)?;
    let at_work = host.inbox().clone();
    let snoozed = host.finish(async move { at_work.snooze(key, until).await }).await.map_err(storage)?;
    snoozed.map_err(|error| {
        let code = match &error {
            SnoozeError::NotFound(_) => return no_request(key),
            SnoozeError::Settled(_) => code::ALREADY_DECIDED,
            SnoozeError::Past(_) | SnoozeError::PastDeadline(_) | SnoozeError::TooFar => code::BAD_REQUEST,
            SnoozeError::Storage(_) => code::STORAGE,
        };
        RpcError::new(code, error.to_string())
    })?;
    item(host, key).await
}

/// Takes a decision back that is still held.
pub(crate) async fn undo(host: &Host, surface: Surface, params: RequestRef) -> Result<RequestItem, RpcError> {
    let key = request_key(&params.key)?;
    let at_work = host.inbox().clone();
    let undone = host.finish(async move { at_work.undo(key, surface).await }).await.map_err(storage)?;
    undone.map_err(|error| {
        let code = match &error {
            UndoError::NotFound(_) => return no_request(key),
            UndoError::StillWaits => code::NOT_FOUND,
            UndoError::TooLate | UndoError::Expired => code::TOO_LATE,
            UndoError::Storage(_) => code::STORAGE,
        };
        RpcError::new(code, error.to_string())
    })?;
    item(host, key).await
}

async fn item(host: &Host, key: RequestKey) -> Result<RequestItem, RpcError> {
    inbox::items_of(host, vec![key]).await?.pop().ok_or_else(|| no_request(key))
}
