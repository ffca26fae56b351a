//! When notifications are raised: not while they are held back, not all of a flood, once more before a deadline.

use std::time::{Duration, Instant};

use sayso_tests::desktop::Desktop;
use sayso_tests::notifications::{Behaviour, FakeNotifications};
use sayso_tests::wait::SOON;
use sayso_tests::{wait_until, wait_value};
use serde_json::json;

use crate::stage::Background;

async fn notified() -> (Background, FakeNotifications) {
    let desktop = Desktop::start().await;
    let notifications = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
    (Background::start_on(desktop).await, notifications)
}

fn titles(notifications: &FakeNotifications) -> Vec<String> {
    notifications.shown().into_iter().map(|shown| shown.summary).collect()
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn while_paused_nothing_is_raised_and_after_it_each_or_one_for_many() {
    let (app, notifications) = notified().await;
    let pause = json!({ "paused_until": "2099-01-01T00:00:00Z" });
    app.set(pause.clone()).await;
    let quiet = async || app.status().await["quiet"].as_str().map(str::to_owned);
    wait_until("it is said", SOON, async || {
        quiet().await.is_some_and(|quiet| quiet.starts_with("paused until 2099-01-01"))
    })
    .await;
    let keys = [app.ask("One?").await, app.ask("Two?").await];
    assert_eq!(app.status().await["waiting"], 2, "the count still moves");
    app.set(json!({ "paused_until": null })).await;
    wait_until("each is raised", SOON, async || titles(&notifications).len() == 2).await;
    assert_eq!(quiet().await, None);

    app.set(pause).await;
    wait_until("it is said", SOON, async || quiet().await.is_some()).await;
    let mut more = Vec::new();
    for n in 0..5 {
        more.push(app.ask(&format!("Number {n}?")).await);
    }
    app.deny(&keys[0]).await;
    app.deny(&more[0]).await;
    app.set(json!({ "paused_until": null })).await;
    let summary = notifications.wait_for("4 more requests wait").await;
    assert_eq!((titles(&notifications).len(), summary.labels()), (3, vec!["Open"]));
    for key in &more[1..] {
        app.deny(key).await;
    }
    notifications.wait_withdrawn(summary.id).await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn in_quiet_hours_and_when_switched_off_nothing_is_raised() {
    let (app, notifications) = notified().await;
    let shown = app.ask("One?").await;
    let first = notifications.wait_for("One?").await;
    // Every minute of the day but one: whichever it is now, one of the two is quiet.
    for hours in [("00:00", "23:59"), ("12:00", "11:59")] {
        app.set(json!({ "quiet_hours": { "from": hours.0, "to": hours.1 } })).await;
        if app_is_quiet(&app).await {
            break;
        }
    }
    app.ask("Two?").await;
    app.set(json!({ "notifications": false })).await;
    notifications.wait_withdrawn(first.id).await;
    app.deny(&shown).await;
    app.set(json!({ "quiet_hours": null })).await;
    app.ask("Three?").await;
    assert_eq!(titles(&notifications).len(), 1, "all of them were switched off or held back");
    app.set(json!({ "notifications": true })).await;
    wait_until("what waits is raised", SOON, async || titles(&notifications).len() == 3).await;
}

async fn app_is_quiet(app: &Background) -> bool {
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(5) {
        if app.status().await["quiet"].is_string() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_flood_raises_a_few_and_one_for_the_rest() {
    let (app, notifications) = notified().await;
    let prompts: Vec<_> = (0..16).map(|n| format!("Number {n}?")).collect();
    let asked = futures_util::future::join_all(prompts.iter().map(|prompt| app.ask(prompt))).await;
    notifications.wait_for("11 more requests wait").await;
    let (many, single): (Vec<_>, Vec<_>) =
        notifications.shown().into_iter().partition(|shown| shown.summary.contains("more request"));
    assert_eq!(single.len(), 5);
    assert!(many.iter().all(|shown| shown.id == many[0].id), "one, whose number is set right: {many:?}");
    assert!(many[1..].iter().all(|shown| shown.hints.contains_key("suppress-sound")));
    notifications.decide(&many[0], "Open").await;
    app.wait_window().await;
    assert_eq!(app.status().await["waiting"], asked.len());
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn before_a_deadline_one_more_takes_the_place_of_the_first() {
    let (app, notifications) = notified().await;
    app.set(json!({ "reminder_minutes": 1, "sound": false })).await;
    // The notifier hears of settings a moment after they are kept.
    for n in 0.. {
        let text = format!("Water tree {n}?");
        let key = app.ask(&text).await;
        let shown = notifications.wait_for(&text).await;
        app.deny(&key).await;
        notifications.wait_withdrawn(shown.id).await;
        if shown.hints.contains_key("suppress-sound") {
            break;
        }
        assert!(n < 3, "the settings are not in force");
    }
    let others = notifications.shown().len();
    let key = app.ask_with("Plant a tree?", &["--expires", "70s"]).await;
    let first = notifications.wait_for("Plant").await;
    let reminder = notifications.wait_for("1 minute left").await;
    assert_eq!((reminder.id, reminder.replaces), (first.id, first.id));
    assert!(reminder.hints.contains_key("suppress-sound") && first.hints.contains_key("suppress-sound"));
    assert_ne!(first.button("Approve"), reminder.button("Approve"));
    notifications.decide(&reminder, "Approve").await;
    assert_eq!(app.decided(&key, "approved").await, "notification");
    assert_eq!(notifications.shown().len(), others + 2);
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn what_was_put_off_is_raised_when_its_time_has_come() {
    let (mut app, notifications) = notified().await;
    let key = app.ask("Plant a tree?").await;
    let before = notifications.wait_for("Plant").await;
    app.wait_remembered(&key).await;
    let now = || i64::try_from(std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis()).unwrap();
    let mut until = 0;
    app.kill_and_start(|sayso| {
        until = now() + 6000;
        let database = rusqlite::Connection::open(sayso.data_dir().join("sayso.db")).unwrap();
        let put_off = "UPDATE requests SET snoozed_until = ?1 WHERE key = ?2";
        assert_eq!(database.execute(put_off, (until, &key)).unwrap(), 1);
    })
    .await;
    notifications.wait_withdrawn(before.id).await;
    let outline = app.rpc.call("inbox.outline", json!({ "newest": 5 })).await.unwrap();
    assert!(outline == json!([]) || now() >= until, "{outline}");
    let after = wait_value("it is raised again", SOON, async || notifications.shown().get(1).cloned()).await;
    assert!(now() >= until, "not before its time");
    notifications.decide(&after, "Approve").await;
    app.decided(&key, "approved").await;
}
