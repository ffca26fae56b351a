use sayso_agent::system_time as now;
use sayso_domain::check_request_url;
use sayso_store::{deliveries, senders as rows};

use super::senders::{Refusal, active, item, problem};
use super::{request_key, storage};
use crate::RpcError;
use crate::dto::{RequestRef, Resent, SenderCallback, SenderSecret, Topic};
use crate::host::Host;
use crate::webhooks::{self, KeyPlace, SigningKey};

/// Sets where a sender's answers are posted to, with a new secret to sign them, or takes it away. What its callback has not
/// taken yet is tried at the new one.
pub(crate) async fn set(host: &Host, params: SenderCallback) -> Result<SenderSecret, RpcError> {
    let place = match params.keep_in.as_deref() {
        None => KeyPlace::Keyring,
        Some(name) => KeyPlace::from_name(name)
            .ok_or_else(|| problem("`keep_in` must be keyring or file. Nothing was changed.".to_owned()))?,
    };
    if let Some(url) = &params.url {
        check_request_url(url).map_err(|error| {
            problem(format!(
                "This cannot be a callback: {error}. Nothing was changed. Write a whole address."
            ))
        })?;
    }
    let name = params.name.clone();
    let read = host.store().read(move |reader| Ok(active(reader, &name))).await;
    let sender = read.map_err(storage)??;
    let made = match &params.url {
        Some(_) => Some(webhooks::new_secret(host, place).await.map_err(problem)?),
        None => None,
    };
    let (key, secret) = made.unzip();
    if let Err(error) = write(host, &params, key.as_ref()).await {
        if let Some(unused) = key {
            webhooks::forget_secret(host, unused).await;
        }
        return Err(error);
    }
    if let Some(before) = sender.signing_key.as_deref().and_then(SigningKey::from_text) {
        webhooks::forget_secret(host, before).await;
    }
    host.announce(Topic::Senders, None);
    Ok(SenderSecret { sender: item(host, &params.name).await?, secret })
}

async fn write(host: &Host, params: &SenderCallback, key: Option<&SigningKey>) -> Result<(), RpcError> {
    let (name, url, key) = (params.name.clone(), params.url.clone(), key.map(SigningKey::to_text));
    let written = host.store().try_write(move |tx| {
        // It may have been revoked meanwhile.
        let mut row = active(tx, &name)?;
        row.signing_key = key;
        row.callback_url = url;
        rows::put(tx, &row)?;
        deliveries::reschedule(tx, row.source, row.callback_url.is_some().then(now))?;
        Ok::<_, Refusal>(())
    });
    written.await.map_err(RpcError::from)
}

/// Posts an answer again, now.
pub(crate) async fn resend(host: &Host, params: RequestRef) -> Result<Resent, RpcError> {
    let sent = webhooks::send_again(host, request_key(&params.key)?).await;
    Ok(match sent {
        Ok(()) => Resent { ok: true, message: "The server took the answer.".to_owned() },
        Err(why) => Resent { ok: false, message: why },
    })
}
