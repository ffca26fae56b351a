use sayso_store::{requests, runs, settings as setting_rows, waiting};

use super::storage;
use crate::dto::{AppStatus, LONGEST_UNDO, Settings, Topic};
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
        problems: state.problems.values().cloned().collect(),
    })
}

pub(crate) async fn settings(host: &Host) -> Result<Settings, RpcError> {
    let text = host.store().read(|reader| setting_rows::get(reader, SETTINGS)).await.map_err(storage)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

pub(crate) async fn set_settings(host: &Host, settings: Settings) -> Result<Settings, RpcError> {
    if settings.undo_seconds > LONGEST_UNDO {
        let message = format!(
            "A decision can be taken back for {LONGEST_UNDO} seconds at most. Nothing was changed. Choose 0 to {LONGEST_UNDO}."
        );
        return Err(RpcError::new(code::BAD_REQUEST, message));
    }
    let text = serde_json::to_string(&settings).unwrap_or_default();
    host.store().write(move |tx| setting_rows::put(tx, SETTINGS, &text)).await.map_err(storage)?;
    host.announce(Topic::Status, None);
    Ok(settings)
}
