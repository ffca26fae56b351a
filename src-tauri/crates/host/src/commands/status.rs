use sayso_store::{Conn, StoreError, requests, runs, settings as setting_rows, waiting};
use serde_json::{Map, Value};

use super::storage;
use crate::dto::{AppStatus, Settings, Topic};
use crate::host::Host;
use crate::{RpcError, code};

const SETTINGS: &str = "settings";

pub(crate) async fn status(host: &Host) -> Result<AppStatus, RpcError> {
    let counts = host.store().read(|reader| {
        let snoozed = waiting::count_snoozed(reader, sayso_agent::system_time())?;
        Ok((requests::count_pending(reader)?, snoozed, runs::active(reader)?.len()))
    });
    let (waiting, snoozed, active_runs) = counts.await.map_err(storage)?;
    let state = host.state();
    Ok(AppStatus {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        waiting,
        snoozed,
        active_runs: u32::try_from(active_runs).unwrap_or(u32::MAX),
        data_dir: host.data_dir().display().to_string(),
        url: state.url.clone(),
        notifications: state.notifications.clone(),
        tray: state.tray.clone(),
        autostart: state.autostart.clone(),
        global_shortcut: state.global_shortcut.clone(),
        quiet: state.quiet.clone(),
        problems: state.problems.values().cloned().collect(),
    })
}

pub(crate) async fn settings(host: &Host) -> Result<Settings, RpcError> {
    host.store().read(|reader| stored(reader)).await.map_err(storage)
}

/// Changes what is named in `changes`; the rest stays.
pub(crate) async fn set_settings(host: &Host, changes: Map<String, Value>) -> Result<Settings, RpcError> {
    let written = host.store().write(move |tx| {
        let changed = match stored(tx)?.changed_by(changes) {
            Ok(changed) => changed,
            Err(problem) => return Ok(Err(problem)),
        };
        setting_rows::put(tx, SETTINGS, &serde_json::to_string(&changed).unwrap_or_default())?;
        Ok(Ok(changed))
    });
    let changed =
        written.await.map_err(storage)?.map_err(|problem| RpcError::new(code::BAD_REQUEST, problem))?;
    host.announce(Topic::Status, None);
    Ok(changed)
}

fn stored(conn: &Conn) -> Result<Settings, StoreError> {
    let text = setting_rows::get(conn, SETTINGS)?;
    Ok(text.map(|text| Settings::read(&text)).unwrap_or_default())
}
