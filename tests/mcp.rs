//! MCP servers of agents, through the built programs: what is started and when, what a server may ask and what it gets
//! to know, and what is left when it or the host dies.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use sayso_tests::model::{Reply, ScriptedModel, Style as ModelStyle, call};
use sayso_tests::process::OwnedChild;
use sayso_tests::sayso::build_folder;
use sayso_tests::stage::{AGENT, Stage};
use sayso_tests::wait::SOON;
use sayso_tests::{wait_until, wait_value};
use serde_json::{Value, json};

const GENERATIONS: [&str; 2] = ["old", "new"];

/// The entry of the tests' own server.
fn entry(like: &str) -> Value {
    json!({ "command": build_folder().join("tiny-mcp-server"), "env": { "MCP_LIKE": like } })
}

/// A stage whose model calls a tool of the server `t`.
async fn stage(tool: &str, arguments: Value) -> Stage {
    Stage::calling(&format!("t_{tool}"), arguments).await
}

/// Adds the agent with the server, whose command is allowed, and whose tool needs no asking unless `ask`.
async fn add(stage: &Stage, entry: Value, tools: Value) {
    stage.add_agent(json!({ "mcpServers": { "t": entry }, "tools": tools })).await;
    stage.sayso.run(&["agent", "trust", AGENT, "--yes"]).await.exits(0);
}

fn key(request: &Value) -> &str {
    request["key"].as_str().expect("a key")
}

/// What the run's one call gave.
async fn output(stage: &Stage, run: &str) -> String {
    let shown = stage.sayso.json(&["runs", "show", run]).await.exits(0).value();
    shown["calls"][0]["output"].as_str().unwrap_or_default().to_owned()
}

async fn history(stage: &Stage) -> Vec<Value> {
    stage.sayso.run(&["history", "verify"]).await.exits(0);
    stage.sayso.json(&["history"]).await.exits(0).values()
}

#[tokio::test]
async fn a_command_is_shown_and_not_started_before_it_was_allowed() {
    let stage = stage("echo", json!({ "n": 1 })).await;
    let _host = stage.sayso.serve();
    let started = stage.path("started");
    let server = build_folder().join("tiny-mcp-server");
    let line = format!("touch {}; exec {}", started.display(), server.display());
    let entry = json!({ "command": "sh", "args": ["-c", line] });
    let file = stage.write_setup(&stage.setup(json!({ "mcpServers": { "t": entry } })));
    let file = file.to_str().unwrap();

    let added = stage.sayso.run(&["agent", "add", file]).await.exits(0);
    assert!(added.stdout.contains(&line) && added.stdout.contains("sayso agent trust worker"), "{added:?}");
    for refused in [
        stage.sayso.run(&["run", "--agent", AGENT, "x"]).await,
        stage.sayso.run(&["agent", "test", AGENT]).await,
    ] {
        assert_ne!(refused.code, 0);
        assert!(
            refused.stderr.contains("have not allowed yet") && refused.stderr.contains(&line),
            "{refused:?}"
        );
    }
    // Without a terminal nobody said yes.
    let shown = stage.sayso.run(&["agent", "trust", AGENT]).await.exits(1);
    assert!(shown.stdout.contains(&line), "{shown:?}");
    assert!(!started.exists());

    stage.sayso.run(&["agent", "trust", AGENT, "--yes"]).await.exits(0);
    let tested = stage.sayso.run(&["agent", "test", AGENT]).await.exits(0);
    assert!(tested.stdout.contains("MCP server t: connected, 13 tools."), "{tested:?}");
    assert!(started.exists());

    // Another command is another question.
    let entry = json!({ "command": "sh", "args": ["-c", format!("{line} ")] });
    let file = stage.write_setup(&stage.setup(json!({ "mcpServers": { "t": entry } })));
    stage.sayso.run(&["agent", "add", file.to_str().unwrap()]).await.exits(0);
    let refused = stage.sayso.run(&["run", "--agent", AGENT, "x"]).await;
    assert!(refused.stderr.contains("have not allowed yet"), "{refused:?}");
}

