use sayso_agent::system_time as now;
use sayso_agent::{Entry, Style};
use sayso_store::agents::{self, AgentRow};
use sayso_store::sources;

use super::{no_agent, storage};
use crate::agent_config::AgentConfig;
use crate::dto::{AgentItem, AgentName, AgentSave, AgentTest, Empty, Topic};
use crate::engine;
use crate::host::{Host, new_source_id};
use crate::{RpcError, code};

pub(crate) async fn list(host: &Host) -> Result<Vec<AgentItem>, RpcError> {
    let rows = host.store().read(|reader| agents::list(reader)).await.map_err(storage)?;
    items(host, rows).await
}

pub(crate) async fn save(host: &Host, params: AgentSave) -> Result<AgentItem, RpcError> {
    let problem = |problem: String| RpcError::new(code::AGENT_PROBLEM, problem);
    let config = AgentConfig::parse(&params.config).map_err(problem)?;
    config.check_folder(host.data_dir()).await.map_err(problem)?;
    let name = config.name.clone();
    let written = host.store().write(move |tx| {
        let source = sources::ensure(tx, "agent", &config.name, now(), new_source_id())?;
        let row = AgentRow {
            name: config.name.clone(),
            source,
            config: params.config.clone(),
            created_at: now(),
            updated_at: now(),
        };
        agents::put(tx, &row)?;
        Ok(row)
    });
    let row = written.await.map_err(storage)?;
    host.announce(Topic::Agents, None);
    let mut items = items(host, vec![row]).await?;
    items.pop().ok_or_else(|| no_agent(&name))
}

pub(crate) async fn remove(host: &Host, params: AgentName) -> Result<Empty, RpcError> {
    let name = params.name.clone();
    let removed = host.store().write(move |tx| agents::remove(tx, &name)).await.map_err(storage)?;
    host.announce(Topic::Agents, None);
    if removed { Ok(Empty {}) } else { Err(no_agent(&params.name)) }
}

/// Asks the model for one word.
pub(crate) async fn test(host: &Host, params: AgentName) -> Result<AgentTest, RpcError> {
    let name = params.name.clone();
    let row = host.store().read(move |reader| agents::get(reader, &name)).await.map_err(storage)?;
    let row = row.ok_or_else(|| no_agent(&params.name))?;
    let config =
        AgentConfig::parse(&row.config).map_err(|problem| RpcError::new(code::AGENT_PROBLEM, problem))?;
    if let Err(message) = config.check_folder(host.data_dir()).await {
        return Ok(AgentTest { ok: false, message });
    }
    let model = engine::model(host, &config).await;
    let hello = [Entry::User("Answer with the one word: ready".to_owned())];
    Ok(match model.complete(None, &hello, &[]).await {
        Ok(_) => AgentTest { ok: true, message: format!("{} answered.", config.model) },
        Err(error) => AgentTest { ok: false, message: without_a_run(&error.to_string()) },
    })
}

/// A model's error ends with how a run goes on; here there is none.
fn without_a_run(message: &str) -> String {
    message.replace("then send the run a message to go on.", "then test again.")
}

/// Off the async threads: each looks at its folder.
async fn items(host: &Host, rows: Vec<AgentRow>) -> Result<Vec<AgentItem>, RpcError> {
    let host = host.clone();
    let items = move || rows.iter().map(|row| item(&host, row)).collect();
    tokio::task::spawn_blocking(items).await.map_err(|error| RpcError::new(code::STORAGE, error.to_string()))
}

fn item(host: &Host, row: &AgentRow) -> AgentItem {
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
            problem: problem(host, &config),
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
        },
    }
}

/// Looks only where looking is quick: a keyring is not unlocked for a list.
fn problem(host: &Host, config: &AgentConfig) -> Option<String> {
    if let Err(problem) = config.checked_folder(host.data_dir()) {
        return Some(problem);
    }
    if let Some(key @ crate::secrets::KeyRef::Env(_)) = &config.api_key
        && let Err(problem) = key.read()
    {
        return Some(problem);
    }
    let servers = config.mcp_servers.as_ref().and_then(serde_json::Value::as_object);
    servers.is_some_and(|servers| !servers.is_empty()).then(|| {
        "The set-up names MCP servers. This version keeps them and does not use them yet.".to_owned()
    })
}
