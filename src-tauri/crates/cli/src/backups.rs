use std::path::Path;

use sayso_gateway::{Client, ClientError};
use sayso_host::dto::{BackupCreate, BackupRestore, Job, Restored};
use sayso_host::{back_up_file, list_backups, restore_file};
use serde_json::json;

use crate::args::BackupCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::jobs;
use crate::out::Out;
use crate::record::absolute;
use crate::way::Way;
use crate::when::{now, relative};

pub(crate) async fn backup(out: &Out, data_dir: &Path, command: BackupCommand) -> Result<Exit, Failure> {
    match command {
        BackupCommand::Create { file } => create(out, data_dir, file.as_deref()).await,
        BackupCommand::List => list(out, data_dir),
        BackupCommand::Restore { file } => restore(out, data_dir, &file).await,
    }
}

/// To the host, where one runs.
async fn host(data_dir: &Path) -> Result<Option<Way>, Failure> {
    match Client::connect(data_dir).await {
        Ok(client) => Ok(Some(Way::Socket(client))),
        Err(ClientError::NoHost(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn create(out: &Out, data_dir: &Path, file: Option<&Path>) -> Result<Exit, Failure> {
    let path = file.map(absolute).transpose()?;
    if let Some(way) = host(data_dir).await? {
        let path = path.map(|path| path.display().to_string());
        let job: Job = way.call("backups.create", BackupCreate { path }).await?;
        return jobs::follow(out, &way, job).await;
    }
    check_database(data_dir)?;
    let path = back_up_file(data_dir, path.as_deref()).await?;
    if out.is_json() {
        out.value(&json!({ "path": path }))?;
    } else {
        out.line("The backup was made and checked.")?;
        out.field("file", Some(&path))?;
    }
    Ok(Exit::Done)
}

/// There is nothing to back up where nothing was ever decided.
fn check_database(data_dir: &Path) -> Result<(), Failure> {
    if data_dir.join("sayso.db").exists() {
        return Ok(());
    }
    let message = format!(
        "There is nothing to back up in {}: it holds no sayso.db. Name another folder with --data-dir.",
        data_dir.display()
    );
    Err(Failure::new(Exit::Gone, "not_found", message))
}

fn list(out: &Out, data_dir: &Path) -> Result<Exit, Failure> {
    let backups = list_backups(data_dir);
    if out.is_json() {
        backups.iter().try_for_each(|backup| out.value(&json!(backup)))?;
        return Ok(Exit::Done);
    }
    if backups.is_empty() {
        out.line("There are no backups.")?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = backups
        .iter()
        .map(|backup| [relative(&backup.at, now()), backup.bytes.to_string(), backup.path.clone()])
        .collect();
    out.table(["MADE", "BYTES", "FILE"], &rows)?;
    Ok(Exit::Done)
}

async fn restore(out: &Out, data_dir: &Path, file: &Path) -> Result<Exit, Failure> {
    let path = absolute(file)?;
    match host(data_dir).await? {
        Some(way) => {
            let params = BackupRestore { path: path.display().to_string() };
            let _: Restored = way.call("backups.restore", params).await?;
        }
        None => restore_file(data_dir, &path).await?,
    }
    if out.is_json() {
        out.value(&json!({ "restored": path }))?;
    } else {
        out.line("The backup is in place. What was there before is kept in the folder backups.")?;
        out.line("Runs that were at work when it was made are stopped: send them a message to go on.")?;
    }
    Ok(Exit::Done)
}
