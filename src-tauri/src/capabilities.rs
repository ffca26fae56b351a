//! What the window may call, tried against the real configuration and the real host, with no display.

use std::path::Path;

use serde_json::{Value, json};
use tauri::ipc::{CallbackFn, InvokeBody};
use tauri::test::{INVOKE_KEY, MockRuntime, get_ipc_response, mock_builder};
use tauri::webview::InvokeRequest;
use tauri::{App, Manager as _, WebviewUrl, WebviewWindow, WebviewWindowBuilder};

use crate::app;
use crate::context::context;
use crate::start::Start;
use crate::window::{self, Page};

fn app(data_dir: &Path) -> App<MockRuntime> {
    app::builder(mock_builder(), Start::new(data_dir.to_owned()), None).build(context()).unwrap()
}

/// An app whose host runs in `data_dir`.
fn started(data_dir: &Path) -> App<MockRuntime> {
    let app = app(data_dir);
    tauri::async_runtime::block_on(app.state::<Start>().begin()).map(drop).unwrap();
    app
}

fn invoke(
    window: &WebviewWindow<MockRuntime>,
    from: &str,
    command: &str,
    body: Value,
) -> Result<Value, Value> {
    let request = InvokeRequest {
        cmd: command.to_owned(),
        callback: CallbackFn(0),
        error: CallbackFn(1),
        url: from.parse().unwrap(),
        body: InvokeBody::Json(body),
        headers: Default::default(),
        invoke_key: INVOKE_KEY.to_owned(),
    };
    get_ipc_response(window, request).map(|body| body.deserialize().unwrap())
}

const OURS: &str = "tauri://localhost";

#[test]
fn the_window_may_call_the_host_and_numbers_keep_every_digit() {
    let folder = tempfile::tempdir().unwrap();
    let app = started(folder.path());
    let window = window::create(app.handle(), &Page::Inbox).unwrap();
    assert_eq!(invoke(&window, OURS, "startup_error", json!({})), Ok(Value::Null));
    let status = invoke(&window, OURS, "rpc", json!({ "command": "status", "params": {} })).unwrap();
    assert_eq!(status["waiting"], json!(0), "{status}");
    let page = json!({ "command": "history.list", "params": { "limit": 5 } });
    assert_eq!(invoke(&window, OURS, "rpc", page), Ok(json!({ "items": [], "next": null })));
    let wrong: Value =
        serde_json::from_str(r#"{"command":"history.list","params":{"limit":9007199254740993}}"#).unwrap();
    let refused = invoke(&window, OURS, "rpc", wrong).unwrap_err();
    assert_eq!(refused["code"], "bad_request", "{refused}");
    let unknown = json!({ "command": "files.read", "params": {} });
    assert_eq!(invoke(&window, OURS, "rpc", unknown).unwrap_err()["code"], "unknown_command");
}

#[test]
fn only_the_page_of_a_request_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let app = started(folder.path());
    let window = window::create(app.handle(), &Page::Inbox).unwrap();
    let unknown = json!({ "key": "0198c0de-0000-7000-8000-000000000001" });
    assert_eq!(invoke(&window, OURS, "open_url", unknown).unwrap_err()["code"], "not_found");
    let address = json!({ "key": "https://example.org" });
    assert!(invoke(&window, OURS, "open_url", address).is_err(), "an address is no key");
}

#[test]
fn nothing_else_may_be_called() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path());
    let window = window::create(app.handle(), &Page::Inbox).unwrap();
    for command in ["shell", "plugin:event|listen", "plugin:window|set_focus", "plugin:single-instance|x"] {
        let refused = invoke(&window, OURS, command, json!({})).unwrap_err();
        let said = refused.as_str().unwrap_or_default();
        assert!(said.contains("not allowed") || said.contains("not found"), "{command}: {refused}");
    }
}

#[test]
fn no_other_window_and_no_other_page_may_call() {
    let folder = tempfile::tempdir().unwrap();
    let app = app(folder.path());
    let other = WebviewWindowBuilder::new(&app, "other", WebviewUrl::default()).build().unwrap();
    let main = window::create(app.handle(), &Page::Inbox).unwrap();
    let status = json!({ "command": "status", "params": {} });
    for (window, from) in [(&other, OURS), (&main, "https://example.org"), (&main, "http://127.0.0.1:8080")] {
        let refused = invoke(window, from, "rpc", status.clone()).unwrap_err();
        assert!(refused.as_str().is_some_and(|said| said.contains("not allowed")), "{from}: {refused}");
    }
}

#[test]
fn a_host_that_cannot_start_is_told_in_words_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let in_the_way = folder.path().join("data");
    std::fs::write(&in_the_way, "a file where the folder should be").unwrap();
    let app = app(&in_the_way);
    let window = window::create(app.handle(), &Page::Inbox).unwrap();
    tauri::async_runtime::block_on(app.state::<Start>().begin()).map(drop).unwrap_err();
    let error = invoke(&window, OURS, "startup_error", json!({})).unwrap();
    assert_eq!(error["code"], "io");
    assert!(error["message"].as_str().unwrap().contains("Nothing was changed"), "{error}");
    let status = json!({ "command": "status", "params": {} });
    assert_eq!(invoke(&window, OURS, "rpc", status.clone()), Err(error.clone()), "a call says the same");

    std::fs::remove_file(&in_the_way).unwrap();
    assert_eq!(invoke(&window, OURS, "retry_start", json!({})), Ok(Value::Null));
    assert_eq!(invoke(&window, OURS, "rpc", status).unwrap()["waiting"], json!(0));
    assert_eq!(invoke(&window, OURS, "retry_start", json!({})), Ok(Value::Null), "again changes nothing");
}

#[test]
fn a_folder_in_use_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let first = started(folder.path());
    let second = app(folder.path());
    let error = tauri::async_runtime::block_on(second.state::<Start>().begin()).map(drop).unwrap_err();
    assert_eq!(error.code, "in_use");
    tauri::async_runtime::block_on(first.state::<Start>().end());
}
