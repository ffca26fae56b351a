//! What is asked for outside of the window, and then shown in it.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;

use sayso_tests::desktop::Desktop;
use sayso_tests::notifications::{Behaviour, FakeNotifications};
use sayso_tests::process::OwnedChild;
use sayso_tests::sayso::desktop_bin;
use sayso_tests::tray::TrayWatcher;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use sayso_tests::webdriver::Session;
use serde_json::json;

use crate::stage::{Asking, command};

async fn wait_fragment(page: &Session, fragment: &str) {
    wait_until(&format!("the page is at {fragment}"), SOON, async || {
        page.client.current_url().await.is_ok_and(|url| url.fragment() == Some(fragment))
    })
    .await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn what_is_clicked_outside_of_the_window_is_shown_in_it_and_only_shown() {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::sticky()).await;
    let watcher = TrayWatcher::start(&desktop.bus).await;
    let page = Session::window(&desktop, &desktop_bin(), &[], &[]).await;
    let app = Asking::of(&desktop).await;
    let item = watcher.item().await;
    let key = app.ask("Plant a tree?").await;
    let other = app.ask("Cut a tree?").await;
    let shown = notifications.wait_for("Plant").await;
    notifications.press(shown.id, "default").await;
    wait_fragment(&page, &format!("/inbox/{key}")).await;

    let mut second = OwnedChild::start(&mut command(&desktop, &[&format!("sayso://request/{other}")]));
    assert!(second.wait(SOON).await.success());
    wait_fragment(&page, &format!("/inbox/{other}")).await;

    let late = notifications.wait_for("Cut").await;
    app.deny(&other).await;
    notifications.wait_withdrawn(late.id).await;
    notifications.decide(&late, "Approve").await;
    wait_fragment(&page, &format!("/history/{other}")).await;
    page.wait_text("Denied").await;

    let config = json!({ "name": "a & b", "base_url": "http://127.0.0.1:1/v1", "model": "m" });
    app.rpc.call("agents.save", json!({ "config": config.to_string() })).await.unwrap();
    wait_until("the tray has the agent", SOON, async || {
        item.menu().await.iter().any(|entry| entry.child("a & b").is_some())
    })
    .await;
    item.press("a & b").await;
    page.wait_text("New run").await;
    let chosen = page.find("dialog select").await.prop("value").await.unwrap();
    assert_eq!(chosen.as_deref(), Some("a & b"));
    page.press("Cancel").await;
    wait_fragment(&page, &format!("/history/{other}")).await;
    assert_eq!([app.state(&key).await, app.state(&other).await], ["pending", "declined"]);
    page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn the_window_asks_whether_to_quit_and_opens_the_data_folder() {
    let desktop = Desktop::start().await;
    let watcher = TrayWatcher::start(&desktop.bus).await;
    // The person's file manager.
    let (programs, opened) = (desktop.home().join("programs"), desktop.home().join("opened"));
    std::fs::create_dir(&programs).unwrap();
    let program = programs.join("xdg-open");
    std::fs::write(&program, format!("#!/bin/sh\nprintf %s \"$1\" >'{}'\n", opened.display())).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let page = Session::window(&desktop, &desktop_bin(), &[], &[("PATH", &path)]).await;
    let app = Asking::of(&desktop).await;
    let open = "window.__TAURI_INTERNALS__.invoke('open_data_folder')";
    page.client.execute(open, Vec::new()).await.unwrap();
    let expected = desktop.data_dir().display().to_string();
    wait_until("the folder is opened", SOON, async || {
        std::fs::read_to_string(&opened).is_ok_and(|opened| opened == expected)
    })
    .await;

    app.rpc.call("demo.start", json!({})).await.unwrap();
    wait_until("a run is at work", SOON, async || app.status().await["active_runs"] == 1).await;
    let item = watcher.item().await;
    item.press("Quit").await;
    page.wait_text("1 run is at work").await;
    page.press("Keep running").await;
    page.wait_gone("1 run is at work").await;
    app.status().await;
    page.client.execute("location.hash = '#/quit'", Vec::new()).await.unwrap();
    page.wait_text("1 run is at work").await;
    let lock = desktop.data_dir().join("lock");
    let press =
        "[...document.querySelectorAll('dialog button')].find((one) => one.textContent === 'Quit').click()";
    // With the app goes the page that would answer.
    let _ = page.client.execute(press, Vec::new()).await;
    wait_until("the app has ended", SOON, async || {
        File::open(&lock).is_ok_and(|lock| lock.try_lock().is_ok())
    })
    .await;
    page.end().await;
}
