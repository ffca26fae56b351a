//! Which commands of MCP servers the person allowed to be started. A yes is for one command of one agent; a command that
//! changed needs a new one.

use std::collections::{BTreeMap, BTreeSet};

use sayso_store::{Conn, StoreError, Tx, settings};

use crate::agent_config::AgentConfig;
use crate::host::Host;

const SETTING: &str = "mcp_allowed_commands";

type Allowed = BTreeMap<String, BTreeSet<String>>;

/// The fingerprints that were allowed for an agent.
pub(crate) fn allowed(conn: &Conn, agent: &str) -> Result<BTreeSet<String>, StoreError> {
    Ok(all(conn)?.remove(agent).unwrap_or_default())
}

/// Allows a command.
pub(crate) fn allow(tx: &Tx<'_>, agent: &str, fingerprint: String) -> Result<(), StoreError> {
    let mut allowed = all(tx)?;
    allowed.entry(agent.to_owned()).or_default().insert(fingerprint);
    put(tx, &allowed)
}

/// An agent that is removed takes its yeses along.
pub(crate) fn forget(tx: &Tx<'_>, agent: &str) -> Result<(), StoreError> {
    let mut allowed = all(tx)?;
    match allowed.remove(agent) {
        Some(_) => put(tx, &allowed),
        None => Ok(()),
    }
}

/// The servers of a set-up that may not be started, with their commands. What cannot be looked up is not allowed.
pub(crate) async fn refused(host: &Host, agent: &str, config: &AgentConfig) -> Vec<(String, String)> {
    if config.mcp.servers().is_empty() {
        return Vec::new();
    }
    let name = agent.to_owned();
    let allowed = host.store().read(move |reader| allowed(reader, &name)).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "which commands are allowed could not be read");
        BTreeSet::new()
    });
    let config = config.clone();
    let look = move || not_allowed(&config, &allowed);
    tokio::task::spawn_blocking(look).await.unwrap_or_default()
}

/// The same with what was allowed. Blocks.
pub(crate) fn not_allowed(config: &AgentConfig, allowed: &BTreeSet<String>) -> Vec<(String, String)> {
    let folder = real_folder(config);
    let servers = config.mcp.servers().iter().filter(|server| !server.is_disabled());
    servers
        .filter(|server| {
            let fingerprint = server.fingerprint(folder.as_deref());
            fingerprint.is_some_and(|fingerprint| !allowed.contains(&fingerprint))
        })
        .map(|server| (server.name().to_owned(), server.command_line().unwrap_or_default()))
        .collect()
}

/// An agent's folder with links followed, as a run's own set-up names it. Blocks.
pub(crate) fn real_folder(config: &AgentConfig) -> Option<std::path::PathBuf> {
    config.folder.as_ref().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.clone()))
}

/// What to say where a command would be started that was not allowed.
pub(crate) fn refusal(agent: &str, refused: &[(String, String)]) -> Option<String> {
    let (server, command) = refused.first()?;
    Some(format!(
        "The agent's MCP server `{server}` would start a command that you have not allowed yet: {command}. Nothing was \
         started. Look at it and allow it on the agent's page, or with `sayso agent trust {agent}`."
    ))
}

fn all(conn: &Conn) -> Result<Allowed, StoreError> {
    let text = settings::get(conn, SETTING)?;
    // What cannot be read allows nothing.
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

fn put(tx: &Tx<'_>, allowed: &Allowed) -> Result<(), StoreError> {
    settings::put(tx, SETTING, &serde_json::to_string(allowed).unwrap_or_default())
}
