//! Notification services as they are: without buttons, dying, coming back, silent, missing.

use sayso_tests::desktop::Desktop;
use sayso_tests::notifications::{Behaviour, FakeNotifications};
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use serde_json::json;

use crate::stage::Background;

async fn wait_health(app: &Background, ok: bool) {
    wait_until(&format!("notifications work: {ok}"), SOON, async || {
        app.status().await["notifications"]["ok"] == ok
    })
    .await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_service_without_buttons_shows_and_withdraws() {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::without_actions()).await;
    let app = Background::start_on(desktop).await;
    let key = app.ask("Plant <b>a tree</b>?").await;
    let shown = notifications.wait_for("Plant <b>a tree</b>?").await;
    assert_eq!(shown.actions, []);
    app.deny(&key).await;
    notifications.wait_withdrawn(shown.id).await;
    assert_eq!(notifications.shown().len(), 1);
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_service_that_dies_and_comes_back_shows_what_waits_under_new_names() {
    let desktop = Desktop::start().await;
    let first = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    let app = Background::start_on(desktop).await;
    let (gone, kept) = (app.ask("Cut a tree?").await, app.ask("Plant a tree?").await);
    let before = first.wait_for("Plant").await;
    drop(first);
    app.deny(&gone).await;
    let second = FakeNotifications::start(&app.desktop.bus, Behaviour::with_actions()).await;
    let after = second.wait_for("Plant").await;
    // The number is another one's now; the name of the button means nothing any more.
    second.press(after.id, before.button("Approve").unwrap()).await;
    let barrier = app.ask("Water a tree?").await;
    second.decide(&second.wait_for("Water").await, "Deny").await;
    app.decided(&barrier, "declined").await;
    assert_eq!(app.state(&kept).await, "pending");
    assert!(second.shown().iter().all(|shown| !shown.body.contains("Cut")), "no ghost");
    wait_health(&app, true).await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_service_that_never_answers_or_is_missing_stops_no_decision_and_one_that_appears_is_found() {
    let desktop = Desktop::start().await;
    let silent = FakeNotifications::start(&desktop.bus, Behaviour::hanging()).await;
    let app = Background::start_on(desktop).await;
    let key = app.ask("Plant a tree?").await;
    wait_health(&app, false).await;
    app.deny(&key).await;
    app.decided(&key, "declined").await;
    drop(silent);
    let key = app.ask("Water a tree?").await;
    assert_eq!(app.status().await["notifications"]["ok"], false);
    let service = FakeNotifications::start(&app.desktop.bus, Behaviour::with_actions()).await;
    let shown = service.wait_for("Water").await;
    wait_health(&app, true).await;
    service.decide(&shown, "Approve").await;
    app.decided(&key, "approved").await;
    assert_eq!(service.shown().len(), 1, "what was settled meanwhile is not shown");
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn an_app_that_was_killed_puts_new_ones_in_the_place_of_its_old_ones() {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    let mut app = Background::start_on(desktop).await;
    let key = app.ask("Plant a tree?").await;
    let before = notifications.wait_for("Plant").await;
    let file = "notifications.json";
    wait_until("what is shown is remembered", SOON, async || {
        let run = app.desktop.home().join("run");
        let folders = std::fs::read_dir(run).unwrap().flatten();
        folders
            .map(|folder| folder.path().join(file))
            .any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(&key)))
    })
    .await;
    app.kill_and_start(|_| {}).await;
    wait_until("it is raised anew", SOON, async || notifications.shown().len() == 2).await;
    let after = notifications.wait_for("Plant").await;
    assert_eq!((after.id, after.replaces), (before.id, before.id));
    notifications.press(after.id, before.button("Approve").unwrap()).await;
    app.set(json!({ "sound": false })).await;
    let barrier = app.ask("Water a tree?").await;
    let shown = notifications.wait_for("Water").await;
    notifications.decide(&shown, "Deny").await;
    app.decided(&barrier, "declined").await;
    assert_eq!(app.state(&key).await, "pending", "a name of before the crash means nothing");
}
