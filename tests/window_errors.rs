//! What goes wrong is said in the real window too: what happened, what is safe, what to do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use sayso_tests::decide::{press_until_decided, select};
use sayso_tests::model::{Reply, ScriptedModel, Style};
use sayso_tests::small_disk::SmallDisk;
use sayso_tests::stage::Stage;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use sayso_tests::webdriver::Session;
use sayso_tests::window_stage::{WindowStage, writing_stage};
use serde_json::{Value, json};

/// A folder that a host has used and left.
async fn used_stage() -> Stage {
    let stage = writing_stage().await;
    let host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    host.stop().await;
    stage
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_database_that_cannot_be_used_is_a_page_in_words_and_can_be_tried_again() {
    let mut stage = used_stage().await;
    let file = stage.sayso.data_dir().join("sayso.db");
    let good = std::fs::read(&file).unwrap();
    let mut damaged = good.clone();
    damaged[..1024].fill(0x5a);

    for (bytes, word) in [(newer(&file), "newer"), (damaged, "not begin like a database")] {
        std::fs::write(&file, &bytes).unwrap();
        let window = WindowStage::open(stage).await;
        let page = &window.page;
        page.wait_text(word).await;
        page.shot(&format!("window-start-{}", word.split(' ').next().unwrap())).await;
        assert_eq!(std::fs::read(&file).unwrap(), bytes, "it is left as it is");
        std::fs::write(&file, &good).unwrap();
        page.press("Try again").await;
        page.wait_text("Nothing waits for you").await;
        stage = window.close().await;
    }
}

fn newer(file: &std::path::Path) -> Vec<u8> {
    let copy = tempfile::NamedTempFile::new().unwrap();
    std::fs::copy(file, copy.path()).unwrap();
    let db = rusqlite::Connection::open(copy.path()).unwrap();
    db.pragma_update(None, "journal_mode", "DELETE").unwrap();
    db.pragma_update(None, "user_version", 9999).unwrap();
    drop(db);
    std::fs::read(copy.path()).unwrap()
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_folder_that_another_host_has_is_named() {
    let stage = used_stage().await;
    let host = stage.sayso.serve();
    let window = WindowStage::open(stage).await;
    let page = &window.page;
    page.wait_text("already runs").await;
    page.shot("window-start-in-use").await;
    host.stop().await;
    page.press("Try again").await;
    page.wait_text("Nothing waits for you").await;
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn what_ends_a_run_is_said_where_the_run_is_shown() {
    let model = ScriptedModel::answering(Style::OpenAi, |_| Reply::html("<html>Welcome</html>")).await;
    let stage = Stage::new(model);
    let window = WindowStage::open(stage).await;
    let WindowStage { page, stage, .. } = &window;
    page.wait_text("Nothing waits for you").await;
    for (more, word) in [
        (json!({}), "web page"),
        (json!({ "api_key": "env:SAYSO_TEST_KEY_THAT_IS_NOT_SET" }), "SAYSO_TEST_KEY_THAT_IS_NOT_SET"),
    ] {
        stage.add_agent(more).await;
        let run = stage.start_run("go").await;
        stage.wait_status(&run, "error").await;
        page.press("Inbox").await;
        page.press("Runs").await;
        page.wait_text(word).await;
    }
    page.shot("window-run-error").await;
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_locked_database_keeps_the_decision_open_and_says_so() {
    let stage = writing_stage().await;
    let window = WindowStage::open(stage).await;
    let asked = window.ask(json!({})).await;
    let WindowStage { page, stage, .. } = &window;
    select(page, &asked.prompt).await;
    let other = rusqlite::Connection::open(stage.sayso.data_dir().join("sayso.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    tokio::time::sleep(Duration::from_millis(700)).await;
    page.press("Approve").await;
    page.wait_text("Another program is holding").await;
    page.shot("window-locked").await;
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(stage.list().await.len(), 1);
    press_until_decided(page, "Approve").await;
    stage.wait_status(&asked.run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "ready\n");
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app, and root for a small disk: `make test` has them"]
async fn a_full_disk_keeps_the_decision_open_and_says_so() {
    let stage = writing_stage().await;
    let disk = SmallDisk::mount(&stage.path("disk"), "4m");
    let window = WindowStage::open(stage.with_data_dir(&disk.path().join("data"))).await;
    let asked = window.ask(json!({})).await;
    let WindowStage { page, stage, .. } = &window;
    select(page, &asked.prompt).await;
    disk.fill();
    wait_until("the window says that the disk is full", SOON, async || {
        let _ = tokio::time::timeout(Duration::from_secs(1), page.press("Approve")).await;
        page.text().await.contains("disk is full")
    })
    .await;
    page.shot("window-full").await;
    assert_eq!(stage.list().await.len(), 1, "the request still waits");
    assert_eq!(stage.work_file("report.txt"), "");
    disk.make_room();
    press_until_decided(page, "Approve").await;
    stage.wait_status(&asked.run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "ready\n");
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_folder_that_vanished_is_named_where_a_run_is_started() {
    let window = WindowStage::open(writing_stage().await).await;
    let WindowStage { page, stage, .. } = &window;
    page.wait_text("Nothing waits for you").await;
    stage.add_agent(json!({})).await;
    std::fs::remove_dir_all(stage.work()).unwrap();
    page.press("Runs").await;
    page.press("New run").await;
    page.fill("What it shall do", "write the report").await;
    page.press("Start run").await;
    page.wait_text(stage.work().to_str().unwrap()).await;
    page.shot("window-folder-vanished").await;
    assert_eq!(stage.sayso.json(&["runs"]).await.exits(0).values().len(), 0);
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_call_that_cannot_be_used_is_shown_with_what_the_model_was_told() {
    let stage = Stage::calling("launch_rocket", json!({})).await;
    let window = WindowStage::open(stage).await;
    let WindowStage { page, stage, .. } = &window;
    page.wait_text("Nothing waits for you").await;
    stage.add_agent(json!({})).await;
    let run = stage.start_run("go").await;
    stage.wait_status(&run, "done").await;
    page.press("Runs").await;
    page.wait_text("Unknown tool: launch_rocket").await;
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_prompt_of_one_megabyte_shows_its_cut_takes_no_answer_unread_and_can_be_declined() {
    let question = format!("Shall I go on? {}", "x".repeat(1 << 20));
    let stage =
        Stage::calling("question", json!({ "questions": [{ "question": question, "options": ["yes"] }] }))
            .await;
    let window = WindowStage::open(stage).await;
    let asked = window.ask(json!({})).await;
    let WindowStage { page, stage, .. } = &window;
    select(page, "Shall I go on?").await;
    page.wait_text("Show the rest").await;
    page.shot("window-megabyte").await;
    page.wait_text("Answer waits until you have seen the rest").await;
    press_until_decided(page, "Decline").await;
    stage.wait_status(&asked.run, "done").await;
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn numbers_show_every_digit_on_screen() {
    let arguments: Value =
        serde_json::from_str("{\"command\":\"true\",\"n\":9007199254740993,\"x\":1.10}").unwrap();
    let stage = Stage::calling("shell", arguments).await;
    let window = WindowStage::open(stage).await;
    let asked = window.ask(json!({})).await;
    let page = &window.page;
    select(page, &asked.prompt).await;
    page.wait_text("9007199254740993").await;
    page.wait_text("1.10").await;
    page.shot("window-digits").await;
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn the_demo_runs_with_one_press_and_every_kind_it_asks_can_be_answered() {
    let stage = writing_stage().await;
    let window = WindowStage::open(stage).await;
    let WindowStage { page, stage, .. } = &window;
    page.press("Run the demo").await;
    page.wait_text("Which greeting shall I write?").await;
    page.find("[role=option]").await.click().await.unwrap();
    let option = fantoccini::Locator::XPath("//label[contains(., 'Good day')]");
    page.client.wait().for_element(option).await.unwrap().click().await.unwrap();
    press_until_decided_once(page, stage, "Answer").await;
    for button in ["Approve", "Deny", "Approve"] {
        stage.waiting().await;
        page.press("Inbox").await;
        let waiting = page.find("[role=option]:last-of-type").await;
        waiting.click().await.unwrap();
        press_until_decided_once(page, stage, button).await;
    }
    wait_until("the demo is done", SOON, async || {
        let runs = stage.sayso.json(&["runs"]).await.exits(0).values();
        runs.iter().all(|run| run["status"] == "done")
    })
    .await;
    let outcomes: Vec<_> = stage.sayso.json(&["history"]).await.exits(0).values();
    let outcomes: Vec<_> =
        outcomes.iter().rev().map(|decision| decision["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["answered", "approved", "declined", "approved"]);
    let file = stage.sayso.data_dir().with_file_name("data-demo").join("hello.txt");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "Good day from the Sayso demo.\n");
    page.press("Runs").await;
    page.wait_text("You said no to the first command").await;
    page.shot("window-demo-done").await;
    window.page.end().await;
}

/// Presses `button` until one more decision is in History.
async fn press_until_decided_once(page: &Session, stage: &Stage, button: &str) {
    let decisions = async || stage.sayso.json(&["history"]).await.exits(0).values().len();
    let before = decisions().await;
    wait_until(&format!("{button} decides"), SOON, async || {
        if decisions().await == before {
            let _ = tokio::time::timeout(Duration::from_secs(1), page.press(button)).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        decisions().await > before
    })
    .await;
}
