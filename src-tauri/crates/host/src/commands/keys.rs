use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use sayso_domain::text::visible_line;
use sayso_store::{Conn, StoreError, agents, settings};

use super::storage;
use crate::agent_config::AgentConfig;
use crate::dto::{Empty, KeyItem, KeyName, KeySet, Topic};
use crate::host::Host;
use crate::secrets::{KeyRef, Keyring};
use crate::{RpcError, code};

/// The names of the keys that were set here; a keyring does not list them. The keys themselves are in the keyring alone.
const NAMES: &str = "keys";
const LONGEST_NAME: usize = 64;
const LONGEST_KEY: usize = 8192;
/// How long a keyring that asks to be unlocked is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn list(host: &Host) -> Result<Vec<KeyItem>, RpcError> {
    let known = host.store().read(|reader| {
        let mut known: BTreeMap<String, Vec<String>> =
            names(reader)?.into_iter().map(|name| (name, Vec::new())).collect();
        for agent in agents::list(reader)? {
            let config = AgentConfig::parse(&agent.config).ok();
            if let Some(KeyRef::Keyring(name)) = config.and_then(|config| config.api_key) {
                known.entry(name).or_default().push(agent.name);
            }
        }
        Ok(known)
    });
    let known = known.await.map_err(storage)?;
    Ok(known.into_iter().map(|(name, used_by)| KeyItem { name, used_by }).collect())
}

pub(crate) async fn set(host: &Host, params: KeySet) -> Result<KeyItem, RpcError> {
    let KeySet { name, value } = params;
    check_name(&name)?;
    let value = value.trim().to_owned();
    if value.is_empty() || value.len() > LONGEST_KEY || value.chars().any(char::is_control) {
        return Err(refused("A key is one line of text. Nothing was changed. Paste the key once more."));
    }
    let kept = name.clone();
    in_keyring(move || Keyring.keep(&kept, &value)).await?;
    let kept = name.clone();
    change_names(host, move |names| {
        names.insert(kept);
    })
    .await?;
    let used_by = list(host).await?.into_iter().find(|item| item.name == name);
    Ok(used_by.unwrap_or(KeyItem { name, used_by: Vec::new() }))
}

pub(crate) async fn remove(host: &Host, params: KeyName) -> Result<Empty, RpcError> {
    let KeyName { name } = params;
    check_name(&name)?;
    let gone = name.clone();
    in_keyring(move || {
        Keyring.forget(&gone).map_err(|error| {
            format!("The key cannot be erased from the keyring: {error}. Nothing was changed. Unlock the keyring and try again.")
        })
    })
    .await?;
    change_names(host, move |names| {
        names.remove(&name);
    })
    .await?;
    Ok(Empty {})
}

/// Signing secrets of senders are kept under names of ours, which nobody may set.
fn check_name(name: &str) -> Result<(), RpcError> {
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count())
        && name.trim() == name
        && visible_line(name) == name
        && !name.starts_with("webhook-");
    if fits {
        Ok(())
    } else {
        Err(refused(
            "A key's name is 1 to 64 visible characters on one line, and does not begin with `webhook-`. Nothing was \
             changed. Give it another name.",
        ))
    }
}

/// Blocks elsewhere: a keyring may have to be unlocked first.
async fn in_keyring(work: impl FnOnce() -> Result<(), String> + Send + 'static) -> Result<(), RpcError> {
    match tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(problem))) => Err(refused(&problem)),
        Ok(Err(_)) | Err(_) => Err(refused(
            "The keyring does not answer. It may ask for its password in another window. Unlock it and try again.",
        )),
    }
}

async fn change_names(
    host: &Host,
    change: impl FnOnce(&mut BTreeSet<String>) + Send + 'static,
) -> Result<(), RpcError> {
    let changed = host.store().write(move |tx| {
        let mut now = names(tx)?;
        change(&mut now);
        settings::put(tx, NAMES, &serde_json::to_string(&now).unwrap_or_default())
    });
    changed.await.map_err(storage)?;
    host.announce(Topic::Agents, None);
    Ok(())
}

fn names(conn: &Conn) -> Result<BTreeSet<String>, StoreError> {
    let text = settings::get(conn, NAMES)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn refused(message: &str) -> RpcError {
    RpcError::new(code::BAD_REQUEST, message)
}
