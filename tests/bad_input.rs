//! Bad input gets a clear error and loses nothing: what happened, what is safe, what to do next.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use sayso_tests::model::{Reply, ScriptedModel, Style, call};
use sayso_tests::small_disk::SmallDisk;
use sayso_tests::stage::{AGENT, Stage};
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use serde_json::{Value, json};

fn key(request: &Value) -> &str {
    request["key"].as_str().expect("a key")
}

async fn appending_stage() -> Stage {
    Stage::calling("shell", json!({ "command": "echo happened >> effect.txt" })).await
}

/// A stage whose model answers every request with the same reply.
async fn always(reply: Reply) -> Stage {
    Stage::new(ScriptedModel::answering(Style::OpenAi, move |_| reply.clone()).await)
}

async fn ends_with_error(name: &str, reply: Reply, words: &[&str]) {
    let stage = always(reply).await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("go").await;
    wait_until(&format!("{name}: the run ends"), Duration::from_secs(60), async || {
        stage.run_status(&run).await == "error"
    })
    .await;
    let shown = stage.sayso.run(&["runs", "show", &run]).await.exits(0).stdout.to_lowercase();
    for word in words {
        assert!(shown.contains(word), "{name}: {word:?} is not in: {shown}");
    }
}

#[tokio::test]
async fn what_a_broken_model_sends_ends_the_run_with_a_clear_error() {
    ends_with_error("broken JSON", Reply::body("{\"choices\": [{\"message\": {\"role\""), &["json"]).await;
    ends_with_error("HTML", Reply::html("<html><body>Welcome</body></html>"), &["web page"]).await;
    ends_with_error("nothing", Reply::body(""), &["empty"]).await;
    ends_with_error("no choices", Reply::body("{}"), &["model"]).await;
    ends_with_error("refused key", Reply::status(401), &["401", "key"]).await;
    ends_with_error("not found", Reply::status(404), &["404"]).await;
}

#[tokio::test]
async fn a_model_that_fails_for_a_while_is_asked_again_and_no_tool_runs_twice() {
    for failure in [Reply::status(500), Reply::Dropped] {
        let stage = Stage::new(
            ScriptedModel::start(
                Style::OpenAi,
                [
                    Reply::calls([call("c1", "shell", &json!({ "command": "echo happened >> effect.txt" }))]),
                    failure.clone(),
                    failure,
                    Reply::text("Done."),
                ],
            )
            .await,
        );
        let _host = stage.sayso.serve();
        stage.add_agent(json!({ "tools": { "shell": "allow" } })).await;
        let run = stage.start_run("go").await;
        stage.wait_status(&run, "done").await;
        assert_eq!(stage.work_file("effect.txt"), "happened\n");
        assert_eq!(stage.list().await.len(), 0);
    }
}

#[tokio::test]
async fn calls_that_cannot_be_used_become_errors_for_the_model_and_raise_no_request() {
    let odd = |name: &str, arguments: &str| {
        let mut odd = call("c1", name, &json!({}));
        odd.arguments = arguments.to_owned();
        Reply::calls([odd])
    };
    for (reply, expected) in [
        (odd("launch_rocket", "{}"), "Unknown tool: launch_rocket"),
        (odd("shell", "[1, 2]"), "object"),
        (odd("shell", "\"ls\""), "object"),
        (odd("shell", "{\"command\": "), "JSON"),
        (odd("shell", "null"), "object"),
    ] {
        let stage = Stage::new(ScriptedModel::start(Style::OpenAi, [reply, Reply::text("I see.")]).await);
        let _host = stage.sayso.serve();
        stage.add_agent(json!({})).await;
        let run = stage.start_run("go").await;
        stage.wait_status(&run, "done").await;
        assert_eq!(stage.sayso.json(&["history"]).await.exits(0).values().len(), 0, "{expected}");
        let body = stage.model.bodies().pop().unwrap();
        assert!(body.contains(expected), "{expected:?} is not in {body}");
        stage.model.assert_balanced();
    }
}

