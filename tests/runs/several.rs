//! Several suspended calls in one turn, answered in any order and across `kill -9`.

use std::time::Duration;

use sayso_tests::model::{Call, Captured, Reply, ScriptedModel, Style, call};
use sayso_tests::random::{Random, is_soak};
use sayso_tests::stage::{Stage, count_lines};
use sayso_tests::transcript::last_results;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use serde_json::{Value, json};

use crate::streaming::STYLES;

/// What the person says with a no: it stays home.
const REASON: &str = "over my dead budget";

fn key(request: &Value) -> &str {
    request["key"].as_str().expect("a key")
}

/// The request of the call whose arguments hold this.
fn of<'a>(waiting: &'a [Value], words: &str) -> &'a str {
    let found = waiting.iter().find(|request| request["request"].to_string().contains(words));
    key(found.unwrap_or_else(|| panic!("no request about {words:?} in {waiting:?}")))
}

/// A model that makes these calls at once, and ends when it has their results.
async fn calling_all(style: Style, calls: Vec<Call>) -> ScriptedModel {
    ScriptedModel::answering(style, move |captured| match has_results(captured) {
        true => Reply::text("I am done."),
        false => Reply::turn("All of these.", calls.clone()),
    })
    .await
}

fn has_results(captured: &Captured) -> bool {
    !last_results(&captured.json).is_empty()
}

/// How often the model was asked for the turn that holds the calls.
fn first_turns(stage: &Stage) -> usize {
    stage.model.captured().iter().filter(|captured| !has_results(captured)).count()
}

fn append(id: &str, file: &str) -> Call {
    call(id, "shell", &json!({ "command": format!("echo happened >> {file}") }))
}

fn effects(stage: &Stage, file: &str) -> usize {
    count_lines(&stage.work().join(file), "happened")
}

async fn wait_effect(stage: &Stage, file: &str) {
    wait_until(&format!("{file} has its line"), SOON, async || effects(stage, file) == 1).await;
}

async fn wait_finished(stage: &Stage, run: &str, index: u32) {
    wait_until(&format!("call {index} has its result"), SOON, async || {
        stage.call(run, 1, index).await["state"] == "finished"
    })
    .await;
}

#[tokio::test]
async fn contract_15_all_cards_are_there_at_once_and_each_tool_runs_as_soon_as_its_own_answer_is_in() {
    for (style, name) in STYLES {
        let questions = json!({ "questions": [{ "question": "Which colour?", "options": ["Red", "Blue"] }] });
        let calls = vec![
            append("c0", "zero.txt"),
            call("c1", "list_files", &json!({})),
            call("c2", "write_file", &json!({ "path": "two.txt", "content": "two\n" })),
            call("c3", "question", &questions),
            call("c4", "read_file", &json!({ "path": "notes.txt" })),
            append("c5", "five.txt"),
            call("c6", "no_such_tool", &json!({})),
            append("c7", "seven.txt"),
        ];
        let stage = Stage::new(calling_all(style, calls).await);
        std::fs::write(stage.work().join("notes.txt"), "remember the milk\n").unwrap();
        let host = stage.sayso.serve();
        stage.add_agent(json!({ "style": name })).await;
        let run = stage.start_run("do it all").await;

        let waiting = stage.waiting_all(5).await;
        for (index, state) in [(1, "finished"), (4, "finished"), (6, "finished"), (0, "waiting")] {
            wait_until(&format!("call {index} is {state}"), SOON, async || {
                let now = stage.call(&run, 1, index).await["state"].clone();
                now == state || (state == "waiting" && now == "suspended")
            })
            .await;
        }
        assert_eq!(stage.run_status(&run).await, "pending");

        // The last but one first: it runs while all others wait.
        stage.sayso.run(&["approve", of(&waiting, "seven.txt")]).await.exits(0);
        wait_effect(&stage, "seven.txt").await;
        stage.sayso.run(&["deny", of(&waiting, "five.txt"), "--reason", REASON]).await.exits(0);
        wait_finished(&stage, &run, 5).await;
        wait_finished(&stage, &run, 7).await;
        assert_eq!(stage.waiting_all(3).await.len(), 3);
        assert!(!stage.work().join("zero.txt").exists() && !stage.work().join("two.txt").exists());
        host.kill();

        let host = stage.sayso.serve();
        let still = stage.waiting_all(3).await;
        assert!(still.iter().all(|request| waiting.contains(request)), "the same requests: {still:?}");
        stage.sayso.run(&["approve", of(&still, "zero.txt")]).await.exits(0);
        wait_effect(&stage, "zero.txt").await;
        wait_finished(&stage, &run, 0).await;
        host.kill();

        let _host = stage.sayso.serve();
        let still = stage.waiting_all(2).await;
        let answers = r#"{"answers":["Blue"]}"#;
        stage.sayso.run(&["answer", of(&still, "colour"), "--data", answers]).await.exits(0);
        wait_finished(&stage, &run, 3).await;
        assert_eq!(stage.model.captured().len(), 1, "nothing goes out while a call waits");
        assert!(!stage.work().join("two.txt").exists());
        stage.sayso.run(&["approve", of(&still, "two.txt")]).await.exits(0);
        stage.wait_status(&run, "done").await;

        assert_eq!(stage.work_file("two.txt"), "two\n");
        assert_eq!(["zero.txt", "five.txt", "seven.txt"].map(|file| effects(&stage, file)), [1, 0, 1]);
        let captured = stage.model.captured();
        assert_eq!(captured.len(), 2, "a resume never asks again for the same turn");
        let results = last_results(&captured[1].json);
        let ids: Vec<_> = results.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"], "in call order, one each");
        assert!(results[1].1.contains("notes.txt"), "{results:?}");
        assert_eq!(results[3].1, answers);
        assert!(results[4].1.contains("remember the milk"));
        assert!(results[5].1.starts_with("declined/expired: "));
        assert_eq!(results[6].1, "Unknown tool: no_such_tool");
        stage.model.assert_fit_to_send(&[REASON]);
        stage.sayso.run(&["history", "verify"]).await.exits(0);
    }
}

