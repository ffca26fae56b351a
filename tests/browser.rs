//! The main job in a real browser against `sayso serve`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use sayso_tests::decide::{REASON_FIELD, press_until_decided, select};
use sayso_tests::stage::Stage;
use sayso_tests::webdriver::Session;
use serde_json::json;

const REASON: &str = "over budget";

/// Opens the inbox through the one-time link that `sayso open` prints.
async fn browser(stage: &Stage) -> Session {
    let link = stage.sayso.run(&["open"]).await.exits(0).stdout.trim().to_owned();
    let page = Session::chromium().await;
    page.goto(&link).await;
    page.wait_text("Inbox").await;
    page
}

#[tokio::test]
#[ignore = "needs Chromium and the built UI: `make test` has them"]
async fn approve_writes_the_file_once_and_deny_keeps_the_reason_home() {
    let stage = Stage::calling("write_file", json!({ "path": "report.txt", "content": "ready\n" })).await;
    let _host = stage.sayso.serve();
    let page = browser(&stage).await;
    stage.add_agent(json!({})).await;

    let run = stage.start_run("write the report").await;
    let prompt = stage.waiting().await["request"]["prompt"].as_str().unwrap().to_owned();
    select(&page, &prompt).await;
    press_until_decided(&page, "Approve").await;
    stage.wait_status(&run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "ready\n");

    std::fs::remove_file(stage.work().join("report.txt")).unwrap();
    let run = stage.start_run("write the report again").await;
    let prompt = stage.waiting().await["request"]["prompt"].as_str().unwrap().to_owned();
    select(&page, &prompt).await;
    page.fill(REASON_FIELD, REASON).await;
    press_until_decided(&page, "Deny").await;
    stage.wait_status(&run, "done").await;
    assert!(!stage.work().join("report.txt").exists());
    let bodies = stage.model.bodies();
    assert!(bodies.last().unwrap().contains(&format!("declined/expired: {prompt}")));
    assert!(bodies.iter().all(|body| !body.contains(REASON)));

    page.press("History").await;
    page.wait_text("Denied").await;
    let history = stage.sayso.json(&["history"]).await.exits(0).values();
    assert_eq!(history.len(), 2);
    assert!(history.iter().all(|decision| decision["surface"] == "browser"), "{history:?}");
    assert_eq!(history[0]["answer"]["reason"], REASON);
    page.end().await;
}

#[tokio::test]
#[ignore = "needs Chromium and the built UI: `make test` has them"]
async fn a_link_opens_the_inbox_once() {
    let stage = Stage::calling("list_files", json!({})).await;
    let _host = stage.sayso.serve();
    let link = stage.sayso.run(&["open"]).await.exits(0).stdout.trim().to_owned();
    let first = Session::chromium().await;
    first.goto(&link).await;
    first.wait_text("Nothing waits for you").await;
    let second = Session::chromium().await;
    second.goto(&link).await;
    second.wait_text("sayso open").await;
    first.end().await;
    second.end().await;
}
