//! Deciding in a notification.

use sayso_tests::desktop::Desktop;
use sayso_tests::notifications::{Behaviour, FakeNotifications, Notified};
use sayso_tests::screen_saver::ScreenSaver;
use sayso_tests::wait::SOON;
use sayso_tests::{wait_until, wait_value};
use serde_json::json;

use crate::stage::Background;

async fn notified(behaviour: Behaviour) -> (Background, FakeNotifications) {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, behaviour).await;
    (Background::start_on(desktop).await, notifications)
}

/// Waits until the newest notification in this place is like that.
async fn wait_in_place(
    notifications: &FakeNotifications,
    id: u32,
    like: impl Fn(&Notified) -> bool,
) -> Notified {
    wait_value("the notification is replaced", SOON, async || {
        notifications.shown().into_iter().rev().find(|shown| shown.id == id).filter(|shown| like(shown))
    })
    .await
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn approve_and_deny_in_a_notification_decide_what_it_shows() {
    let (app, notifications) = notified(Behaviour::with_actions()).await;
    let (yes, no) = (app.ask("Plant <b>a tree</b> & water it?").await, app.ask("Cut a tree?").await);
    let shown = notifications.wait_for("Plant").await;
    assert!(shown.body.starts_with("Plant &lt;b&gt;a tree&lt;/b&gt; &amp; water it?"), "{shown:?}");
    assert_eq!(shown.labels(), ["Approve", "Deny", "Open"]);
    assert!(shown.hints.contains_key("sound-name"), "{shown:?}");
    notifications.decide(&shown, "Approve").await;
    assert_eq!(app.decided(&yes, "approved").await, "notification");
    let shown = notifications.wait_for("Cut").await;
    notifications.decide(&shown, "Deny").await;
    assert_eq!(app.decided(&no, "declined").await, "notification");
    assert_eq!(notifications.shown().len(), 2, "each was raised once");
    assert!(!app.has_window());
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_press_that_another_program_forges_decides_nothing() {
    let (app, notifications) = notified(Behaviour::with_actions()).await;
    let (spared, other) = (app.ask("Plant a tree?").await, app.ask("Cut a tree?").await);
    let shown = notifications.wait_for("Plant").await;
    // The other one's buttons can be pressed by now, so that it is not its newness that protects.
    let last = notifications.wait_for("Cut").await;
    notifications.decide(&last, "Open").await;
    app.wait_window().await;
    for id in 0..20 {
        for (key, _) in &shown.actions {
            for to in [None, Some(shown.sender.as_str())] {
                FakeNotifications::forge_press_to(&app.desktop.bus, to, id, key).await;
            }
        }
    }
    // A press by the service comes after all of those, and is heard.
    let ask = app.ask("Water a tree?").await;
    let shown = notifications.wait_for("Water").await;
    notifications.decide(&shown, "Deny").await;
    app.decided(&ask, "declined").await;
    assert_eq!([app.state(&spared).await, app.state(&other).await], ["pending", "pending"]);
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_key_that_is_not_this_notifications_own_decides_nothing() {
    let (app, notifications) = notified(Behaviour::with_actions()).await;
    let (first, second) = (app.ask("Plant a tree?").await, app.ask("Cut a tree?").await);
    let (one, two) = (notifications.wait_for("Plant").await, notifications.wait_for("Cut").await);
    let mut keys: Vec<_> = one.actions.iter().chain(&two.actions).map(|(key, _)| key.clone()).collect();
    assert!(keys.iter().filter(|key| *key != "default").all(|key| key.len() > 32), "{keys:?}");
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 7, "each is called otherwise, and one is the body's own");
    let of_the_other = one.button("Approve").unwrap();
    for key in [of_the_other, "approve", "Approve", "yes", ""] {
        notifications.press(two.id, key).await;
    }
    let ask = app.ask("Water a tree?").await;
    notifications.decide(&notifications.wait_for("Water").await, "Approve").await;
    app.decided(&ask, "approved").await;
    assert_eq!([app.state(&first).await, app.state(&second).await], ["pending", "pending"]);
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn what_needs_care_data_or_reading_has_no_approve_button() {
    let (app, notifications) = notified(Behaviour::with_actions()).await;
    app.ask_high_risk("Tidy up?").await;
    let labels = async |text: &str| {
        let shown = notifications.wait_for(text).await;
        shown.labels().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(labels("Tidy up?").await, ["Open"]);
    app.ask_with("Which colour?", &["--option", "Red", "--option", "Blue"]).await;
    assert_eq!(labels("Which colour?").await, ["Open"]);
    app.ask_with("Sign in?", &["--kind", "authorization", "--url", "https://example.org/in"]).await;
    assert_eq!(labels("Sign in?").await, ["Open"]);
    let long = json!({ "tool": "note", "arguments": { "text": "x".repeat(400) } });
    app.ask_with("Keep a note?", &["--data", &long.to_string()]).await;
    assert_eq!(labels("Keep a note?").await, ["Deny", "Open"]);
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_click_right_after_a_notification_came_up_decides_nothing() {
    let (app, notifications) = notified(Behaviour::with_actions()).await;
    let key = app.ask("Plant a tree?").await;
    let shown = notifications.wait_for("Plant").await;
    notifications.press(shown.id, shown.button("Approve").unwrap()).await;
    wait_until("it is shown anew", SOON, async || notifications.shown().len() == 2).await;
    let again = notifications.wait_for("Plant").await;
    assert_ne!(again.button("Approve"), shown.button("Approve"), "the old name means nothing now");
    assert_eq!(app.state(&key).await, "pending");
    notifications.decide(&again, "Approve").await;
    app.decided(&key, "approved").await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn in_private_and_while_the_screen_is_locked_nothing_is_said_and_nothing_offered() {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    let saver = ScreenSaver::start(&desktop.bus).await;
    let app = Background::start_on(desktop).await;
    let key = app.ask("Plant a tree?").await;
    let open = notifications.wait_for("Plant").await;
    let is_closed = |shown: &Notified| {
        (shown.summary.as_str(), shown.body.as_str()) == ("A request waits", "") && shown.labels() == ["Open"]
    };
    let is_open = |shown: &Notified| shown.body.starts_with("Plant") && shown.button("Approve").is_some();

    app.set(json!({ "private": true })).await;
    let closed = wait_in_place(&notifications, open.id, is_closed).await;
    assert_eq!(closed.replaces, open.id);
    assert!(closed.hints.contains_key("suppress-sound"), "{closed:?}");
    app.set(json!({ "private": false })).await;
    let open = wait_in_place(&notifications, open.id, is_open).await;

    saver.set(true).await;
    wait_in_place(&notifications, open.id, is_closed).await;
    ScreenSaver::forge(&app.desktop.bus, false).await;
    notifications.decide(&open, "Approve").await;
    let late = app.ask("Water a tree?").await;
    let shown = wait_value("the new one is shown", SOON, async || {
        notifications.shown().into_iter().rev().find(|shown| shown.id != open.id)
    });
    assert!(is_closed(&shown.await), "a claim of others unlocks nothing");
    assert_eq!([app.state(&key).await, app.state(&late).await], ["pending", "pending"]);
    saver.set(false).await;
    let shown = notifications.wait_for("Water").await;
    notifications.decide(&shown, "Approve").await;
    app.decided(&late, "approved").await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_click_that_comes_late_opens_history_and_decides_nothing() {
    let (app, notifications) = notified(Behaviour::sticky()).await;
    let key = app.ask("Plant a tree?").await;
    let shown = notifications.wait_for("Plant").await;
    app.deny(&key).await;
    notifications.wait_withdrawn(shown.id).await;
    assert!(!app.has_window());
    notifications.decide(&shown, "Approve").await;
    app.wait_window().await;
    assert_eq!(app.decided(&key, "declined").await, "cli");
}
