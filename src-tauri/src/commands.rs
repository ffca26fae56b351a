//! What the window may call. Each is allowed by name in `capabilities/main.json`.

use sayso_domain::check_request_url;
use sayso_host::dto::{RequestDetail, RequestRef, UiEvent};
use sayso_host::{RpcError, Surface, code};
use serde_json::Value;
use tauri::ipc::Channel;
use tauri::{AppHandle, Runtime, State};

use crate::app;
use crate::start::{Start, StartError};
use crate::subscribers::Subscribers;

/// One command of the host, in the window's name.
#[tauri::command]
pub(crate) async fn rpc(start: State<'_, Start>, command: String, params: Value) -> Result<Value, RpcError> {
    start.outcome().await?.call(Surface::Window, &command, params).await
}

/// Tells this page of every change from now on.
#[tauri::command]
pub(crate) async fn subscribe(
    start: State<'_, Start>,
    subscribers: State<'_, Subscribers>,
    channel: Channel<UiEvent>,
) -> Result<(), RpcError> {
    start.outcome().await?;
    subscribers.add(channel);
    Ok(())
}

/// Opens the sign-in page of a request that waits, in the person's own browser.
#[tauri::command]
pub(crate) async fn open_url(start: State<'_, Start>, key: String) -> Result<(), RpcError> {
    let host = start.outcome().await?;
    let params = serde_json::to_value(RequestRef { key }).map_err(unreadable)?;
    let shown = host.call(Surface::Window, "inbox.show", params).await?;
    let detail: RequestDetail = serde_json::from_value(shown).map_err(unreadable)?;
    if detail.item.state != "pending" {
        return Err(RpcError::new(
            code::ALREADY_DECIDED,
            "This request no longer waits, so its page is not opened. History shows how it ended.",
        ));
    }
    let url = detail.url.ok_or_else(|| {
        RpcError::new(
            code::BAD_REQUEST,
            "This request has no page to open. Nothing was opened. Approve or deny it here.",
        )
    })?;
    // Checked when it was asked, and once more now that it leaves the app (contract 10).
    let url = check_request_url(&url).map_err(|error| {
        RpcError::new(
            code::BAD_REQUEST,
            format!("This page is not opened: {error}. Nothing was sent. Decline the request if you don't know it."),
        )
    })?;
    open_elsewhere(url.to_string()).await.map_err(no_browser)
}

/// Opens the data folder in the person's own file manager.
#[tauri::command]
pub(crate) async fn open_data_folder(start: State<'_, Start>) -> Result<(), RpcError> {
    let folder = start.data_dir().to_owned();
    let shown = folder.display().to_string();
    open_elsewhere(folder).await.map_err(|error| {
        RpcError::new(
            code::BAD_REQUEST,
            format!(
                "No file manager could be started: {error}. Nothing was changed. The data folder is {shown}."
            ),
        )
    })
}

/// Ends the app, because the person said so although runs are at work.
#[tauri::command]
pub(crate) fn quit<R: Runtime>(app: AppHandle<R>) {
    app.exit(0);
}

async fn open_elsewhere(what: impl AsRef<std::ffi::OsStr> + Send + 'static) -> Result<(), String> {
    let opened = tauri::async_runtime::spawn_blocking(move || open::that_detached(what)).await;
    opened.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// Why there is no host, if there is none; waits until its start has ended.
#[tauri::command]
pub(crate) async fn startup_error(start: State<'_, Start>) -> Result<Option<StartError>, RpcError> {
    Ok(start.outcome().await.err())
}

/// Tries once more to start the host.
#[tauri::command]
pub(crate) async fn retry_start<R: Runtime>(
    app: AppHandle<R>,
    start: State<'_, Start>,
) -> Result<Option<StartError>, RpcError> {
    if start.claim_retry() {
        app::begin(&app).await;
    }
    Ok(start.outcome().await.err())
}

fn unreadable(error: serde_json::Error) -> RpcError {
    RpcError::new(code::BAD_REQUEST, format!("The request cannot be read: {error}. Nothing was opened."))
}

fn no_browser(error: String) -> RpcError {
    RpcError::new(
        code::BAD_REQUEST,
        format!(
            "No browser could be started: {error}. The request still waits. Copy the address and open it yourself."
        ),
    )
}
