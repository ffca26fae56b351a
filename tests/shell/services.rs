//! Notification services as they are: without buttons, dying, coming back, silent, missing.

use sayso_tests::bus::PrivateBus;
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
    app.wait_remembered(&key).await;
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

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_service_that_answers_and_obeys_only_whoever_raised_a_notification_is_heard_and_a_forged_press_is_not()
 {
    let desktop = Desktop::start().await;
    let service = FakeNotifications::start(&desktop.bus, Behaviour::loyal()).await;
    let app = Background::start_on(desktop).await;
    let (yes, no, kept) =
        (app.ask("Plant a tree?").await, app.ask("Cut a tree?").await, app.ask("Paint a tree?").await);
    let [plant, cut] = [service.wait_for("Plant").await, service.wait_for("Cut").await];
    let paint = service.wait_for("Paint").await;
    service.decide(&plant, "Approve").await;
    assert_eq!(app.decided(&yes, "approved").await, "notification");
    // Its buttons are old enough by now; what raised it is told by a stranger that they were pressed.
    for (key, _) in &paint.actions {
        FakeNotifications::forge_press_to(&app.desktop.bus, Some(&paint.sender), paint.id, key).await;
    }
    service.decide(&cut, "Deny").await;
    assert_eq!(app.decided(&no, "declined").await, "notification");
    assert_eq!(app.state(&kept).await, "pending", "a forged press decides nothing");
    assert!(!app.has_window());

    // What may be said has changed: nothing of before stays on the screen.
    app.set(json!({ "private": true })).await;
    service.wait_withdrawn(paint.id).await;
    let hidden = service.wait_for("A request waits").await;
    app.set(json!({ "private": false })).await;
    service.wait_withdrawn(hidden.id).await;
    wait_until("it is said again", SOON, async || service.wait_for("Paint").await.id > hidden.id).await;
    let shown = service.wait_for("Paint").await;
    app.deny(&kept).await;
    service.wait_withdrawn(shown.id).await;
    wait_health(&app, true).await;
    assert_eq!(service.shown().len(), 5, "each was raised once, and one anew twice");
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_notification_that_is_gone_leaves_no_connection_and_no_thread() {
    let desktop = Desktop::start().await;
    let service = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    let app = Background::start_on(desktop).await;
    let bus = app.desktop.bus.connect().await;
    let bus = zbus::fdo::DBusProxy::new(&bus).await.unwrap();
    let pid = app.app.pid();
    // The workers of the app's own runtime come and go with other work.
    let threads = || {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("comm")).ok());
        names.filter(|name| name.trim() != "tokio-rt-worker").count()
    };
    let mut before = None;
    for n in 0..5 {
        let text = format!("Plant tree {n}?");
        let key = app.ask(&text).await;
        let shown = service.wait_for(&text).await;
        app.deny(&key).await;
        service.wait_withdrawn(shown.id).await;
        wait_until("what raised it has left the bus", SOON, async || {
            bus.list_names().await.unwrap().iter().all(|name| name.as_str() != shown.sender)
        })
        .await;
        before.get_or_insert_with(threads);
    }
    // The app may still have been starting at first; each of the four would have left one.
    wait_until("no threads of theirs are left", SOON, async || threads() < before.unwrap() + 4).await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn on_a_bus_that_lets_nobody_listen_in_what_a_service_says_to_everybody_is_heard_and_nothing_else() {
    let mut desktop = Desktop::start().await;
    desktop.bus = PrivateBus::start_discreet();
    let service = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    let app = Background::start_on(desktop).await;
    let (yes, kept) = (app.ask("Plant a tree?").await, app.ask("Cut a tree?").await);
    let [plant, cut] = [service.wait_for("Plant").await, service.wait_for("Cut").await];
    service.decide(&plant, "Approve").await;
    assert_eq!(app.decided(&yes, "approved").await, "notification");
    for to in [None, Some(cut.sender.as_str())] {
        for (key, _) in &cut.actions {
            FakeNotifications::forge_press_to(&app.desktop.bus, to, cut.id, key).await;
        }
    }
    let barrier = app.ask("Water a tree?").await;
    service.decide(&service.wait_for("Water").await, "Deny").await;
    app.decided(&barrier, "declined").await;
    assert_eq!(app.state(&kept).await, "pending");
    drop(service);

    // One that speaks to nobody but what raised a notification is shown and withdrawn; its presses are not heard.
    let loyal = FakeNotifications::start(&app.desktop.bus, Behaviour::loyal()).await;
    let shown = loyal.wait_for("Cut").await;
    loyal.decide(&shown, "Approve").await;
    assert_eq!(app.state(&kept).await, "pending");
    app.deny(&kept).await;
    loyal.wait_withdrawn(shown.id).await;
}
