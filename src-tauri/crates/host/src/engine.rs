use std::sync::Arc;
use std::time::Duration;

use sayso_agent::{Endpoint, Engine, Folder, McpServers, Model, ModelOptions, ToolSetup, Toolkit};
use sayso_store::runs::RunRow;

use crate::agent_config::AgentConfig;
use crate::elicitation::elicit;
use crate::host::Host;
use crate::live;
use crate::mcp::Lease;

/// What drives a run. A set-up that no longer fits (a key that is missing, a folder that vanished) is no reason to lose
/// the run: the part that is missing says so when it is needed.
pub(crate) async fn engine(host: &Host, row: &RunRow) -> (Engine, Option<Lease>) {
    let config = AgentConfig::parse(&row.config);
    let model = match &config {
        Ok(config) => model(host, config).await,
        Err(problem) => Model::unavailable(problem.clone()),
    };
    let lease = match &config {
        Ok(config) => host.mcp().lease(host, row, config).await,
        Err(_) => None,
    };
    let mut engine = with_model(host, row, config.ok(), model).await;
    if let Some(lease) = &lease {
        engine.toolkit = Arc::new(with_servers(&engine.toolkit, lease.servers(), row));
        engine.elicit = Some(elicit(host, row.source));
    }
    (engine, lease)
}

/// With the tools of MCP servers, and with stand-ins for those that a call of the run needs and that are not there.
fn with_servers(toolkit: &Toolkit, servers: &McpServers, row: &RunRow) -> Toolkit {
    let toolkit = servers.add_to(toolkit.clone());
    let missing = row.run.slots.iter().filter(|slot| toolkit.get(&slot.name).is_none());
    let stand_ins: Vec<_> = missing.filter_map(|slot| servers.absent(&slot.name)).collect();
    stand_ins.into_iter().fold(toolkit, Toolkit::with_shared)
}

/// What knows a run's tools and asks no model, so that it waits for no key.
pub(crate) async fn without_model(host: &Host, row: &RunRow) -> Engine {
    with_model(host, row, AgentConfig::parse(&row.config).ok(), Model::unavailable(String::new())).await
}

async fn with_model(host: &Host, row: &RunRow, config: Option<AgentConfig>, model: Model) -> Engine {
    let folder = match &config {
        Some(config) => open_folder(host, config.clone()).await,
        None => None,
    };
    let setup = ToolSetup {
        allow_private_addresses: config.as_ref().is_some_and(|config| config.allow_private_addresses),
        ..ToolSetup::default()
    };
    let mut engine = Engine::new(model, Arc::new(Toolkit::standard(&setup)), row.agent.clone());
    host.mark().clone_into(&mut engine.mark);
    engine.watch = Some(live::watch(host));
    if let Some(config) = config {
        engine.policy = config.tools;
        engine.system = config.system_prompt;
        engine.ask_timeout = config.ask_timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        engine.folder = folder;
        engine.max_tokens = config.max_tokens.map(u64::from);
        engine.context_tokens = config.context_tokens.map(u64::from);
    }
    engine
}

/// The model of a set-up.
pub(crate) async fn model(host: &Host, config: &AgentConfig) -> Model {
    match endpoint(host, config).await {
        Ok(endpoint) => {
            Model::new(endpoint, ModelOptions { stream: config.stream, ..ModelOptions::default() })
        }
        Err(problem) => Model::unavailable(problem),
    }
}

async fn endpoint(host: &Host, config: &AgentConfig) -> Result<Endpoint, String> {
    let base_url = if config.is_demo() {
        host.demo_url()
            .await
            .map_err(|error| format!("The demo model cannot be served: {error}."))?
            .to_owned()
    } else {
        config.base_url.clone()
    };
    let key = match config.api_key.clone() {
        None => None,
        // A keyring that hangs must not hang the run for ever.
        Some(key) => {
            let read = tokio::task::spawn_blocking(move || key.read());
            let read = tokio::time::timeout(Duration::from_secs(60), read).await;
            Some(
                read.map_err(
                    |_| "The keyring did not answer within a minute. Unlock it and send a message to go on.",
                )?
                .map_err(|error| error.to_string())??,
            )
        }
    };
    Ok(Endpoint { base_url, style: config.style, model: config.model.clone(), key })
}

/// A folder that cannot be opened, or leads elsewhere since the run began, is none: each tool that needs one says so, and
/// nothing runs elsewhere.
async fn open_folder(host: &Host, config: AgentConfig) -> Option<Arc<Folder>> {
    let data_dir = host.data_dir().to_owned();
    let open = move || {
        let path = config.checked_folder(&data_dir).ok().flatten()?;
        if config.folder.as_ref() != Some(&path) {
            return None;
        }
        Folder::open(&path).ok().map(Arc::new)
    };
    tokio::task::spawn_blocking(open).await.ok().flatten()
}
