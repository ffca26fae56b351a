//! MCP servers of agents: what they would start is shown before it is started for the first time.

use std::io::IsTerminal as _;
use std::path::Path;

use sayso_domain::text::visible_line;
use sayso_host::code;
use sayso_host::dto::{AgentItem, AgentSave, AgentTrust, Empty, ServerItem};
use serde_json::{Map, Value, json};

use crate::agents::{print_saved, read_text};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::way::Way;
use crate::wire;

/// How a command is allowed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The person is asked where there is a terminal.
    Ask,
    /// The person has said yes already.
    Given,
}

/// Shows every command that was not allowed yet, and asks about it. Where nobody can be asked it stays as it is, and this
/// says what to do. Gives the agent as it is then.
pub(crate) async fn ask_about(
    out: &Out,
    way: &Way,
    item: AgentItem,
    consent: Consent,
) -> Result<AgentItem, Failure> {
    let mut now = item.clone();
    let can_ask = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && !out.is_json();
    for server in item.servers.iter().filter(|server| waits(server)) {
        let (Some(command), Some(fingerprint)) = (&server.command, &server.fingerprint) else { continue };
        let name = visible_line(&server.name);
        out.line(&format!("The MCP server {name} would start this program, which can do what you can do:"))?;
        out.line(&format!("  {}", visible_line(command)))?;
        let is_yes = match consent {
            Consent::Given => true,
            Consent::Ask if can_ask => confirmed(out)?,
            Consent::Ask => false,
        };
        if is_yes {
            let params = AgentTrust {
                name: item.name.clone(),
                server: server.name.clone(),
                fingerprint: fingerprint.clone(),
            };
            now = way.call("agents.trust", params).await?;
            out.line("Allowed.")?;
        } else {
            out.line(&format!(
                "It stays off until you allow it: sayso agent trust {}",
                visible_line(&item.name)
            ))?;
        }
    }
    Ok(now)
}

fn waits(server: &ServerItem) -> bool {
    !server.allowed && !server.disabled
}

/// Only a plain yes is one.
fn confirmed(out: &Out) -> Result<bool, Failure> {
    out.prompt("Allow it? [y/N] ")?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

pub(crate) async fn trust(
    out: &Out,
    data_dir: &Path,
    name: String,
    consent: Consent,
) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let item = find(&way, &name).await?;
    if !item.servers.iter().any(waits) {
        out.line("There is nothing to allow.")?;
    }
    let item = ask_about(out, &way, item, consent).await?;
    if out.is_json() {
        out.value(&wire::agent(&item))?;
    }
    Ok(if item.servers.iter().any(waits) { Exit::Refused } else { Exit::Done })
}

/// What becomes of servers whose names are taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Refuse,
    Replace,
}

/// Adds the servers of another program's file to an agent.
pub(crate) async fn import(
    out: &Out,
    data_dir: &Path,
    (file, name): (&Path, String),
    taken: Taken,
) -> Result<Exit, Failure> {
    let text = read_text(file)?;
    let way = Way::to(data_dir).await?;
    let item = find(&way, &name).await?;
    let config = merged(&item.config, &text, taken).map_err(Failure::usage)?;
    let saved: AgentItem = way.call("agents.save", AgentSave { config }).await?;
    if !out.is_json() {
        print_saved(out, &saved)?;
    }
    let saved = ask_about(out, &way, saved, Consent::Ask).await?;
    if out.is_json() {
        out.value(&wire::agent(&saved))?;
    }
    Ok(Exit::Done)
}

async fn find(way: &Way, name: &str) -> Result<AgentItem, Failure> {
    let items: Vec<AgentItem> = way.call("agents.list", Empty {}).await?;
    items.into_iter().find(|item| item.name == name).ok_or_else(|| {
        let message = format!("There is no agent called {name}. `sayso agent list` shows all of them.");
        Failure::new(Exit::Gone, code::NOT_FOUND, message)
    })
}

/// A set-up with the servers of a file too: what is beneath `mcpServers` or `servers`.
fn merged(config: &str, file: &str, taken: Taken) -> Result<String, String> {
    let unchanged = "Nothing was changed.";
    let file: Value = serde_json::from_str(file)
        .map_err(|error| format!("The file is not valid JSON: {error}. {unchanged}"))?;
    let servers = ["mcpServers", "servers"].iter().find_map(|key| file.get(key)?.as_object());
    let servers = servers.filter(|servers| !servers.is_empty()).ok_or_else(|| {
        format!("The file has no MCP servers: none beneath `mcpServers` or `servers`. {unchanged}")
    })?;
    let mut config: Value = serde_json::from_str(config)
        .map_err(|error| format!("The agent's set-up cannot be read: {error}. {unchanged}"))?;
    let mut all = config.get("mcpServers").and_then(Value::as_object).cloned().unwrap_or_else(Map::new);
    for (name, entry) in servers {
        if all.contains_key(name) && taken == Taken::Refuse {
            let name = visible_line(name);
            return Err(format!(
                "The agent has an MCP server called {name} already. {unchanged} With --replace it is replaced."
            ));
        }
        all.insert(name.clone(), entry.clone());
    }
    config["mcpServers"] = json!(all);
    Ok(config.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_added_and_replaced_only_when_told() {
        let config = r#"{"name":"a","mcpServers":{"x":{"command":"old"}},"n":9007199254740993}"#;
        let both = r#"{"servers":{"x":{"command":"new"},"y":{"url":"https://example.org"}}}"#;
        assert!(merged(config, both, Taken::Refuse).unwrap_err().contains("called x already"));
        assert_eq!(
            merged(config, both, Taken::Replace).unwrap(),
            r#"{"name":"a","mcpServers":{"x":{"command":"new"},"y":{"url":"https://example.org"}},"n":9007199254740993}"#
        );
        let other = r#"{"mcpServers":{"y":{"command":"y"}}}"#;
        assert_eq!(
            merged(r#"{"name":"a"}"#, other, Taken::Refuse).unwrap(),
            r#"{"name":"a","mcpServers":{"y":{"command":"y"}}}"#
        );
        for nothing in ["{}", "[]", "no", r#"{"mcpServers":{}}"#] {
            assert!(merged(config, nothing, Taken::Refuse).unwrap_err().contains("Nothing was changed"));
        }
    }
}
