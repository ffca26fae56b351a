use sayso_agent::system_time as now;
use sayso_store::prepare_restore;

use super::record::whole_path;
use super::storage;
use crate::dto::{BackupCreate, BackupItem, BackupRestore, Job, Restored};
use crate::host::Host;
use crate::jobs::{self, Done};
use crate::{RpcError, code, keeping};

pub(crate) fn list(host: &Host) -> Vec<BackupItem> {
    keeping::backups(host.data_dir())
}

pub(crate) fn create(host: &Host, params: &BackupCreate) -> Result<Job, RpcError> {
    let path = match &params.path {
        Some(path) => whole_path(path)?,
        None => keeping::new_backup(host.data_dir(), now()),
    };
    let to = path.clone();
    let work = |progress| {
        let host = host.clone();
        async move {
            host.store().back_up(&to, progress).await.map_err(storage)?;
            let message = "The backup was made and checked.".to_owned();
            Ok(Done { message: Some(message), verification: None })
        }
    };
    Ok(jobs::start(host, "backup", Some(path), work))
}

/// Checks a backup and makes it ready; it is put in place when the host starts anew, which it does now.
pub(crate) async fn restore(host: &Host, params: BackupRestore) -> Result<Restored, RpcError> {
    let (backup, database) = (whole_path(&params.path)?, host.store().path().to_owned());
    let prepared = tokio::task::spawn_blocking(move || prepare_restore(&backup, &database)).await;
    match prepared {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(RpcError::new(code::STORAGE, error.to_string())),
        Err(error) => return Err(RpcError::new(code::STORAGE, error.to_string())),
    }
    host.want_restart();
    Ok(Restored { restart: true })
}
