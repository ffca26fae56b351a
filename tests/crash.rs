//! `kill -9` of the host at every place where something could get lost or happen twice. The tool under test appends a
//! line to a file, and the file is the judge.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;
use std::time::Duration;

use sayso_tests::random::{Random, is_soak};
use sayso_tests::stage::{Stage, count_lines};
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use serde_json::{Value, json};

const LINE: &str = "happened";

async fn stage(command: &str) -> Stage {
    Stage::calling("shell", json!({ "command": command })).await
}

fn effects(stage: &Stage) -> usize {
    count_lines(&stage.work().join("effect.txt"), LINE)
}

fn key(request: &Value) -> &str {
    request["key"].as_str().expect("a key")
}

fn prompt(request: &Value) -> &str {
    request["request"]["prompt"].as_str().expect("a prompt")
}

/// A host that stands still at `point`, and the file that says that it does.
fn paused(stage: &Stage, point: &str) -> (sayso_tests::sayso::Sayso, PathBuf) {
    let mark = stage.path("paused");
    let sayso = stage.sayso.clone().env("SAYSO_PAUSE_AT", point).env("SAYSO_PAUSED", mark.to_str().unwrap());
    (sayso, mark)
}

async fn wait_file(file: &std::path::Path) {
    wait_until(&format!("{} is there", file.display()), SOON, async || file.exists()).await;
}

/// The model was asked once with no result in the transcript: a resume never asks again for the same turn.
fn first_turns(stage: &Stage) -> usize {
    let without_result =
        |messages: &Value| messages.as_array().unwrap().iter().all(|message| message["role"] != "tool");
    stage.model.captured().iter().filter(|request| without_result(&request.json["messages"])).count()
}

async fn finish(stage: &Stage, run: &str, effect_count: usize) {
    stage.wait_status(run, "done").await;
    assert_eq!(effects(stage), effect_count);
    assert_eq!(stage.list().await.len(), 0);
    stage.model.assert_balanced();
    stage.sayso.run(&["history", "verify"]).await.exits(0);
}

#[tokio::test]
async fn killed_between_commit_and_announcement_the_request_is_there_once() {
    let stage = stage("echo happened >> effect.txt").await;
    let (held, mark) = paused(&stage, "asked");
    let host = held.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("append a line").await;
    wait_file(&mark).await;
    host.kill();

    let _host = stage.sayso.serve();
    let request = stage.waiting().await;
    stage.sayso.run(&["approve", key(&request)]).await.exits(0);
    finish(&stage, &run, 1).await;
    assert_eq!(first_turns(&stage), 1);
}

#[tokio::test]
async fn killed_while_waiting_the_request_still_waits() {
    let stage = stage("echo happened >> effect.txt").await;
    let host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("append a line").await;
    let before = stage.waiting().await;
    host.kill();

    let _host = stage.sayso.serve();
    let after = stage.waiting().await;
    assert_eq!(before, after);
    stage.sayso.run(&["approve", key(&after)]).await.exits(0);
    finish(&stage, &run, 1).await;
    assert_eq!(first_turns(&stage), 1);
}

#[tokio::test]
async fn killed_between_decision_and_delivery_the_decision_stands() {
    for (decision, effect_count) in [("approve", 1), ("deny", 0)] {
        let stage = stage("echo happened >> effect.txt").await;
        let (held, mark) = paused(&stage, "decided");
        let host = held.serve();
        stage.add_agent(json!({})).await;
        let run = stage.start_run("append a line").await;
        let request = stage.waiting().await;
        stage.sayso.run(&[decision, key(&request)]).await.exits(0);
        wait_file(&mark).await;
        assert_eq!(effects(&stage), 0);
        host.kill();

        let _host = stage.sayso.serve();
        finish(&stage, &run, effect_count).await;
        stage.sayso.run(&["approve", key(&request)]).await.exits(5);
        assert_eq!(effects(&stage), effect_count);
    }
}

#[tokio::test]
async fn killed_while_the_tool_runs_the_person_is_asked_before_it_runs_again() {
    for (decision, effect_count) in [("deny", 1), ("approve", 2)] {
        let command = "echo happened >> effect.txt; test -e started || { touch started; sleep 600; }";
        let stage = stage(command).await;
        let host = stage.sayso.serve();
        stage.add_agent(json!({})).await;
        let run = stage.start_run("append a line").await;
        let request = stage.waiting().await;
        stage.sayso.run(&["approve", key(&request)]).await.exits(0);
        wait_file(&stage.work().join("started")).await;
        host.kill();

        let _host = stage.sayso.serve();
        let again = stage.waiting().await;
        assert_ne!(key(&again), key(&request));
        assert!(prompt(&again).contains("may already have happened"), "{again}");
        assert_eq!(effects(&stage), 1);
        stage.sayso.run(&[decision, key(&again)]).await.exits(0);
        finish(&stage, &run, effect_count).await;
        let last = stage.model.bodies().pop().unwrap();
        assert_eq!(last.contains("outcome of this call is unknown"), decision == "deny", "{last}");
    }
}

