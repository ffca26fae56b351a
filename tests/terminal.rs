//! The main job with the command line alone: an agent asks, a person answers, the run goes on, History keeps why.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use sayso_tests::stage::Stage;
use sayso_tests::wait::SOON;
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
    sayso_tests::wait_until("all four wait", SOON, async || stage.list().await.len() == 4).await;
    for request in stage.list().await.iter().rev() {
        stage.sayso.run(&["approve", key(request)]).await.exits(0);
    }
    for run in &runs {
        stage.wait_status(run, "done").await;
    }
    assert_eq!(stage.work_file("effect.txt").lines().count(), 4);
}

/// The browser's side of the app, without a browser: a session by the one-time link, then the same calls.
struct Browser {
    client: reqwest::Client,
    url: String,
    token: String,
}

impl Browser {
    async fn open(stage: &Stage, url: &str) -> Self {
        let link = stage.sayso.run(&["open"]).await.exits(0).stdout;
        let code = link.trim().split("code=").nth(1).expect("the link holds a code").to_owned();
        let client = reqwest::Client::builder().timeout(SOON).build().unwrap();
        let session =
            client.post(format!("{url}/session")).json(&json!({ "code": code })).send().await.unwrap();
        let session: Value = session.json().await.unwrap();
        Self { client, url: url.to_owned(), token: session["token"].as_str().unwrap().to_owned() }
    }

    async fn call(&self, command: &str, params: Value) -> Result<Value, Value> {
        let body = json!({ "command": command, "params": params });
        let sent = self.client.post(format!("{}/rpc", self.url)).bearer_auth(&self.token).json(&body).send();
        let answer: Value = sent.await.unwrap().json().await.unwrap();
        answer.get("result").cloned().ok_or_else(|| answer["error"].clone())
    }
}

#[tokio::test]
async fn two_surfaces_race_and_each_time_one_wins_and_the_other_is_told_who_was_first() {
    let stage = Stage::calling("shell", json!({ "command": "echo happened >> effect.txt" })).await;
    let host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    // Nothing is held, so that each round ends at once.
    let owner = sayso_tests::rpc::Rpc::to(&host, &stage.sayso);
    owner.ok("settings.set", json!({ "undo_seconds": 0 })).await;
    let browser = Browser::open(&stage, &host.url).await;
    let (mut approvals, mut browser_wins) = (0, 0);
    for round in 0..50 {
        let run = stage.start_run("append a line").await;
        let request = stage.waiting().await;
        // Starting a process takes a moment, so the browser waits for one of varying length.
        let pause = std::time::Duration::from_micros(round * 400);
        let clicks = async {
            tokio::time::sleep(pause).await;
            let ok = round % 2 == 0;
            browser.call("inbox.decide", json!({ "key": key(&request), "ok": ok })).await
        };
        let arguments = [if round % 2 == 0 { "deny" } else { "approve" }, key(&request)];
        let (clicked, typed) = tokio::join!(clicks, stage.sayso.json(&arguments));
        let outcome = match &clicked {
            Ok(decision) => {
                browser_wins += 1;
                assert_eq!(typed.code, 5, "round {round}: {typed:?}");
                let outcome = decision["outcome"].as_str().unwrap().to_owned();
                assert!(
                    typed.stderr.contains(&outcome) && typed.stderr.contains("in the browser"),
                    "{typed:?}"
                );
                outcome
            }
            Err(error) => {
                let outcome = typed.clone().exits(0).value()["outcome"].as_str().unwrap().to_owned();
                assert_eq!(error["code"], "already_decided", "round {round}: {error}");
                let message = error["message"].as_str().unwrap();
                assert!(message.contains(&outcome) && message.contains("on the command line"), "{message}");
                outcome
            }
        };
        approvals += usize::from(outcome == "approved");
        stage.wait_status(&run, "done").await;
        assert_eq!(stage.work_file("effect.txt").lines().count(), approvals, "round {round}");
    }
    println!("the browser won {browser_wins} of 50");
    let history = stage.sayso.json(&["history", "--all"]).await.exits(0).values();
    assert_eq!(history.len(), 50);
    stage.sayso.run(&["history", "verify"]).await.exits(0);
}
