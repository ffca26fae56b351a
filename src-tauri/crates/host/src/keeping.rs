//! What is kept for how long, and where backups are.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sayso_agent::{Incoming, system_time as now};
use sayso_domain::Time;
use sayso_domain::run::Event;
use sayso_store::prune::{self, DAY, Pruned};
use sayso_store::redact::{self, Secret};
use sayso_store::{Progress, StoreError, restored, restored_is_seen_to, runs};

use crate::RpcError;
use crate::commands::{status, storage};
use crate::dto::{BackupItem, Job, Retention, Topic};
use crate::host::Host;
use crate::jobs::{self, Done};

/// How often it is looked whether a new day has begun.
const LOOK: Duration = Duration::from_secs(600);
/// So many decisions are removed in one commit, or one day's, so that others get their turn.
const AT_ONCE: u64 = 2_000;
/// How long the runs of a restored database may take to end.
const ENDING: Duration = Duration::from_secs(20);

/// Removes once a day what need not be kept.
pub(crate) async fn run(host: Host) {
    let mut last = None;
    loop {
        let today = prune::midnight(now());
        if last != Some(today) {
            last = Some(today);
            if let Ok(settings) = status::settings(&host).await
                && settings.retention != Retention::default()
            {
                start_prune(&host);
            }
        }
        tokio::select! {
            () = host.stop_token().cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// Removes it now.
pub(crate) fn start_prune(host: &Host) -> Job {
    let work = |progress| {
        let host = host.clone();
        async move {
            let retention = status::settings(&host).await?.retention;
            let pruned = prune_all(&host, &retention, &progress).await;
            host.announce(Topic::History, None);
            host.announce(Topic::Runs, None);
            let message = match pruned?.decisions {
                0 => "There was nothing to remove.".to_owned(),
                1 => "1 decision was removed.".to_owned(),
                decisions => format!("{decisions} decisions were removed."),
            };
            Ok(Done { message: Some(message), verification: None })
        }
    };
    jobs::start(host, "prune", None, work)
}

async fn prune_all(host: &Host, retention: &Retention, progress: &Progress) -> Result<Pruned, RpcError> {
    let mut all = Pruned::default();
    let today = prune::midnight(now());
    if let Some(days) = retention.days {
        let before = today.plus_millis(-i64::from(days).saturating_mul(DAY));
        let mut steps = steps(&days_before(host, before).await?);
        // Runs that never asked have no day in that list.
        steps.push(before);
        for step in steps {
            add(&mut all, prune_to(host, step, progress).await?);
        }
    }
    if let Some(megabytes) = retention.megabytes {
        let most = u64::from(megabytes) << 20;
        for (end, _) in days_before(host, today).await? {
            let size = host.store().size().await.map_err(storage)?;
            if size.bytes.saturating_sub(size.free_bytes) <= most {
                break;
            }
            add(&mut all, prune_to(host, end, progress).await?);
        }
    }
    Ok(all)
}

async fn days_before(host: &Host, before: Time) -> Result<Vec<(Time, u64)>, RpcError> {
    host.store().read(move |reader| prune::days(reader, before)).await.map_err(storage)
}

async fn prune_to(host: &Host, before: Time, progress: &Progress) -> Result<Pruned, RpcError> {
    progress.go_on().map_err(storage)?;
    let pruned = host.store().write(move |tx| prune::prune(tx, before, now())).await.map_err(storage)?;
    progress.advance(pruned.decisions).map_err(storage)?;
    Ok(pruned)
}

fn add(all: &mut Pruned, more: Pruned) {
    all.decisions += more.decisions;
    all.runs += more.runs;
    all.entries += more.entries;
}

/// Ends of days, so that not too much lies between two.
fn steps(days: &[(Time, u64)]) -> Vec<Time> {
    let mut steps = Vec::new();
    let mut count = 0;
    for (end, decisions) in days {
        count += decisions;
        if count >= AT_ONCE {
            steps.push(*end);
            count = 0;
        }
    }
    steps
}

/// In a restored database, runs are where they were when the backup was made. What they did since is not known there, so
/// nothing of it may be done again by itself: they end, and a message sets them to work again.
pub(crate) async fn end_restored_runs(host: &Host) -> Result<(), StoreError> {
    if !host.store().read(|reader| restored(reader)).await? {
        return Ok(());
    }
    for run in host.store().read(|reader| runs::active(reader)).await? {
        let stop = Incoming { event: Event::Stopped, delivered: None };
        host.runs().post(host, run, stop).await;
    }
    let ended = async {
        while !host.store().read(|reader| runs::active(reader)).await?.is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok::<_, StoreError>(())
    };
    match tokio::time::timeout(ENDING, ended).await {
        Ok(ended) => ended?,
        Err(_) => return Err(StoreError::Locked),
    }
    host.store().write(restored_is_seen_to).await
}

/// A moment as it stands in names of files.
pub(crate) fn stamp(at: Time) -> String {
    at.to_string().chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect()
}

/// Where a new backup goes.
pub(crate) fn new_backup(data_dir: &Path, at: Time) -> PathBuf {
    folder(data_dir).join(format!("sayso-{}.db", stamp(at)))
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("backups")
}

/// The backups in the data folder, newest first.
pub(crate) fn backups(data_dir: &Path) -> Vec<BackupItem> {
    let mut items = Vec::new();
    for (path, file) in files(&folder(data_dir)) {
        if path.extension().is_some_and(|extension| extension == "db") {
            let at = file.modified().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
            let millis = at.and_then(|at| i64::try_from(at.as_millis()).ok()).unwrap_or_default();
            let at = Time::from_millis(millis).to_string();
            items.push(BackupItem { path: path.display().to_string(), at, bytes: file.len() });
        }
    }
    items.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| b.path.cmp(&a.path)));
    items
}

/// The backups and exports in the data folder that hold a secret.
pub(crate) fn files_with(data_dir: &Path, secret: &Secret) -> Vec<PathBuf> {
    let all = files(&folder(data_dir)).into_iter().chain(files(&data_dir.join("exports")));
    let mut found: Vec<_> = all
        .map(|(path, _)| path)
        // What cannot be read may hold it.
        .filter(|path| redact::is_in_file(path, secret).unwrap_or(true))
        .collect();
    found.sort();
    found
}

fn files(folder: &Path) -> Vec<(PathBuf, std::fs::Metadata)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), entry.metadata().ok()?)))
        .filter(|(_, file)| file.is_file())
        .collect()
}
