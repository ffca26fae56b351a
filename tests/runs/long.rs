//! A conversation that is longer than the model can read, and one that uses up its tokens.

use sayso_tests::model::{Captured, Reply, ScriptedModel, call};
use sayso_tests::random::is_soak;
use sayso_tests::rpc::Rpc;
use sayso_tests::stage::Stage;
use sayso_tests::transcript::last_results;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use serde_json::json;

use crate::streaming::STYLES;

/// What the model can read, in tokens; a token is three bytes at least.
const CONTEXT: usize = 9000;
/// What the scripted model says that each of its calls used.
const TOKENS_A_TURN: u64 = 15;

#[tokio::test]
async fn a_long_conversation_stays_within_the_context_and_stops_at_its_tokens() {
    let turns: u64 = if is_soak() { 600 } else { 66 };
    for (style, name) in STYLES {
        // It reads one file after the other, and never ends by itself.
        let read = |captured: &Captured| {
            let count = captured.json["messages"].as_array().unwrap().len();
            let calls = ["notes.txt", "more.txt"].into_iter().enumerate();
            Reply::turn(
                &format!("I read on, with {count} messages before me."),
                calls.map(|(at, path)| call(&format!("c{at}"), "read_file", &json!({ "path": path }))),
            )
        };
        let stage = Stage::new(ScriptedModel::answering(style, read).await);
        std::fs::write(stage.work().join("notes.txt"), "all that was noted down ".repeat(120)).unwrap();
        std::fs::write(stage.work().join("more.txt"), "and some more of it ".repeat(60)).unwrap();
        let host = stage.sayso.serve();
        let rpc = Rpc::to(&host, &stage.sayso);
        let limit = turns * TOKENS_A_TURN;
        let more =
            json!({ "style": name, "max_turns": 5000, "max_tokens": limit, "context_tokens": CONTEXT });
        stage.add_agent(more).await;
        let run = stage.start_run("read all that there is").await;
        wait_until("the run stops", SOON * 6, async || stage.run_status(&run).await == "incomplete").await;

        let shown = rpc.run(&run).await;
        assert_eq!((&shown["item"]["detail"], &shown["max_tokens"]), (&json!("maxTokens"), &json!(limit)));
        assert_eq!(shown["item"]["turns"], turns);
        assert_eq!(shown["item"]["usage"], json!({ "input_tokens": turns * 10, "output_tokens": turns * 5 }));
        assert_eq!(
            shown["messages"].as_array().unwrap().len() as u64,
            turns + 1,
            "what is stored stays whole"
        );
        let said = stage.sayso.run(&["runs", "show", &run]).await.exits(0).stdout;
        assert!(
            said.contains(&format!("{limit} tokens")),
            "{}",
            said.lines().take(12).collect::<Vec<_>>().join("\n")
        );

        let captured = stage.model.captured();
        assert_eq!(captured.len() as u64, turns);
        for (turn, request) in captured.iter().enumerate() {
            assert!(request.raw.len() <= CONTEXT * 3, "turn {turn}: {} bytes", request.raw.len());
            assert!(request.raw.contains("read all that there is"), "the task always stays");
            let results = last_results(&request.json).len();
            assert_eq!(results, if turn == 0 { 0 } else { 2 }, "the newest turn always stays");
        }
        assert!(captured.last().unwrap().raw.contains("earlier turns of yours"));
        stage.model.assert_fit_to_send(&[]);

        // More words change nothing: the limit is the run's, and it says so again.
        rpc.ok("runs.tell", json!({ "run": run, "text": "go on" })).await;
        stage.wait_status(&run, "incomplete").await;
        assert_eq!(stage.model.captured().len() as u64, turns, "the model is not asked again");
    }
}
