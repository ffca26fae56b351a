//! Halting with a checkpoint and going on with it elsewhere (contract 25 to 27).

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use sayso_agent::{Checkpoint, Client, FolderClaims, NativeTool, ResumeError, RunResult, Style, Toolkit};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Kind, Policy, Request, ToolResult};
use serde_json::json;

use crate::support::{BOTH, MODES, Reply, Server, streaming, until};

/// A toolkit whose tools note what they did: `ask` suspends by itself, `gated` waits at our gate, `plain` runs at once.
pub(crate) fn toolkit() -> (Toolkit, Arc<Mutex<Vec<String>>>) {
    let done: Arc<Mutex<Vec<String>>> = Arc::default();
    let tool = |name: &'static str, asks: bool| {
        let done = Arc::clone(&done);
        NativeTool::new(name, "works", json!({ "type": "object" }), move |arguments, context| {
            let done = Arc::clone(&done);
            async move {
                let n = arguments.value["n"].to_string();
                if asks && context.answer.is_none() {
                    return ToolResult::pending(&Request::new("", Kind::Approval, format!("Do {n}?")));
                }
                let data = context.answer.and_then(|answer| answer.data().map(ToString::to_string));
                done.lock().unwrap().push(format!("{name} {n}"));
                ToolResult::ok(format!("{name} {n} {}", data.unwrap_or_default()).trim_end().to_owned())
            }
        })
    };
    let toolkit = Toolkit::new()
        .with(tool("ask", true))
        .with(tool("plain", false))
        .with(tool("gated", false).policy(Policy::Ask));
    (toolkit, done)
}