#[tokio::test]
async fn killed_while_an_edited_call_runs_it_is_asked_about_and_runs_again_as_edited() {
    let stage = stage("echo theirs >> effect.txt").await;
    let host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("append a line").await;
    let request = stage.waiting().await;
    let command = "echo happened >> effect.txt; test -e started || { touch started; sleep 600; }";
    let edited = json!({ "arguments": { "command": command } });
    stage.sayso.run(&["approve", key(&request), "--data", &edited.to_string()]).await.exits(0);
    wait_file(&stage.work().join("started")).await;
    host.kill();

    let _host = stage.sayso.serve();
    let again = stage.waiting().await;
    assert!(prompt(&again).contains("may already have happened"), "{again}");
    let shown = stage.sayso.json(&["show", key(&again)]).await.exits(0).value();
    assert_eq!((&shown["arguments"]["command"], &shown["editable"]), (&json!(command), &json!(null)));
    // It may have happened just so: nobody makes something else of it now.
    let more = json!({ "arguments": { "command": "echo else >> effect.txt" } });
    stage.sayso.run(&["approve", key(&again), "--data", &more.to_string()]).await.exits(1);
    stage.sayso.run(&["approve", key(&again)]).await.exits(0);
    finish(&stage, &run, 2).await;
    assert_eq!(stage.work_file("effect.txt"), "happened\nhappened\n");
    let last = stage.model.bodies().pop().unwrap();
    assert!(last.contains("A person edited this call before approving it."), "{last}");
}

#[tokio::test]
async fn killed_after_the_tool_and_before_the_model_nothing_runs_again() {
    let stage = stage("echo happened >> effect.txt").await;
    let (held, mark) = paused(&stage, "tool_finished");
    let host = held.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("append a line").await;
    let request = stage.waiting().await;
    stage.sayso.run(&["approve", key(&request)]).await.exits(0);
    wait_file(&mark).await;
    host.kill();

    let _host = stage.sayso.serve();
    finish(&stage, &run, 1).await;
    assert_eq!(first_turns(&stage), 1);
}

#[tokio::test]
async fn killed_at_random_moments_nothing_is_lost_and_nothing_happens_twice() {
    let rounds = if is_soak() { 200 } else { 20 };
    let mut random = Random::seeded();
    for round in 0..rounds {
        let stage = stage("echo happened >> effect.txt; sleep 0.1").await;
        let mut host = stage.sayso.serve();
        stage.add_agent(json!({})).await;
        let run = stage.start_run("append a line").await;
        let kill_after = Duration::from_millis(random.below(600));
        let _ = tokio::time::timeout(kill_after, async {
            loop {
                answer_all(&stage).await;
            }
        })
        .await;
        host.kill();
        host = stage.sayso.serve();
        wait_until(&format!("round {round} (seed {}): the run ends", random.seed), SOON, async || {
            answer_all(&stage).await;
            stage.run_status(&run).await == "done"
        })
        .await;
        let history = stage.sayso.json(&["history"]).await.exits(0).values();
        let approvals = history.iter().filter(|decision| decision["outcome"] == "approved").count();
        assert_eq!(approvals, 1, "round {round} (seed {}): {history:?}", random.seed);
        let count = effects(&stage);
        let asked = history.iter().any(|decision| decision["outcome"] == "declined");
        assert!(count == 1 || (asked && count == 0), "round {round} (seed {}): {count} effects", random.seed);
        // A model call that was cut by the kill may be repeated, never one whose reply was stored.
        assert!((1..=2).contains(&first_turns(&stage)), "round {round} (seed {})", random.seed);
        stage.model.assert_balanced();
        stage.sayso.run(&["history", "verify"]).await.exits(0);
        host.kill();
    }
}

/// Approves what waits. A second try needs a person's word, and here that word is no: so the effect is there once at
/// most. The host may be killed meanwhile, so that a command fails.
async fn answer_all(stage: &Stage) {
    for request in stage.sayso.json(&["list"]).await.values() {
        let is_second_try = prompt(&request).contains("may already have happened");
        let decision = if is_second_try { "deny" } else { "approve" };
        stage.sayso.run(&[decision, key(&request)]).await;
    }
}
