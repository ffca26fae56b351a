use std::collections::BTreeSet;
use std::path::Path;

use sayso_agent::{McpReport, Style};
use sayso_store::agents::AgentRow;

use crate::agent_config::AgentConfig;
use crate::dto::{AgentItem, ServerItem, ServerReport};
use crate::trust;

/// Blocks: it looks at the agent's folder.
pub(crate) fn item(data_dir: &Path, row: &AgentRow, allowed: &BTreeSet<String>) -> AgentItem {
    match AgentConfig::parse(&row.config) {
        Ok(config) => AgentItem {
            name: row.name.clone(),
            model: config.model.clone(),
            style: match config.style {
                Style::OpenAi => "openai",
                Style::Anthropic => "anthropic",
            }
            .to_owned(),
            base_url: config.base_url.clone(),
            folder: config.folder.as_ref().map(|folder| folder.display().to_string()),
            config: row.config.clone(),
            is_demo: config.is_demo(),
            problem: problem(data_dir, &row.name, &config, allowed),
            servers: servers(&config, allowed),
        },
        Err(problem) => AgentItem {
            name: row.name.clone(),
            model: String::new(),
            style: String::new(),
            base_url: String::new(),
            folder: None,
            config: row.config.clone(),
            is_demo: false,
            problem: Some(problem),
            servers: Vec::new(),
        },
    }
}

/// An agent's MCP servers. Blocks.
pub(crate) fn servers(config: &AgentConfig, allowed: &BTreeSet<String>) -> Vec<ServerItem> {
    let folder = trust::real_folder(config);
    let item = |server: &sayso_agent::McpServer| {
        let fingerprint = server.fingerprint(folder.as_deref());
        ServerItem {
            name: server.name().to_owned(),
            command: server.command_line(),
            url: server.url().map(str::to_owned),
            allowed: fingerprint.as_ref().is_none_or(|fingerprint| allowed.contains(fingerprint)),
            fingerprint,
            disabled: server.is_disabled(),
        }
    };
    config.mcp.servers().iter().map(item).collect()
}

pub(crate) fn server_report(report: McpReport) -> ServerReport {
    ServerReport {
        name: report.server,
        tools: u32::try_from(report.tools).unwrap_or(u32::MAX),
        problem: report.problem,
    }
}

/// Looks only where looking is quick: a keyring is not unlocked for a list.
fn problem(data_dir: &Path, agent: &str, config: &AgentConfig, allowed: &BTreeSet<String>) -> Option<String> {
    if let Err(problem) = config.checked_folder(data_dir) {
        return Some(problem);
    }
    if let Some(key @ crate::secrets::KeyRef::Env(_)) = &config.api_key
        && let Err(problem) = key.read()
    {
        return Some(problem);
    }
    trust::refusal(agent, &trust::not_allowed(config, allowed))
}
