//! A caller with the owner's token that tries to get something run which no person approved as shown. Each try is refused
//! with a code of its own, and nothing runs.

use sayso_tests::model::{Reply, ScriptedModel, Style, call};
use sayso_tests::rpc::Rpc;
use sayso_tests::stage::Stage;
use sayso_tests::transcript::last_results;
use sayso_tests::wait::SOON;
use sayso_tests::{wait_until, wait_value};
use serde_json::{Value, json};

/// A model that makes one call named by the task: `shell one` or `question Which?`.
async fn by_task() -> ScriptedModel {
    ScriptedModel::answering(Style::OpenAi, |captured| {
        if !last_results(&captured.json).is_empty() {
            return Reply::text("I am done.");
        }
        let messages = captured.json["messages"].as_array().unwrap();
        let task = messages.last().unwrap()["content"].as_str().unwrap();
        let (tool, what) = task.split_once(' ').unwrap();
        let arguments = match tool {
            "shell" => json!({ "command": format!("echo happened >> {what}.txt") }),
            _ => json!({ "questions": [{ "question": what, "options": ["Left", "Right"] }] }),
        };
        Reply::calls([call("c1", tool, &arguments)])
    })
    .await
}

struct Caller {
    stage: Stage,
    rpc: Rpc,
    _host: sayso_tests::sayso::Host,
}

impl Caller {
    async fn new(more: Value) -> Self {
        let stage = Stage::new(by_task().await);
        let host = stage.sayso.serve();
        let rpc = Rpc::to(&host, &stage.sayso);
        stage.add_agent(more).await;
        Self { stage, rpc, _host: host }
    }

    /// A run of its own that waits: its id and its request.
    async fn waiting(&self, task: &str) -> (String, Value) {
        let run = self.stage.start_run(task).await;
        let request = wait_value("it asks", SOON, async || {
            let list = self.rpc.ok("inbox.list", json!({})).await["items"].clone();
            list.as_array().unwrap().iter().find(|request| request["run"] == run).cloned()
        })
        .await;
        (run, request)
    }

    async fn refused(&self, decide: Value, code: &str) {
        let answer = self.rpc.call("inbox.decide", decide.clone()).await;
        assert_eq!(answer, Err(code.to_owned()), "{decide}");
    }

    fn has_run(&self, name: &str) -> bool {
        self.stage.work().join(format!("{name}.txt")).exists()
    }
}

#[tokio::test]
async fn contract_12_another_requests_id_an_old_answer_and_other_arguments_run_nothing() {
    let caller = Caller::new(json!({})).await;
    let (_, one) = caller.waiting("shell one").await;
    let (second, two) = caller.waiting("shell two").await;
    let (key, digest) = (one["key"].clone(), one["digest"].clone());
    let other = "0198c0de-0000-7000-8000-000000000000";

    // An id that is no request's, or another's: what was shown for the one is no yes to the other.
    caller.refused(json!({ "key": other, "ok": true, "digest": digest }), "not_found").await;
    caller.refused(json!({ "key": two["key"], "ok": true, "digest": digest }), "digest_mismatch").await;
    caller.refused(json!({ "key": key, "ok": true, "digest": two["digest"] }), "digest_mismatch").await;
    // For arguments that were changed: the digest is of other bytes, or of none.
    let changed = digest.as_str().unwrap().chars().rev().collect::<String>();
    caller.refused(json!({ "key": key, "ok": true, "digest": changed }), "digest_mismatch").await;
    caller.refused(json!({ "key": key, "ok": true, "digest": "" }), "bad_request").await;
    caller.refused(json!({ "key": key, "ok": true, "data": "{\"arguments\"" }), "invalid_data").await;
    assert_eq!(caller.rpc.ok("inbox.list", json!({})).await["items"].as_array().unwrap().len(), 2);

    let right = json!({ "key": key, "ok": true, "digest": digest });
    caller.rpc.ok("inbox.decide", right.clone()).await;
    wait_until("the one runs", SOON, async || caller.has_run("one")).await;
    // The same again, and turned round.
    caller.refused(right, "already_decided").await;
    caller.refused(json!({ "key": key, "ok": false }), "already_decided").await;
    let denied = json!({ "key": two["key"], "ok": false, "digest": two["digest"] });
    caller.rpc.ok("inbox.decide", denied).await;
    caller
        .refused(json!({ "key": two["key"], "ok": true, "digest": two["digest"] }), "already_decided")
        .await;
    caller.stage.wait_status(&second, "done").await;
    assert_eq!(caller.stage.work_file("one.txt"), "happened\n");
    assert!(!caller.has_run("two"));
    caller.stage.model.assert_fit_to_send(&[]);
    caller.stage.sayso.run(&["history", "verify"]).await.exits(0);
}

#[tokio::test]
async fn contract_30_data_that_does_not_fit_leaves_the_question_open() {
    let caller = Caller::new(json!({})).await;
    let (run, request) = caller.waiting("question Which?").await;
    let bad = [
        "{",
        "{\"answers\":\"Left\"}",
        "{\"answers\":[1]}",
        "{\"answers\":[{}]}",
        "{\"answers\":[\"Left\",\"Right\"]}",
    ];
    for data in bad {
        let decide = json!({ "key": request["key"], "ok": true, "data": data, "digest": request["digest"] });
        caller.refused(decide, "invalid_data").await;
    }
    assert_eq!(caller.stage.run_status(&run).await, "pending");
    assert_eq!(caller.stage.model.captured().len(), 1);
    let good = "{\"answers\":[\"Left\"]}";
    caller.rpc.ok("inbox.decide", json!({ "key": request["key"], "ok": true, "data": good })).await;
    caller.stage.wait_status(&run, "done").await;
    let last = caller.stage.model.captured().pop().unwrap();
    assert_eq!(last_results(&last.json)[0].1, good);
}

#[tokio::test]
async fn contract_13_an_ok_after_the_deadline_is_refused_and_the_model_is_told_that_it_expired() {
    let caller = Caller::new(json!({ "ask_timeout_seconds": 1 })).await;
    let (run, request) = caller.waiting("shell late").await;
    let decide = json!({ "key": request["key"], "ok": true, "digest": request["digest"] });
    // Whichever comes first, this answer or the sweeper: it is settled as expired.
    caller.stage.wait_status(&run, "done").await;
    let code = caller.rpc.call("inbox.decide", decide).await.unwrap_err();
    assert!(["expired", "already_decided"].contains(&code.as_str()), "{code}");
    assert!(!caller.has_run("late"));
    let last = caller.stage.model.captured().pop().unwrap();
    assert!(last_results(&last.json)[0].1.starts_with("declined/expired: "));
    let history = caller.stage.sayso.json(&["history"]).await.exits(0).value();
    assert_eq!((&history["outcome"], &history["decided_by"]), (&json!("expired"), &json!("deadline")));
}
