//! A caller that tries to get something run which nobody approved as shown. Each try is refused with an error of its own,
//! and leaves everything as it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sayso_agent::{Checkpoint, Decision, NativeTool, ResumeError, Toolkit, system_time};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Digest, Kind, Request, ToolResult};
use serde_json::{Value, json};

use crate::resume::{client, server, stored, toolkit};
use crate::support::{MODES, Reply, Server};

type Change = fn(&mut Value);
type IsRight = fn(&ResumeError) -> bool;

#[tokio::test]
async fn contract_12_what_is_no_answer_to_what_waits_changes_nothing() {
    for (style, stream) in MODES {
        let server = server(style, 2).await;
        let (tools, done) = toolkit();
        let client = client(&server, stream);
        let first = client.run("go", &tools).await;
        let old = first.pending[0].id.clone();
        let halted = client.resume(stored(&first), [Answer::ok(old.clone())], &tools).await.unwrap();
        let before = done.lock().unwrap().clone();
        let id = halted.pending[0].id.clone();
        let (_, digest) = halted.checkpoint.requests().next().unwrap();
        let plain = |answer: Answer| vec![Decision::from(answer)];
        let tries: Vec<(&str, Vec<Decision>, IsRight)> = vec![
            ("another id", plain(Answer::ok("another")), |e| matches!(e, ResumeError::UnknownRequest(_))),
            ("an old answer", plain(Answer::ok(old)), |e| matches!(e, ResumeError::UnknownRequest(_))),
            ("one of two is wrong", vec![Answer::ok(id.clone()).into(), Answer::ok("another").into()], |e| {
                matches!(e, ResumeError::UnknownRequest(_))
            }),
            ("twice", vec![Answer::ok(id.clone()).into(), Answer::declined(id.clone(), None).into()], |e| {
                matches!(e, ResumeError::AnsweredTwice(_))
            }),
            (
                "for other arguments",
                vec![Decision { answer: Answer::ok(id.clone()), digest: Some(Digest::of("something else")) }],
                |e| matches!(e, ResumeError::WrongDigest(_)),
            ),
            (
                "with arguments of its own",
                plain(Answer::ok_with(id.clone(), json!({ "arguments": { "n": 7 } }))),
                |e| matches!(e, ResumeError::NotEditable(_)),
            ),
        ];
        for (name, answers, is_right) in tries {
            let error = client.resume(stored(&halted), answers, &tools).await.unwrap_err();
            assert!(is_right(&error), "{name}: {error:?}");
            assert!(error.to_string().contains("nothing was run"), "{error}");
            assert_eq!(*done.lock().unwrap(), before, "{name}");
        }
        let right = Decision { answer: Answer::ok(id), digest: Some(digest) };
        let ended = client.resume(stored(&halted), [right.clone()], &tools).await.unwrap();
        assert_eq!(ended.status, Status::Done);
        let again = client.resume(stored(&halted), [right.clone()], &tools).await.unwrap_err();
        assert!(matches!(again, ResumeError::AlreadyResumed));
        let over = client.resume(stored(&ended), [right], &tools).await.unwrap_err();
        assert!(matches!(over, ResumeError::NotPending));
        assert_eq!(done.lock().unwrap().len(), 4);
    }
}

/// A tool that suspends with this request, and counts how often it ran with an answer.
fn asking(request: impl Fn() -> Request + Send + Sync + 'static) -> (Toolkit, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let tool = NativeTool::new("ask", "asks", json!({ "type": "object" }), move |_, context| {
        let result = match context.answer {
            Some(_) => {
                count.fetch_add(1, Ordering::SeqCst);
                ToolResult::ok("ran")
            }
            None => ToolResult::pending(&request()),
        };
        async move { result }
    });
    (Toolkit::new().with(tool), runs)
}

