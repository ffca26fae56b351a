//! The statements of the suspension contract that the loop keeps, by their numbers.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sayso_agent::{Client, ModelOptions, NativeTool, RunResult, Style, Toolkit};
use sayso_domain::run::{Limit, Status};
use sayso_domain::{Answer, Kind, Policy, Request, Time, ToolResult};
use serde_json::{Value, json};

use crate::support::{BOTH, Reply, Server, quick};

/// Counts how often it ran, and with which answers.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Option<Answer>>>>);

impl Seen {
    fn runs(&self) -> Vec<Option<Answer>> {
        self.0.lock().unwrap().clone()
    }

    /// A tool that suspends with its argument `p` as the prompt, and then says what the answer brought.
    fn asking(&self, name: &str) -> NativeTool {
        self.asking_for(name, |prompt| Request::new("", Kind::Approval, prompt))
    }

    fn asking_for(&self, name: &str, request: fn(&str) -> Request) -> NativeTool {
        let seen = self.clone();
        NativeTool::new(name, "asks", json!({ "type": "object" }), move |arguments, context| {
            seen.0.lock().unwrap().push(context.answer.clone());
            async move {
                match &context.answer {
                    Some(answer) => {
                        ToolResult::ok(format!("done with {}", answer.data().unwrap_or(&Value::Null)))
                    }
                    None => ToolResult::pending(&request(arguments.value["p"].as_str().unwrap_or("?"))),
                }
            }
        })
    }

    /// A tool that does its work at once.
    fn plain(&self, name: &str) -> NativeTool {
        let seen = self.clone();
        NativeTool::new(name, "works", json!({ "type": "object" }), move |arguments, context| {
            seen.0.lock().unwrap().push(context.answer.clone());
            async move { ToolResult::ok(format!("plain {}", arguments.value)) }
        })
    }
}

/// This file is compiled twice: the second time, all answers come in pieces.
fn streams() -> bool {
    module_path!().ends_with("streamed")
}

fn client(server: &Server) -> Client {
    Client::new(server.endpoint()).options(ModelOptions { stream: streams(), ..quick() })
}

async fn saying(server: &Server, toolkit: &Toolkit, answer: fn(Request) -> Answer) -> RunResult {
    let client = client(server).wait_for(move |request| async move { Ok::<_, Infallible>(answer(request)) });
    client.run("go", toolkit).await
}

/// A server whose model makes these calls and then says "end".
async fn server(style: Style, calls: &[(&str, &str, &str)]) -> Server {
    Server::replies(style, vec![Reply::calls(style, calls), Reply::text(style, "end")]).await
}

