//! The main job in the real window: WebKit under Xvfb, a private bus, a notification service of the test's own.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use sayso_tests::decide::{REASON_FIELD, press_until_decided, select};
use sayso_tests::desktop::Desktop;
use sayso_tests::notifications::{Behaviour, FakeNotifications};
use sayso_tests::sayso::desktop_bin;
use sayso_tests::stage::Stage;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use sayso_tests::webdriver::Session;
use serde_json::json;

const REASON: &str = "over budget";

async fn writing_stage() -> Stage {
    Stage::calling("write_file", json!({ "path": "report.txt", "content": "ready\n" })).await
}

async fn window(desktop: &Desktop, stage: &Stage) -> Session {
    let data = stage.sayso.data_dir().to_str().unwrap().to_owned();
    let session = Session::window(desktop, &desktop_bin(), &["--data-dir", &data], &[]).await;
    session.wait_text("Inbox").await;
    session
}

async fn waiting_prompt(stage: &Stage) -> String {
    let request = stage.waiting().await;
    request["request"]["prompt"].as_str().unwrap().to_owned()
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn approve_writes_the_file_once() {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    let stage = writing_stage().await;
    let page = window(&desktop, &stage).await;
    stage.add_agent(json!({})).await;
    let run = stage.start_run("write the report").await;
    let prompt = waiting_prompt(&stage).await;
    let shown = notifications.wait_for(&prompt).await;
    select(&page, &prompt).await;
    page.shot("window-approve").await;
    press_until_decided(&page, "Approve").await;
    stage.wait_status(&run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "ready\n");
    notifications.wait_withdrawn(shown.id).await;
    assert_eq!(notifications.shown().len(), 1);
    let history = stage.sayso.json(&["history"]).await.exits(0).value();
    assert_eq!((&history["outcome"], &history["surface"]), (&json!("approved"), &json!("window")));
    let calls = stage.sayso.json(&["runs", "show", &run]).await.exits(0).value()["calls"].clone();
    assert_eq!(calls.as_array().unwrap().len(), 1);
    page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn deny_with_a_reason_is_notified_once_withdrawn_once_and_stays_home() {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    let stage = writing_stage().await;
    let page = window(&desktop, &stage).await;
    stage.add_agent(json!({})).await;
    let run = stage.start_run("write the report").await;
    let prompt = waiting_prompt(&stage).await;
    let shown = notifications.wait_for(&prompt).await;
    select(&page, &prompt).await;
    page.fill(REASON_FIELD, REASON).await;
    press_until_decided(&page, "Deny").await;
    stage.wait_status(&run, "done").await;

    notifications.wait_withdrawn(shown.id).await;
    assert_eq!(notifications.shown().len(), 1);
    assert_eq!(notifications.withdrawn(), [shown.id]);
    let bodies = stage.model.bodies();
    assert!(bodies.last().unwrap().contains(&format!("declined/expired: {prompt}")), "{bodies:?}");
    assert!(bodies.iter().all(|body| !body.contains(REASON)));
    let heard =
        notifications.shown().iter().any(|note| note.body.contains(REASON) || note.summary.contains(REASON));
    assert!(!heard, "the reason was in a notification");
    assert!(!stage.work().join("report.txt").exists());

    page.press("History").await;
    page.wait_text("Denied").await;
    page.press(&prompt).await;
    page.wait_text(REASON).await;
    page.shot("window-history").await;
    page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_click_on_the_notification_opens_that_request() {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    let stage = writing_stage().await;
    let page = window(&desktop, &stage).await;
    stage.add_agent(json!({})).await;
    page.press("Settings").await;
    stage.start_run("write the report").await;
    let prompt = waiting_prompt(&stage).await;
    let shown = notifications.wait_for(&prompt).await;
    let (key, _) = shown.actions.first().expect("the notification can be clicked").clone();
    // What cannot be guessed cannot be forged: an action of the usual name does nothing.
    FakeNotifications::forge_press(&desktop.bus, shown.id, "default").await;
    notifications.press(shown.id, &key).await;
    page.wait_text(&prompt).await;
    let hash = page.client.current_url().await.unwrap().fragment().unwrap_or_default().to_owned();
    assert!(hash.contains("inbox"), "{hash}");
    assert_eq!(stage.list().await.len(), 1, "a click never decides");
    page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_notification_service_that_hangs_or_is_missing_stops_nothing_and_settings_say_so() {
    for hangs in [true, false] {
        let desktop = Desktop::start().await;
        let _service = match hangs {
            true => Some(FakeNotifications::start(&desktop.bus, Behaviour::hanging()).await),
            false => None,
        };
        let stage = writing_stage().await;
        let page = window(&desktop, &stage).await;
        stage.add_agent(json!({})).await;
        let run = stage.start_run("write the report").await;
        let prompt = waiting_prompt(&stage).await;
        select(&page, &prompt).await;
        press_until_decided(&page, "Approve").await;
        stage.wait_status(&run, "done").await;
        assert_eq!(stage.work_file("report.txt"), "ready\n");
        page.press("Settings").await;
        wait_until("Settings say that notifications don't work", SOON, async || {
            let text = page.text().await.to_lowercase();
            text.contains("notification")
                && (text.contains("not answer")
                    || text.contains("no notification service")
                    || text.contains("not work"))
        })
        .await;
        page.shot(if hangs { "window-notifications-hang" } else { "window-notifications-missing" }).await;
        page.end().await;
    }
}
