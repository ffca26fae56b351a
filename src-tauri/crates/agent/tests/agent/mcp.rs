//! MCP servers as sources of tools (contract 30 to 33), against servers of our own over a program's streams.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sayso_agent::{
    Client, McpConfig, McpLimits, McpServers, McpSetup, RunResult, Style, Toolkit, kill_marked,
};
use sayso_domain::run::Status;
use sayso_domain::{Answer, Kind, Policy, Request};
use serde_json::{Value, json};

use crate::mcp_server::McpServer;
use crate::support::{Reply, Server, quick, until};

/// Not a test: what the tests start as their server.
#[test]
#[ignore = "the server that the others start"]
fn stand_in() {
    if let Ok(like) = std::env::var("MCP_LIKE") {
        McpServer::new(std::io::stdin().lock(), std::io::stdout(), &like).serve();
        std::process::exit(0);
    }
}

pub(crate) fn entry(like: &str) -> Value {
    json!({
        "command": std::env::current_exe().unwrap(),
        "args": ["--exact", "mcp::stand_in", "--ignored", "--nocapture"],
        "env": { "MCP_LIKE": like },
    })
}

fn config(servers: Value) -> McpConfig {
    McpConfig::parse(&servers).unwrap()
}

fn limits() -> McpLimits {
    let seconds = Duration::from_secs;
    McpLimits {
        connect_program: seconds(20),
        connect_address: seconds(20),
        call: seconds(20),
        ..McpLimits::default()
    }
}

fn setup() -> McpSetup {
    let variable = Arc::new(|name: &str| (name == "TOKEN").then(|| "hunter2-token".to_owned()));
    McpSetup {
        mark: format!("mcp-test-{}:", std::process::id()),
        variable,
        limits: limits(),
        ..McpSetup::default()
    }
}

/// A run whose model calls one tool and then ends; and what the model got.
async fn call(
    client: &dyn Fn(Client) -> Client,
    servers: Value,
    tool: &str,
    arguments: &Value,
) -> (RunResult, String) {
    call_with(client, servers, setup(), tool, arguments).await
}

async fn call_with(
    client: &dyn Fn(Client) -> Client,
    servers: Value,
    setup: McpSetup,
    tool: &str,
    arguments: &Value,
) -> (RunResult, String) {
    let arguments = arguments.to_string();
    let replies =
        vec![Reply::calls(Style::OpenAi, &[("c", tool, &arguments)]), Reply::text(Style::OpenAi, "end")];
    let model = Server::replies(Style::OpenAi, replies).await;
    let client = client(Client::new(model.endpoint()).options(quick()).policy(tool, Policy::Allow));
    let servers = client.connect(&config(servers), setup).await;
    let result = client.run("go", &servers.add_to(Toolkit::new())).await;
    servers.close().await;
    let output = match model.captured().len() {
        2 => model.last_results()[0].1.clone(),
        _ => String::new(),
    };
    (result, output)
}

fn plain(client: Client) -> Client {
    client
}

/// Both generations, by what the stand-in is told.
const GENERATIONS: [&str; 2] = ["old", "new"];