/// Halted with `count` suspended calls, some answered, killed, and taken up by a fresh process.
async fn killed_with(style: (Style, &str), count: usize, answered: usize) {
    let file = |at: usize| format!("{at}.txt");
    let calls = (0..count).map(|at| append(&format!("c{at}"), &file(at))).collect();
    let stage = Stage::new(calling_all(style.0, calls).await);
    let host = stage.sayso.serve();
    stage.add_agent(json!({ "style": style.1 })).await;
    let run = stage.start_run("append").await;
    let waiting = stage.waiting_all(count).await;
    let decide = async |at: usize| {
        let request = of(&waiting, &file(at));
        match at % 2 {
            0 => stage.sayso.run(&["approve", request]).await.exits(0),
            _ => stage.sayso.run(&["deny", request, "--reason", REASON]).await.exits(0),
        };
    };
    // From the last to the first, so that what is answered does not stand before what waits.
    for at in (count - answered..count).rev() {
        decide(at).await;
        wait_finished(&stage, &run, u32::try_from(at).unwrap()).await;
    }
    assert_eq!(stage.run_status(&run).await, "pending");
    host.kill();

    let _host = stage.sayso.serve();
    let still = stage.waiting_all(count - answered).await;
    assert!(still.iter().all(|request| waiting.contains(request)), "{still:?}");
    for at in 0..count - answered {
        decide(at).await;
    }
    stage.wait_status(&run, "done").await;
    for at in 0..count {
        assert_eq!(effects(&stage, &file(at)), 1 - at % 2, "{style:?}, {count}: call {at}");
    }
    let captured = stage.model.captured();
    assert_eq!(captured.len(), 2);
    let results = last_results(&captured[1].json);
    let ids: Vec<_> = results.iter().map(|(id, _)| id.clone()).collect();
    assert_eq!(ids, (0..count).map(|at| format!("c{at}")).collect::<Vec<_>>());
    for (at, (_, output)) in results.iter().enumerate() {
        assert_eq!(output.starts_with("declined/expired: "), at % 2 == 1, "{output}");
    }
    stage.model.assert_fit_to_send(&[REASON]);
    stage.sayso.run(&["history", "verify"]).await.exits(0);
}

#[tokio::test]
async fn killed_between_halt_and_resume_with_one_two_and_five_calls_some_answered_each_gets_its_own_result() {
    for style in STYLES {
        for (count, answered) in [(1, 0), (2, 0), (2, 1), (5, 0), (5, 3)] {
            killed_with(style, count, answered).await;
        }
    }
}

#[tokio::test]
async fn killed_at_random_moments_with_several_calls_none_is_lost_and_none_happens_twice() {
    let rounds = if is_soak() { 150 } else { 4 };
    let mut random = Random::seeded();
    for round in 0..rounds {
        let count = 2 + random.below(4) as usize;
        let seed = random.seed;
        let what = format!("round {round} (seed {seed}), {count} calls");
        let file = |at: usize| format!("{at}.txt");
        let calls = (0..count).map(|at| append(&format!("c{at}"), &file(at))).collect();
        let style = STYLES[random.below(2) as usize];
        let stage = Stage::new(calling_all(style.0, calls).await);
        let mut host = stage.sayso.serve();
        stage.add_agent(json!({ "style": style.1 })).await;
        let run = stage.start_run("append").await;
        for _ in 0..1 + random.below(3) {
            let kill_after = Duration::from_millis(random.below(900));
            let _ = tokio::time::timeout(kill_after, async {
                loop {
                    answer_all(&stage).await;
                }
            })
            .await;
            host.kill();
            host = stage.sayso.serve();
        }
        wait_until(&format!("{what}: the run ends"), SOON * 2, async || {
            answer_all(&stage).await;
            stage.run_status(&run).await == "done"
        })
        .await;
        let history = stage.sayso.json(&["history"]).await.exits(0).values();
        let denied = history.iter().filter(|decision| decision["outcome"] == "declined").count();
        assert_eq!(history.len() - denied, count, "{what}: each was approved once: {history:?}");
        let done: Vec<_> = (0..count).map(|at| effects(&stage, &file(at))).collect();
        assert!(done.iter().all(|times| *times <= 1), "{what}: {done:?}");
        // One that did not happen is one that might have, so that the person was asked and said no.
        assert!(done.iter().filter(|times| **times == 0).count() <= denied, "{what}: {done:?}, {history:?}");
        let kills = 4;
        assert!((1..=kills).contains(&first_turns(&stage)), "{what}");
        let last = stage.model.captured().pop().unwrap();
        assert_eq!(last_results(&last.json).len(), count, "{what}");
        stage.model.assert_fit_to_send(&[REASON]);
        stage.sayso.run(&["history", "verify"]).await.exits(0);
        host.kill();
    }
}

/// Approves what waits; a second try is denied, so that an effect is there once at most. The host may be killed meanwhile.
async fn answer_all(stage: &Stage) {
    for request in stage.sayso.json(&["list"]).await.values() {
        let prompt = request["request"]["prompt"].as_str().unwrap_or_default();
        if prompt.contains("may already have happened") {
            stage.sayso.run(&["deny", key(&request), "--reason", REASON]).await;
        } else {
            stage.sayso.run(&["approve", key(&request)]).await;
        }
    }
}
