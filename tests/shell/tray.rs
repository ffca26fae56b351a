//! Deciding in the tray, and what else its menu does.

use std::time::Duration;

use sayso_tests::desktop::Desktop;
use sayso_tests::tray::{MenuEntry, TrayItem, TrayWatcher};
use sayso_tests::wait::SOON;
use sayso_tests::{wait_until, wait_value};
use serde_json::json;

use crate::stage::Background;

/// The app takes no decision right after the menu changed.
const GUARD: Duration = Duration::from_millis(900);

async fn in_tray() -> (Background, TrayWatcher, TrayItem) {
    let desktop = Desktop::start().await;
    let watcher = TrayWatcher::start(&desktop.bus).await;
    let app = Background::start_on(desktop).await;
    let item = watcher.item().await;
    (app, watcher, item)
}

/// Waits for the entry of a request, and reads what is below it.
async fn entry(item: &TrayItem, label: &str) -> MenuEntry {
    wait_value(&format!("the menu has {label:?}"), SOON, async || {
        item.menu().await.into_iter().find(|entry| entry.label.contains(label) && !entry.children.is_empty())
    })
    .await
}

/// Presses what is below a request's entry until something comes of it: the first press may come too soon.
async fn press(app: &Background, item: &TrayItem, (label, action): (&str, &str), key: &str, outcome: &str) {
    wait_until(&format!("{action} on {label:?} makes it {outcome}"), SOON, async || {
        if app.state(key).await == "pending"
            && let Some(id) = entry(item, label).await.child(action)
        {
            item.press_id(id).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        app.state(key).await == outcome
    })
    .await;
    assert_eq!(app.decided(key, outcome).await, "tray");
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn the_tray_has_the_newest_requests_and_decides_the_one_whose_label_it_shows() {
    let (app, _watcher, item) = in_tray().await;
    let mut keys = Vec::new();
    for n in 0..7 {
        keys.push(app.ask(&format!("Plant tree {n} && water_it?")).await);
    }
    let newest = entry(&item, "Plant tree 6 && water_it?").await;
    assert_eq!(&newest.labels()[newest.labels().len() - 3..], ["Approve", "Deny", "Open"]);
    assert!(newest.labels().contains(&"Plant tree 6 && water_it?"), "{newest:?}");
    let requests: Vec<_> =
        item.menu().await.into_iter().filter(|entry| entry.label.contains("Plant tree")).collect();
    let numbers: Vec<_> = requests
        .iter()
        .filter_map(|entry| entry.label.split(" ").collect::<Vec<_>>().into_iter().rev().nth(2))
        .collect();
    assert_eq!(numbers, ["6", "5", "4", "3", "2"], "{requests:#?}");
    press(&app, &item, ("Plant tree 4", "Approve"), &keys[4], "approved").await;
    press(&app, &item, ("Plant tree 6", "Deny"), &keys[6], "declined").await;
    entry(&item, "Plant tree 0").await;
    let pending = app.rpc.call("inbox.outline", json!({})).await.unwrap();
    assert_eq!(pending.as_array().unwrap().len(), 5, "{pending}");
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_press_on_an_entry_of_an_older_menu_or_too_soon_decides_nothing() {
    let (app, _watcher, item) = in_tray().await;
    let first = app.ask("Plant a tree?").await;
    let old = entry(&item, "Plant a tree?").await;
    let ids: Vec<_> = ["Approve", "Deny"].into_iter().filter_map(|label| old.child(label)).collect();
    assert_eq!(ids.len(), 2);
    let second = app.ask("Cut a tree?").await;
    let new = entry(&item, "Cut a tree?").await;
    item.press_id(new.child("Approve").unwrap()).await;
    tokio::time::sleep(GUARD).await;
    for id in &ids {
        assert!(!item.press_id(*id).await, "the old entry is gone");
    }
    assert!(ids.iter().all(|id| new.child("Approve") != Some(*id) && new.child("Deny") != Some(*id)));
    let third = app.ask("Water a tree?").await;
    press(&app, &item, ("Water a tree?", "Deny"), &third, "declined").await;
    assert_eq!([app.state(&first).await, app.state(&second).await], ["pending", "pending"]);
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn what_needs_care_data_or_reading_cannot_be_approved_in_the_tray() {
    let (app, _watcher, item) = in_tray().await;
    let key = app.ask_high_risk("Tidy up?").await;
    let last = async |label: &str| {
        let labels = entry(&item, label).await.labels().into_iter().map(str::to_owned).collect::<Vec<_>>();
        assert!(labels.iter().all(|label| label != "Approve"), "{labels:?}");
        labels[labels.len() - 2..].to_vec()
    };
    assert_eq!(last("rm -rf /").await, ["Deny", "Open"]);
    app.ask_with("Which colour?", &["--option", "Red"]).await;
    assert_eq!(last("Which colour?").await, ["Deny", "Open"]);
    let long = json!({ "tool": "note", "arguments": { "text": "x".repeat(400) } });
    app.ask_with("Keep a note?", &["--data", &long.to_string()]).await;
    assert_eq!(last("{\"text\":").await, ["Deny", "Open"]);
    press(&app, &item, ("rm -rf /", "Deny"), &key, "declined").await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn notifications_are_paused_and_resumed_in_the_tray() {
    let (app, _watcher, item) = in_tray().await;
    entry(&item, "Pause notifications").await;
    for (label, says) in [("For an hour", "paused until "), ("Until tomorrow", "paused until tomorrow 08:00")]
    {
        item.press(label).await;
        wait_until("it is paused", SOON, async || {
            app.status().await["quiet"].as_str().is_some_and(|quiet| quiet.starts_with(says))
        })
        .await;
        let has = async |label: &str| item.labels().await.iter().any(|entry| entry.starts_with(label));
        wait_until("the menu says so", SOON, async || has("Notifications: paused until").await).await;
        item.press("Resume notifications").await;
        wait_until("it goes on", SOON, async || app.status().await["quiet"].is_null()).await;
        wait_until("the menu says so", SOON, async || has("Pause notifications").await).await;
    }
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_run_is_started_from_the_tray_in_the_window() {
    let (app, _watcher, item) = in_tray().await;
    let config = json!({ "name": "a & b", "base_url": "http://127.0.0.1:1/v1", "model": "m" });
    app.rpc.call("agents.save", json!({ "config": config.to_string() })).await.unwrap();
    let start = entry(&item, "Start a run").await;
    assert_eq!(start.labels(), ["a & b"]);
    item.press_id(start.child("a & b").unwrap()).await;
    app.wait_window().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn quitting_asks_first_while_runs_are_at_work() {
    let (mut app, _watcher, item) = in_tray().await;
    app.rpc.call("demo.start", json!({})).await.unwrap();
    wait_until("a run is at work", SOON, async || app.status().await["active_runs"] == 1).await;
    item.press("Quit").await;
    app.wait_window().await;
    assert!(app.app.is_running());
    item.press("Quit").await;
    let status = app.app.wait(SOON).await;
    assert!(status.success(), "{status}");
}
