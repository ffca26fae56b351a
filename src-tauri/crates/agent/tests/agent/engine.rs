//! The engine under a host: halting, resuming, stopping, recovering.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use sayso_agent::{
    Client, Engine, Entry, Incoming, Journal, JournalError, MemoryJournal, Model, NativeTool, Style, Toolkit,
};
use sayso_domain::run::{CallState, Effect, Event, Run, Status, Step};
use sayso_domain::{Answer, Policy, RequestKey, RunId, Shown, ToolResult};
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::{BOTH, Reply, Server, quick, until};

/// A host in memory: keeps what was asked, and fails when it is told to.
#[derive(Default)]
struct Host {
    memory: MemoryJournal,
    asked: Mutex<Vec<(RequestKey, Shown)>>,
    delivered: Mutex<Vec<RequestKey>>,
    fails: AtomicBool,
}

#[async_trait]
impl Journal for Host {
    async fn commit(
        &self,
        run: &Run,
        step: &Step,
        delivered: Option<RequestKey>,
    ) -> Result<(), JournalError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(JournalError::new("the disk is full"));
        }
        self.memory.commit(run, step, delivered).await?;
        self.delivered.lock().unwrap().extend(delivered);
        for effect in &step.effects {
            if let Effect::Ask { asked, .. } = effect {
                self.asked.lock().unwrap().push((asked.key, asked.shown.clone()));
            }
        }
        Ok(())
    }

    async fn transcript(&self) -> Result<Arc<Vec<Entry>>, JournalError> {
        self.memory.transcript().await
    }
}

impl Host {
    fn asked(&self) -> Vec<(RequestKey, Shown)> {
        self.asked.lock().unwrap().clone()
    }

    /// The answer to the request that was asked last.
    fn answer(&self, yes: bool) -> Incoming {
        let (key, shown) = self.asked().pop().expect("something was asked");
        let id = shown.request.id;
        let answer = if yes { Answer::ok(id) } else { Answer::declined(id, "declined") };
        Incoming { event: Event::Settled { request: key, answer }, delivered: Some(key) }
    }
}

fn engine(server: &Server, toolkit: Toolkit) -> Engine {
    let mut engine = Engine::new(Model::new(server.endpoint(), quick()), Arc::new(toolkit), "tester");
    engine.ask_timeout = Some(Duration::from_secs(3600));
    engine
}

fn new_run() -> Run {
    Run::new(RunId::new(uuid::Uuid::now_v7()), 10)
}

/// Drives with these events in the channel.
async fn drive(engine: &Engine, run: Run, host: &Host, incoming: Vec<Incoming>) -> Result<Run, JournalError> {
    let (send, mut events) = mpsc::channel(16);
    for incoming in incoming {
        send.send(incoming).await.unwrap();
    }
    engine.drive(run, &mut events, host).await
}

fn told(text: &str) -> Incoming {
    Event::Told(text.to_owned()).into()
}

fn counted(policy: Policy) -> (NativeTool, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let tool = NativeTool::new("work", "works", json!({ "type": "object" }), move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        async { ToolResult::ok("worked") }
    });
    (tool.policy(policy), runs)
}

async fn server(style: Style, calls: &[(&str, &str, &str)]) -> Server {
    let calls = Reply::calls(style, calls);
    Server::replies(style, vec![calls, Reply::text(style, "end"), Reply::text(style, "more")]).await
}

