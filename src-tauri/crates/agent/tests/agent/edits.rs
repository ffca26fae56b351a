//! Approve with edits (contract 12): what runs is what the person sent, where the tool lets it be edited and it fits the
//! tool's schema; the model is told.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use sayso_agent::{
    Client, Decision, Folder, Guard, Hook, HookedCall, Hooks, MemoryClaims, NativeTool, ResumeError,
    RunResult, ToolSetup, Toolkit,
};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Kind, Policy, Request, ToolResult};
use serde_json::{Value, json};

use crate::resume::{client, stored};
use crate::support::{MODES, Reply, Server};

const BIG: &str = r#"{"n":9007199254740993}"#;

/// `work`, which a person is asked about and may edit; `fixed`, which nobody may edit; `ask`, which asks by itself, after a
/// gate that may be edited. All note the arguments that they ran with.
fn toolkit() -> (Toolkit, Arc<Mutex<Vec<String>>>) {
    let done: Arc<Mutex<Vec<String>>> = Arc::default();
    let schema =
        || json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    let tool = |name: &'static str, asks: bool| {
        let done = Arc::clone(&done);
        NativeTool::new(name, "works", schema(), move |arguments, context| {
            let done = Arc::clone(&done);
            async move {
                if asks && context.answer.is_none() {
                    return ToolResult::pending(&Request::new("own", Kind::Approval, "Really?"));
                }
                done.lock().unwrap().push(arguments.text.clone());
                ToolResult::ok(format!("{name} {}", arguments.value["n"]))
            }
        })
        .policy(Policy::Ask)
    };
    let tools = Toolkit::new()
        .with(tool("work", false).editable(true))
        .with(tool("fixed", false))
        .with(tool("ask", true).editable(true));
    (tools, done)
}

