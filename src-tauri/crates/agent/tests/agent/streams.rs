//! Answers that come in pieces, and pieces that don't make an answer.

use std::sync::Mutex;

use sayso_agent::{AgentEvent, Delta, Entry, Model, ModelError, ModelOptions, Style};
use sayso_domain::run::{Status, Usage};
use serde_json::json;

use crate::resume::{client, toolkit};
use crate::support::{BOTH, Captured, Reply, Server, in_pieces, quick, streaming, turn};

fn transcript() -> Vec<Entry> {
    vec![Entry::User("go".to_owned())]
}

fn calls(style: Style) -> Vec<String> {
    let calls = [
        ("c1", "plain", r#"{"n":9007199254740993,"text":"äöü \"quoted\" \n"}"#),
        ("c2", "plain", r#"{"n":2}"#),
    ];
    in_pieces(style, &turn(style, "so — ☃", &calls))
}

#[tokio::test]
async fn an_answer_in_pieces_is_what_it_would_have_been_in_one() {
    for style in BOTH {
        let answer = turn(style, "so — ☃", &[("c1", "plain", r#"{"n":1.10}"#), ("c2", "plain", "{}")]);
        let server = Server::script(style, move |_, _| Reply::json(&answer)).await;
        let whole = Model::new(server.endpoint(), quick()).complete(None, &transcript(), &[]).await.unwrap();
        let shown = Mutex::new(String::new());
        let model = Model::new(server.endpoint(), streaming(true));
        let show = |delta: Delta<'_>| match delta {
            Delta::Text(text) => shown.lock().unwrap().push_str(text),
            Delta::Restarted => panic!("it did not break"),
        };
        let pieces = model.complete_shown(None, &transcript(), &[], &show).await.unwrap();
        let by_name = |reply: &sayso_agent::Reply| match style {
            // The answer around the message is not stored.
            Style::OpenAi => reply.message.to_string(),
            Style::Anthropic => reply.message["content"].to_string(),
        };
        assert_eq!(by_name(&pieces), by_name(&whole));
        assert_eq!((&pieces.text, &pieces.calls, pieces.cut), (&whole.text, &whole.calls, whole.cut));
        assert_eq!(pieces.usage, Usage { input_tokens: 10, output_tokens: 5 });
        assert_eq!(*shown.lock().unwrap(), "so — ☃");
        let asked: Vec<Captured> = server.captured();
        assert_eq!((&asked[0].json["stream"], &asked[1].json["stream"]), (&json!(false), &json!(true)));
    }
}

/// Cut at every event, cleanly and in the middle, what came is never taken for an answer.
#[tokio::test]
async fn contract_24_a_stream_that_breaks_is_asked_again_and_never_half_a_call() {
    for style in BOTH {
        let events = calls(style);
        // Where the end was said, only what is needless is cut off.
        let said = events
            .iter()
            .position(|event| event.contains("stop_reason\":\"") || event.contains("finish_reason\":\"stop"));
        let said = said.unwrap();
        for at in 0..=said {
            for how in 0..3 {
                let cut = events[..at].to_vec();
                let broken = match how {
                    0 => Reply::stream(&cut),
                    1 => Reply::Half(cut.concat() + ": "),
                    _ => {
                        let half: String = events[at].chars().take(events[at].chars().count() / 2).collect();
                        Reply::Half(cut.concat() + &half)
                    }
                };
                let replies = vec![broken, Reply::stream(&events), Reply::text(style, "end")];
                let server = Server::replies(style, replies).await;
                let (tools, done) = toolkit();
                let mut run = client(&server, true).stream("go", &tools);
                let (mut text, mut restarted) = (String::new(), 0);
                while let Some(event) = run.next().await {
                    match event {
                        AgentEvent::Text { turn: 1, text: more } => text.push_str(&more),
                        AgentEvent::Restarted { turn: 1 } => {
                            restarted += 1;
                            text.clear();
                        }
                        AgentEvent::Text { .. }
                        | AgentEvent::Restarted { .. }
                        | AgentEvent::Call { .. }
                        | AgentEvent::Pending { .. }
                        | AgentEvent::Result { .. }
                        | AgentEvent::Usage { .. }
                        | AgentEvent::Done(_) => {}
                    }
                }
                let result = run.result().await;
                assert_eq!(result.status, Status::Done, "{style:?} at {at}, {how}");
                assert_eq!(text, "so — ☃", "what broke off no longer counts");
                assert!(restarted <= 1);
                assert_eq!(*done.lock().unwrap(), ["plain 9007199254740993", "plain 2"], "each call once");
                let bodies = server.bodies();
                assert_eq!(bodies.len(), 3);
                assert_eq!(bodies[0], bodies[1], "the same is asked again");
            }
        }
    }
}

#[tokio::test]
async fn contract_24_a_stream_that_breaks_each_time_ends_as_a_clear_error() {
    for style in BOTH {
        let events = calls(style);
        let half = events[..events.len() / 2].to_vec();
        let server = Server::script(style, move |_, _| Reply::stream(&half)).await;
        let (tools, done) = toolkit();
        let result = client(&server, true).run("go", &tools).await;
        let Status::Error(error) = result.status else { panic!("{:?}", result.status) };
        assert!(error.contains("broke before its answer was complete (the stream ended early)"), "{error}");
        assert!(error.contains("Nothing more was run") && error.ends_with("to go on."), "{error}");
        assert_eq!(server.captured().len(), 3, "as often as any broken connection");
        assert_eq!(done.lock().unwrap().len(), 0);
        assert!(result.tool_calls.is_empty());
    }
}

/// Whether an error is the one that is expected, and how often it was asked.
type IsRight = fn(&ModelError) -> bool;

#[tokio::test]
async fn what_a_provider_says_amid_a_stream_decides_whether_it_is_asked_again() {
    let cases: [(Style, serde_json::Value, usize); 6] = [
        (
            Style::Anthropic,
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } }),
            3,
        ),
        (
            Style::Anthropic,
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "busy" } }),
            1,
        ),
        (Style::OpenAi, json!({ "error": { "message": "busy", "type": "server_error" } }), 3),
        (Style::OpenAi, json!({ "error": { "message": "busy", "code": 502 }, "choices": [] }), 3),
        (Style::OpenAi, json!({ "error": { "message": "busy", "code": 429 } }), 3),
        (Style::OpenAi, json!({ "error": { "message": "busy", "code": 402 } }), 1),
    ];
    for (style, event, attempts) in cases {
        let mut events = calls(style);
        events.truncate(4);
        events.push(format!("data: {event}\n\n"));
        let server = Server::script(style, move |_, _| Reply::stream(&events)).await;
        let model = Model::new(server.endpoint(), streaming(true));
        let error = model.complete(None, &transcript(), &[]).await.unwrap_err();
        assert!(
            matches!(&error, ModelError::GaveUp { said, .. } if said.to_string() == ": busy"),
            "{error:?}"
        );
        assert!(error.to_string().contains("broke off its answer with an error: busy"), "{error}");
        assert_eq!(server.captured().len(), attempts, "{event}");
    }
}