#[tokio::test]
async fn a_database_that_another_process_locks_loses_nothing() {
    let stage = appending_stage().await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("go").await;
    let request = stage.waiting().await;
    let other = rusqlite::Connection::open(stage.sayso.data_dir().join("sayso.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = stage.sayso.run(&["approve", key(&request)]).await.exits(6);
    assert!(refused.stderr.contains("Another program is holding"), "{refused:?}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(stage.work_file("effect.txt"), "");
    stage.sayso.run(&["approve", key(&request)]).await.exits(0);
    stage.wait_status(&run, "done").await;
    assert_eq!(stage.work_file("effect.txt"), "happened\n");
}

/// A data folder with one decision in it and no host.
async fn with_a_decision() -> Stage {
    let stage = appending_stage().await;
    let host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("go").await;
    let request = stage.waiting().await;
    stage.sayso.run(&["approve", key(&request)]).await.exits(0);
    stage.wait_status(&run, "done").await;
    host.stop().await;
    stage
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_as_it_is() {
    let stage = with_a_decision().await;
    let file = stage.sayso.data_dir().join("sayso.db");
    rusqlite::Connection::open(&file).unwrap().pragma_update(None, "user_version", 9999).unwrap();
    let before = std::fs::read(&file).unwrap();
    for command in [&["serve"][..], &["history"]] {
        let said = stage.sayso.run(command).await.exits(6);
        assert!(said.stderr.contains("newer"), "{said:?}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[tokio::test]
async fn a_damaged_database_is_refused_in_words_and_not_overwritten() {
    let stage = with_a_decision().await;
    let file = stage.sayso.data_dir().join("sayso.db");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[..1024].fill(0x5a);
    std::fs::write(&file, &bytes).unwrap();
    for command in [&["serve"][..], &["history"]] {
        let said = stage.sayso.run(command).await.exits(6);
        assert!(said.stderr.contains("damaged") || said.stderr.contains("not a database"), "{said:?}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

#[tokio::test]
#[ignore = "mounts a small disk, for which root is needed: `make test` runs it"]
async fn a_full_disk_refuses_decisions_in_words_and_goes_on_once_there_is_room() {
    let stage = appending_stage().await;
    let disk = SmallDisk::mount(&stage.path("disk"), "4m");
    let sayso = sayso_tests::sayso::Sayso::new(&disk.path().join("data"));
    let host = sayso.serve();
    let setup = stage.write_setup(&stage.setup(json!({})));
    sayso.run(&["agent", "add", setup.to_str().unwrap()]).await.exits(0);
    let run = sayso.json(&["run", "--agent", AGENT, "go"]).await.exits(0).value()["run"]
        .as_str()
        .unwrap()
        .to_owned();
    wait_until("the request waits", SOON, async || sayso.json(&["list"]).await.values().len() == 1).await;
    let request = sayso.json(&["list"]).await.value();

    disk.fill();
    let refused = sayso.run(&["approve", key(&request)]).await.exits(6);
    assert!(refused.stderr.contains("full"), "{refused:?}");
    assert_eq!(stage.work_file("effect.txt"), "");
    assert_eq!(sayso.json(&["list"]).await.exits(0).values().len(), 1, "the request still waits");

    disk.make_room();
    sayso.run(&["approve", key(&request)]).await.exits(0);
    wait_until("the run is done", SOON, async || {
        sayso.json(&["runs", "show", &run]).await.value()["status"] == "done"
    })
    .await;
    assert_eq!(stage.work_file("effect.txt"), "happened\n");
    sayso.run(&["history", "verify"]).await.exits(0);
    host.stop().await;
}

#[tokio::test]
#[ignore = "becomes another user, for which root is needed: `make test` runs it"]
async fn a_data_folder_that_an_unprivileged_user_cannot_write_is_named() {
    let root = tempfile::tempdir().unwrap();
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let bin = root.path().join("sayso");
    std::fs::copy(sayso_tests::sayso::sayso_bin(), &bin).unwrap();
    let data = root.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&bin)
        .args(["serve", "--data-dir"])
        .arg(&data)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains(data.to_str().unwrap()) && said.contains("--data-dir"), "{said}");
}

#[tokio::test]
async fn a_folder_that_vanished_is_named_and_an_approved_call_runs_nowhere_else() {
    let stage = appending_stage().await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("go").await;
    let request = stage.waiting().await;
    std::fs::remove_dir_all(stage.work()).unwrap();
    stage.sayso.run(&["approve", key(&request)]).await.exits(0);
    stage.wait_status(&run, "done").await;
    let body = stage.model.bodies().pop().unwrap();
    assert!(body.contains("folder"), "{body}");
    assert!(!stage.work().exists());
    let refused = stage.sayso.run(&["run", "--agent", AGENT, "again"]).await.exits(1);
    assert!(refused.stderr.contains(stage.work().to_str().unwrap()), "{refused:?}");
}

#[tokio::test]
async fn an_agent_folder_may_not_hold_the_data_folder_nor_lie_in_it() {
    let stage = appending_stage().await;
    let _host = stage.sayso.serve();
    let inside = stage.sayso.data_dir().join("inner");
    std::fs::create_dir(&inside).unwrap();
    let link = stage.path("link");
    std::os::unix::fs::symlink(stage.sayso.data_dir(), &link).unwrap();
    for folder in [stage.path(""), stage.sayso.data_dir().to_owned(), inside, link] {
        let setup = stage.write_setup(&stage.setup(json!({ "folder": folder })));
        let refused = stage.sayso.run(&["agent", "add", setup.to_str().unwrap()]).await.exits(1);
        assert!(refused.stderr.contains("data folder"), "{refused:?}");
    }
    assert_eq!(stage.sayso.json(&["agent", "list"]).await.exits(0).values().len(), 0);
}

#[tokio::test]
async fn a_prompt_of_one_megabyte_is_kept_whole_and_can_be_answered() {
    let prompt = "x".repeat(1 << 20);
    let questions = json!({ "questions": [{ "question": prompt, "options": ["yes", "no"] }] });
    let stage = Stage::calling("question", questions).await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("go").await;
    let request = stage.waiting().await;
    assert!(request["request"]["prompt"].as_str().unwrap().starts_with(&prompt));
    stage.sayso.run(&["show", key(&request)]).await.exits(0);
    stage.sayso.run(&["answer", key(&request), "--data", "{\"answers\":[\"yes\"]}"]).await.exits(0);
    stage.wait_status(&run, "done").await;
    stage.model.assert_balanced();
}

#[tokio::test]
async fn a_missing_key_is_named_and_the_run_can_go_on_later() {
    let stage = appending_stage().await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({ "api_key": "env:SAYSO_TEST_KEY_THAT_IS_NOT_SET" })).await;
    let run = stage.start_run("go").await;
    stage.wait_status(&run, "error").await;
    let shown = stage.sayso.run(&["runs", "show", &run]).await.exits(0);
    assert!(shown.stdout.contains("SAYSO_TEST_KEY_THAT_IS_NOT_SET"), "{shown:?}");
    assert_eq!(stage.model.captured().len(), 0);
}

#[tokio::test]
async fn numbers_keep_every_digit_on_the_way_to_the_person_the_disk_and_the_tool() {
    const DIGITS: &str = "9007199254740993";
    let content = format!("{{\"n\":{DIGITS}}}");
    let arguments: Value = serde_json::from_str(&format!(
        "{{\"path\":\"n.json\",\"content\":{},\"n\":{DIGITS},\"x\":1.10}}",
        json!(content)
    ))
    .unwrap();
    let stage = Stage::calling("write_file", arguments).await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let run = stage.start_run("go").await;
    let request = stage.waiting().await;
    for shown in
        [stage.sayso.run(&["show", key(&request)]).await, stage.sayso.json(&["show", key(&request)]).await]
    {
        assert!(shown.exits(0).stdout.contains(DIGITS));
    }
    assert!(request.to_string().contains("1.10"), "{request}");
    let db = rusqlite::Connection::open(stage.sayso.data_dir().join("sayso.db")).unwrap();
    let kept: i64 = db
        .query_row(
            "SELECT count(*) FROM calls WHERE arguments LIKE ?1",
            [format!("%\"n\":{DIGITS}%")],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(kept, 1);
    stage.sayso.run(&["approve", key(&request)]).await.exits(0);
    stage.wait_status(&run, "done").await;
    assert_eq!(stage.work_file("n.json"), content);
}

#[tokio::test]
async fn a_tool_sees_no_key_no_token_and_no_session_bus() {
    const SECRET: &str = "sk-a-key-that-nobody-may-see";
    let stage =
        Stage::calling("shell", json!({ "command": "env > env.txt; cat /proc/self/environ >> env.txt" }))
            .await;
    let sayso = stage
        .sayso
        .clone()
        .env("SAYSO_TEST_MODEL_KEY", SECRET)
        .env("OPENAI_API_KEY", SECRET)
        .env("SSH_AUTH_SOCK", "/tmp/agent.sock")
        .env("XDG_RUNTIME_DIR", "/tmp/runtime");
    let mut command = sayso.command(&["serve", "--port", "0"]);
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/tmp/none").stdout(Stdio::piped());
    let mut host = sayso_tests::process::OwnedChild::start(&mut command);
    host.read_line(SOON, |line| serde_json::from_str::<Value>(line).ok());
    stage.add_agent(json!({ "api_key": "env:SAYSO_TEST_MODEL_KEY" })).await;
    let run = stage.start_run("go").await;
    let request = stage.waiting().await;
    stage.sayso.run(&["approve", key(&request)]).await.exits(0);
    stage.wait_status(&run, "done").await;
    let seen = stage.work_file("env.txt");
    assert!(seen.contains("PATH="), "{seen}");
    for hidden in [SECRET, "API_KEY", "TOKEN", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR"]
    {
        assert!(!seen.contains(hidden), "{hidden} is in {seen}");
    }
    // The key was really used, and is kept nowhere.
    assert!(format!("{:?}", stage.model.captured()[0].headers).contains(SECRET));
    for file in walk(stage.sayso.data_dir()) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()), "{}", file.display());
    }
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
