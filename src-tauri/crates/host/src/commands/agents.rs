use std::collections::BTreeSet;

use sayso_agent::system_time as now;
use sayso_agent::{Elicitation, Entry, McpSetup};
use sayso_store::agents::{self, AgentRow};
use sayso_store::sources;

use super::{no_agent, storage};
use crate::agent_config::AgentConfig;
use crate::dto::{AgentItem, AgentName, AgentSave, AgentTest, AgentTrust, Empty, Topic};
use crate::engine;
use crate::host::{Host, new_source_id};
use crate::senders::{AGENT_KIND, is_anothers};
use crate::{RpcError, code, mcp, trust, view};

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
        if is_anothers(tx, AGENT_KIND, &config.name)? {
            return Ok(None);
        }
        let source = sources::ensure(tx, AGENT_KIND, &config.name, now(), new_source_id())?;
        let row = AgentRow {
            name: config.name.clone(),
            source,
            config: params.config.clone(),
            created_at: now(),
            updated_at: now(),
        };
        agents::put(tx, &row)?;
        Ok(Some(row))
    });
    let row = written.await.map_err(storage)?.ok_or_else(|| {
        problem(format!(
            "{name} is the name of something else that asks. Nothing was changed. Give the agent another name."
        ))
    })?;
    host.announce(Topic::Agents, None);
    let mut items = items(host, vec![row]).await?;
    items.pop().ok_or_else(|| no_agent(&name))
}

pub(crate) async fn remove(host: &Host, params: AgentName) -> Result<Empty, RpcError> {
    let name = params.name.clone();
    let removed = host.store().write(move |tx| {
        trust::forget(tx, &name)?;
        agents::remove(tx, &name)
    });
    let removed = removed.await.map_err(storage)?;
    host.announce(Topic::Agents, None);
    if removed { Ok(Empty {}) } else { Err(no_agent(&params.name)) }
}

/// Asks the model for one word, and connects the MCP servers.
pub(crate) async fn test(host: &Host, params: AgentName) -> Result<AgentTest, RpcError> {
    let row = row(host, &params.name).await?;
    let problem = |problem: String| RpcError::new(code::AGENT_PROBLEM, problem);
    let config = AgentConfig::parse(&row.config).map_err(problem)?;
    if let Err(message) = config.check_folder(host.data_dir()).await {
        return Ok(AgentTest { ok: false, message, servers: Vec::new() });
    }
    if let Some(refusal) = trust::refusal(&row.name, &trust::refused(host, &row.name, &config).await) {
        return Err(problem(refusal));
    }
    let setup = McpSetup {
        folder: config.folder.clone(),
        mark: format!("{}test-", host.mark()),
        elicitation: Elicitation::Offered,
        ..McpSetup::default()
    };
    let servers = async {
        let (servers, reports) = mcp::connect(host, &row.name, &config, setup).await;
        servers.close().await;
        reports.into_iter().map(view::agent::server_report).collect::<Vec<_>>()
    };
    let (model, servers) = tokio::join!(model_answers(host, &config), servers);
    let all_well = servers.iter().all(|server| server.problem.is_none());
    Ok(match model {
        Ok(message) => AgentTest { ok: all_well, message, servers },
        Err(message) => AgentTest { ok: false, message, servers },
    })
}

async fn model_answers(host: &Host, config: &AgentConfig) -> Result<String, String> {
    let model = engine::model(host, config).await;
    let hello = [Entry::User("Answer with the one word: ready".to_owned())];
    match model.complete(None, &hello, &[]).await {
        Ok(_) => Ok(format!("{} answered.", config.model)),
        Err(error) => Err(without_a_run(&error.to_string())),
    }
}

/// Allows an MCP server's command, as it was shown.
pub(crate) async fn trust(host: &Host, params: AgentTrust) -> Result<AgentItem, RpcError> {
    let row = row(host, &params.name).await?;
    let problem = |problem: String| RpcError::new(code::AGENT_PROBLEM, problem);
    let config = AgentConfig::parse(&row.config).map_err(problem)?;
    let look = move || view::agent::servers(&config, &BTreeSet::new());
    let servers = tokio::task::spawn_blocking(look).await.map_err(|error| problem(error.to_string()))?;
    let server = servers.into_iter().find(|server| server.name == params.server).ok_or_else(|| {
        problem(format!(
            "The agent {} has no MCP server called {}. Nothing was changed.",
            params.name, params.server
        ))
    })?;
    if server.fingerprint.as_ref() != Some(&params.fingerprint) {
        return Err(problem(format!(
            "The command of the MCP server {} is no longer the one that was shown. Nothing was allowed. Look at it again.",
            params.server
        )));
    }
    let (name, fingerprint) = (row.name.clone(), params.fingerprint);
    host.store().write(move |tx| trust::allow(tx, &name, fingerprint.clone())).await.map_err(storage)?;
    host.announce(Topic::Agents, None);
    let mut items = items(host, vec![row]).await?;
    items.pop().ok_or_else(|| no_agent(&params.name))
}

async fn row(host: &Host, name: &str) -> Result<AgentRow, RpcError> {
    let wanted = name.to_owned();
    let row = host.store().read(move |reader| agents::get(reader, &wanted)).await.map_err(storage)?;
    row.ok_or_else(|| no_agent(name))
}

/// A model's error ends with how a run goes on; here there is none.
fn without_a_run(message: &str) -> String {
    message.replace("then send the run a message to go on.", "then test again.")
}

/// Off the async threads: each looks at its folder.
async fn items(host: &Host, rows: Vec<AgentRow>) -> Result<Vec<AgentItem>, RpcError> {
    let read = host.store().read(move |reader| {
        let with_allowed = |row: AgentRow| Ok((trust::allowed(reader, &row.name)?, row));
        rows.into_iter().map(with_allowed).collect::<Result<Vec<_>, _>>()
    });
    let rows = read.await.map_err(storage)?;
    let host = host.clone();
    let items =
        move || rows.iter().map(|(allowed, row)| view::agent::item(host.data_dir(), row, allowed)).collect();
    tokio::task::spawn_blocking(items).await.map_err(|error| RpcError::new(code::STORAGE, error.to_string()))
}