#[tokio::test]
async fn servers_of_another_programs_file_are_imported_and_ask_too() {
    let stage = stage("echo", json!({})).await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({ "mcpServers": { "a": { "command": "first" } } })).await;
    let file = stage.path("other.json");
    std::fs::write(&file, json!({ "servers": { "a": { "command": "second" } } }).to_string()).unwrap();
    let import = ["agent", "import-mcp", file.to_str().unwrap(), "--agent", AGENT];
    let refused = stage.sayso.run(&import).await.exits(2);
    assert!(refused.stderr.contains("--replace"), "{refused:?}");
    let replaced = stage.sayso.run(&[&import[..], &["--replace"]].concat()).await.exits(0);
    assert!(
        replaced.stdout.contains("second") && replaced.stdout.contains("sayso agent trust"),
        "{replaced:?}"
    );
    let agents = stage.sayso.json(&["agent", "list"]).await.exits(0).values();
    assert_eq!(agents[0]["config"]["mcpServers"]["a"]["command"], "second");
    assert_eq!(agents[0]["servers"][0]["allowed"], false);
}

#[tokio::test]
async fn a_servers_tool_asks_by_default_and_its_server_lives_from_the_first_call_to_the_runs_end() {
    for like in GENERATIONS {
        let model = ScriptedModel::answering(ModelStyle::OpenAi, |captured| {
            let messages = captured.json["messages"].as_array().unwrap();
            match messages.iter().filter(|message| message["role"] == "tool").count() {
                done @ 0..2 => Reply::calls([call(&format!("call_{done}"), "t_env", &json!({}))]),
                _ => Reply::text("I am done."),
            }
        });
        let stage = Stage::new(model.await);
        let _host = stage.sayso.serve();
        add(&stage, entry(like), json!({})).await;
        let run = stage.start_run("go").await;
        for _ in 0..2 {
            let request = stage.waiting().await;
            assert_eq!(request["request"]["prompt"], "Run env of the MCP server t? {}");
            stage.sayso.run(&["approve", key(&request)]).await.exits(0);
            wait_until("the request is decided", SOON, async || {
                stage.list().await.iter().all(|waiting| waiting["key"] != request["key"])
            })
            .await;
        }
        stage.wait_status(&run, "done").await;
        let shown = stage.sayso.json(&["runs", "show", &run]).await.exits(0).value();
        let process = |at: usize| -> u64 {
            let output: Value = serde_json::from_str(shown["calls"][at]["output"].as_str().unwrap()).unwrap();
            assert_eq!(output["folder"], stage.work().to_str().unwrap());
            output["process"].as_u64().unwrap()
        };
        assert_eq!(process(0), process(1), "it is not started anew for each approval");
        let gone = Path::new("/proc").join(process(0).to_string());
        wait_until("the server ends with the run", SOON, async || !gone.exists()).await;
        stage.model.assert_balanced();
    }
}

