use std::collections::HashSet;

use futures_util::future::join_all;
use sayso_domain::{RequestKey, Surface};

use super::{decide, inbox, request_key};
use crate::dto::{Decide, DecideMany, DecidedMany, DecidedOne, RequestItem, Risk};
use crate::host::Host;
use crate::{RpcError, code};

/// How many at once.
const MOST: usize = 200;

/// One answer for several requests, each of which is decided in its own right. Whether they may be answered together is
/// said here and not by whoever calls.
pub(crate) async fn decide_many(
    host: &Host,
    surface: Surface,
    params: DecideMany,
) -> Result<DecidedMany, RpcError> {
    let keys = distinct(&params)?;
    let items = inbox::items_of(host, keys).await?;
    check(&params, &items)?;
    let waiting: HashSet<_> = items.into_iter().map(|item| item.key).collect();
    // At once, so that they share their commits; in the order in which they were named.
    let deciding = params.decisions.into_iter().map(|one| {
        let is_checked = waiting.contains(&one.key);
        let decide = Decide {
            key: one.key.clone(),
            ok: params.ok,
            data: params.data.clone(),
            reason: params.reason.clone(),
            digest: Some(one.digest),
        };
        async move {
            // One that comes back just now was not looked at.
            let decided = if is_checked { decide::decide(host, surface, decide).await } else { Err(gone()) };
            let (decision, error) = match decided {
                Ok(decision) => (Some(decision), None),
                Err(error) => (None, Some(error)),
            };
            DecidedOne { key: one.key, decision, error }
        }
    });
    Ok(DecidedMany { results: join_all(deciding).await })
}

fn gone() -> RpcError {
    RpcError::new(code::ALREADY_DECIDED, "This request waits no longer. Nothing was changed.")
}

fn distinct(params: &DecideMany) -> Result<Vec<RequestKey>, RpcError> {
    if params.decisions.len() > MOST {
        return Err(refused(format!("At most {MOST} requests can be decided at once.")));
    }
    let mut seen = HashSet::new();
    let keys = params.decisions.iter().map(|one| request_key(&one.key)).collect::<Result<Vec<_>, _>>()?;
    match keys.iter().all(|key| seen.insert(*key)) {
        true => Ok(keys),
        false => Err(refused("A request is named twice.".to_owned())),
    }
}

/// Those that wait no longer are not among the items: each of them is told so in its own right.
fn check(params: &DecideMany, items: &[RequestItem]) -> Result<(), RpcError> {
    let Some(first) = items.first() else { return Ok(()) };
    if items.iter().any(|item| item.kind != first.kind) {
        return Err(refused("They are of several kinds. Decide those of one kind together.".to_owned()));
    }
    let is_group = items.iter().all(|item| item.group == first.group);
    if params.data.is_some() && !is_group {
        return Err(refused("One answer with data fits only identical requests.".to_owned()));
    }
    if !params.ok {
        return Ok(());
    }
    if items.iter().any(|item| item.risk == Risk::High) {
        return Err(refused("One of them is of high risk. Decide that one by itself.".to_owned()));
    }
    let are_harmless = items.iter().all(|item| item.risk == Risk::Low && item.plain);
    match is_group || are_harmless {
        true => Ok(()),
        false => Err(refused(
            "Only identical requests, or plain ones of low risk, can be approved together.".to_owned(),
        )),
    }
}

fn refused(why: String) -> RpcError {
    RpcError::new(code::INVALID_DATA, format!("{why} Nothing was decided."))
}