#[tokio::test]
async fn what_is_no_stream_is_still_an_answer_or_a_clear_error() {
    for style in BOTH {
        let answer = turn(style, "so", &[]).to_string();
        let as_json = Reply::status(200, "content-type: application/octet-stream\r\n", &answer);
        let unnamed = Reply::status(200, "", &in_pieces(style, &turn(style, "so", &[])).concat());
        for reply in [as_json, unnamed] {
            let server = Server::replies(style, vec![reply]).await;
            let model = Model::new(server.endpoint(), streaming(true));
            assert_eq!(model.complete(None, &transcript(), &[]).await.unwrap().text, "so");
        }
        let stream = |text: &str| Reply::status(200, "content-type: text/event-stream\r\n", text);
        let bad: [(&str, Reply, IsRight); 5] = [
            ("no JSON", stream("data: {\"choices\": [\n\n"), |e| matches!(e, ModelError::BrokenJson { .. })),
            ("a list", stream("data: []\n\n"), |e| matches!(e, ModelError::Dropped { .. })),
            ("nothing", stream(""), |e| matches!(e, ModelError::Dropped { .. })),
            ("a page", Reply::status(200, "content-type: text/html\r\n", "<p>hi"), |e| {
                matches!(e, ModelError::Html { .. })
            }),
            ("only an end", stream("data: [DONE]\n\n"), |e| {
                matches!(e, ModelError::NoMessage { .. } | ModelError::Dropped { .. })
            }),
        ];
        for (name, reply, is_right) in bad {
            let server = Server::script(style, move |_, _| reply.clone()).await;
            let model = Model::new(server.endpoint(), streaming(true));
            let error = model.complete(None, &transcript(), &[]).await.unwrap_err();
            assert!(is_right(&error), "{style:?} {name}: {error:?}");
        }
    }
}