const ASK: (&str, &str, &str) = ("c1", "ask", r#"{"p":"May I?"}"#);

#[tokio::test]
async fn contract_07_an_ok_with_a_reason_still_runs() {
    for style in BOTH {
        let (seen, server) = (Seen::default(), server(style, &[ASK]).await);
        let result = saying(&server, &Toolkit::new().with(seen.asking("ask")), |request| {
            serde_json::from_value(json!({ "id": request.id, "ok": true, "reason": "declined" })).unwrap()
        })
        .await;
        assert_eq!(result.status, Status::Done);
        assert_eq!(result.tool_calls[0].output, "done with null");
        assert!(!server.bodies()[1].contains("declined"));
    }
}

#[tokio::test]
async fn contract_08_refusal_becomes_exact_error() {
    for style in BOTH {
        let (seen, server) = (Seen::default(), server(style, &[ASK]).await);
        let gated = seen.plain("ask").policy(Policy::Ask);
        let result = saying(&server, &Toolkit::new().with(gated), |request| {
            Answer::declined(request.id, "over budget")
        })
        .await;
        assert_eq!(result.status, Status::Done);
        assert_eq!(seen.runs(), [], "a refused call never runs");
        let prompt = r#"Run ask {"p":"May I?"}?"#;
        let error = (style == Style::Anthropic).then_some(true);
        assert_eq!(server.last_results(), [("c1".to_owned(), format!("declined/expired: {prompt}"), error)]);
        assert!(result.tool_calls[0].is_error);
    }
}

#[tokio::test]
async fn contract_09_reason_and_data_of_a_refusal_never_reach_the_model() {
    for style in BOTH {
        let (seen, server) = (Seen::default(), server(style, &[ASK]).await);
        saying(&server, &Toolkit::new().with(seen.asking("ask")), |request| {
            let no =
                json!({ "id": request.id, "ok": false, "reason": "w0rds", "data": { "d4ta": 1 }, "m0re": 2 });
            serde_json::from_value(no).unwrap()
        })
        .await;
        let bodies = server.bodies().join("\n");
        assert!(["w0rds", "d4ta", "m0re"].iter().all(|secret| !bodies.contains(secret)), "{bodies}");
        assert_eq!(seen.runs(), [None]);
    }
}

#[tokio::test]
async fn contract_10_an_ok_runs_the_call_exactly_once_more_with_the_answer() {
    for style in BOTH {
        let (seen, server) = (Seen::default(), server(style, &[ASK]).await);
        let result = saying(&server, &Toolkit::new().with(seen.asking("ask")), |request| {
            assert_eq!(request.prompt, "May I?");
            Answer::ok_with(request.id, json!({ "n": 1 }))
        })
        .await;
        let runs = seen.runs();
        assert_eq!(runs.len(), 2);
        assert_eq!(runs[0], None);
        assert_eq!(runs[1].as_ref().unwrap().data(), Some(&json!({ "n": 1 })));
        assert_eq!(server.last_results()[0].1, r#"done with {"n":1}"#);
        assert!(!result.tool_calls[0].is_error);
    }
}

#[tokio::test]
async fn contract_10_a_url_that_is_unsafe_is_never_asked() {
    for style in BOTH {
        for url in ["http://example.com/", "https://user:pw@example.com/", "javascript:alert(1)", "nonsense"]
        {
            let server = server(style, &[("c1", "ask", &json!({ "p": url }).to_string())]).await;
            let seen = Seen::default();
            let tool = seen.asking_for("ask", |url| {
                let mut request = Request::new("", Kind::Authorization, "Sign in");
                request.url = Some(url.to_owned());
                request
            });
            let result = saying(&server, &Toolkit::new().with(tool), |_| panic!("asked")).await;
            assert_eq!(result.status, Status::Done, "{url}");
            assert!(
                result.tool_calls[0].output.contains("cannot be used"),
                "{}",
                result.tool_calls[0].output
            );
        }
    }
}

#[tokio::test]
async fn contract_11_a_retry_that_suspends_again_is_unresolved() {
    for style in BOTH {
        let server = server(style, &[ASK]).await;
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let tool = NativeTool::new("ask", "asks on and on", json!({ "type": "object" }), move |_, _| {
            let run = counted.fetch_add(1, Ordering::SeqCst);
            async move { ToolResult::pending(&Request::new("", Kind::Approval, format!("Prompt {run}?"))) }
        });
        let result = saying(&server, &Toolkit::new().with(tool), |request| Answer::ok(request.id)).await;
        assert_eq!(result.status, Status::Done);
        assert_eq!(runs.load(Ordering::SeqCst), 2);
        assert_eq!(server.last_results()[0].1, "unresolved: Prompt 0?");
        assert!(result.tool_calls[0].is_error);
    }
}

#[tokio::test]
async fn contract_12_an_answer_for_another_request_changes_nothing() {
    for style in BOTH {
        for other in [|_| Answer::ok("another"), |_: Request| Answer::declined("another", None)] {
            let (seen, server) = (Seen::default(), server(style, &[ASK]).await);
            let result = saying(&server, &Toolkit::new().with(seen.asking("ask")), other).await;
            assert_eq!(result.status, Status::Pending);
            assert_eq!(result.pending[0].prompt, "May I?");
            assert_eq!(result.tool_calls, []);
            assert_eq!(seen.runs(), [None]);
            assert_eq!(server.captured().len(), 1);
        }
    }
}

#[tokio::test]
async fn contract_13_an_ok_after_the_deadline_is_refused_and_silence_is_no_yes() {
    for style in BOTH {
        let server = Server::script(style, move |index, _| match index % 2 {
            0 => Reply::calls(style, &[ASK]),
            _ => Reply::text(style, "end"),
        })
        .await;
        let seen = Seen::default();
        let past = Toolkit::new().with(seen.asking_for("ask", |prompt| Request {
            expires_at: Some(Time::from_millis(0)),
            ..Request::new("", Kind::Approval, prompt)
        }));
        let late = saying(&server, &past, |request| Answer::ok(request.id)).await;

        let soon = Toolkit::new().with(seen.asking_for("ask", |prompt| Request {
            expires_at: Some(sayso_agent::system_time().plus_millis(50)),
            ..Request::new("", Kind::Approval, prompt)
        }));
        let silent =
            client(&server).wait_for(async |_| std::future::pending::<Result<Answer, Infallible>>().await);
        let silent = silent.run("go", &soon).await;

        for result in [late, silent] {
            assert_eq!(result.status, Status::Done);
            assert_eq!(result.tool_calls[0].output, "declined/expired: May I?");
        }
        assert_eq!(seen.runs(), [None, None], "neither was run again");
        server.bodies();
    }
}

#[tokio::test]
async fn contract_14_a_wait_for_that_fails_or_panics_leaves_the_request_pending() {
    for style in BOTH {
        for panics in [false, true] {
            let (seen, server) = (Seen::default(), server(style, &[ASK, ("c2", "plain", "{}")]).await);
            let toolkit = Toolkit::new().with(seen.asking("ask")).with(Seen::default().plain("plain"));
            let client = client(&server).wait_for(move |_| async move {
                assert!(!panics, "a panic on purpose");
                Err::<Answer, _>("nobody is there")
            });
            let result = client.run("go", &toolkit).await;
            assert_eq!(result.status, Status::Pending);
            assert_eq!(result.pending.len(), 1);
            assert_eq!(seen.runs(), [None]);
            assert_eq!(server.captured().len(), 1, "nothing unfinished is sent");
            assert_eq!(result.tool_calls[0].name, "plain", "what ran is kept");
        }
    }
}

#[tokio::test]
async fn contract_15_suspended_calls_are_asked_together_and_results_go_back_in_call_order() {
    for style in BOTH {
        let calls = [
            ("c1", "ask", r#"{"p":"first"}"#),
            ("c2", "plain", r#"{"x":1}"#),
            ("c3", "ask", r#"{"p":"second"}"#),
            ("c4", "ask", r#"{"p":"third"}"#),
        ];
        let server = server(style, &calls).await;
        let seen = Seen::default();
        let toolkit = Toolkit::new().with(seen.asking("ask")).with(Seen::default().plain("plain"));
        // None answers before all three are asked; then the last is the first to answer.
        let asked = Arc::new(AtomicUsize::new(0));
        let client = client(&server).wait_for(move |request| {
            let asked = Arc::clone(&asked);
            async move {
                asked.fetch_add(1, Ordering::SeqCst);
                while asked.load(Ordering::SeqCst) < 3 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                let late =
                    ["third", "second", "first"].iter().position(|prompt| *prompt == request.prompt).unwrap();
                tokio::time::sleep(Duration::from_millis(20 * late as u64)).await;
                Ok::<_, Infallible>(match request.prompt.as_str() {
                    "second" => Answer::declined(request.id, None),
                    prompt => Answer::ok_with(request.id.clone(), prompt.into()),
                })
            }
        });
        let result = client.run("go", &toolkit).await;
        assert_eq!(result.status, Status::Done);
        let results: Vec<_> = server.last_results().into_iter().map(|(id, output, _)| (id, output)).collect();
        let expected = [
            ("c1", r#"done with "first""#),
            ("c2", r#"plain {"x":1}"#),
            ("c3", "declined/expired: second"),
            ("c4", r#"done with "third""#),
        ];
        assert_eq!(results, expected.map(|(id, output)| (id.to_owned(), output.to_owned())));
        let body = &server.captured()[1].json;
        match style {
            Style::OpenAi => assert_eq!(
                body["messages"][2],
                json!({ "role": "tool", "tool_call_id": "c1", "content": r#"done with "first""# })
            ),
            Style::Anthropic => assert_eq!(
                body["messages"][2]["content"][2],
                json!({ "type": "tool_result", "tool_use_id": "c3", "content": "declined/expired: second", "is_error": true })
            ),
        }
    }
}

#[tokio::test]
async fn contract_16_calls_with_the_same_provider_id_are_kept_apart() {
    for style in BOTH {
        let calls = [("same", "ask", r#"{"p":"one"}"#), ("same", "ask", r#"{"p":"two"}"#)];
        let server = Server::replies(
            style,
            vec![
                Reply::calls(style, &calls),
                Reply::calls(style, &[("same", "ask", r#"{"p":"three"}"#)]),
                Reply::text(style, "end"),
            ],
        )
        .await;
        let result = saying(&server, &Toolkit::new().with(Seen::default().asking("ask")), |request| {
            Answer::ok_with(request.id, request.prompt.into())
        })
        .await;
        let outputs: Vec<_> = result.tool_calls.iter().map(|call| call.output.as_str()).collect();
        assert_eq!(outputs, [r#"done with "one""#, r#"done with "two""#, r#"done with "three""#]);
        server.bodies();
    }
}

#[tokio::test]
async fn contract_19_an_unknown_tool_a_failing_tool_and_a_panic_are_plain_errors() {
    for style in BOTH {
        let calls =
            [("c1", "nobody", "{}"), ("c2", "fails", "{}"), ("c3", "panics", "{}"), ("c4", "works", "{}")];
        let server = server(style, &calls).await;
        let schema = json!({ "type": "object" });
        let toolkit = Toolkit::new()
            .with(NativeTool::new("fails", "", schema.clone(), async |_, _| ToolResult::error("it broke")))
            .with(NativeTool::new("panics", "", schema.clone(), |_, context| async move {
                assert!(context.call.is_empty(), "a panic on purpose");
                ToolResult::ok("")
            }))
            .with(NativeTool::new("works", "", schema, async |_, _| ToolResult::ok("fine")));
        let result = saying(&server, &toolkit, |_| panic!("nothing is asked")).await;
        assert_eq!(result.status, Status::Done);
        let results = server.last_results();
        assert_eq!(results[0].1, "Unknown tool: nobody");
        assert_eq!(results[1].1, "it broke");
        assert!(results[2].1.contains("failed unexpectedly"));
        assert_eq!(results[3].1, "fine");
        if style == Style::Anthropic {
            assert_eq!(
                results.iter().map(|result| result.2).collect::<Vec<_>>(),
                [true, true, true, false].map(Some)
            );
        }
    }
}

#[tokio::test]
async fn contract_20_arguments_that_are_no_object_raise_no_request_and_run_nothing() {
    let broken = ["[1]", "\"text\"", "null", "{\"a\":", "3", r#"{"p":"a","p":"b"}"#];
    for arguments in broken {
        let (seen, server) = (Seen::default(), server(Style::OpenAi, &[("c1", "ask", arguments)]).await);
        let gated = seen.plain("ask").policy(Policy::Ask);
        let result = saying(&server, &Toolkit::new().with(gated), |_| panic!("nothing is asked")).await;
        assert_eq!(result.status, Status::Done, "{arguments}");
        assert!(server.last_results()[0].1.contains("The tool did not run"), "{arguments}");
        assert_eq!(seen.runs(), []);
    }
    for style in BOTH {
        let list = Reply::json(&match style {
            Style::OpenAi => json!({ "choices": [{ "message": { "role": "assistant", "tool_calls":
                [{ "id": "c1", "function": { "name": "plain", "arguments": [1] } }] } }] }),
            Style::Anthropic => json!({ "type": "message", "role": "assistant", "content":
                [{ "type": "tool_use", "id": "c1", "name": "plain", "input": [1] }] }),
        });
        let server = Server::replies(style, vec![list, Reply::text(style, "end")]).await;
        let seen = Seen::default();
        saying(&server, &Toolkit::new().with(seen.plain("plain")), |_| panic!("nothing is asked")).await;
        assert!(server.last_results()[0].1.contains("not a JSON object but a list"));
        assert_eq!(seen.runs(), []);
    }
    let empty = server(Style::OpenAi, &[("c1", "plain", "")]).await;
    saying(&empty, &Toolkit::new().with(Seen::default().plain("plain")), |_| panic!("nothing is asked"))
        .await;
    assert_eq!(empty.last_results()[0].1, "plain {}");
}

#[tokio::test]
async fn contract_21_the_models_message_goes_back_as_it_came() {
    let mut openai = json!({ "role": "assistant", "content": [{ "type": "text", "text": "hm" }], "reasoning_content": "because",
        "audio": null, "odd": { "b": 1, "a": 9_007_199_254_740_993_u64 },
        "tool_calls": [{ "id": "c1", "type": "function", "index": 0, "function": { "name": "plain", "arguments": "{ }" } }] });
    let server = Server::replies(
        Style::OpenAi,
        vec![Reply::json(&json!({ "choices": [{ "message": openai }] })), Reply::text(Style::OpenAi, "end")],
    )
    .await;
    saying(&server, &Toolkit::new().with(Seen::default().plain("plain")), |_| panic!()).await;
    if streams() {
        // In pieces, the index only says which call a piece belongs to.
        openai["tool_calls"][0].as_object_mut().unwrap().shift_remove("index");
    }
    assert_eq!(server.captured()[1].json["messages"][1].to_string(), openai.to_string());

    let content = json!([
        { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
        { "type": "redacted_thinking", "data": "eA==" },
        { "type": "text", "text": "so" },
        { "type": "tool_use", "id": "c1", "name": "plain", "input": { "z": 1, "a": 2 }, "caller": { "x": 1 } }
    ]);
    let message = json!({ "id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use" });
    let server =
        Server::replies(Style::Anthropic, vec![Reply::json(&message), Reply::text(Style::Anthropic, "end")])
            .await;
    saying(&server, &Toolkit::new().with(Seen::default().plain("plain")), |_| panic!()).await;
    let sent = &server.captured()[1].json["messages"][1];
    assert_eq!(sent.to_string(), json!({ "role": "assistant", "content": content }).to_string());
}

#[tokio::test]
async fn contract_22_max_turns_is_incomplete() {
    for style in BOTH {
        let server = Server::script(style, move |_, _| Reply::calls(style, &[("c", "plain", "{}")])).await;
        let seen = Seen::default();
        let client = client(&server).max_turns(3);
        let result = client.run("go", &Toolkit::new().with(seen.plain("plain"))).await;
        assert_eq!(result.status, Status::Incomplete(Limit::MaxTurns));
        assert_eq!(server.bodies().len(), 3);
        assert_eq!(seen.runs().len(), 3, "the last turn's calls have their results too");
    }
}

#[tokio::test]
async fn contract_24_failures_are_retried_and_no_tool_runs_twice() {
    for style in BOTH {
        let failures = [
            Reply::status(500, "", "{}"),
            Reply::status(408, "", ""),
            Reply::Dropped,
            Reply::Half(r#"{"choices":[{"mess"#.to_owned()),
            Reply::status(429, "", "{}"),
            Reply::status(529, "content-type: text/html\r\n", "<html>busy</html>"),
        ];
        for failure in failures {
            let replies = vec![
                Reply::calls(style, &[("c1", "plain", "{}")]),
                failure.clone(),
                failure,
                Reply::text(style, "end"),
            ];
            let server = Server::replies(style, replies).await;
            let seen = Seen::default();
            let result = client(&server).run("go", &Toolkit::new().with(seen.plain("plain"))).await;
            assert_eq!(result.status, Status::Done);
            assert_eq!(seen.runs().len(), 1);
            let bodies = server.bodies();
            assert_eq!(bodies.len(), 4);
            assert_eq!(bodies[1], bodies[3], "the same is asked again");
        }
    }
}

#[tokio::test]
async fn contract_24_retry_after_is_honoured_within_the_budget() {
    let style = Style::OpenAi;
    let replies = vec![Reply::status(429, "retry-after: 1\r\n", "{}"), Reply::text(style, "end")];
    let server = Server::replies(style, replies).await;
    let started = Instant::now();
    let result = client(&server).run("go", &Toolkit::new()).await;
    assert_eq!(result.status, Status::Done);
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());

    let server = Server::replies(style, vec![Reply::status(429, "retry-after: 3600\r\n", "{}")]).await;
    let result = client(&server).run("go", &Toolkit::new()).await;
    let Status::Error(error) = result.status else { panic!("{:?}", result.status) };
    assert!(error.contains("It asks to wait 3600 seconds."), "{error}");
    assert_eq!(server.captured().len(), 1);
}

#[tokio::test]
async fn contract_25_without_wait_for_a_run_halts_with_its_requests_in_call_order() {
    for style in BOTH {
        let calls = [("c1", "ask", r#"{"p":"one"}"#), ("c2", "plain", "{}"), ("c3", "ask", r#"{"p":"two"}"#)];
        let server = server(style, &calls).await;
        let toolkit = Toolkit::new().with(Seen::default().asking("ask")).with(Seen::default().plain("plain"));
        let result = client(&server).run("go", &toolkit).await;
        assert_eq!(result.status, Status::Pending);
        let prompts: Vec<_> = result.pending.iter().map(|request| request.prompt.as_str()).collect();
        assert_eq!(prompts, ["one", "two"]);
        assert_eq!(server.captured().len(), 1);
    }
}

#[tokio::test]
async fn contract_29_the_question_tool_asks_and_gives_the_answers_as_compact_json() {
    for style in BOTH {
        let arguments = r#"{"questions":[{"question":"Which?","options":["a","b"]},{"question":"Why?"}]}"#;
        for (data, output) in [
            (Some(r#"{"answers": ["b", 9007199254740993]}"#), r#"{"answers":["b",9007199254740993]}"#),
            (None, "{}"),
        ] {
            let server = server(style, &[("c1", "question", arguments)]).await;
            let client = client(&server).wait_for(move |request| async move {
                assert_eq!(request.kind, Kind::Question);
                assert_eq!(request.prompt, "Which? (options: a, b)\nWhy?");
                assert_eq!(request.data.as_ref().unwrap().to_string(), arguments);
                Ok::<_, Infallible>(match data {
                    Some(data) => Answer::ok_with(request.id, serde_json::from_str(data).unwrap()),
                    None => Answer::ok(request.id),
                })
            });
            let result = client.run("go", &Toolkit::standard(&Default::default())).await;
            assert_eq!(result.status, Status::Done);
            assert_eq!(server.last_results()[0].1, output);
        }
    }
    let server = server(Style::OpenAi, &[("c1", "question", r#"{"questions":[]}"#)]).await;
    let result =
        saying(&server, &Toolkit::standard(&Default::default()), |_| panic!("nothing is asked")).await;
    assert!(result.tool_calls[0].is_error);
}

#[tokio::test]
async fn contract_31_a_form_that_asks_for_a_secret_is_never_shown() {
    for style in BOTH {
        let server = server(style, &[ASK]).await;
        let seen = Seen::default();
        let tool = seen.asking_for("ask", |prompt| Request {
            data: Some(
                json!({ "schema": { "type": "object", "properties": { "api_key": { "type": "string" } } } }),
            ),
            ..Request::new("", Kind::Input, prompt)
        });
        let result = saying(&server, &Toolkit::new().with(tool), |_| panic!("nothing is asked")).await;
        assert!(
            result.tool_calls[0].output.contains("`api_key` asks for a secret"),
            "{}",
            result.tool_calls[0].output
        );
    }
}

#[tokio::test]
async fn contract_04_numbers_keep_their_digits_on_the_way_to_the_tool_and_back() {
    for style in BOTH {
        let number = r#"{"n":9007199254740993,"f":1.10}"#;
        let server = server(style, &[("c1", "plain", number)]).await;
        let result =
            saying(&server, &Toolkit::new().with(Seen::default().plain("plain")), |_| panic!()).await;
        assert_eq!(result.tool_calls[0].arguments, number);
        assert_eq!(server.last_results()[0].1, format!("plain {number}"));
        let escaped = number.replace('"', "\\\"");
        let body = &server.bodies()[1];
        assert!(
            body.contains(number) || body.contains(&escaped),
            "the call goes back digit for digit: {body}"
        );
    }
}

#[tokio::test]
async fn contract_05_a_prompt_of_a_megabyte_is_asked_and_refused_whole() {
    let prompt = "p".repeat(1024 * 1024);
    for style in BOTH {
        let server = server(style, &[("c1", "ask", &json!({ "p": prompt }).to_string())]).await;
        let result = saying(&server, &Toolkit::new().with(Seen::default().asking("ask")), |request| {
            assert_eq!(request.prompt.len(), 1024 * 1024);
            Answer::declined(request.id, None)
        })
        .await;
        assert_eq!(result.status, Status::Done);
        assert_eq!(server.last_results()[0].1, format!("declined/expired: {prompt}"));
    }
}

#[tokio::test]
async fn of_too_many_calls_in_one_turn_only_the_first_are_looked_at() {
    for style in BOTH {
        let ids: Vec<_> = (0..100).map(|number| format!("c{number}")).collect();
        let calls: Vec<_> = ids.iter().map(|id| (id.as_str(), "plain", "{}")).collect();
        let server = server(style, &calls).await;
        let seen = Seen::default();
        let result = client(&server).run("go", &Toolkit::new().with(seen.plain("plain"))).await;
        assert_eq!(result.status, Status::Done);
        assert_eq!(seen.runs().len(), 64);
        let results = server.last_results();
        assert_eq!(results.len(), 100, "each call has its one result");
        let refused = results.iter().filter(|(_, output, _)| output.starts_with("Too many calls")).count();
        assert_eq!(refused, 36);
    }
}