#[tokio::test]
async fn contract_13_an_ok_after_the_deadline_is_refused_and_then_it_has_expired() {
    for (style, stream) in MODES {
        let server = server(style, 1).await;
        let (tools, runs) = asking(|| Request {
            expires_at: Some(system_time().plus_millis(40)),
            ..Request::new("r1", Kind::Approval, "Now?")
        });
        let client = client(&server, stream);
        let halted = client.run("go", &tools).await;
        let deadline = halted.pending[0].expires_at.unwrap();
        while system_time() < deadline {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let error = client.resume(stored(&halted), [Answer::ok("r1")], &tools).await.unwrap_err();
        assert!(matches!(error, ResumeError::TooLate(_)), "{error:?}");
        let none: [Answer; 0] = [];
        let ended = client.resume(stored(&halted), none, &tools).await.unwrap();
        assert_eq!(ended.status, Status::Done);
        assert_eq!(runs.load(Ordering::SeqCst), 0);
        assert_eq!(server.last_results()[0].1, "declined/expired: Now?");
    }
}

#[tokio::test]
async fn contract_30_data_that_breaks_the_schema_is_refused() {
    let schema = json!({ "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string", "minLength": 2 }, "age": { "type": "integer" } } });
    for (style, stream) in MODES {
        for resumes in [false, true] {
            let server = server(style, 1).await;
            let data = json!({ "schema": schema });
            let (tools, runs) = asking(move || Request {
                data: Some(data.clone()),
                ..Request::new("r1", Kind::Input, "Who?")
            });
            let bad = [
                None,
                Some(json!({})),
                Some(json!({ "name": "x" })),
                Some(json!({ "name": "xy", "age": 1.5 })),
            ];
            let answer = |data: Option<Value>| match data {
                Some(data) => Answer::ok_with("r1", data),
                None => Answer::ok("r1"),
            };
            let good = answer(Some(json!({ "name": "xy", "age": 9_007_199_254_740_993_u64 })));
            let client = client(&server, stream);
            let halted = client.run("go", &tools).await;
            for data in bad {
                let answer = answer(data);
                if resumes {
                    let error = client.resume(stored(&halted), [answer], &tools).await.unwrap_err();
                    assert!(matches!(error, ResumeError::WrongData { .. }), "{error:?}");
                } else {
                    let none: [Answer; 0] = [];
                    let asked = client.clone().claims(sayso_agent::MemoryClaims::new()).wait_for(move |_| {
                        let answer = answer.clone();
                        async move { Ok::<_, std::convert::Infallible>(answer) }
                    });
                    let still = asked.resume(stored(&halted), none, &tools).await.unwrap();
                    assert_eq!(still.status, Status::Pending, "it goes on waiting");
                }
                assert_eq!(runs.load(Ordering::SeqCst), 0);
            }
            client.resume(stored(&halted), [good], &tools).await.unwrap();
            assert_eq!(runs.load(Ordering::SeqCst), 1);
        }
    }
}

#[tokio::test]
async fn contract_12_two_requests_with_one_id_are_told_apart_by_their_digest() {
    for (style, stream) in MODES {
        let calls = [("c1", "ask", r#"{"p":"one"}"#), ("c2", "ask", r#"{"p":"two"}"#)];
        let server =
            Server::replies(style, vec![Reply::calls(style, &calls), Reply::text(style, "end")]).await;
        let tools = Toolkit::new().with(NativeTool::new("ask", "", json!({}), async |arguments, context| {
            let prompt = arguments.value["p"].as_str().unwrap_or_default();
            match context.answer {
                Some(_) => ToolResult::ok(format!("ran {prompt}")),
                None => ToolResult::pending(&Request::new("same", Kind::Approval, prompt)),
            }
        }));
        let client = client(&server, stream);
        let halted = client.run("go", &tools).await;
        let error = client.resume(stored(&halted), [Answer::ok("same")], &tools).await.unwrap_err();
        assert!(matches!(error, ResumeError::Ambiguous(_)));
        let digests: Vec<_> = halted.checkpoint.requests().map(|(_, digest)| digest).collect();
        let answers = [
            Decision { answer: Answer::declined("same", None), digest: Some(digests[0]) },
            Decision { answer: Answer::ok("same"), digest: Some(digests[1]) },
        ];
        client.resume(stored(&halted), answers, &tools).await.unwrap();
        let outputs: Vec<_> = server.last_results().into_iter().map(|result| result.1).collect();
        assert_eq!(outputs, ["declined/expired: one", "ran two"]);
    }
}

#[tokio::test]
async fn a_checkpoint_that_was_changed_by_half_is_refused() {
    for (style, stream) in MODES {
        let server = server(style, 2).await;
        let (tools, done) = toolkit();
        let client = client(&server, stream);
        let halted = client.run("go", &tools).await;
        let before = done.lock().unwrap().clone();
        let id = halted.pending[0].id.clone();
        let text = serde_json::to_value(&halted.checkpoint).unwrap();
        let changes: [(&str, Change); 6] = [
            ("arguments", |c| c["run"]["slots"][0]["arguments"] = r#"{"n":666}"#.into()),
            ("the tool", |c| c["run"]["slots"][0]["name"] = "plain".into()),
            ("what is shown", |c| c["requests"][0]["shown"]["arguments"] = r#"{"n":1}"#.into()),
            ("the prompt", |c| c["requests"][0]["shown"]["request"]["prompt"] = "Harmless?".into()),
            ("no request", |c| c["requests"] = json!([])),
            ("a call at work", |c| c["run"]["slots"][0]["state"] = json!({ "Running": "Allowed" })),
        ];
        for (name, change) in changes {
            let mut changed = text.clone();
            change(&mut changed);
            assert_ne!(changed, text, "{name}");
            let checkpoint: Checkpoint = serde_json::from_value(changed).unwrap();
            let error = client.resume(checkpoint, [Answer::ok(id.clone())], &tools).await.unwrap_err();
            assert!(matches!(error, ResumeError::Damaged(_)), "{name}: {error:?}");
            assert_eq!(*done.lock().unwrap(), before, "{name}");
        }
    }
}
