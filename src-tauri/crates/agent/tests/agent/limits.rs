//! Tokens, time and long conversations.

use std::convert::Infallible;
use std::time::Duration;

use sayso_agent::{ModelOptions, NativeTool, Toolkit};
use sayso_domain::run::{Limit, Status};
use sayso_domain::{Answer, ToolResult};
use serde_json::json;

use crate::resume::{client, server, stored, toolkit};
use crate::support::{MODES, Reply, Server, streaming};

#[tokio::test]
async fn contract_22_a_run_that_used_up_its_tokens_is_incomplete_and_says_which_limit() {
    for (style, stream) in MODES {
        let server =
            Server::script(style, move |_, _| Reply::calls(style, &[("c", "plain", r#"{"n":1}"#)])).await;
        let (tools, done) = toolkit();
        let client = client(&server, stream).max_tokens(31);
        let result = client.run("go", &tools).await;
        assert_eq!(result.status, Status::Incomplete(Limit::Tokens));
        assert_eq!(Limit::Tokens.as_str(), "maxTokens");
        assert_eq!(result.usage.total(), 45, "15 a turn; the third is begun below the limit");
        assert_eq!(server.captured().len(), 3);
        assert_eq!(done.lock().unwrap().len(), 3, "the last turn's calls have their results");
        assert_eq!(result.tool_calls.len(), 3);

        // It is the run's limit: more of it needs a larger one.
        let still = client.tell(stored(&result), "on", &tools).await.unwrap();
        assert_eq!((&still.status, server.captured().len()), (&Status::Incomplete(Limit::Tokens), 3));
        let more = client.max_tokens(46).tell(stored(&still), "on", &tools).await.unwrap();
        assert_eq!(more.usage.total(), 60);
    }
}

#[tokio::test]
async fn contract_23_no_time_limit_runs_while_a_person_thinks() {
    for (style, stream) in MODES {
        let server = server(style, 1).await;
        let options = ModelOptions { timeout: Duration::from_millis(250), ..streaming(stream) };
        let client = client(&server, stream).options(options).wait_for(|request| async move {
            tokio::time::sleep(Duration::from_millis(600)).await;
            Ok::<_, Infallible>(Answer::ok(request.id))
        });
        let result = client.run("go", &toolkit().0).await;
        assert_eq!((result.status, result.text.as_str()), (Status::Done, "end"));
    }
}

#[tokio::test]
async fn a_long_conversation_stays_within_the_context_and_no_call_loses_its_result() {
    const TURNS: usize = 40;
    for (style, stream) in MODES {
        let server = Server::script(style, move |index, _| match index {
            TURNS => Reply::text(style, "end"),
            _ => Reply::turn(style, &format!("turn {index}"), &[(&format!("c{index}"), "long", "{}")]),
        })
        .await;
        let tools =
            Toolkit::new().with(NativeTool::new("long", "", json!({ "type": "object" }), async |_, _| {
                ToolResult::ok("x".repeat(3000))
            }));
        let client = client(&server, stream).max_turns(100).context_tokens(4000).system("be brief");
        let result = client.run("the task", &tools).await;
        assert_eq!(result.status, Status::Done);
        let longest = server.bodies().iter().map(String::len).max().unwrap();
        assert!(longest < 4000 * 4, "{longest} bytes were sent");
        let body = server.bodies().pop().unwrap();
        assert!(body.contains("the task"), "the person's words stay");
        assert!(body.contains("earlier turns of yours") && body.contains("bytes cut here"), "{body}");
        assert!(body.contains(&"x".repeat(3000)), "the newest output is whole");
        assert_eq!(result.tool_calls.len(), TURNS);
        assert!(result.tool_calls.iter().all(|call| call.output.len() == 3000), "what is kept stays whole");
    }
}

#[tokio::test]
async fn a_transcript_of_a_thousand_calls_is_sent_whole_and_in_order() {
    const TURNS: usize = 20;
    for (style, stream) in MODES {
        let server = Server::script(style, move |index, _| {
            let calls = (0..50).map(|n| (format!("c{index}-{n}"), format!(r#"{{"n":{}}}"#, index * 50 + n)));
            let calls: Vec<_> = calls.collect();
            let calls: Vec<_> = calls.iter().map(|(id, n)| (id.as_str(), "plain", n.as_str())).collect();
            if index < TURNS { Reply::calls(style, &calls) } else { Reply::text(style, "end") }
        })
        .await;
        let result = client(&server, stream).max_turns(100).run("go", &toolkit().0).await;
        assert_eq!(result.status, Status::Done);
        let results = server.last_results();
        assert_eq!(results.len(), 1000);
        assert!(results.iter().enumerate().all(|(n, (_, output, _))| *output == format!("plain {n}")));
    }
}
