use sayso_store::prune;

use super::storage;
use crate::dto::{Job, StorageInfo};
use crate::host::Host;
use crate::jobs::{self, Done};
use crate::{RpcError, keeping};

pub(crate) async fn show(host: &Host) -> Result<StorageInfo, RpcError> {
    let size = host.store().size().await.map_err(storage)?;
    let (decisions, oldest) = host.store().read(|reader| prune::count(reader)).await.map_err(storage)?;
    let backups = keeping::backups(host.data_dir());
    Ok(StorageInfo {
        bytes: size.bytes,
        free_bytes: size.free_bytes,
        decisions,
        oldest: oldest.map(|at| at.to_string()),
        backups_bytes: backups.iter().map(|backup| backup.bytes).sum(),
    })
}

pub(crate) fn compact(host: &Host) -> Job {
    let work = |progress| {
        let host = host.clone();
        async move {
            let before = host.store().size().await.map_err(storage)?;
            host.store().compact(progress).await.map_err(storage)?;
            let after = host.store().size().await.map_err(storage)?;
            let freed = before.bytes.saturating_sub(after.bytes);
            Ok(Done { message: Some(format!("{freed} bytes were given back.")), verification: None })
        }
    };
    jobs::start(host, "compact", None, work)
}

pub(crate) fn prune(host: &Host) -> Job {
    keeping::start_prune(host)
}