#[tokio::test]
async fn tools_are_named_server_tool_and_cleaned_and_ask_whatever_the_server_says() {
    for like in GENERATIONS {
        let servers = McpServers::connect(&config(json!({ "my files!": entry(like) })), &setup()).await;
        let toolkit = servers.add_to(Toolkit::standard(&Default::default()));
        assert_eq!(servers.reports()[0].problem, None);
        let names: Vec<_> = toolkit.specs().map(|spec| spec.name.clone()).collect();
        let is_clean = |name: &String| {
            name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        };
        assert!(names.iter().all(is_clean), "{names:?}");
        for name in ["my_files__echo", "my_files__shell", "my_files__nothing___here", "shell"] {
            assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
        }
        let echo = toolkit.get("my_files__echo").unwrap();
        assert_eq!(echo.policy(&json!({})), Policy::Ask, "readOnlyHint is not trusted");
        assert!(echo.has_effects());
        assert!(echo.spec().description.len() < 2100, "a description is cut");
        let arguments = sayso_agent::Arguments::parse(r#"{"n":1}"#).unwrap();
        let draft = echo.draft(&arguments, &Default::default()).await.unwrap();
        assert_eq!(draft.prompt, r#"Run echo of the MCP server my files!? {"n":1}"#);
        assert_eq!(draft.data.unwrap()["server_tool"], "echo");
        assert!(draft.notes[0].contains("does not rely on it"), "{:?}", draft.notes);
        servers.close().await;
    }
}

#[tokio::test]
async fn a_call_waits_for_a_person_and_runs_with_every_digit() {
    let replies = vec![
        Reply::calls(Style::OpenAi, &[("c", "t_echo", r#"{"n":9007199254740993}"#)]),
        Reply::text(Style::OpenAi, "end"),
    ];
    let model = Server::replies(Style::OpenAi, replies).await;
    let client = Client::new(model.endpoint()).options(quick());
    let servers = client.connect(&config(json!({ "t": entry("old") })), setup()).await;
    let toolkit = servers.add_to(Toolkit::new());
    let halted = client.run("go", &toolkit).await;
    assert_eq!(halted.status, Status::Pending);
    assert_eq!(halted.pending[0].kind, Kind::Approval);
    let answer = Answer::ok(&halted.pending[0].id);
    let result = client.resume(halted.checkpoint, [answer], &toolkit).await.unwrap();
    assert_eq!(result.status, Status::Done);
    assert_eq!(model.last_results()[0].1, r#"{"n":9007199254740993}"#);
    servers.close().await;
}

#[tokio::test]
async fn a_server_that_fails_is_reported_and_the_others_work() {
    let mut exits = entry("exits");
    exits["env"]["TOKEN"] = "${TOKEN}".into();
    let mut literal = entry("exits");
    literal["env"]["TOKEN"] = "written-down".into();
    let servers = json!({
        "absent": { "command": "/nonexistent/server" },
        "exits": exits,
        "literal": literal,
        "unset": { "command": "true", "env": { "KEY": "${NOT_SET_ANYWHERE}" } },
        "refused": { "url": "http://127.0.0.1:1/mcp?k=in-the-query" },
        "off": { "command": "true", "disabled": true },
        "good": entry("garbage"),
    });
    let config = config(servers);
    let servers = McpServers::connect(&config, &setup()).await;
    let problem = |name: &str| {
        let report = servers.reports().iter().find(|report| report.server == name);
        report.map(|report| report.problem.clone().unwrap_or_default())
    };
    assert!(problem("absent").unwrap().contains("could not be started"), "{:?}", problem("absent"));
    let exits = problem("exits").unwrap();
    assert!(exits.contains("cannot start: the token [hidden] is refused"), "{exits}");
    let literal = problem("literal").unwrap();
    assert!(literal.contains("cannot start: the token [hidden] is refused"), "{literal}");
    assert!(problem("unset").unwrap().contains("NOT_SET_ANYWHERE"));
    let refused = problem("refused").unwrap();
    assert!(refused.contains("could not be reached"), "{refused}");
    assert!(!refused.contains("in-the-query") && !refused.contains("for url"), "{refused}");
    assert_eq!(problem("off"), None);
    assert_eq!(problem("good").as_deref(), Some(""));
    let toolkit = servers.add_to(Toolkit::new());
    assert!(toolkit.get("good_echo").is_some());
    assert!(!format!("{servers:?} {config:?} {:?}", setup()).contains("hunter2"));
    let absent = servers.absent("exits_echo").unwrap();
    let arguments = sayso_agent::Arguments::parse("{}").unwrap();
    let error = absent.draft(&arguments, &Default::default()).await.unwrap_err();
    assert!(error.output.starts_with("The MCP server exits cannot be used"), "{}", error.output);
    servers.close().await;
}

#[tokio::test]
async fn a_servers_process_sees_its_own_variables_and_no_others_and_ends_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let mut entry = entry("old");
    entry["env"]["KEY"] = "${TOKEN}".into();
    let setup = McpSetup {
        folder: Some(folder.path().canonicalize().unwrap()),
        mark: format!("mcp-ends-{}:", std::process::id()),
        ..setup()
    };
    let mark = setup.mark.clone();
    let (_, output) = call_with(&plain, json!({ "t": entry }), setup, "t_env", &json!({})).await;
    let seen: Value = serde_json::from_str(&output).unwrap();
    let variables: Vec<_> = seen["variables"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(
        variables.contains(&"KEY=[hidden]"),
        "it has the value, and what it says of it is hidden: {variables:?}"
    );
    let is_ours = |variable: &&str| {
        let name = variable.split('=').next().unwrap_or_default();
        sayso_agent::reaches_tools(name) || ["KEY", "MCP_LIKE", "SAYSO_CALL"].contains(&name)
    };
    assert!(variables.iter().all(is_ours), "{variables:?}");
    assert_eq!(seen["folder"], folder.path().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(kill_marked(&mark), 0, "nothing of it is left");
}

#[tokio::test]
async fn contract_32_elicitation_goes_to_the_person_and_back_in_both_generations() {
    type Answers = fn(Request) -> Answer;
    let accept: Answers =
        |request| Answer::ok_with(request.id, json!({ "name": "Ada", "n": 9007199254740993_u64 }));
    let bare: Answers = |request| Answer::ok(request.id);
    let decline: Answers = |request| Answer::declined(request.id, None);
    let words: Answers = |request| Answer::declined(request.id, "not today");
    let accepted = r#"{"action":"accept","content":{"name":"Ada","n":9007199254740993}}"#;
    for like in GENERATIONS {
        for (mode, answer, expected) in [
            ("form", accept, accepted),
            ("form", decline, r#"{"action":"decline"}"#),
            ("form", words, r#"{"action":"cancel"}"#),
            // A yes that does not fit the form is none.
            ("form", bare, r#"{"action":"cancel"}"#),
            ("url", bare, r#"{"action":"accept"}"#),
            ("url", decline, r#"{"action":"decline"}"#),
            ("secret", accept, r#"{"action":"cancel"}"#),
            ("password", accept, r#"{"action":"cancel"}"#),
            ("bad url", bare, r#"{"action":"cancel"}"#),
        ] {
            let asked: Arc<Mutex<Vec<Request>>> = Arc::default();
            let kept = Arc::clone(&asked);
            let wait = move |client: Client| {
                let kept = Arc::clone(&kept);
                client.wait_for(move |request: Request| {
                    kept.lock().unwrap().push(request.clone());
                    async move { Ok::<_, std::io::Error>(answer(request)) }
                })
            };
            let (result, output) =
                call(&wait, json!({ "t": entry(like) }), "t_ask", &json!({ "mode": mode })).await;
            assert_eq!(result.status, Status::Done);
            let expected = match like {
                "old" => expected.to_owned(),
                _ => format!(r#"{{"response":{expected},"state":"state-1"}}"#),
            };
            assert_eq!(output, expected, "{like} {mode}");
            let asked = asked.lock().unwrap();
            match mode {
                "form" => {
                    assert_eq!(asked[0].kind, Kind::Input);
                    assert_eq!(asked[0].prompt, "The MCP server t asks: Who are you?");
                    assert_eq!(asked[0].schema().unwrap()["required"], json!(["name"]));
                }
                "url" => {
                    assert_eq!(asked[0].kind, Kind::Authorization);
                    assert_eq!(asked[0].url.as_deref(), Some("https://example.org/sign-in?x=1"));
                }
                _ => assert!(asked.is_empty(), "nobody is asked for a secret or sent astray: {asked:?}"),
            }
        }
    }
}

#[tokio::test]
async fn contract_33_with_no_one_to_ask_the_capability_is_not_offered() {
    let wait = |client: Client| {
        client.wait_for(|request: Request| async move { Ok::<_, std::io::Error>(Answer::ok(request.id)) })
    };
    for like in GENERATIONS {
        let (_, without) = call(&plain, json!({ "t": entry(like) }), "t_capabilities", &json!({})).await;
        assert!(!without.contains("elicitation"), "{like}: {without}");
        let (_, with) = call(&wait, json!({ "t": entry(like) }), "t_capabilities", &json!({})).await;
        assert!(with.contains(r#""elicitation":{"form":{},"url":{}}"#), "{like}: {with}");
        // A server that asks in spite of it is answered all the same.
        let (_, output) = call(&plain, json!({ "t": entry(like) }), "t_ask", &json!({})).await;
        assert!(output.contains(r#"{"action":"cancel"}"#), "{like}: {output}");
    }
}

#[tokio::test]
async fn contract_33_the_calls_time_stands_still_while_a_person_thinks() {
    let limit = Duration::from_secs(2);
    let setup = || McpSetup { limits: McpLimits { call: limit, ..limits() }, ..setup() };
    let wait = move |client: Client| {
        client.wait_for(move |request: Request| async move {
            tokio::time::sleep(limit * 2).await;
            Ok::<_, std::io::Error>(Answer::ok_with(request.id, json!({ "name": "Ada" })))
        })
    };
    for like in GENERATIONS {
        let started = Instant::now();
        let (_, output) = call_with(&wait, json!({ "t": entry(like) }), setup(), "t_ask", &json!({})).await;
        assert!(output.contains("Ada"), "{like}: {output}");
        assert!(started.elapsed() >= limit * 2, "{like}");
    }
    let (result, output) =
        call_with(&wait, json!({ "t": entry("old") }), setup(), "t_hang", &json!({})).await;
    assert!(output.contains("did not answer within 2 seconds"), "{output}");
    assert!(result.tool_calls[0].is_error);
}

#[tokio::test]
async fn a_server_that_does_what_it_should_not_gives_an_error_and_no_more() {
    for (like, tool, expected) in [
        ("old", "t_die", "ended while it was at work"),
        ("new", "t_die", "ended while it was at work"),
        ("old", "t_nonsense", "gave an answer that cannot be read"),
        ("new", "t_ask_forever", "asked more than 10 times"),
        ("garbage", "t_huge", "bytes cut here"),
    ] {
        let wait = |client: Client| {
            client.wait_for(|request: Request| async move {
                Ok::<_, std::io::Error>(Answer::ok_with(request.id, json!({ "name": "Ada" })))
            })
        };
        let (result, output) = call(&wait, json!({ "t": entry(like) }), tool, &json!({})).await;
        assert_eq!(result.status, Status::Done, "{like} {tool}");
        assert!(output.contains(expected), "{like} {tool}: {}", &output[..output.len().min(500)]);
        assert!(output.len() < 70_000);
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_in_time() {
    let limits = McpLimits { connect_program: Duration::from_secs(1), ..limits() };
    let setup = McpSetup { limits, mark: format!("mcp-silent-{}:", std::process::id()), ..setup() };
    let servers = McpServers::connect(&config(json!({ "t": entry("silent") })), &setup).await;
    let problem = servers.reports()[0].problem.clone().unwrap();
    assert!(problem.contains("did not answer in time"), "{problem}");
    assert_eq!(kill_marked(&setup.mark), 0, "its process is ended");
}

#[tokio::test]
async fn a_session_that_is_over_is_begun_again_for_the_next_call_and_no_call_is_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record");
    let record = json!({ "file": file }).to_string();
    let replies = vec![
        Reply::calls(
            Style::OpenAi,
            &[("a", "t_record", &record), ("b", "t_die", "{}"), ("c", "t_record", &record)],
        ),
        Reply::calls(Style::OpenAi, &[("d", "t_record", &record)]),
        Reply::text(Style::OpenAi, "end"),
    ];
    let model = Server::replies(Style::OpenAi, replies).await;
    let client = Client::new(model.endpoint()).options(quick());
    let client =
        ["t_record", "t_die"].into_iter().fold(client, |client, tool| client.policy(tool, Policy::Allow));
    let servers = client.connect(&config(json!({ "t": entry("old") })), setup()).await;
    let result = client.run("go", &servers.add_to(Toolkit::new())).await;
    assert_eq!(result.status, Status::Done);
    let outputs: Vec<_> = result.tool_calls.iter().map(|call| call.output.as_str()).collect();
    assert_eq!(outputs.iter().filter(|output| **output == "recorded").count(), 3, "{outputs:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "xxx");
    servers.close().await;
}

#[tokio::test]
async fn a_run_that_is_given_up_while_a_server_asks_leaves_nothing_open() {
    let open: Arc<Mutex<Vec<Arc<()>>>> = Arc::default();
    let kept = Arc::clone(&open);
    let arguments = json!({}).to_string();
    let model =
        Server::replies(Style::OpenAi, vec![Reply::calls(Style::OpenAi, &[("c", "t_ask", &arguments)])])
            .await;
    let client = Client::new(model.endpoint()).options(quick()).policy("t_ask", Policy::Allow).wait_for(
        move |_: Request| {
            let waits = Arc::new(());
            kept.lock().unwrap().push(Arc::clone(&waits));
            async move {
                let _waits = waits;
                std::future::pending::<Result<Answer, std::io::Error>>().await
            }
        },
    );
    let servers = client.connect(&config(json!({ "t": entry("old") })), setup()).await;
    let toolkit = servers.add_to(Toolkit::new());
    let run = client.run("go", &toolkit);
    {
        tokio::pin!(run);
        tokio::select! {
            _ = &mut run => panic!("it waits"),
            () = until("it asks", || !open.lock().unwrap().is_empty()) => {}
        }
    }
    servers.close().await;
    until("nobody waits", || Arc::strong_count(&open.lock().unwrap()[0]) == 1).await;
}

#[tokio::test]
async fn what_a_server_asks_for_a_call_that_was_given_up_is_not_asked_for_the_next() {
    for is_stopped in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("begun");
        let call = |tool: &str| {
            Reply::calls(Style::OpenAi, &[("c", tool, &json!({ "marker": marker }).to_string())])
        };
        let replies = vec![call("t_ask_late"), call("t_echo"), Reply::text(Style::OpenAi, "end")];
        let model = Server::replies(Style::OpenAi, replies).await;
        let asked: Arc<Mutex<Vec<Request>>> = Arc::default();
        let kept = Arc::clone(&asked);
        let client = Client::new(model.endpoint()).options(quick()).policy("t_ask_late", Policy::Allow);
        let client = client.policy("t_echo", Policy::Allow).wait_for(move |request: Request| {
            kept.lock().unwrap().push(request.clone());
            async move { Ok::<_, std::io::Error>(Answer::ok_with(request.id, json!({ "name": "Ada" }))) }
        });
        let call = Duration::from_secs(if is_stopped { 20 } else { 1 });
        let setup = McpSetup { limits: McpLimits { call, ..limits() }, ..setup() };
        let servers = client.connect(&config(json!({ "t": entry("old more") })), setup).await;
        let toolkit = servers.add_to(Toolkit::new());
        if is_stopped {
            let run = client.run("go", &toolkit);
            tokio::pin!(run);
            tokio::select! {
                _ = &mut run => panic!("it waits"),
                () = until("the call is at work", || marker.exists()) => {}
            }
        }
        let result = client.run("go", &toolkit).await;
        assert_eq!(result.status, Status::Done);
        let output = &result.tool_calls.last().unwrap().output;
        assert!(output.contains("marker"), "the next call is answered as itself: {output}");
        assert!(asked.lock().unwrap().is_empty(), "{asked:?}");
        servers.close().await;
    }
}

#[tokio::test]
async fn a_server_that_is_refused_is_reported_and_its_tools_names_go_to_no_other() {
    let refused = [("a_b".to_owned(), "you have not allowed it.".to_owned())].into();
    let setup = McpSetup { refused, ..setup() };
    let config = config(json!({ "a": entry("old more"), "a_b": { "command": "/nonexistent/server" } }));
    let servers = McpServers::connect(&config, &setup).await;
    let problem = |name: &str| {
        let report = servers.reports().iter().find(|report| report.server == name).unwrap();
        report.problem.clone().unwrap_or_default()
    };
    assert_eq!(problem("a_b"), "you have not allowed it.");
    assert!(problem("a").contains("1 of its tools are left out"), "{}", problem("a"));
    let toolkit = servers.add_to(Toolkit::new());
    assert!(toolkit.get("a_echo").is_some() && toolkit.get("a_b_c").is_none());
    let arguments = sayso_agent::Arguments::parse("{}").unwrap();
    let absent = servers.absent("a_b_c").unwrap().draft(&arguments, &Default::default()).await.unwrap_err();
    assert!(
        absent.output.contains("server a_b cannot be used: you have not allowed it."),
        "{}",
        absent.output
    );
    servers.close().await;
}
