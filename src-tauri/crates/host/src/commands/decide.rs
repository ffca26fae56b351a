use sayso_domain::{Answer, Surface};
use sayso_inbox::{DecideError, Verdict};
use sayso_store::requests;
use serde_json::Value;

use super::{no_request, request_key, storage};
use crate::dto::{Decide, Decision};
use crate::host::Host;
use crate::view;
use crate::{RpcError, code};

pub(crate) async fn decide(host: &Host, surface: Surface, params: Decide) -> Result<Decision, RpcError> {
    let key = request_key(&params.key)?;
    let row = host.store().read(move |reader| requests::get(reader, key)).await.map_err(storage)?;
    let row = row.ok_or_else(|| no_request(&params.key))?;
    let id = row.shown.request.id.clone();
    let answer = if params.ok {
        match params.data.as_deref().map(data).transpose()? {
            Some(data) => Answer::ok_with(id, data),
            None => Answer::ok(id),
        }
    } else {
        Answer::declined(id, params.reason.as_deref())
    };
    let digest = params.digest.as_deref().map(str::parse).transpose();
    let digest = digest.map_err(|_| RpcError::new(code::BAD_REQUEST, "The digest is not one of ours."))?;
    let inbox = host.inbox().clone();
    let decided =
        host.finish(async move { inbox.decide(key, Verdict { answer, digest, surface }).await }).await;
    match decided.map_err(storage)? {
        Ok(decided) => Ok(view::decision::of_decided(&decided)),
        Err(error) => Err(refused(error)),
    }
}

fn data(text: &str) -> Result<Value, RpcError> {
    serde_json::from_str(text).map_err(|error| {
        RpcError::new(code::INVALID_DATA, format!("The data is not valid JSON: {error}. Nothing was sent."))
    })
}

fn refused(error: DecideError) -> RpcError {
    let code = match &error {
        DecideError::NotFound(_) => code::NOT_FOUND,
        DecideError::AlreadyDecided(_) => code::ALREADY_DECIDED,
        DecideError::Late(_) => code::EXPIRED,
        DecideError::WrongDigest => code::DIGEST_MISMATCH,
        DecideError::WrongId | DecideError::InvalidData(_) => code::INVALID_DATA,
        DecideError::Storage(_) => code::STORAGE,
    };
    RpcError::new(code, error.to_string())
}