#[tokio::test]
async fn a_server_that_fails_is_shown_and_the_run_goes_on_without_it() {
    let stage = stage("echo", json!({ "n": 1 })).await;
    let _host = stage.sayso.serve();
    let servers = json!({ "t": entry("old"), "broken": { "command": "/nonexistent/server" } });
    stage.add_agent(json!({ "mcpServers": servers, "tools": { "t_echo": "allow" } })).await;
    stage.sayso.run(&["agent", "trust", AGENT, "--yes"]).await.exits(0);
    let run = stage.start_run("go").await;
    stage.wait_status(&run, "done").await;
    assert_eq!(output(&stage, &run).await, r#"{"n":1}"#);
    let shown = stage.sayso.json(&["runs", "show", &run]).await.exits(0).value();
    assert_eq!(shown["servers"][0]["name"], "broken");
    assert!(shown["servers"][0]["problem"].as_str().unwrap().contains("could not be started"), "{shown}");
    let tested = stage.sayso.run(&["agent", "test", AGENT]).await.exits(1);
    assert!(tested.stdout.contains("MCP server broken: its program could not be started"), "{tested:?}");
}

#[tokio::test]
async fn contract_32_a_question_of_a_server_is_a_request_and_its_class_goes_back() {
    let form = r#"{"name":"Ada"}"#;
    for like in GENERATIONS {
        for (mode, decision, expected, outcome) in [
            (
                "form",
                &["answer", "--data", form][..],
                r#"{"action":"accept","content":{"name":"Ada"}}"#,
                "answered",
            ),
            // A person's own words change nothing.
            ("form", &["deny", "--reason", "cancel"][..], r#"{"action":"decline"}"#, "declined"),
            ("url", &["approve"][..], r#"{"action":"accept"}"#, "approved"),
            ("url", &["deny"][..], r#"{"action":"decline"}"#, "declined"),
        ] {
            let stage = stage("ask", json!({ "mode": mode })).await;
            let _host = stage.sayso.serve();
            add(&stage, entry(like), json!({ "t_ask": "allow" })).await;
            let run = stage.start_run("go").await;
            let request = stage.waiting().await;
            let kind = if mode == "form" { "input" } else { "authorization" };
            assert_eq!(request["request"]["kind"], kind, "{request}");
            assert_eq!(request["run"], run.as_str());
            assert_eq!(request["source"], AGENT);
            let shown = stage.sayso.json(&["show", key(&request)]).await.exits(0).value();
            assert_eq!(shown["tool"], "t_ask", "{shown}");
            if decision[0] == "answer" {
                // What does not fit the form is refused, and nothing is lost.
                stage.sayso.run(&["answer", key(&request), "--data", r#"{"name":1}"#]).await.exits(1);
            }
            let mut arguments = vec![decision[0], key(&request)];
            arguments.extend(&decision[1..]);
            stage.sayso.run(&arguments).await.exits(0);
            stage.wait_status(&run, "done").await;
            let expected = match like {
                "old" => expected.to_owned(),
                _ => format!(r#"{{"response":{expected},"state":"state-1"}}"#),
            };
            assert_eq!(output(&stage, &run).await, expected, "{like} {mode} {decision:?}");
            let decided = history(&stage).await;
            assert_eq!(decided.len(), 1);
            assert_eq!(decided[0]["outcome"], outcome);
            stage.model.assert_balanced();
        }
    }
}

#[tokio::test]
async fn contract_31_a_server_that_asks_for_a_secret_gets_a_cancel_and_nobody_is_asked() {
    for like in GENERATIONS {
        for mode in ["secret", "password", "bad url"] {
            let stage = stage("ask", json!({ "mode": mode })).await;
            let _host = stage.sayso.serve();
            add(&stage, entry(like), json!({ "t_ask": "allow" })).await;
            let run = stage.start_run("go").await;
            stage.wait_status(&run, "done").await;
            assert!(output(&stage, &run).await.contains(r#"{"action":"cancel"}"#), "{like} {mode}");
            assert!(history(&stage).await.is_empty());
        }
    }
}

#[tokio::test]
async fn a_run_that_is_stopped_while_its_server_asks_cancels_the_question() {
    for like in GENERATIONS {
        let stage = stage("ask", json!({})).await;
        let _host = stage.sayso.serve();
        add(&stage, entry(like), json!({ "t_ask": "allow" })).await;
        let run = stage.start_run("go").await;
        stage.waiting().await;
        stage.sayso.run(&["runs", "stop", &run]).await.exits(0);
        wait_until("nothing waits", SOON, async || stage.list().await.is_empty()).await;
        let decided = history(&stage).await;
        assert_eq!(
            (&decided[0]["outcome"], &decided[0]["decided_by"]),
            (&json!("cancelled"), &json!("stop"))
        );
        assert_eq!(stage.run_status(&run).await, "interrupted");
    }
}

#[tokio::test]
async fn a_question_whose_server_dies_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let die = folder.path().join("die");
    let stage = stage("ask", json!({ "exit_when": die })).await;
    let _host = stage.sayso.serve();
    add(&stage, entry("old"), json!({ "t_ask": "allow" })).await;
    let run = stage.start_run("go").await;
    stage.waiting().await;
    std::fs::write(&die, "").unwrap();
    stage.wait_status(&run, "done").await;
    assert!(output(&stage, &run).await.contains("ended while it was at work"));
    wait_until("nothing waits", SOON, async || stage.list().await.is_empty()).await;
    let decided = history(&stage).await;
    assert_eq!((&decided[0]["outcome"], &decided[0]["decided_by"]), (&json!("cancelled"), &json!("source")));
}

#[tokio::test]
async fn contract_33_after_a_crash_an_open_question_is_cancelled_and_its_call_is_unknown() {
    for like in GENERATIONS {
        for again in ["deny", "approve"] {
            let stage = stage("ask", json!({})).await;
            let host = stage.sayso.serve();
            add(&stage, entry(like), json!({ "t_ask": "allow" })).await;
            let run = stage.start_run("go").await;
            let asked = stage.waiting().await;
            host.kill();

            let _host = stage.sayso.serve();
            let unknown = wait_value("the call is asked about again", SOON, async || {
                stage.list().await.into_iter().find(|request| request["key"] != asked["key"])
            })
            .await;
            assert!(unknown["request"]["prompt"].as_str().unwrap().contains("may already have happened"));
            assert_eq!(stage.list().await.len(), 1, "the question itself is over");
            let late = stage.sayso.run(&["answer", key(&asked), "--data", r#"{"name":"Ada"}"#]).await;
            assert_eq!(late.code, 5, "{late:?}");
            let decided = history(&stage).await;
            assert_eq!(decided[0]["key"], asked["key"]);
            assert_eq!(
                (&decided[0]["outcome"], &decided[0]["decided_by"]),
                (&json!("cancelled"), &json!("source"))
            );
            let shown = stage.sayso.json(&["runs", "show", &run]).await.exits(0).value();
            assert_eq!(shown["calls"][0]["state"], "unknown");

            stage.sayso.run(&[again, key(&unknown)]).await.exits(0);
            if again == "approve" {
                let request = stage.waiting().await;
                stage.sayso.run(&["answer", key(&request), "--data", r#"{"name":"Ada"}"#]).await.exits(0);
            }
            stage.wait_status(&run, "done").await;
            assert_eq!(output(&stage, &run).await.contains("Ada"), again == "approve");
            stage.model.assert_balanced();
        }
    }
}

#[tokio::test]
async fn what_a_reference_stands_for_is_in_no_log_no_database_and_no_other_process() {
    const SECRET: &str = "hunter2-very-secret-token";
    let stage = stage("env", json!({})).await;
    let log = stage.path("stderr");
    let sayso = stage.sayso.clone().env("MCP_TEST_TOKEN", SECRET).env("SAYSO_LOG", "trace");
    let mut command = sayso.command(&["serve", "--port", "0"]);
    command.stdout(Stdio::piped()).stderr(std::fs::File::create(&log).unwrap());
    let mut host = OwnedChild::start(&mut command);
    host.read_line(Duration::from_secs(30), |line| line.contains("url").then_some(()));
    let mut with_key = entry("old");
    with_key["env"]["KEY"] = "${MCP_TEST_TOKEN}".into();
    let servers = json!({
        "t": with_key,
        "web": { "url": "http://127.0.0.1:1/${MCP_TEST_TOKEN}", "headers": { "Authorization": "Bearer ${env:MCP_TEST_TOKEN}" } },
        "exits": { "command": build_folder().join("tiny-mcp-server"), "env": { "MCP_LIKE": "exits", "TOKEN": "${MCP_TEST_TOKEN}" } },
    });
    stage.add_agent(json!({ "mcpServers": servers, "tools": { "t_env": "allow" } })).await;
    stage.sayso.run(&["agent", "trust", AGENT, "--yes"]).await.exits(0);
    let run = stage.start_run("go").await;
    stage.wait_status(&run, "done").await;
    let output = output(&stage, &run).await;
    assert!(output.contains("KEY=[hidden]") && !output.contains("MCP_TEST_TOKEN"), "{output}");
    let shown = stage.sayso.json(&["runs", "show", &run]).await.exits(0).value();
    assert_eq!(shown["servers"].as_array().unwrap().len(), 2, "{shown}");
    assert!(host.terminate(Duration::from_secs(20)).await.success());
    let mut read = 0;
    let mut folders = vec![stage.sayso.data_dir().to_owned()];
    let mut files = vec![log];
    while let Some(folder) = folders.pop() {
        for found in std::fs::read_dir(folder).unwrap().flatten() {
            if found.path().is_dir() { folders.push(found.path()) } else { files.push(found.path()) }
        }
    }
    for file in files {
        let Ok(bytes) = std::fs::read(&file) else { continue };
        read += 1;
        assert!(!String::from_utf8_lossy(&bytes).contains(SECRET), "{}", file.display());
    }
    assert!(read >= 2, "the log and the database were read");
    assert!(stage.model.bodies().iter().all(|body| !body.contains(SECRET)));
}

#[tokio::test]
async fn a_server_that_cannot_begin_holds_no_stop_up() {
    let stage = stage("echo", json!({})).await;
    let _host = stage.sayso.serve();
    add(&stage, entry("silent"), json!({})).await;
    let run = stage.start_run("go").await;
    stage.sayso.run(&["runs", "stop", &run]).await.exits(0);
    assert_eq!(stage.run_status(&run).await, "interrupted");
}

/// The folder of the real servers, which `make test` fills.
fn real(file: &str) -> PathBuf {
    let target = build_folder().parent().expect("a target folder").to_owned();
    let file = target.join("tools").join(file);
    assert!(file.exists(), "no {}: `make other-programs` puts it there", file.display());
    file
}

fn everything(transport: &str) -> Value {
    let script = real("mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    json!({ "command": "node", "args": [script, transport] })
}

/// The same at an address.
async fn everything_at_an_address() -> (OwnedChild, Value) {
    let free = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let script = real("mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let mut command = Command::new("node");
    command
        .arg(script)
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let server = OwnedChild::start(&mut command);
    wait_until("the server listens", SOON, async || {
        tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()
    })
    .await;
    (server, json!({ "type": "http", "url": format!("http://127.0.0.1:{port}/mcp") }))
}

#[tokio::test]
#[ignore = "needs the real servers, which make test installs"]
async fn the_everything_server_answers_and_asks_over_its_streams_and_at_an_address() {
    let (_web, address) = everything_at_an_address().await;
    for entry in [everything("stdio"), address] {
        let echo = Stage::calling("t_echo", json!({ "message": "hello" })).await;
        let _host = echo.sayso.serve();
        add(&echo, entry.clone(), json!({ "t_echo": "allow" })).await;
        let run = echo.start_run("go").await;
        echo.wait_status(&run, "done").await;
        assert_eq!(output(&echo, &run).await, "Echo: hello");

        for (tool, arguments, decision, expected) in [
            (
                "t_trigger-elicitation-request",
                json!({}),
                &["answer", "--data", r#"{"name":"Ada"}"#][..],
                "Ada",
            ),
            ("t_trigger-elicitation-request", json!({}), &["deny"][..], "decline"),
            (
                "t_trigger-url-elicitation",
                json!({ "url": "https://example.org/a", "message": "Open it" }),
                &["approve"][..],
                "accept",
            ),
        ] {
            let stage = Stage::calling(tool, arguments).await;
            let _host = stage.sayso.serve();
            add(&stage, entry.clone(), json!({ tool: "allow" })).await;
            let run = stage.start_run("go").await;
            let request = stage.waiting().await;
            let mut arguments = vec![decision[0], key(&request)];
            arguments.extend(&decision[1..]);
            stage.sayso.run(&arguments).await.exits(0);
            stage.wait_status(&run, "done").await;
            let output = output(&stage, &run).await;
            assert!(output.contains(expected), "{tool} {decision:?}: {output}");
        }
    }
}

#[tokio::test]
#[ignore = "needs the real servers, which make test installs"]
async fn a_server_on_the_python_package_answers_and_asks() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("support/real_mcp_server.py");
    let entry = json!({ "command": real("python/bin/python"), "args": [script] });
    for (tool, arguments, decision, expected) in [
        ("t_add", json!({ "a": 2, "b": 3 }), &[][..], "5"),
        ("t_ask", json!({}), &["answer", "--data", r#"{"name":"Ada"}"#][..], "accept: {'name': 'Ada'}"),
        ("t_ask", json!({}), &["deny", "--reason", "not today"][..], "decline: None"),
    ] {
        let stage = Stage::calling(tool, arguments).await;
        let _host = stage.sayso.serve();
        add(&stage, entry.clone(), json!({ tool: "allow" })).await;
        let run = stage.start_run("go").await;
        if let Some(verb) = decision.first() {
            let request = stage.waiting().await;
            assert_eq!(request["request"]["prompt"], "The MCP server t asks: Who are you?");
            let mut arguments = vec![*verb, key(&request)];
            arguments.extend(&decision[1..]);
            stage.sayso.run(&arguments).await.exits(0);
        }
        stage.wait_status(&run, "done").await;
        assert_eq!(output(&stage, &run).await, expected, "{tool}");
    }
}
