use std::path::Path;

use sayso_host::dto::{Empty, Job, StorageInfo};
use serde_json::json;

use crate::args::StorageCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::jobs;
use crate::out::Out;
use crate::way::Way;

pub(crate) async fn storage(
    out: &Out,
    data_dir: &Path,
    command: Option<StorageCommand>,
) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let command = match command.unwrap_or(StorageCommand::Show) {
        StorageCommand::Show => return show(out, &way).await,
        StorageCommand::Compact => "storage.compact",
        StorageCommand::Prune => "storage.prune",
    };
    let job: Job = way.call(command, Empty {}).await?;
    jobs::follow(out, &way, job).await
}

async fn show(out: &Out, way: &Way) -> Result<Exit, Failure> {
    let info: StorageInfo = way.call("storage.show", Empty {}).await?;
    if out.is_json() {
        out.value(&json!(info))?;
        return Ok(Exit::Done);
    }
    out.line(&format!(
        "{} decisions in {} bytes, of which {} are free.",
        info.decisions, info.bytes, info.free_bytes
    ))?;
    out.field("oldest", info.oldest.as_deref())?;
    out.field("backups", Some(&format!("{} bytes", info.backups_bytes)))?;
    Ok(Exit::Done)
}
