//! The main job in the real window: WebKit under Xvfb, a private bus, a notification service of the test's own.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use sayso_tests::decide::{REASON_FIELD, press_until_decided, select};
use sayso_tests::desktop::Desktop;
use sayso_tests::notifications::{Behaviour, FakeNotifications, Notified};
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use sayso_tests::webdriver::Session;
use sayso_tests::window_stage::{WindowStage, writing_stage};
use serde_json::json;

const REASON: &str = "over budget";

/// The window on a desktop with a notification service.
async fn notified() -> (WindowStage, FakeNotifications) {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    (WindowStage::open_on(desktop, writing_stage().await).await, notifications)
}

/// What the page's address says after `#`.
async fn fragment(page: &Session) -> String {
    page.client.current_url().await.unwrap().fragment().unwrap_or_default().to_owned()
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn approve_writes_the_file_once() {
    let (window, notifications) = notified().await;
    let asked = window.ask(json!({})).await;
    let shown = notifications.wait_for(&asked.prompt).await;
    let WindowStage { page, stage, .. } = &window;
    select(page, &asked.prompt).await;
    page.shot("window-approve").await;
    press_until_decided(page, "Approve").await;
    stage.wait_status(&asked.run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "ready\n");
    notifications.wait_withdrawn(shown.id).await;
    assert_eq!(notifications.shown().len(), 1);
    let history = stage.sayso.json(&["history"]).await.exits(0).value();
    assert_eq!((&history["outcome"], &history["surface"]), (&json!("approved"), &json!("window")));
    let calls = stage.sayso.json(&["runs", "show", &asked.run]).await.exits(0).value()["calls"].clone();
    assert_eq!(calls.as_array().unwrap().len(), 1);
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn contract_12_what_the_person_makes_of_a_call_is_what_is_written_and_history_shows_both() {
    let (window, _notifications) = notified().await;
    let asked = window.ask(json!({})).await;
    let WindowStage { page, stage, .. } = &window;
    select(page, &asked.prompt).await;
    page.press("Edit").await;
    page.fill("content", "mine, not theirs").await;
    page.wait_text("What you changed").await;
    page.shot("window-edit").await;
    press_until_decided(page, "Approve with edits").await;
    stage.wait_status(&asked.run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "mine, not theirs");
    let told = stage.model.bodies().pop().unwrap();
    assert!(told.contains("A person edited this call before approving it."), "{told}");
    let history = stage.sayso.json(&["history"]).await.exits(0).value();
    assert_eq!((&history["edited"], &history["surface"]), (&json!(true), &json!("window")));
    let calls = stage.sayso.json(&["runs", "show", &asked.run]).await.exits(0).value()["calls"].clone();
    assert_eq!(calls[0]["arguments"]["content"], "ready\n");
    assert_eq!(calls[0]["edited"]["content"], "mine, not theirs");

    page.press("History").await;
    page.press(&asked.prompt).await;
    page.wait_text("What you made of it").await;
    page.wait_text("mine, not theirs").await;
    page.shot("window-edit-history").await;
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn deny_with_a_reason_is_notified_once_withdrawn_once_and_stays_home() {
    let (window, notifications) = notified().await;
    let asked = window.ask(json!({})).await;
    let shown = notifications.wait_for(&asked.prompt).await;
    let WindowStage { page, stage, .. } = &window;
    select(page, &asked.prompt).await;
    page.fill(REASON_FIELD, REASON).await;
    press_until_decided(page, "Deny").await;
    stage.wait_status(&asked.run, "done").await;

    notifications.wait_withdrawn(shown.id).await;
    assert_eq!(notifications.shown().len(), 1);
    assert_eq!(notifications.withdrawn(), [shown.id]);
    let bodies = stage.model.bodies();
    assert!(bodies.last().unwrap().contains(&format!("declined/expired: {}", asked.prompt)), "{bodies:?}");
    assert!(bodies.iter().all(|body| !body.contains(REASON)));
    let heard =
        notifications.shown().iter().any(|note| note.body.contains(REASON) || note.summary.contains(REASON));
    assert!(!heard, "the reason was in a notification");
    assert!(!stage.work().join("report.txt").exists());

    page.press("History").await;
    page.wait_text("Denied").await;
    page.press(&asked.prompt).await;
    page.wait_text(REASON).await;
    page.shot("window-history").await;
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_click_on_the_notification_opens_that_request() {
    let (window, notifications) = notified().await;
    let asked = window.ask(json!({})).await;
    let WindowStage { page, stage, desktop } = &window;
    page.press("Settings").await;
    page.wait_gone(&asked.prompt).await;
    stage.start_run("write it once more").await;
    wait_until("both are shown", SOON, async || notifications.shown().len() == 2).await;

    // A click that another program on the bus forges may show a request, as a real one does. It decides nothing.
    let key_of = |shown: &Notified| shown.actions.first().expect("it can be clicked").0.clone();
    for shown in notifications.shown() {
        FakeNotifications::forge_press(&desktop.bus, shown.id, &key_of(&shown)).await;
        FakeNotifications::forge_press(&desktop.bus, shown.id, "default").await;
    }
    let one = stage.list().await.remove(0);
    stage.sayso.run(&["deny", one["key"].as_str().unwrap()]).await.exits(0);
    wait_until("its notification is withdrawn", SOON, async || notifications.withdrawn().len() == 1).await;
    assert_eq!(stage.list().await.len(), 1, "a forged click never decides");
    page.press("Settings").await;
    page.wait_gone(&asked.prompt).await;

    let withdrawn = notifications.withdrawn();
    let left = notifications.shown().into_iter().find(|shown| !withdrawn.contains(&shown.id)).unwrap();
    notifications.press(left.id, &key_of(&left)).await;
    page.wait_text(&asked.prompt).await;
    assert!(fragment(page).await.contains("inbox/"));
    assert_eq!(stage.list().await.len(), 1, "a click never decides");
    window.page.end().await;
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
        let window = WindowStage::open_on(desktop, writing_stage().await).await;
        let asked = window.ask(json!({})).await;
        let WindowStage { page, stage, .. } = &window;
        select(page, &asked.prompt).await;
        press_until_decided(page, "Approve").await;
        stage.wait_status(&asked.run, "done").await;
        assert_eq!(stage.work_file("report.txt"), "ready\n");
        page.press("Settings").await;
        page.press("Notifications").await;
        wait_until("Settings say that notifications don't work", SOON, async || {
            let text = page.text().await.to_lowercase();
            let says = ["not answer", "no notification service", "not work"];
            text.contains("notification") && says.iter().any(|words| text.contains(words))
        })
        .await;
        page.shot(if hangs { "window-notifications-hang" } else { "window-notifications-missing" }).await;
        window.page.end().await;
    }
}