#[tokio::test]
async fn a_gate_shows_what_will_run_and_the_run_halts_without_a_task() {
    let arguments = r#"{ "n": 9007199254740993 }"#;
    let server = server(Style::OpenAi, &[("c1", "work", arguments)]).await;
    let (tool, runs) = counted(Policy::Ask);
    let (engine, host) = (engine(&server, Toolkit::new().with(tool)), Host::default());
    let run = drive(&engine, new_run(), &host, vec![told("go")]).await.unwrap();
    assert_eq!(run.status, Status::Pending);
    let (key, shown) = host.asked().remove(0);
    assert_eq!(shown.source, "tester");
    assert_eq!(shown.run, Some(run.id));
    assert_eq!(shown.tool.as_deref(), Some("work"));
    assert_eq!(shown.arguments.as_deref(), Some(arguments), "as the model wrote it");
    assert_eq!(
        shown.request.data.as_ref().unwrap().to_string(),
        r#"{"tool":"work","arguments":{"n":9007199254740993}}"#
    );
    assert_eq!(shown.request.id, key.to_string());
    assert!(shown.request.expires_at.is_some());
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_gate_notes_the_risk_of_what_will_run() {
    for (arguments, noted) in [(r#"{"command":"sudo id"}"#, true), (r#"{"command":"cargo test"}"#, false)] {
        let server = server(Style::OpenAi, &[("c1", "work", arguments)]).await;
        let (tool, _) = counted(Policy::Ask);
        let (engine, host) = (engine(&server, Toolkit::new().with(tool)), Host::default());
        drive(&engine, new_run(), &host, vec![told("go")]).await.unwrap();
        let (_, shown) = host.asked().remove(0);
        let found = sayso_domain::risk::of_shown(&shown).notes;
        assert_eq!(shown.notes, found.into_iter().map(|note| note.text).collect::<Vec<_>>());
        assert_eq!(shown.notes.iter().any(|note| note.contains("superuser")), noted, "{:?}", shown.notes);
        assert_eq!(!shown.notes.is_empty(), noted);
    }
}

#[tokio::test]
async fn contract_18_a_resume_runs_the_stored_call_and_never_asks_the_model_again() {
    for style in BOTH {
        for yes in [true, false] {
            let server = server(style, &[("c1", "work", "{}")]).await;
            let (tool, runs) = counted(Policy::Ask);
            let (first, host) = (engine(&server, Toolkit::new().with(tool)), Host::default());
            let run = drive(&first, new_run(), &host, vec![told("go")]).await.unwrap();

            // Another process would read the run from storage.
            let stored = serde_json::to_string(&run).unwrap();
            let (tool, runs_after) = counted(Policy::Ask);
            let second = engine(&server, Toolkit::new().with(tool));
            let run: Run = serde_json::from_str(&stored).unwrap();
            let run = drive(&second, run, &host, vec![host.answer(yes)]).await.unwrap();

            assert_eq!(run.status, Status::Done);
            assert_eq!(runs.load(Ordering::SeqCst), 0);
            assert_eq!(runs_after.load(Ordering::SeqCst), usize::from(yes));
            assert_eq!(server.bodies().len(), 2);
            let said = if yes { "worked" } else { r"declined/expired: Run work {}?" };
            assert_eq!(server.last_results()[0].1, said);
            assert_eq!(*host.delivered.lock().unwrap(), [host.asked()[0].0]);

            // The answer is used up.
            let again = drive(&second, run.clone(), &host, vec![host.answer(true)]).await.unwrap();
            assert_eq!(again, run);
            assert_eq!(runs_after.load(Ordering::SeqCst), usize::from(yes));
        }
    }
}

#[tokio::test]
async fn contract_17_words_while_a_call_waits_come_after_its_result() {
    for style in BOTH {
        let server = server(style, &[("c1", "work", "{}"), ("c2", "plain", "{}")]).await;
        let plain =
            NativeTool::new("plain", "", json!({ "type": "object" }), async |_, _| ToolResult::ok("plain"));
        let (tool, _) = counted(Policy::Ask);
        let engine = engine(&server, Toolkit::new().with(tool).with(plain));
        let host = Host::default();
        let run = drive(&engine, new_run(), &host, vec![told("go")]).await.unwrap();
        let run = drive(&engine, run, &host, vec![told("hurry")]).await.unwrap();
        assert_eq!(server.bodies().len(), 1, "nothing unfinished is sent");
        assert_eq!(run.status, Status::Pending);
        let run = drive(&engine, run, &host, vec![host.answer(true)]).await.unwrap();
        assert_eq!(run.status, Status::Done);
        let body = &server.bodies()[1];
        assert!(body.find("worked").unwrap() < body.find("hurry").unwrap(), "{body}");
        let results: Vec<_> = server.last_results().into_iter().map(|result| result.1).collect();
        assert_eq!(results, ["worked", "plain"]);
    }
}

#[tokio::test]
async fn a_step_that_cannot_be_kept_has_no_effect() {
    let server = server(Style::OpenAi, &[("c1", "work", "{}")]).await;
    let (tool, runs) = counted(Policy::Ask);
    let (engine, host) = (engine(&server, Toolkit::new().with(tool)), Host::default());
    host.fails.store(true, Ordering::SeqCst);
    let error = drive(&engine, new_run(), &host, vec![told("go")]).await.unwrap_err();
    assert_eq!(error.to_string(), "the disk is full");
    assert_eq!(server.captured().len(), 0);

    host.fails.store(false, Ordering::SeqCst);
    let run = drive(&engine, new_run(), &host, vec![told("go")]).await.unwrap();
    host.fails.store(true, Ordering::SeqCst);
    drive(&engine, run.clone(), &host, vec![host.answer(true)]).await.unwrap_err();
    assert_eq!(runs.load(Ordering::SeqCst), 0, "the approval was not kept, so nothing ran");
    host.fails.store(false, Ordering::SeqCst);
    drive(&engine, run, &host, vec![host.answer(true)]).await.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_set_up_replaces_a_tools_own_policy() {
    let calls = [("c1", "work", "{}")];
    let (asking, runs) = counted(Policy::Ask);
    let toolkit = Toolkit::new().with(asking);
    let first = server(Style::OpenAi, &calls).await;
    let mut engine = engine(&first, toolkit);
    engine.policy.insert("work".to_owned(), Policy::Allow);
    let run = drive(&engine, new_run(), &Host::default(), vec![told("go")]).await.unwrap();
    assert_eq!((run.status, runs.load(Ordering::SeqCst)), (Status::Done, 1));

    let server = server(Style::OpenAi, &calls).await;
    engine.model = Model::new(server.endpoint(), quick());
    engine.policy.insert("work".to_owned(), Policy::Forbid);
    let run = drive(&engine, new_run(), &Host::default(), vec![told("go")]).await.unwrap();
    assert_eq!((run.status, runs.load(Ordering::SeqCst)), (Status::Done, 1));
    assert!(server.last_results()[0].1.contains("forbids the tool work"));
    assert!(server.captured()[0].json.get("tools").is_none(), "a forbidden tool is not offered");
}

#[tokio::test]
async fn a_call_that_was_cut_at_the_length_limit_does_not_run() {
    for style in BOTH {
        let Reply::Http { body, .. } = Reply::calls(style, &[("c1", "work", "{}"), ("c2", "work", "{}")])
        else {
            panic!("an answer");
        };
        let cut = body.replace("\"stop\"", "\"length\"").replace("end_turn", "max_tokens");
        assert_ne!(cut, body);
        let server = Server::replies(style, vec![Reply::body(&cut), Reply::text(style, "end")]).await;
        let (tool, runs) = counted(Policy::Allow);
        let engine = engine(&server, Toolkit::new().with(tool));
        drive(&engine, new_run(), &Host::default(), vec![told("go")]).await.unwrap();
        assert_eq!(runs.load(Ordering::SeqCst), 1, "only the whole one");
        assert!(server.last_results()[1].1.contains("length limit"));
    }
}

#[tokio::test]
async fn a_stop_ends_a_model_call_and_a_tool_and_the_run_can_go_on() {
    // The first model call hangs until the run is stopped.
    let style = Style::OpenAi;
    let server = Server::script(style, move |index, _| match index {
        0 => Reply::Silence,
        1 => Reply::calls(style, &[("c1", "hang", "{}")]),
        _ => Reply::text(style, "end"),
    })
    .await;
    let hang = NativeTool::new("hang", "hangs", json!({ "type": "object" }), |_, context| async move {
        context.stop.cancelled().await;
        ToolResult::ok("gone")
    });
    let (engine, host) = (engine(&server, Toolkit::new().with(hang)), Host::default());
    let (send, mut events) = mpsc::channel(16);
    send.send(told("go")).await.unwrap();
    let stopping = async {
        until("the model is asked", || server.captured().len() == 1).await;
        send.send(Event::Stopped.into()).await.unwrap();
    };
    let (run, ()) = tokio::join!(engine.drive(new_run(), &mut events, &host), stopping);
    let run = run.unwrap();
    assert_eq!(run.status, Status::Interrupted);

    send.send(told("again")).await.unwrap();
    let stopping = async {
        until("the tool runs", || host.memory.calls().iter().any(|call| call.state.as_str() == "running"))
            .await;
        send.send(Event::Stopped.into()).await.unwrap();
        send.send(told("and now?")).await.unwrap();
    };
    let (run, ()) = tokio::join!(engine.drive(run, &mut events, &host), stopping);
    assert_eq!(run.unwrap().status, Status::Done);
    assert!(server.last_results()[0].1.contains("Stopped by the person"));
    assert_eq!(server.captured().len(), 3);
}

#[tokio::test]
async fn after_a_crash_what_may_have_happened_is_asked_about_and_the_rest_runs_again() {
    for yes in [true, false] {
        let server = server(Style::OpenAi, &[("c1", "work", "{}"), ("c2", "look", "{}")]).await;
        let looks = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&looks);
        let look = NativeTool::new("look", "", json!({ "type": "object" }), move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            async { ToolResult::ok("seen") }
        });
        // Both hang in the first process, which then is gone.
        let hang = |name| {
            NativeTool::new(name, "", json!({ "type": "object" }), async |_, _| {
                std::future::pending::<ToolResult>().await
            })
        };
        let first = engine(&server, Toolkit::new().with(hang("work")).with(hang("look")));
        let host = Host::default();
        let (send, mut events) = mpsc::channel(16);
        send.send(told("go")).await.unwrap();
        let running = until("both run", || host.memory.calls().len() == 2);
        tokio::select! {
            _ = first.drive(new_run(), &mut events, &host) => panic!("it hangs"),
            () = running => {}
        }
        let mut run = new_run();
        run.status = Status::Running;
        run.turn = 1;
        run.slots = host.memory.calls();

        let (work, works) = counted(Policy::Allow);
        let second = engine(&server, Toolkit::new().with(work).with(look.effects(false)));
        let recovered = second.recover(&run);
        let run = drive(&second, run, &host, vec![recovered.into()]).await.unwrap();
        assert_eq!(run.status, Status::Pending);
        assert_eq!((works.load(Ordering::SeqCst), looks.load(Ordering::SeqCst)), (0, 1));
        assert!(matches!(run.slots[0].state, CallState::Unknown { .. }));
        let (_, shown) = host.asked().remove(0);
        assert_eq!(shown.request.prompt, "This may already have happened: run it again? work {}");

        let run = drive(&second, run, &host, vec![host.answer(yes)]).await.unwrap();
        assert_eq!(run.status, Status::Done);
        assert_eq!(works.load(Ordering::SeqCst), usize::from(yes));
        let first_result = &server.last_results()[0].1;
        assert!(if yes {
            first_result == "worked"
        } else {
            first_result.contains("outcome of this call is unknown")
        });
    }
}

/// The process dies while a call runs that a person had edited: what is asked about again, and runs again, is the edited
/// call, and nobody may edit it once more.
#[tokio::test]
async fn contract_12_after_a_crash_an_edited_call_is_asked_about_and_runs_as_edited() {
    const EDITED: &str = r#"{"n":9007199254740993}"#;
    for style in BOTH {
        for yes in [true, false] {
            let server = server(style, &[("c1", "work", r#"{"n":1}"#)]).await;
            let hang = NativeTool::new("work", "", json!({}), async |_, _| {
                std::future::pending::<ToolResult>().await
            });
            let first = engine(&server, Toolkit::new().with(hang.policy(Policy::Ask).editable(true)));
            let host = Host::default();
            let run = drive(&first, new_run(), &host, vec![told("go")]).await.unwrap();
            let (key, shown) = host.asked().remove(0);
            let data = json!({ "arguments": serde_json::from_str::<serde_json::Value>(EDITED).unwrap() });
            let answer = Answer::ok_with(shown.request.id, data);
            let (send, mut events) = mpsc::channel(16);
            send.send(Event::Settled { request: key, answer }.into()).await.unwrap();
            let running = until("it runs", || matches!(host.memory.calls()[0].state, CallState::Running(_)));
            let mut left = run.clone();
            tokio::select! {
                _ = first.drive(run, &mut events, &host) => panic!("it hangs"),
                () = running => {}
            }
            left.status = Status::Running;
            left.slots = host.memory.calls();
            let left: Run = serde_json::from_str(&serde_json::to_string(&left).unwrap()).unwrap();

            let ran: Arc<Mutex<Vec<String>>> = Arc::default();
            let noted = Arc::clone(&ran);
            let work = NativeTool::new("work", "", json!({}), move |arguments, _| {
                noted.lock().unwrap().push(arguments.text);
                async { ToolResult::ok("worked") }
            });
            let second = engine(&server, Toolkit::new().with(work.policy(Policy::Ask).editable(true)));
            let recovered = second.recover(&left);
            let run = drive(&second, left, &host, vec![recovered.into()]).await.unwrap();
            let (_, shown) = host.asked().pop().unwrap();
            assert_eq!((shown.arguments.as_deref(), shown.is_editable()), (Some(EDITED), false));
            assert!(shown.request.prompt.contains("9007199254740993"), "{}", shown.request.prompt);
            let run = drive(&second, run, &host, vec![host.answer(yes)]).await.unwrap();
            assert_eq!(run.status, Status::Done);
            assert_eq!(ran.lock().unwrap().len(), usize::from(yes));
            assert!(ran.lock().unwrap().iter().all(|arguments| arguments == EDITED));
            let result = &server.last_results()[0].1;
            assert!(result.starts_with("A person edited this call") && result.contains(EDITED), "{result}");
            assert!(result.ends_with(if yes { "worked" } else { "It was not run again." }), "{result}");
        }
    }
}

#[tokio::test]
async fn several_runs_go_on_at_once() {
    let style = Style::OpenAi;
    let server = Server::script(style, move |_, captured| match captured.raw.contains("worked") {
        true => Reply::text(style, "end"),
        false => Reply::calls(style, &[("c1", "work", "{}")]),
    })
    .await;
    let (tool, runs) = counted(Policy::Allow);
    let client = Client::new(server.endpoint())
        .options(quick())
        .wait_for(|request| async move { Ok::<_, Infallible>(Answer::ok(request.id)) });
    let toolkit = Toolkit::new().with(tool);
    let results = futures_util::future::join_all((0..20).map(|_| client.run("go", &toolkit))).await;
    assert!(results.iter().all(|result| result.status == Status::Done));
    assert_eq!(runs.load(Ordering::SeqCst), 20);
}
