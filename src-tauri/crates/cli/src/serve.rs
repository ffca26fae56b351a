use std::io::Write as _;
use std::path::Path;

use sayso_gateway::Client;
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::running::Running;
use crate::signals::asked_to_end;

/// Runs a host until it is asked to end. Prints one line when it is ready, with and without `--json`.
pub(crate) async fn serve(out: &Out, data_dir: &Path, port: Option<u16>) -> Result<Exit, Failure> {
    sayso_host::Logs::Folder(data_dir).begin();
    // Listened for before anything runs, so that an early signal also ends it well.
    let end = asked_to_end();
    tokio::pin!(end);
    let mut running = Running::start(data_dir, port).await?;
    // The host goes on when nobody reads where it is.
    let _ = out.value(&json!({ "url": running.gateway.url() }));
    let _ = std::io::stdout().flush();
    tracing::info!(url = running.gateway.url(), "ready");
    loop {
        tokio::select! {
            () = &mut end => break,
            () = running.host.restart_wanted() => {}
        }
        tracing::info!("starting anew");
        // Where it was, so that whoever looks at it finds it again.
        let port = running.gateway.url().rsplit_once(':').and_then(|(_, port)| port.parse().ok()).or(port);
        running.shutdown().await;
        running = Running::start(data_dir, port).await?;
    }
    tracing::info!("asked to end");
    running.shutdown().await;
    Ok(Exit::Done)
}

/// Prints a link that signs a browser in.
pub(crate) async fn open(out: &Out, data_dir: &Path) -> Result<Exit, Failure> {
    let url = Client::connect(data_dir).await?.link().await?;
    if out.is_json() {
        out.value(&json!({ "url": url }))?;
    } else {
        out.line(&url)?;
    }
    Ok(Exit::Done)
}
