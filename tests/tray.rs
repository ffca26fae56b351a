//! The desktop around the window: the tray, closing, starting twice. Started as a person starts it, with no driver.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::{Command, Stdio};

use sayso_tests::desktop::Desktop;
use sayso_tests::process::OwnedChild;
use sayso_tests::sayso::desktop_bin;
use sayso_tests::stage::Stage;
use sayso_tests::tray::TrayWatcher;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use sayso_tests::window_stage::writing_stage;
use serde_json::json;

fn command(desktop: &Desktop, stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = Command::new(desktop_bin());
    desktop.apply(&mut command);
    command.arg("--data-dir").arg(stage.sayso.data_dir()).args(arguments).stdin(Stdio::null());
    command
}

async fn wait_window(desktop: &Desktop, is_open: bool) {
    let what = if is_open { "a window is open" } else { "no window is open" };
    wait_until(what, SOON, async || {
        desktop.display.windows().iter().any(|title| title.contains("Sayso")) == is_open
    })
    .await;
}

fn web_processes(desktop: &Desktop) -> usize {
    desktop.processes().values().filter(|name| name.starts_with("WebKitWebProces")).count()
}

async fn wait_host(stage: &Stage) {
    wait_until("the host answers", SOON, async || stage.sayso.run(&["list"]).await.code == 0).await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn closing_the_window_keeps_the_app_in_the_tray_and_ends_the_web_process() {
    let desktop = Desktop::start().await;
    let watcher = TrayWatcher::start(&desktop.bus).await;
    let stage = writing_stage().await;
    let mut app = OwnedChild::start(&mut command(&desktop, &stage, &[]));
    wait_window(&desktop, true).await;
    let item = watcher.item().await;
    wait_host(&stage).await;
    wait_until("the page's process runs", SOON, async || web_processes(&desktop) > 0).await;

    desktop.display.close_window("Sayso");
    wait_window(&desktop, false).await;
    wait_until("the page's process has ended", SOON, async || web_processes(&desktop) == 0).await;
    assert!(app.is_running());

    stage.add_agent(json!({})).await;
    let run = stage.start_run("write the report").await;
    let request = stage.waiting().await;
    wait_until("the tray shows the count", SOON, async || item.label().await.contains('1')).await;
    let labels = item.labels().await;
    assert!(labels.iter().any(|label| label.contains("1 waiting")), "{labels:?}");

    item.press("Open Sayso").await;
    wait_window(&desktop, true).await;
    stage.sayso.run(&["deny", request["key"].as_str().unwrap()]).await.exits(0);
    stage.wait_status(&run, "done").await;
    wait_until("the tray shows no count", SOON, async || !item.label().await.contains('1')).await;

    item.press("Quit").await;
    let status = app.wait(SOON).await;
    assert!(status.success(), "{status}");
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_second_start_shows_the_first_ones_window_and_ends() {
    let desktop = Desktop::start().await;
    let _watcher = TrayWatcher::start(&desktop.bus).await;
    let stage = writing_stage().await;
    let mut first = OwnedChild::start(&mut command(&desktop, &stage, &["--background"]));
    wait_host(&stage).await;
    assert!(desktop.display.windows().iter().all(|title| !title.contains("Sayso")));
    let mut second = OwnedChild::start(&mut command(&desktop, &stage, &[]));
    let status = second.wait(SOON).await;
    assert!(status.success(), "{status}");
    wait_window(&desktop, true).await;
    assert!(first.is_running());
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn with_no_tray_closing_the_window_quits_and_loses_nothing() {
    let desktop = Desktop::start().await;
    let stage = writing_stage().await;
    let mut app = OwnedChild::start(&mut command(&desktop, &stage, &[]));
    wait_window(&desktop, true).await;
    wait_host(&stage).await;
    stage.add_agent(json!({})).await;
    let run = stage.start_run("write the report").await;
    let request = stage.waiting().await;
    desktop.display.close_window("Sayso");
    let status = app.wait(SOON).await;
    assert!(status.success(), "{status}");

    let _host = stage.sayso.serve();
    stage.sayso.run(&["approve", request["key"].as_str().unwrap()]).await.exits(0);
    stage.wait_status(&run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "ready\n");
}
