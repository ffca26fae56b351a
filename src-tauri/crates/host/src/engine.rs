use std::sync::Arc;
use std::time::Duration;

use sayso_agent::{Endpoint, Engine, Folder, Model, ModelOptions, ToolSetup, Toolkit};
use sayso_store::runs::RunRow;

use crate::agent_config::AgentConfig;
use crate::host::Host;

/// What drives a run. A set-up that no longer fits (a key that is missing, a folder that vanished) is no reason to lose
/// the run: the part that is missing says so when it is needed.
pub(crate) async fn engine(host: &Host, row: &RunRow) -> Engine {
    let config = AgentConfig::parse(&row.config);
    let model = match &config {
        Ok(config) => model(host, config).await,
        Err(problem) => Model::unavailable(problem.clone()),
    };
    let config = config.ok();
    let folder = config.as_ref().and_then(|config| open_folder(host, config));
    let setup = ToolSetup {
        allow_private_addresses: config.as_ref().is_some_and(|config| config.allow_private_addresses),
        ..ToolSetup::default()
    };
    let mut engine = Engine::new(model, Arc::new(Toolkit::standard(&setup)), row.agent.clone());
    if let Some(config) = config {
        engine.policy = config.tools;
        engine.system = config.system_prompt;
        engine.ask_timeout = config.ask_timeout_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        engine.folder = folder;
    }
    engine
}

/// The model of a set-up.
pub(crate) async fn model(host: &Host, config: &AgentConfig) -> Model {
    match endpoint(host, config).await {
        Ok(endpoint) => Model::new(endpoint, ModelOptions::default()),
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

/// A folder that cannot be opened is none: each tool that needs one says so, and nothing runs elsewhere.
fn open_folder(host: &Host, config: &AgentConfig) -> Option<Arc<Folder>> {
    let path = config.checked_folder(host.data_dir()).ok().flatten()?;
    Folder::open(&path).ok().map(Arc::new)
}
