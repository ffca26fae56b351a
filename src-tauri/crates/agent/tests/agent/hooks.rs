//! Hooks before and after model and tool calls.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sayso_agent::{
    Client, Draft, Entry, Folder, Guard, Hook, HookedCall, Hooks, Reply as ModelReply, Toolkit,
};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Policy, RunId, ToolResult};

use crate::resume::{client, stored, toolkit};
use crate::support::{MODES, Reply, Server};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn say(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn said(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Notes all that it is told of, and says this of calls.
struct Noting(Log, fn(&HookedCall<'_>) -> Guard);

#[async_trait]
impl Hook for Noting {
    async fn before_model(&self, _: RunId, transcript: &[Entry]) -> Result<(), String> {
        self.0.say(format!("before model {}", transcript.len()));
        Ok(())
    }

    async fn after_model(&self, _: RunId, reply: &ModelReply) {
        self.0.say(format!("after model {}", reply.calls.len()));
    }

    async fn before_tool(&self, call: &HookedCall<'_>) -> Guard {
        self.0.say(format!("before {} {}", call.name, call.arguments.text));
        (self.1)(call)
    }

    async fn after_tool(&self, call: &HookedCall<'_>, result: &ToolResult) {
        self.0.say(format!("after {} {}", call.name, result.output));
    }
}

async fn server(style: sayso_agent::Style, calls: &[(&str, &str, &str)]) -> Server {
    Server::replies(style, vec![Reply::calls(style, calls), Reply::text(style, "end")]).await
}

fn hooked(server: &Server, stream: bool, hook: impl Hook + 'static) -> Client {
    client(server, stream).hooks(Hooks::new().with(hook))
}

#[tokio::test]
async fn hooks_are_told_before_and_after_each_model_and_tool_call() {
    for (style, stream) in MODES {
        let server = server(style, &[("c1", "plain", r#"{"n":1}"#), ("c2", "ask", r#"{"n":2}"#)]).await;
        let log = Log::default();
        let client = hooked(&server, stream, Noting(log.clone(), |_| Guard::Pass));
        let (tools, _) = toolkit();
        let halted = client.run("go", &tools).await;
        let before = ["before model 1", "after model 2", r#"before plain {"n":1}"#, r#"before ask {"n":2}"#];
        assert_eq!(log.said()[..4], before);
        assert_eq!(log.said()[4..], ["after plain plain 1"], "a suspension is no result");
        let answer = Answer::ok(halted.pending[0].id.clone());
        client.resume(stored(&halted), [answer], &tools).await.unwrap();
        assert_eq!(log.said()[5..], ["after ask ask 2", "before model 2", "after model 0"]);
    }
}

#[tokio::test]
async fn a_hook_raises_a_suspension_and_the_call_runs_once_it_is_approved() {
    for (style, stream) in MODES {
        for yes in [true, false] {
            let server = server(style, &[("c1", "plain", r#"{"n":1}"#), ("c2", "plain", r#"{"n":2}"#)]).await;
            let guard = Noting(Log::default(), |call| match call.arguments.value["n"].as_u64() {
                Some(1) => Guard::Ask(Box::new(Draft::approval("Is one allowed?"))),
                _ => Guard::Pass,
            });
            let client = hooked(&server, stream, guard);
            let (tools, done) = toolkit();
            let halted = client.run("go", &tools).await;
            assert_eq!(halted.status, Status::Pending);
            assert_eq!(*done.lock().unwrap(), ["plain 2"]);
            assert_eq!(halted.pending[0].prompt, "Is one allowed?");
            let data = halted.pending[0].data.as_ref().unwrap().to_string();
            assert_eq!(data, r#"{"tool":"plain","arguments":{"n":1}}"#, "what will run is shown");
            let id = halted.pending[0].id.clone();
            let answer = if yes { Answer::ok(id) } else { Answer::declined(id, "over budget") };
            client.resume(stored(&halted), [answer], &tools).await.unwrap();
            assert_eq!(done.lock().unwrap().len(), if yes { 2 } else { 1 });
            let expected = if yes { "plain 1" } else { "declined/expired: Is one allowed?" };
            assert_eq!(server.last_results()[0].1, expected);
        }
    }
}

#[tokio::test]
async fn the_strictest_of_several_hooks_and_the_policy_wins() {
    let ask = |text: &'static str| {
        move |_: &HookedCall<'_>| {
            Guard::Ask(Box::new(Draft { notes: vec!["risky".to_owned()], ..Draft::approval(text) }))
        }
    };
    struct With<F>(F);
    #[async_trait]
    impl<F: Fn(&HookedCall<'_>) -> Guard + Send + Sync> Hook for With<F> {
        async fn before_tool(&self, call: &HookedCall<'_>) -> Guard {
            (self.0)(call)
        }
    }
    for (style, stream) in MODES {
        let calls = [("c1", "gated", r#"{"n":1}"#)];
        let first = server(style, &calls).await;
        let hooks = Hooks::new().with(With(ask("First?"))).with(With(ask("Second?")));
        let (tools, done) = toolkit();
        let halted = client(&first, stream).hooks(hooks.clone()).run("go", &tools).await;
        assert_eq!(halted.pending.len(), 1, "one yes covers them all");
        assert_eq!(halted.pending[0].prompt, "First?");
        let text = serde_json::to_string(&halted.checkpoint).unwrap();
        assert!(text.contains(r#""notes":["risky","Second?","risky"]"#), "{text}");

        let second = server(style, &calls).await;
        let hooks = hooks.with(With(|_: &HookedCall<'_>| Guard::Reject("Not on a Sunday.".to_owned())));
        let result = client(&second, stream).hooks(hooks).run("go", &tools).await;
        assert_eq!(result.status, Status::Done, "nobody is asked");
        assert_eq!(second.last_results()[0].1, "Not on a Sunday.");
        assert_eq!(done.lock().unwrap().len(), 0);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum At {
    BeforeModel,
    AfterModel,
    BeforeTool,
    AfterTool,
}

struct Panicking(At);

#[async_trait]
impl Hook for Panicking {
    async fn before_model(&self, _: RunId, _: &[Entry]) -> Result<(), String> {
        assert!(self.0 != At::BeforeModel, "on purpose");
        Ok(())
    }

    async fn after_model(&self, _: RunId, _: &ModelReply) {
        assert!(self.0 != At::AfterModel, "on purpose");
    }

    async fn before_tool(&self, _: &HookedCall<'_>) -> Guard {
        assert!(self.0 != At::BeforeTool, "on purpose");
        Guard::Pass
    }

    async fn after_tool(&self, _: &HookedCall<'_>, _: &ToolResult) {
        assert!(self.0 != At::AfterTool, "on purpose");
    }
}

#[tokio::test]
async fn a_hook_that_panics_lets_nothing_through_and_loses_nothing() {
    for (style, stream) in MODES {
        for at in [At::BeforeModel, At::AfterModel, At::BeforeTool, At::AfterTool] {
            let server = server(style, &[("c1", "plain", r#"{"n":1}"#)]).await;
            let (tools, done) = toolkit();
            let result = hooked(&server, stream, Panicking(at)).run("go", &tools).await;
            match at {
                At::BeforeModel => {
                    assert!(matches!(result.status, Status::Error(_)));
                    assert_eq!(server.captured().len(), 0);
                }
                At::BeforeTool => {
                    assert_eq!(done.lock().unwrap().len(), 0);
                    assert!(server.last_results()[0].1.contains("did not run"));
                }
                At::AfterModel | At::AfterTool => {
                    assert_eq!(result.status, Status::Done);
                    assert_eq!(server.last_results()[0].1, "plain 1");
                }
            }
        }
    }
}

/// What a hook asks about is bound to what was shown: a file that changed meanwhile is asked about again.
#[tokio::test]
async fn contract_12_a_hooks_suspension_is_bound_to_the_file_that_was_shown() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("note.txt");
    for (style, stream) in MODES {
        std::fs::write(&path, "old\n").unwrap();
        let arguments = r#"{"path":"note.txt","content":"new\n"}"#;
        let server = server(style, &[("c1", "write_file", arguments)]).await;
        let guard = Noting(Log::default(), |_| Guard::Ask(Box::new(Draft::approval("Really write?"))));
        let client = hooked(&server, stream, guard)
            .policy("write_file", Policy::Allow)
            .folder(Folder::open(place.path()).unwrap());
        let tools = Toolkit::standard(&Default::default());
        let halted = client.run("go", &tools).await;
        assert_eq!(halted.pending[0].prompt, "Really write?");
        let text = serde_json::to_string(&halted.checkpoint).unwrap();
        assert!(text.contains("-old") && text.contains("+new"), "the change is shown: {text}");
        let yes = |result: &sayso_agent::RunResult| [Answer::ok(result.pending[0].id.clone())];

        std::fs::write(&path, "other\n").unwrap();
        let again = client.resume(stored(&halted), yes(&halted), &tools).await.unwrap();
        assert_eq!(again.status, Status::Pending, "it is another change now");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "other\n");
        let ended = client.resume(stored(&again), yes(&again), &tools).await.unwrap();
        assert_eq!(ended.status, Status::Done);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new\n");
    }
}
