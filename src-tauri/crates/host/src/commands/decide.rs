use std::time::Duration;

use sayso_domain::{Answer, Surface, ambiguous_name};
use sayso_inbox::{DecideError, Verdict};
use sayso_store::requests;
use serde_json::Value;

use super::{no_request, request_key, status, storage};
use crate::dto::{Decide, Decision, LONGEST_UNDO};
use crate::host::Host;
use crate::view;
use crate::{RpcError, code};

pub(crate) async fn decide(host: &Host, surface: Surface, params: Decide) -> Result<Decision, RpcError> {
    let key = request_key(&params.key)?;
    let row = host.store().look(move |reader| requests::get(reader, key)).await.map_err(storage)?;
    let row = row.ok_or_else(|| no_request(&params.key))?;
    let id = row.shown.request.id.clone();
    let reason = params.reason.as_deref();
    // Only what brings choices has anything that a no could choose.
    let data = params.data.as_deref().filter(|_| params.ok || !row.shown.choices.is_empty());
    let answer = match (params.ok, data.map(read_data).transpose()?) {
        (true, Some(data)) => Answer::ok_with(id, data),
        (true, None) => Answer::ok(id),
        (false, Some(data)) => Answer::declined_with(id, reason, data),
        (false, None) => Answer::declined(id, reason),
    };
    let digest = params.digest.as_deref().map(str::parse).transpose();
    let digest = digest.map_err(|_| RpcError::new(code::BAD_REQUEST, "The digest is not one of ours."))?;
    let held_for = held_for(host, surface).await?;
    let inbox = host.inbox().clone();
    let decided = host
        .finish(async move { inbox.decide(key, Verdict { answer, digest, surface, held_for }).await })
        .await;
    match decided.map_err(storage)? {
        Ok(decided) => Ok(view::decision::of_decided(&decided)),
        Err(error) => Err(refused(error)),
    }
}

/// For how long a decision can be taken back: as long as the person set. Whoever types a command has read it first.
async fn held_for(host: &Host, surface: Surface) -> Result<Duration, RpcError> {
    Ok(match surface {
        Surface::Window | Surface::Notification | Surface::Tray | Surface::Browser => {
            Duration::from_secs(status::settings(host).await?.undo_seconds.min(LONGEST_UNDO).into())
        }
        Surface::Cli => Duration::ZERO,
    })
}

fn read_data(text: &str) -> Result<Value, RpcError> {
    let invalid = |why: String| RpcError::new(code::INVALID_DATA, format!("{why}. Nothing was sent."));
    let data = serde_json::from_str(text)
        .map_err(|error| invalid(format!("The data is not valid JSON: {error}")))?;
    // Two readers could take such a text differently: what runs would not be what the person sent.
    match ambiguous_name(text) {
        None => Ok(data),
        Some(name) => Err(invalid(format!("The data holds {name}"))),
    }
}

fn refused(error: DecideError) -> RpcError {
    let code = match &error {
        DecideError::NotFound(_) => code::NOT_FOUND,
        DecideError::AlreadyDecided(_) => code::ALREADY_DECIDED,
        DecideError::Late(_) => code::EXPIRED,
        DecideError::WrongDigest | DecideError::EditWithoutDigest => code::DIGEST_MISMATCH,
        DecideError::WrongId | DecideError::NotEditable | DecideError::InvalidData(_) => code::INVALID_DATA,
        DecideError::Storage(_) => code::STORAGE,
    };
    RpcError::new(code, error.to_string())
}