/// A server whose model proposes so many suspended calls, with plain ones between them, and then says "end".
pub(crate) async fn server(style: Style, suspended: usize) -> Server {
    let mut calls = Vec::new();
    for n in 0..suspended {
        calls.push((format!("c{n}"), if n % 2 == 0 { "ask" } else { "gated" }, format!(r#"{{"n":{n}}}"#)));
        calls.push((format!("p{n}"), "plain", format!(r#"{{"n":{n}}}"#)));
    }
    let calls: Vec<_> = calls.iter().map(|(id, name, n)| (id.as_str(), *name, n.as_str())).collect();
    Server::replies(style, vec![Reply::calls(style, &calls), Reply::text(style, "end")]).await
}

pub(crate) fn client(server: &Server, stream: bool) -> Client {
    Client::new(server.endpoint()).options(streaming(stream))
}

/// As another process would get it.
pub(crate) fn stored(result: &RunResult) -> Checkpoint {
    serde_json::from_str(&serde_json::to_string(&result.checkpoint).unwrap()).unwrap()
}

fn user_messages(server: &Server) -> Vec<usize> {
    let is_words = |message: &&serde_json::Value| {
        let only_results = message["content"]
            .as_array()
            .is_some_and(|blocks| blocks.iter().all(|block| block["type"] == "tool_result"));
        message["role"] == "user" && !only_results
    };
    let captured = server.captured();
    captured
        .iter()
        .map(|body| body.json["messages"].as_array().unwrap().iter().filter(is_words).count())
        .collect()
}

#[tokio::test]
async fn contract_25_and_26_a_halted_run_goes_on_elsewhere_with_one_result_for_each_call() {
    for (style, stream) in MODES {
        for suspended in [1, 2, 5] {
            let server = server(style, suspended).await;
            let (tools, done) = toolkit();
            let halted = client(&server, stream).run("go", &tools).await;
            assert_eq!(halted.status, Status::Pending);
            assert_eq!(halted.pending.len(), suspended);
            assert_eq!(halted.pending[0].prompt, "Do 0?");
            assert_eq!(halted.checkpoint.requests().count(), suspended);
            assert_eq!(done.lock().unwrap().len(), suspended, "the plain calls are done");

            // The last one is declined, in words that must stay here; the answers come in reverse order.
            let answers = halted.pending.iter().enumerate().rev().map(|(n, request)| match n {
                n if n + 1 == suspended => Answer::declined(request.id.clone(), "over budget"),
                _ => Answer::ok(request.id.clone()),
            });
            let (tools, done) = toolkit();
            let result = client(&server, stream).resume(stored(&halted), answers, &tools).await.unwrap();
            assert_eq!((&result.status, result.text.as_str()), (&Status::Done, "end"));
            assert_eq!(
                done.lock().unwrap().len(),
                suspended - 1,
                "what was approved ran once, and the rest not again"
            );
            assert_eq!(server.captured().len(), 2);
            assert_eq!(user_messages(&server), [1, 1], "no user turn is added");
            let results: Vec<_> = server.last_results().into_iter().map(|(_, output, _)| output).collect();
            let expected = (0..suspended).flat_map(|n| {
                let name = if n % 2 == 0 { "ask" } else { "gated" };
                let prompt =
                    if n % 2 == 0 { format!("Do {n}?") } else { format!(r#"Run gated {{"n":{n}}}?"#) };
                let own = match n {
                    n if n + 1 == suspended => format!("declined/expired: {prompt}"),
                    n => format!("{name} {n}"),
                };
                [own, format!("plain {n}")]
            });
            assert_eq!(results, expected.collect::<Vec<_>>());
            assert_eq!(result.tool_calls.len(), suspended * 2);
            assert_eq!(result.usage.total(), 30);
        }
    }
}

#[tokio::test]
async fn contract_26_a_resumed_tool_gets_the_answers_data() {
    for (style, stream) in MODES {
        let server = server(style, 1).await;
        let (tools, _) = toolkit();
        let halted = client(&server, stream).run("go", &tools).await;
        let answer = Answer::ok_with(halted.pending[0].id.clone(), json!({ "n": 9_007_199_254_740_993_u64 }));
        client(&server, stream).resume(stored(&halted), [answer], &tools).await.unwrap();
        assert_eq!(server.last_results()[0].1, r#"ask 0 {"n":9007199254740993}"#);
    }
}

#[tokio::test]
async fn contract_27_answers_for_some_leave_the_run_pending_on_the_others() {
    for (style, stream) in MODES {
        let server = server(style, 3).await;
        let (tools, done) = toolkit();
        let mut result = client(&server, stream).run("go", &tools).await;
        let ids: Vec<_> = result.pending.iter().map(|request| request.id.clone()).collect();
        for (left, at) in [(2, 1), (1, 2)] {
            let before = done.lock().unwrap().len();
            result = client(&server, stream)
                .resume(stored(&result), [Answer::ok(ids[at].clone())], &tools)
                .await
                .unwrap();
            assert_eq!(result.status, Status::Pending);
            assert_eq!(result.pending.len(), left);
            assert_eq!(done.lock().unwrap().len(), before + 1, "a call runs as soon as its own answer is in");
            assert_eq!(server.captured().len(), 1, "nothing unfinished is sent");
        }
        assert_eq!(result.pending[0].id, ids[0]);
        result = client(&server, stream)
            .resume(stored(&result), [Answer::ok(ids[0].clone())], &tools)
            .await
            .unwrap();
        assert_eq!(result.status, Status::Done);
        assert_eq!(done.lock().unwrap().len(), 6);
        server.bodies();
    }
}

#[tokio::test]
async fn contract_27_a_checkpoint_is_resumed_once() {
    let folder = tempfile::tempdir().unwrap();
    let claims = FolderClaims::new(folder.path().join("claims"));
    for shared in [false, true] {
        let server = server(Style::OpenAi, 1).await;
        let (tools, done) = toolkit();
        let halted = client(&server, false).run("go", &tools).await;
        let answer = || [Answer::ok(halted.pending[0].id.clone())];
        // Twenty clients at once, which have in common the process or also a folder.
        let clients = (0..20).map(|_| match shared {
            true => client(&server, false).claims(claims.clone()),
            false => client(&server, false),
        });
        let tries = clients.map(|client| {
            let tools = &tools;
            let checkpoint = stored(&halted);
            async move { client.resume(checkpoint, answer(), tools).await }
        });
        let results = futures_util::future::join_all(tries).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        assert!(results.iter().all(|result| matches!(result, Ok(_) | Err(ResumeError::AlreadyResumed))));
        assert_eq!(*done.lock().unwrap(), ["plain 0", "ask 0"], "what was approved ran once");
    }
}

#[tokio::test]
async fn contract_27_a_refused_answer_does_not_use_up_the_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(Style::OpenAi, 1).await;
    let (tools, _) = toolkit();
    let client = client(&server, false).claims(FolderClaims::new(folder.path()));
    let halted = client.run("go", &tools).await;
    let wrong = client.resume(stored(&halted), [Answer::ok("another")], &tools).await.unwrap_err();
    assert!(matches!(wrong, ResumeError::UnknownRequest(id) if id == "another"));
    let id = halted.pending[0].id.clone();
    client.resume(stored(&halted), [Answer::ok(id)], &tools).await.unwrap();

    let broken = FolderClaims::new(folder.path().join("file/below"));
    std::fs::write(folder.path().join("file"), "").unwrap();
    let client = client.claims(broken);
    let id = halted.pending[0].id.clone();
    let error = client.resume(stored(&halted), [Answer::ok(id)], &tools).await.unwrap_err();
    assert!(matches!(error, ResumeError::Claims(_)), "what cannot be claimed does not run: {error}");
}

#[tokio::test]
async fn a_client_with_a_wait_for_asks_about_what_still_waits() {
    let server = server(Style::OpenAi, 2).await;
    let (tools, done) = toolkit();
    let halted = client(&server, false).run("go", &tools).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let asking = client(&server, false).wait_for(move |request| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { Ok::<_, std::convert::Infallible>(Answer::ok(request.id)) }
    });
    let answer = Answer::ok(halted.pending[1].id.clone());
    let result = asking.resume(stored(&halted), [answer], &tools).await.unwrap();
    assert_eq!(result.status, Status::Done);
    assert_eq!(asked.load(Ordering::SeqCst), 1, "not about what is answered");
    assert_eq!(done.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn contract_17_words_to_a_run_that_waits_come_after_the_results() {
    for (style, stream) in MODES {
        let server = Server::replies(
            style,
            vec![
                Reply::calls(style, &[("c", "ask", r#"{"n":0}"#)]),
                Reply::text(style, "end"),
                Reply::text(style, "bye"),
            ],
        )
        .await;
        let (tools, _) = toolkit();
        let client = client(&server, stream);
        let halted = client.run("go", &tools).await;
        let id = halted.pending[0].id.clone();
        let queued = client.tell(stored(&halted), "hurry", &tools).await.unwrap();
        assert_eq!((&queued.status, server.captured().len()), (&Status::Pending, 1));
        let ended = client.resume(stored(&queued), [Answer::ok(id)], &tools).await.unwrap();
        assert_eq!(ended.status, Status::Done);
        let body = server.bodies().pop().unwrap();
        assert!(body.find("ask 0").unwrap() < body.find("hurry").unwrap());

        let more = client.tell(stored(&ended), "and now?", &tools).await.unwrap();
        assert_eq!((&more.status, more.text.as_str()), (&Status::Done, "bye"));
        assert!(server.bodies()[2].contains("and now?"));
    }
}

#[tokio::test]
async fn contract_22_a_model_that_dies_after_an_approved_effect_loses_nothing() {
    for (style, stream) in MODES {
        let server = Server::replies(
            style,
            vec![
                Reply::calls(style, &[("c", "ask", r#"{"n":0}"#)]),
                Reply::status(400, "", "{}"),
                Reply::text(style, "end"),
            ],
        )
        .await;
        let (tools, done) = toolkit();
        let client = client(&server, stream);
        let halted = client.run("go", &tools).await;
        let answer = Answer::ok(halted.pending[0].id.clone());
        let failed = client.resume(stored(&halted), [answer], &tools).await.unwrap();
        assert!(matches!(failed.status, Status::Error(_)));
        assert_eq!(failed.tool_calls[0].output, "ask 0");
        let ended = client.tell(stored(&failed), "try again", &tools).await.unwrap();
        assert_eq!(ended.status, Status::Done);
        assert_eq!(*done.lock().unwrap(), ["ask 0"], "it did not run again");
        assert_eq!(server.last_results()[0].1, "ask 0");
    }
}

const CHECKPOINT: &str = "SAYSO_TEST_CHECKPOINT";

/// Not a test of its own: the process that is killed in the next one.
#[tokio::test]
#[ignore = "the child of another test"]
async fn child_that_halts_and_hangs() {
    let Some(path) = std::env::var_os(CHECKPOINT) else { return };
    let base_url = std::env::var("SAYSO_TEST_BASE").unwrap();
    let endpoint = sayso_agent::Endpoint { base_url, style: Style::OpenAi, model: "m".to_owned(), key: None };
    let halted = Client::new(endpoint).run("go", &toolkit().0).await;
    std::fs::write(&path, serde_json::to_string(&halted.checkpoint).unwrap()).unwrap();
    std::fs::File::create(std::path::Path::new(&path).with_extension("ready")).unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn contract_26_a_process_that_was_killed_while_it_waited_is_taken_over() {
    for (suspended, answered) in [(1, 0), (2, 1), (5, 3)] {
        let server = server(Style::OpenAi, suspended).await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.json");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "resume::child_that_halts_and_hangs", "--ignored"])
            .env(CHECKPOINT, &path)
            .env("SAYSO_TEST_BASE", server.endpoint().base_url)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        until("it halts", || path.with_extension("ready").exists()).await;
        child.kill().unwrap();
        child.wait().unwrap();

        let checkpoint: Checkpoint = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let ids: Vec<_> = checkpoint.requests().map(|(request, _)| request.id.clone()).collect();
        let (tools, done) = toolkit();
        let client = client(&server, false);
        let ok = |ids: &[String]| ids.iter().cloned().map(Answer::ok).collect::<Vec<_>>();
        let part = client.resume(checkpoint, ok(&ids[..answered]), &tools).await.unwrap();
        assert_eq!((&part.status, part.pending.len()), (&Status::Pending, suspended - answered));
        let whole = client.resume(stored(&part), ok(&ids[answered..]), &tools).await.unwrap();
        assert_eq!(whole.status, Status::Done);
        assert_eq!(done.lock().unwrap().len(), suspended, "the plain calls ran in the first process");
        assert_eq!(server.last_results().len(), suspended * 2);
    }
}

#[tokio::test]
async fn a_checkpoint_holds_no_key_and_fits_one_style() {
    for style in BOTH {
        let server = server(style, 1).await;
        let (tools, _) = toolkit();
        let halted = client(&server, false).run("go", &tools).await;
        let text = serde_json::to_string(&halted.checkpoint).unwrap();
        assert!(
            !text.contains(crate::support::KEY)
                && !format!("{:?}", halted.checkpoint).contains(crate::support::KEY)
        );
        let other = BOTH.into_iter().find(|other| *other != style).unwrap();
        let elsewhere = Client::new(sayso_agent::Endpoint { style: other, ..server.endpoint() });
        let none: [Answer; 0] = [];
        let error = elsewhere.resume(stored(&halted), none, &tools).await.unwrap_err();
        assert!(matches!(error, ResumeError::OtherStyle));
    }
}