async fn server(style: sayso_agent::Style, tool: &str) -> Server {
    let calls = [("c1", tool, r#"{"n": 1}"#)];
    Server::replies(style, vec![Reply::calls(style, &calls), Reply::text(style, "end")]).await
}

fn edited(id: &str, arguments: &str) -> Answer {
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    Answer::ok_with(id, json!({ "arguments": arguments }))
}

/// A yes with these arguments, by `resume` or by `wait_for`.
async fn say(
    client: &Client,
    halted: &RunResult,
    tools: &Toolkit,
    resumes: bool,
    arguments: &str,
) -> Result<RunResult, ResumeError> {
    let answer = edited(&halted.pending[0].id, arguments);
    if resumes {
        return client.resume(stored(halted), [answer], tools).await;
    }
    let none: [Answer; 0] = [];
    let asked = client.clone().claims(MemoryClaims::new()).wait_for(move |_| {
        let answer = answer.clone();
        async move { Ok::<_, Infallible>(answer) }
    });
    asked.resume(stored(halted), none, tools).await
}

fn told(arguments: &str, output: &str) -> String {
    format!(
        "A person edited this call before approving it. These arguments took the place of yours: {arguments}\n{output}"
    )
}

#[tokio::test]
async fn contract_12_edited_arguments_run_digit_for_digit_and_the_model_is_told() {
    for (style, stream) in MODES {
        for resumes in [true, false] {
            let server = server(style, "work").await;
            let (tools, done) = toolkit();
            let client = client(&server, stream);
            let halted = client.run("go", &tools).await;
            assert!(halted.checkpoint.shown().all(|shown| shown.is_editable()));
            let result = say(&client, &halted, &tools, resumes, BIG).await.unwrap();
            assert_eq!(result.status, Status::Done);
            assert_eq!(*done.lock().unwrap(), [BIG]);
            assert_eq!(server.last_results()[0].1, told(BIG, "work 9007199254740993"));
            // The model's own message is as it came.
            assert_eq!(result.tool_calls[0].arguments.replace(' ', ""), r#"{"n":1}"#);
        }
    }
}

#[tokio::test]
async fn contract_12_nobody_edits_for_a_tool_that_did_not_say_so() {
    for (style, stream) in MODES {
        for resumes in [true, false] {
            let server = server(style, "fixed").await;
            let (tools, done) = toolkit();
            let client = client(&server, stream);
            let halted = client.run("go", &tools).await;
            for arguments in [r#"{"n":2}"#, r#"{"n":1}"#] {
                match say(&client, &halted, &tools, resumes, arguments).await {
                    Err(error) => assert!(resumes && matches!(error, ResumeError::NotEditable(_)), "{error}"),
                    Ok(still) => assert!(!resumes && still.status == Status::Pending),
                }
            }
            assert_eq!(done.lock().unwrap().len(), 0);
            client.resume(stored(&halted), [Answer::ok(&halted.pending[0].id)], &tools).await.unwrap();
            assert_eq!(done.lock().unwrap().len(), 1);
        }
    }
}

#[tokio::test]
async fn contract_12_edited_arguments_that_break_the_schema_are_refused_and_it_still_waits() {
    for (style, stream) in MODES {
        for resumes in [true, false] {
            let server = server(style, "work").await;
            let (tools, done) = toolkit();
            let client = client(&server, stream);
            let halted = client.run("go", &tools).await;
            for bad in [r#"{"n":"2"}"#, r#"{"n":1.5}"#, "{}", "[]", "null", r#""{}""#] {
                match say(&client, &halted, &tools, resumes, bad).await {
                    Err(ResumeError::WrongData { why, .. }) => assert!(resumes && !why.is_empty()),
                    Err(error) => panic!("{bad}: {error}"),
                    Ok(still) => assert!(!resumes && still.status == Status::Pending, "{bad}"),
                }
            }
            assert_eq!(done.lock().unwrap().len(), 0);
            say(&client, &halted, &tools, true, BIG).await.unwrap();
            assert_eq!(*done.lock().unwrap(), [BIG]);
        }
    }
}

#[tokio::test]
async fn contract_12_the_same_arguments_are_no_edit() {
    for (style, stream) in MODES {
        let server = server(style, "work").await;
        let (tools, done) = toolkit();
        let client = client(&server, stream);
        let halted = client.run("go", &tools).await;
        say(&client, &halted, &tools, true, r#"{"n":1}"#).await.unwrap();
        assert_eq!(done.lock().unwrap()[0].replace(' ', ""), r#"{"n":1}"#);
        assert_eq!(server.last_results()[0].1, "work 1");
    }
}

#[tokio::test]
async fn contract_12_an_edit_for_something_else_than_was_shown_changes_nothing() {
    for (style, stream) in MODES {
        let server = server(style, "work").await;
        let (tools, done) = toolkit();
        let client = client(&server, stream);
        let halted = client.run("go", &tools).await;
        let answer = edited(&halted.pending[0].id, BIG);
        let other = Decision { answer: answer.clone(), digest: Some(sayso_domain::Digest::of("{}")) };
        let error = client.resume(stored(&halted), [other], &tools).await.unwrap_err();
        assert!(matches!(error, ResumeError::WrongDigest(_)), "{error}");
        assert_eq!(done.lock().unwrap().len(), 0);
        // And once it is used, it is used up.
        client.resume(stored(&halted), [answer.clone()], &tools).await.unwrap();
        let again = client.resume(stored(&halted), [answer], &tools).await.unwrap_err();
        assert!(matches!(again, ResumeError::AlreadyResumed), "{again}");
        assert_eq!(*done.lock().unwrap(), [BIG]);
    }
}

/// The call asks by itself after it was edited: its own request is bound to the edited arguments, cannot be edited, and
/// its one retry runs them.
#[tokio::test]
async fn contract_10_a_call_that_asks_after_it_was_edited_is_retried_as_edited() {
    for (style, stream) in MODES {
        let server = server(style, "ask").await;
        let (tools, done) = toolkit();
        let client = client(&server, stream);
        let halted = client.run("go", &tools).await;
        let halted = say(&client, &halted, &tools, true, BIG).await.unwrap();
        assert_eq!((&halted.status, halted.pending[0].prompt.as_str()), (&Status::Pending, "Really?"));
        let shown = halted.checkpoint.shown().next().unwrap();
        assert_eq!((shown.arguments.as_deref(), shown.is_editable()), (Some(BIG), false));
        let error = say(&client, &halted, &tools, true, r#"{"n":3}"#).await.unwrap_err();
        assert!(matches!(error, ResumeError::NotEditable(_)), "{error}");
        client.resume(stored(&halted), [Answer::ok("own")], &tools).await.unwrap();
        assert_eq!(*done.lock().unwrap(), [BIG]);
        assert_eq!(server.last_results()[0].1, told(BIG, "ask 9007199254740993"));
    }
}

/// The edit names another file than the one that was shown: it is shown before anything is written.
#[tokio::test]
async fn an_edit_that_meets_another_file_is_asked_about_again_and_then_runs_as_edited() {
    for (style, stream) in MODES {
        let around = tempfile::tempdir().unwrap();
        let at = |name: &str| std::fs::read_to_string(around.path().join(name)).unwrap_or_default();
        std::fs::write(around.path().join("there"), "old\n").unwrap();
        let calls = [("c1", "write_file", r#"{"path":"new","content":"theirs\n"}"#)];
        let server =
            Server::replies(style, vec![Reply::calls(style, &calls), Reply::text(style, "end")]).await;
        let tools = Toolkit::standard(&ToolSetup::default());
        let client = client(&server, stream).folder(Folder::open(around.path()).unwrap());
        let halted = client.run("go", &tools).await;
        let mine = r#"{"path":"there","content":"mine\n"}"#;
        let halted = say(&client, &halted, &tools, true, mine).await.unwrap();
        assert_eq!(halted.pending[0].prompt, "Replace there?");
        let shown = halted.checkpoint.shown().next().unwrap().clone();
        assert_eq!((shown.arguments.as_deref(), shown.is_editable()), (Some(mine), true));
        assert!(shown.diff.unwrap().contains("-old\n+mine"));
        assert_eq!((at("there"), at("new")), ("old\n".to_owned(), String::new()));
        let id = halted.pending[0].id.clone();
        client.resume(stored(&halted), [Answer::ok(id)], &tools).await.unwrap();
        assert_eq!((at("there"), at("new")), ("mine\n".to_owned(), String::new()));
        assert_eq!(server.last_results()[0].1, told(mine, "there is written: 5 bytes."));
    }
}

/// Rejects what holds a 666, and asks about everything else.
struct Careful;

#[async_trait]
impl Hook for Careful {
    async fn before_tool(&self, call: &HookedCall<'_>) -> Guard {
        match call.arguments.text.contains("666") {
            true => Guard::Reject("Not that one.".to_owned()),
            false => Guard::Ask(Box::new(sayso_agent::Draft::approval("Sure?"))),
        }
    }
}

#[tokio::test]
async fn hooks_have_their_say_on_edited_arguments_too() {
    for (style, stream) in MODES {
        for (arguments, output) in [(r#"{"n":666}"#, "Not that one."), (r#"{"n":2}"#, "work 2")] {
            let server = server(style, "work").await;
            let (tools, done) = toolkit();
            let client = client(&server, stream).hooks(Hooks::new().with(Careful));
            let halted = client.run("go", &tools).await;
            assert_eq!(halted.pending[0].prompt, "Sure?");
            let result = say(&client, &halted, &tools, true, arguments).await.unwrap();
            assert_eq!(result.status, Status::Done);
            assert_eq!(server.last_results()[0].1, told(arguments, output));
            assert_eq!(done.lock().unwrap().is_empty(), output == "Not that one.");
        }
    }
}

/// Whoever changes a checkpoint by half gets nothing run that its request does not show.
#[tokio::test]
async fn a_checkpoint_whose_edits_were_changed_by_half_is_refused() {
    type Change = fn(&mut Value);
    for (style, stream) in MODES {
        let server = server(style, "ask").await;
        let (tools, done) = toolkit();
        let client = client(&server, stream);
        let first = client.run("go", &tools).await;
        let second = say(&client, &first, &tools, true, BIG).await.unwrap();
        let changes: [(&RunResult, Change); 3] = [
            (&first, |c| c["requests"][0]["shown"]["editable"] = Value::Null),
            (&first, |c| c["run"]["slots"][0]["state"]["Waiting"]["edited"] = r#"{"n":3}"#.into()),
            (&second, |c| c["run"]["slots"][0]["state"]["Suspended"]["edited"] = r#"{"n":3}"#.into()),
        ];
        for (result, change) in changes {
            let mut changed = serde_json::to_value(&result.checkpoint).unwrap();
            change(&mut changed);
            let checkpoint = serde_json::from_value(changed).unwrap();
            let id = result.pending[0].id.clone();
            let error = client.resume(checkpoint, [Answer::ok(id)], &tools).await.unwrap_err();
            assert!(matches!(error, ResumeError::Damaged(_)), "{error}");
        }
        assert_eq!(done.lock().unwrap().len(), 0);
    }
}