/// At the length limit, the last call may be half of one: it does not run, and what goes back is whole.
#[tokio::test]
async fn a_call_that_was_cut_at_the_length_limit_does_not_run() {
    for style in BOTH {
        let calls = [("c1", "plain", r#"{"n":1}"#), ("c2", "plain", r#"{"n":2}"#)];
        let mut events = in_pieces(style, &turn(style, "", &calls));
        let is_piece = |event: &&String| event.contains("partial_json") || event.contains("\"arguments\":\"");
        let last = events.iter().rfind(is_piece).cloned().unwrap();
        events.retain(|event| *event != last);
        for event in &mut events {
            *event = event.replace("\"finish_reason\":\"stop\"", "\"finish_reason\":\"length\"");
            *event = event.replace("\"stop_reason\":\"end_turn\"", "\"stop_reason\":\"max_tokens\"");
        }
        let server = Server::replies(style, vec![Reply::stream(&events), Reply::text(style, "end")]).await;
        let (tools, done) = toolkit();
        let result = client(&server, true).run("go", &tools).await;
        assert_eq!(result.status, Status::Done);
        assert_eq!(*done.lock().unwrap(), ["plain 1"], "only the whole one");
        assert!(server.last_results()[1].1.contains("length limit"));
        if style == Style::Anthropic {
            let sent = &server.captured()[1].json["messages"][1]["content"];
            assert_eq!((&sent[0]["input"], &sent[1]["input"]), (&json!({ "n": 1 }), &json!({})));
        }
    }
}

#[tokio::test]
async fn a_server_that_does_not_know_how_to_count_is_asked_without() {
    let style = Style::OpenAi;
    let no = r#"{"error":{"message":"Extra inputs are not permitted: stream_options"}}"#;
    let replies = vec![Reply::status(422, "", no), Reply::text(style, "so")];
    let server = Server::replies(style, replies).await;
    let model = Model::new(server.endpoint(), streaming(true));
    assert_eq!(model.complete(None, &transcript(), &[]).await.unwrap().text, "so");
    let captured = server.captured();
    assert_eq!(captured[0].json["stream_options"], json!({ "include_usage": true }));
    assert!(captured[1].json.get("stream_options").is_none() && captured[1].json["stream"] == true);
}

/// Each byte is looked at once, however long an event is.
#[tokio::test]
async fn a_server_that_cannot_stream_is_answered_in_one_piece_and_not_asked_to_stream_again() {
    let words = [
        "Streaming is not supported for this model",
        "Unrecognized request arguments supplied: stream, stream_options",
        "`stream` must be false",
    ];
    for style in BOTH {
        for said in words {
            let server = Server::script(style, move |_, asked| match asked.json["stream"] == true {
                true => Reply::status(400, "", &json!({ "error": { "message": said } }).to_string()),
                false => Reply::text(style, "so"),
            })
            .await;
            let model = Model::new(server.endpoint(), streaming(true));
            let shown = Mutex::new(String::new());
            let show = |delta: Delta<'_>| match delta {
                Delta::Text(text) => shown.lock().unwrap().push_str(text),
                Delta::Restarted => panic!("nothing was shown"),
            };
            let reply = model.complete_shown(None, &transcript(), &[], &show).await.unwrap();
            assert_eq!((reply.text.as_str(), reply.usage.output_tokens), ("so", 5), "{said}");
            assert_eq!(*shown.lock().unwrap(), "so");
            let asked = server.captured();
            let last = asked.last().unwrap();
            assert_eq!((&last.json["stream"], last.json.get("stream_options")), (&json!(false), None));
            model.complete(None, &transcript(), &[]).await.unwrap();
            assert_eq!(server.captured().len(), asked.len() + 1, "{said}");
        }
        // What only sounds like it is an error as it stands.
        let other = json!({ "error": { "message": "the upstream rejected max_tokens" } }).to_string();
        let server = Server::script(style, move |_, _| Reply::status(400, "", &other)).await;
        let model = Model::new(server.endpoint(), streaming(true));
        let error = model.complete(None, &transcript(), &[]).await.unwrap_err();
        assert!(matches!(error, ModelError::Rejected { .. }));
        assert_eq!(server.captured().len(), 1);
    }
}

#[tokio::test]
async fn plain_json_for_a_stream_is_an_answer() {
    for style in BOTH {
        let calls = [("c1", "plain", r#"{"n":9007199254740993}"#)];
        let answer = turn(style, "so", &calls).to_string();
        for kind in ["application/json; charset=utf-8", "text/plain"] {
            let reply = Reply::status(200, &format!("content-type: {kind}\r\n"), &answer);
            let server = Server::replies(style, vec![reply]).await;
            let model = Model::new(server.endpoint(), streaming(true));
            let reply = model.complete(None, &transcript(), &[]).await.unwrap();
            assert_eq!(
                (reply.text.as_str(), reply.calls[0].arguments.as_str()),
                ("so", calls[0].2),
                "{kind}"
            );
            assert_eq!(reply.usage, Usage { input_tokens: 10, output_tokens: 5 });
        }
    }
}

#[tokio::test]
async fn a_call_of_megabytes_in_one_event_is_read_soon() {
    for style in BOTH {
        let text = "x".repeat(8 * 1024 * 1024);
        let events: Vec<_> = match style {
            Style::OpenAi => [
                json!({ "choices": [{ "delta": { "role": "assistant", "content": text } }] }),
                json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
            ]
            .map(|event| format!("data: {event}\n\n"))
            .into(),
            Style::Anthropic => [
                json!({ "type": "message_start", "message": { "type": "message", "role": "assistant" } }),
                json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": text } }),
                json!({ "type": "message_stop" }),
            ]
            .map(|event| format!("data: {event}\n\n"))
            .into(),
        };
        let server = Server::replies(style, vec![Reply::stream(&events)]).await;
        let reply =
            Model::new(server.endpoint(), streaming(true)).complete(None, &transcript(), &[]).await.unwrap();
        assert_eq!(reply.text.len(), text.len());
    }
}

#[tokio::test]
async fn a_stream_beyond_the_limit_is_not_read() {
    for style in BOTH {
        let answer = turn(style, &"x".repeat(20_000), &[]);
        let server = Server::script(style, move |_, _| Reply::json(&answer)).await;
        let options = ModelOptions { max_answer: 10_000, ..streaming(true) };
        let error =
            Model::new(server.endpoint(), options).complete(None, &transcript(), &[]).await.unwrap_err();
        assert!(matches!(error, ModelError::TooLarge { limit: 10_000, .. }), "{error:?}");
        assert_eq!(server.captured().len(), 1);
    }
}

/// The pieces hold a name twice, or half an object: nothing runs, and what goes back is an object.
#[tokio::test]
async fn contract_20_pieces_that_make_no_object_run_nothing() {
    for arguments in [r#"{"n":1,"n":2}"#, r#"{"n":"#, "[1]"] {
        for style in BOTH {
            let events: Vec<_> = match style {
                Style::OpenAi => in_pieces(style, &turn(style, "", &[("c1", "plain", arguments)])),
                Style::Anthropic => {
                    let piece = json!({ "type": "content_block_delta", "index": 0,
                        "delta": { "type": "input_json_delta", "partial_json": arguments } });
                    let mut events = in_pieces(style, &turn(style, "", &[("c1", "plain", "{}")]));
                    let at = events.iter().position(|event| event.contains("input_json_delta")).unwrap();
                    events[at] = format!("data: {piece}\n\n");
                    events
                }
            };
            let server =
                Server::replies(style, vec![Reply::stream(&events), Reply::text(style, "end")]).await;
            let (tools, done) = toolkit();
            let result = client(&server, true).run("go", &tools).await;
            assert_eq!(result.status, Status::Done);
            assert_eq!(result.tool_calls[0].arguments, arguments, "shown as it was written");
            assert!(server.last_results()[0].1.contains("The tool did not run"), "{arguments}");
            assert_eq!(done.lock().unwrap().len(), 0);
        }
    }
}
