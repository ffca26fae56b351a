//! The main job with the command line alone: an agent asks, a person answers, the run goes on, History keeps why.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use sayso_tests::stage::Stage;
use serde_json::{Value, json};

const REASON: &str = "over budget";

async fn writing_stage() -> Stage {
    Stage::calling("write_file", json!({ "path": "report.txt", "content": "ready\n" })).await
}

fn key(request: &Value) -> &str {
    request["key"].as_str().expect("a key")
}

#[tokio::test]
async fn approve_writes_the_file_once() {
    let stage = writing_stage().await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("write the report").await;
    let request = stage.waiting().await;
    assert_eq!(request["request"]["kind"], "approval");
    assert_eq!(request["run"], json!(run));
    assert_eq!(stage.work_file("report.txt"), "");
    let decision = stage.sayso.json(&["approve", key(&request)]).await.exits(0).value();
    assert_eq!(decision["outcome"], "approved");
    stage.wait_status(&run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "ready\n");
    let shown = stage.sayso.json(&["runs", "show", &run]).await.exits(0).value();
    assert_eq!(shown["calls"].as_array().unwrap().len(), 1, "{shown}");
    stage.model.assert_balanced();
}

#[tokio::test]
async fn deny_keeps_the_reason_in_history_alone() {
    let stage = writing_stage().await;
    let host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("write the report").await;
    let request = stage.waiting().await;
    let prompt = request["request"]["prompt"].as_str().unwrap().to_owned();
    stage.sayso.json(&["deny", key(&request), "--reason", REASON]).await.exits(0);
    stage.wait_status(&run, "done").await;
    assert!(!stage.work().join("report.txt").exists());

    let bodies = stage.model.bodies();
    assert!(bodies.last().unwrap().contains(&format!("declined/expired: {prompt}")), "{bodies:?}");
    assert!(bodies.iter().all(|body| !body.contains(REASON)), "{bodies:?}");
    let shown = stage.sayso.json(&["runs", "show", &run]).await.exits(0).stdout;
    assert!(!shown.contains(REASON), "{shown}");

    let check = async || {
        let history = stage.sayso.json(&["history"]).await.exits(0).values();
        assert_eq!(history.len(), 1, "{history:?}");
        assert_eq!(history[0]["outcome"], "declined");
        assert_eq!(history[0]["class"], "declined");
        assert_eq!(history[0]["decided_by"], "person");
        assert_eq!(history[0]["surface"], "cli");
        assert_eq!(history[0]["answer"]["ok"], json!(false));
        assert_eq!(history[0]["answer"]["reason"], REASON);
        let verified = stage.sayso.json(&["history", "verify"]).await.exits(0).value();
        assert_eq!(verified["ok"], json!(true));
    };
    check().await;
    host.stop().await;
    // With no host and no network the decision can still be read.
    check().await;
}

#[tokio::test]
async fn a_decision_is_used_once_and_the_second_is_told_who_was_first() {
    let stage = writing_stage().await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("write the report").await;
    let request = stage.waiting().await;
    stage.sayso.run(&["deny", key(&request)]).await.exits(0);
    let late = stage.sayso.json(&["approve", key(&request)]).await.exits(5);
    let error: Value = serde_json::from_str(late.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "already_decided");
    assert!(error["error"]["message"].as_str().unwrap().contains("declined"), "{error}");
    stage.wait_status(&run, "done").await;
    assert!(!stage.work().join("report.txt").exists());
}

#[tokio::test]
async fn a_deadline_that_passes_declines_as_expired_and_a_later_approval_changes_nothing() {
    let stage = writing_stage().await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({ "ask_timeout_seconds": 1 })).await;
    let run = stage.start_run("write the report").await;
    let request = stage.waiting().await;
    assert!(request["request"]["expiresAt"].is_string(), "{request}");
    stage.wait_status(&run, "done").await;
    let late = stage.sayso.run(&["approve", key(&request)]).await.exits(5);
    assert!(late.stderr.contains("expired") || late.stderr.contains("deadline"), "{late:?}");
    assert!(!stage.work().join("report.txt").exists());
    let history = stage.sayso.json(&["history"]).await.exits(0).value();
    assert_eq!(history["outcome"], "expired");
    assert_eq!(history["decided_by"], "deadline");
    assert!(stage.model.bodies().last().unwrap().contains("declined/expired: "));
}

#[tokio::test]
async fn a_stopped_run_cancels_its_requests_and_takes_a_message_to_go_on() {
    let stage = writing_stage().await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("write the report").await;
    let request = stage.waiting().await;
    stage.sayso.run(&["runs", "stop", &run]).await.exits(0);
    stage.wait_status(&run, "interrupted").await;
    stage.sayso.run(&["approve", key(&request)]).await.exits(5);
    let history = stage.sayso.json(&["history"]).await.exits(0).value();
    assert_eq!((&history["outcome"], &history["decided_by"]), (&json!("cancelled"), &json!("stop")));

    stage.sayso.run(&["runs", "tell", &run, "please try again"]).await.exits(0);
    let second = stage.waiting().await;
    assert_ne!(key(&second), key(&request));
    stage.sayso.run(&["approve", key(&second)]).await.exits(0);
    stage.wait_status(&run, "done").await;
    assert_eq!(stage.work_file("report.txt"), "ready\n");
    stage.model.assert_balanced();
}

#[tokio::test]
async fn several_runs_wait_at_once_and_are_answered_in_any_order() {
    let stage = Stage::calling("shell", json!({ "command": "echo happened >> effect.txt" })).await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let mut runs = Vec::new();
    for number in 0..4 {
        runs.push(stage.start_run(&format!("task {number}")).await);
    }
    sayso_tests::wait_until("all four wait", sayso_tests::wait::SOON, async || stage.list().await.len() == 4)
        .await;
    for request in stage.list().await.iter().rev() {
        stage.sayso.run(&["approve", key(request)]).await.exits(0);
    }
    for run in &runs {
        stage.wait_status(run, "done").await;
    }
    assert_eq!(stage.work_file("effect.txt").lines().count(), 4);
}

#[tokio::test]
async fn two_surfaces_race_and_each_time_one_wins() {
    let stage = Stage::calling("shell", json!({ "command": "echo happened >> effect.txt" })).await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let mut approvals = 0;
    for round in 0..50 {
        let run = stage.start_run("append a line").await;
        let request = stage.waiting().await;
        let (yes, no) = (["approve", key(&request)], ["deny", key(&request)]);
        let (approve, deny) = tokio::join!(stage.sayso.json(&yes), stage.sayso.json(&no));
        let (winner, loser) = if approve.code == 0 { (&approve, &deny) } else { (&deny, &approve) };
        assert_eq!((winner.code, loser.code), (0, 5), "round {round}: {winner:?} {loser:?}");
        let first = winner.value()["outcome"].as_str().unwrap().to_owned();
        assert!(loser.stderr.contains(&first), "round {round}: the loser is told who was first: {loser:?}");
        approvals += usize::from(approve.code == 0);
        stage.wait_status(&run, "done").await;
        assert_eq!(stage.work_file("effect.txt").lines().count(), approvals, "round {round}");
    }
}
