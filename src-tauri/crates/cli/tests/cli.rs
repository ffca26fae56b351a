//! The command line through its real binary: what it prints, where, and the code it exits with.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const SOON: Duration = Duration::from_secs(20);
const NO_KEY: &str = "0198c0de-0000-7000-8000-000000000000";

/// The command, with a data folder that need not exist.
struct Stage {
    root: TempDir,
}

/// What a command said.
#[derive(Debug)]
struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Stage {
    fn new() -> Self {
        Self { root: TempDir::new().unwrap() }
    }

    fn data_dir(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Where the demo agent works: beside the data folder.
    fn demo_file(&self) -> PathBuf {
        self.root.path().join("data-demo/hello.txt")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = bare(args);
        command.arg("--data-dir").arg(self.data_dir());
        command
    }

    fn run(&self, args: &[&str]) -> Said {
        Said::of(&mut self.command(args), "")
    }

    fn json(&self, args: &[&str]) -> Said {
        Said::of(self.command(args).arg("--json"), "")
    }

    fn serve(&self) -> Serving {
        let mut child = self.command(&["serve", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
        Serving { child, stdout, url }
    }

    /// The first request that waits, once it does.
    fn waiting(&self) -> Value {
        let began = Instant::now();
        loop {
            if let Some(first) = self.json(&["list"]).exits(0).values().first() {
                return first.clone();
            }
            assert!(began.elapsed() < SOON, "nothing waits");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn bare(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
    command.args(args).env_remove("SAYSO_DATA_DIR").env_remove("DBUS_SESSION_BUS_ADDRESS");
    command.env_remove("SAYSO_LOG").stdin(Stdio::null());
    command
}

impl Said {
    fn of(command: &mut Command, stdin: &str) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may end without reading what we say.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    #[track_caller]
    fn values(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{self:?}")))
            .collect()
    }

    #[track_caller]
    fn value(&self) -> Value {
        let values = self.values();
        assert_eq!(values.len(), 1, "{self:?}");
        values[0].clone()
    }

    /// With `--json`: a plain sentence, then the error as JSON, both on stderr.
    #[track_caller]
    fn error_code(&self) -> String {
        assert!(self.stdout.is_empty(), "{self:?}");
        let (last, first) = {
            let mut lines: Vec<_> = self.stderr.lines().collect();
            (lines.pop().unwrap(), lines)
        };
        let error: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{self:?}"));
        assert!(!first.is_empty() && !first[0].starts_with('{'), "{self:?}");
        assert!(!error["error"]["message"].as_str().unwrap().is_empty(), "{self:?}");
        error["error"]["code"].as_str().unwrap().to_owned()
    }
}

/// A running `sayso serve`; dropped, it is killed.
struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
    url: String,
}

impl Serving {
    /// Asks it to end, and returns its exit code and what else it printed.
    fn end(mut self) -> (Option<i32>, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[track_caller]
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_demo_asks_four_things_and_history_keeps_the_reason() {
    let stage = Stage::new();
    let answers = "approve,approve,deny:over budget,approve";
    let said = stage.json(&["demo", "--answers", answers]).exits(0);
    let last = said.values().pop().unwrap();
    assert_eq!(keys(&last), ["run", "status", "text"]);
    assert_eq!(last["status"], "done");
    assert_eq!(std::fs::read_to_string(stage.demo_file()).unwrap(), "Hello from the Sayso demo.\n");

    // No host runs any more.
    let history = stage.json(&["history"]).exits(0).values();
    let outcomes: Vec<_> = history.iter().map(|item| item["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["approved", "declined", "approved", "answered"]);
    assert_eq!(
        keys(&history[0]),
        [
            "key",
            "request",
            "answer",
            "outcome",
            "class",
            "edited",
            "decided_by",
            "surface",
            "source",
            "run",
            "received_at",
            "decided_at"
        ]
    );
    let denied = &history[1];
    assert_eq!(denied["answer"]["ok"], false);
    assert_eq!(denied["answer"]["reason"], "over budget");
    assert_eq!(denied["answer"]["id"], denied["request"]["id"]);
    assert_eq!((&denied["class"], &denied["decided_by"]), (&json!("declined"), &json!("person")));
    assert_eq!(
        (&denied["surface"], &denied["source"], &denied["run"]),
        (&json!("cli"), &json!("demo"), &last["run"])
    );
    assert_eq!(history[3]["answer"]["data"], json!({ "answers": ["Hello"] }));
    let kinds: Vec<_> = history.iter().rev().map(|item| item["request"]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["question", "approval", "approval", "approval"]);

    let verified = stage.json(&["history", "verify"]).exits(0).value();
    assert_eq!(keys(&verified), ["ok", "entries", "head", "entry", "problem"]);
    assert_eq!((&verified["ok"], &verified["problem"]), (&json!(true), &Value::Null));

    // Filters, and the words for people.
    assert_eq!(stage.json(&["history", "--outcome", "declined"]).values().len(), 1);
    assert_eq!(stage.json(&["history", "--limit", "3"]).values().len(), 3);
    assert_eq!(stage.json(&["history", "--since", "2999-01-01"]).exits(0).values().len(), 0);
    assert_eq!(stage.json(&["history", "--source", "nobody"]).exits(0).values().len(), 0);
    let words = stage.run(&["history"]).exits(0).stdout;
    assert!(words.contains("over budget") && words.contains("declined"), "{words}");
}

#[test]
fn what_the_demos_answers_dont_cover_stays_pending() {
    let stage = Stage::new();
    stage.json(&["demo", "--answers", "approve"]).exits(4);
    assert_eq!(stage.json(&["history"]).exits(0).values().len(), 1);
    assert!(!stage.demo_file().exists());
    let serving = stage.serve();
    let waiting = stage.json(&["list"]).exits(0).value();
    assert_eq!(waiting["state"], "pending");
    stage.json(&["approve", waiting["key"].as_str().unwrap()]).exits(0);
    stage.waiting();
    assert!(stage.demo_file().exists(), "the file is written before the next request");
    serving.end();

    let spare = Stage::new();
    spare.json(&["demo", "--answers", "approve,approve,approve,approve,approve,deny"]).exits(0);
    assert_eq!(spare.json(&["history"]).values().len(), 4);
}

#[test]
fn a_denial_changes_what_the_demo_does() {
    let stage = Stage::new();
    let said = stage.run(&["demo", "--answers", "deny,deny:not in my folder,approve,deny"]).exits(0);
    assert!(!stage.demo_file().exists());
    assert!(said.stdout.contains("You said no to"), "{}", said.stdout);
    let answers: Vec<_> =
        stage.json(&["history"]).values().iter().map(|item| item["outcome"].clone()).collect();
    assert_eq!(answers, ["declined", "approved", "declined", "declined"]);
}

#[test]
fn without_a_folder_the_demo_leaves_nothing_behind() {
    let temporary = TempDir::new().unwrap();
    let mut command = bare(&["demo", "--answers", "approve,approve,approve,approve"]);
    let said = Said::of(command.env("TMPDIR", temporary.path()), "").exits(0);
    let named = said.stdout.lines().find(|line| line.contains("sayso-demo-")).expect("it names its folder");
    assert!(named.contains(&*temporary.path().to_string_lossy()), "{named}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn the_demo_reads_lines_and_silence_is_never_a_yes() {
    let stage = Stage::new();
    let lines = "7\n2\n\nmaybe\napprove\ndeny:no commands\nyes\n";
    let said = Said::of(&mut stage.command(&["demo"]), lines).exits(0);
    assert!(said.stdout.contains("There is no option with that number"), "{}", said.stdout);
    assert_eq!(std::fs::read_to_string(stage.demo_file()).unwrap(), "Good day from the Sayso demo.\n");
    let history = stage.json(&["history"]).values();
    assert_eq!(history[1]["answer"]["reason"], "no commands");
    assert_eq!(history[3]["answer"]["data"], json!({ "answers": ["Good day"] }));

    let silent = Stage::new();
    Said::of(&mut silent.command(&["demo"]), "").exits(4);
    assert_eq!(silent.json(&["history"]).exits(0).values().len(), 0);
    Said::of(&mut Stage::new().command(&["demo"]), "my own words\nappro").exits(4);
}

#[test]
fn contract_12_a_call_is_approved_with_edits_from_the_command_line() {
    let stage = Stage::new();
    let serving = stage.serve();
    stage.json(&["demo", "--answers", "approve"]).exits(4);
    let item = stage.waiting();
    let key = item["key"].as_str().unwrap();
    let detail = stage.json(&["show", key]).exits(0).value();
    assert_eq!(detail["editable"]["required"], json!(["path", "content"]));
    let words = stage.run(&["show", key]).exits(0).stdout;
    assert!(words.contains(&format!("sayso approve {key} --data '{{\"arguments\":{{…}}}}'")), "{words}");

    // What cannot be read is wrong usage; what does not fit is refused. It still waits.
    for bad in [r#"{"arguments":"#, r#"{"arguments":{"path":"a","path":"b","content":""}}"#] {
        stage.run(&["approve", key, "--data", bad]).exits(2);
    }
    let refused = stage.json(&["approve", key, "--data", r#"{"arguments":{"path":"hello.txt"}}"#]).exits(1);
    assert_eq!(refused.error_code(), "invalid_data");
    assert_eq!(stage.waiting()["key"], key);

    let mine = json!({ "path": "hello.txt", "content": "Mine, and 9007199254740993.\n" });
    let data = json!({ "arguments": mine }).to_string();
    let decision = stage.json(&["approve", key, "--data", &data]).exits(0).value();
    assert_eq!(decision["outcome"], "approved");
    stage.waiting();
    assert_eq!(std::fs::read_to_string(stage.demo_file()).unwrap(), "Mine, and 9007199254740993.\n");
    let run = item["run"].as_str().unwrap();
    let shown = stage.json(&["runs", "show", run]).exits(0).value();
    let calls: Vec<_> = shown["calls"].as_array().unwrap().iter().map(|call| &call["edited"]).collect();
    assert!(calls.contains(&&mine) && calls.contains(&&Value::Null), "{calls:?}");
    serving.end();
    let history = stage.json(&["history"]).exits(0).values();
    assert_eq!((&history[0]["edited"], &history[1]["edited"]), (&json!(true), &json!(false)));
    assert!(stage.run(&["history"]).exits(0).stdout.contains("approved, edited"));
    stage.run(&["history", "verify"]).exits(0);
}

#[test]
fn a_senders_own_choice_is_made_from_the_command_line() {
    let stage = Stage::new();
    let serving = stage.serve();
    let added = stage.json(&["sender", "add", "bot", "--own-choices", "--may-edit"]).exits(0).value();
    let token = added["token"].as_str().unwrap();
    let data = json!({ "version": "1.2", "choices": [
        { "id": "later", "label": "Not today", "effect": "deny" },
        { "id": "it's all", "label": "Deploy to all", "effect": "approve" },
    ] });
    let ask = |token: Option<&str>| {
        let mut command =
            stage.command(&["ask", "Deploy?", "--id", "r1", "--json", "--data", &data.to_string()]);
        token.map(|token| command.env("SAYSO_TOKEN", token));
        Said::of(&mut command, "")
    };
    // Who may not is told.
    assert_eq!(ask(None).exits(1).error_code(), "may_not_choose");
    ask(Some(token)).exits(4);
    let item = stage.waiting();
    let key = item["key"].as_str().unwrap();
    let detail = stage.json(&["show", key]).exits(0).value();
    assert_eq!(detail["choices"], data["choices"]);
    let words = stage.run(&["show", key]).exits(0).stdout;
    let yes = format!(r#"  yes Deploy to all: sayso approve {key} --data '{{"choice":"it'\''s all"}}'"#);
    assert!(words.contains(&yes), "{words}");
    assert!(words.contains(&format!("  no  Not today: sayso deny {key}\n")), "{words}");
    assert!(words.contains("1.2") && !words.contains("effect"), "what it also says is shown, once: {words}");

    // A plain yes does not say which, and a no is no yes. It still waits.
    assert_eq!(stage.json(&["approve", key]).exits(1).error_code(), "invalid_data");
    let no = stage.json(&["approve", key, "--data", r#"{"choice":"later"}"#]);
    assert_eq!(no.exits(1).error_code(), "invalid_data");
    let decision = stage.json(&["approve", key, "--data", r#"{"choice":"it's all"}"#]).exits(0).value();
    assert_eq!(decision["answer"]["data"], json!({ "choice": "it's all" }));
    assert_eq!(ask(Some(token)).exits(0).value()["data"], json!({ "choice": "it's all" }));
    serving.end();
}

#[test]
fn requests_are_listed_shown_and_decided() {
    let stage = Stage::new();
    let serving = stage.serve();
    // The host that runs is used.
    stage.json(&["demo", "--answers", "approve"]).exits(4);

    let item = stage.waiting();
    assert_eq!(keys(&item), ["key", "request", "source", "run", "state", "received_at"]);
    assert_eq!(item["request"]["kind"], "approval");
    let key = item["key"].as_str().unwrap();
    let detail = stage.json(&["show", key]).exits(0).value();
    assert_eq!(&keys(&detail)[..7], ["key", "request", "source", "run", "state", "received_at", "digest"]);
    assert_eq!(detail["digest"].as_str().unwrap().len(), 64);
    assert_eq!(detail["arguments"]["path"], "hello.txt");
    assert!(detail["trail"].as_array().is_some_and(|trail| !trail.is_empty()), "{detail}");
    let words = stage.run(&["show", &key[..35]]).exits(0).stdout;
    assert!(words.contains("hello.txt") && words.contains(&format!("sayso approve {key}")), "{words}");
    assert!(stage.run(&["list"]).exits(0).stdout.contains(key));

    // Data is no yes to a write.
    let refused = stage.json(&["answer", key, "--data", "{}"]).exits(1);
    assert_eq!(refused.error_code(), "invalid_data");
    // The question that was answered before begins so too: the yes could be meant for that one.
    let refused = stage.json(&["approve", &key[..6]]).exits(5);
    assert_eq!(refused.error_code(), "ambiguous");
    assert_eq!(stage.waiting()["key"], key);

    let decision = stage.json(&["deny", key, "--reason", "-not now"]).exits(0).value();
    assert_eq!(keys(&decision), ["key", "outcome", "answer", "class", "decided_by", "surface", "decided_at"]);
    assert_eq!(decision["answer"], json!({ "id": item["request"]["id"], "ok": false, "reason": "-not now" }));
    let again = stage.json(&["approve", key]).exits(5);
    assert_eq!(again.error_code(), "already_decided");
    assert!(!stage.demo_file().exists());

    // The reason stays home.
    let run = item["run"].as_str().unwrap();
    let shown = stage.json(&["runs", "show", run]).exits(0);
    assert!(!shown.stdout.contains("-not now"));
    let shown = shown.value();
    assert_eq!(keys(&shown), ["run", "agent", "status", "turns", "usage", "messages", "calls"]);
    assert_eq!(shown["agent"], "demo");
    let (code, rest) = serving.end();
    assert_eq!((code, rest.as_str()), (Some(0), ""));
}

#[test]
fn a_run_is_waited_for_told_and_stopped() {
    let stage = Stage::new();
    let serving = stage.serve();
    stage.json(&["demo", "--answers", ""]).exits(4);
    let first = stage.waiting();
    let run = first["run"].as_str().unwrap();
    let stopped = stage.json(&["runs", "stop", run]).exits(0).value();
    assert_eq!((&stopped["run"], &stopped["status"]), (&first["run"], &json!("interrupted")));
    assert_eq!(stage.json(&["history"]).value()["outcome"], "cancelled");

    let mut waiting = stage.command(&["run", "--agent", "demo", "go", "--wait", "--json"]);
    let child = waiting.stdout(Stdio::piped()).spawn().unwrap();
    let question = stage.waiting();
    let key = question["key"].as_str().unwrap();
    let refused = stage.json(&["answer", key, "--data", r#"{"answers":7}"#]).exits(1);
    assert_eq!(refused.error_code(), "invalid_data");
    stage.json(&["answer", key, "--data", r#"{"answers":["Howdy"]}"#]).exits(0);
    for _ in 0..3 {
        let key = stage.waiting()["key"].as_str().unwrap().to_owned();
        stage.json(&["approve", &key]).exits(0);
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let lines: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((keys(&lines[0]), keys(&lines[1])), (vec!["run"], vec!["run", "status", "text"]));
    assert_eq!((lines.len(), &lines[1]["status"]), (2, &json!("done")));
    assert_eq!(std::fs::read_to_string(stage.demo_file()).unwrap(), "Howdy from the Sayso demo.\n");

    let run = lines[0]["run"].as_str().unwrap();
    stage.json(&["runs", "tell", run, "again"]).exits(0);
    assert_eq!(stage.waiting()["run"], lines[0]["run"]);
    let runs = stage.json(&["runs"]).exits(0).values();
    assert_eq!(keys(&runs[0]), ["run", "agent", "status", "turns", "usage"]);
    assert_eq!(runs.len(), 2);
    assert_eq!(stage.json(&["runs", "stop", run]).exits(0).value()["status"], "interrupted");
    serving.end();
}

#[test]
fn agents_are_added_listed_and_removed() {
    let stage = Stage::new();
    let serving = stage.serve();
    std::fs::create_dir(stage.root.path().join("code")).unwrap();
    let file = stage.root.path().join("agent.json");
    let config =
        r#"{"name":"local","base_url":"http://127.0.0.1:9/v1","style":"openai","model":"m","folder":"code"}"#;
    std::fs::write(&file, config).unwrap();
    let file = file.to_str().unwrap();
    let added = stage.json(&["agent", "add", file]).exits(0).value();
    assert_eq!((&added["name"], &added["style"]), (&json!("local"), &json!("openai")));
    // A relative folder is the one beside the file, whatever folder the host was started in.
    assert!(Path::new(added["folder"].as_str().unwrap()).is_absolute(), "{added}");
    assert_eq!(added["problem"], Value::Null);
    assert_eq!(stage.json(&["agent", "list"]).exits(0).value(), added);
    assert_eq!(stage.json(&["agent", "test", "local"]).exits(1).value()["ok"], false);
    stage.json(&["agent", "remove", "local"]).exits(0);
    assert_eq!(stage.json(&["agent", "remove", "local"]).exits(5).error_code(), "not_found");
    assert_eq!(stage.json(&["run", "--agent", "local", "go"]).exits(5).error_code(), "not_found");
    std::fs::write(file, "{").unwrap();
    assert_eq!(stage.json(&["agent", "add", file]).exits(1).error_code(), "agent_problem");
    stage.json(&["agent", "add", "/nowhere/agent.json"]).exits(2);
    serving.end();
}

#[test]
fn exit_codes_say_what_happened() {
    let stage = Stage::new();
    for args in [
        &["list"][..],
        &["open"],
        &["runs"],
        &["show", NO_KEY],
        &["approve", NO_KEY],
        &["run", "--agent", "a", "go"],
        &["agent", "list"],
    ] {
        assert_eq!(stage.json(args).exits(3).error_code(), "no_host", "{args:?}");
    }
    assert!(!stage.data_dir().exists(), "looking for a host makes no folder");
    for args in [
        &["nonsense"][..],
        &[],
        &["approve"],
        &["answer", NO_KEY],
        &["answer", NO_KEY, "--data", "{"],
        &["demo", "--answers", "perhaps"],
        &["history", "--outcome", "maybe"],
        &["history", "--since", "yesterday"],
        &["serve", "--port", "70000"],
    ] {
        stage.run(args).exits(2);
    }
    assert_eq!(stage.json(&["demo", "--answers", "perhaps"]).exits(2).error_code(), "usage");
    assert_eq!(stage.json(&["history"]).exits(5).error_code(), "not_found");
    stage.run(&["--version"]).exits(0);

    let serving = stage.serve();
    assert!(serving.url.starts_with("http://127.0.0.1:"), "{}", serving.url);
    assert_eq!(stage.json(&["serve"]).exits(3).error_code(), "in_use");
    for args in
        [&["show", NO_KEY][..], &["approve", NO_KEY], &["deny", "nonsense"], &["runs", "show", NO_KEY]]
    {
        assert_eq!(stage.json(args).exits(5).error_code(), "not_found", "{args:?}");
    }
    let link = stage.json(&["open"]).exits(0).value()["url"].as_str().unwrap().to_owned();
    let code = link.strip_prefix(&format!("{}/#code=", serving.url)).expect("a link to the host");
    assert!(code.len() == 32 && code.chars().all(|c| c.is_ascii_hexdigit()), "{code}");
    serving.end();
}

#[test]
fn a_damaged_database_is_told_and_left_alone() {
    let stage = Stage::new();
    std::fs::create_dir(stage.data_dir()).unwrap();
    let database = stage.data_dir().join("sayso.db");
    std::fs::write(&database, "this is no database, whatever its name says".repeat(100)).unwrap();
    for args in [&["history"][..], &["history", "verify"], &["serve"]] {
        assert_eq!(stage.json(args).exits(6).error_code(), "storage", "{args:?}");
    }
    assert!(std::fs::read_to_string(database).unwrap().starts_with("this is no database"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let stage = Stage::new();
    let serving = stage.serve();
    stage.json(&["demo", "--answers", ""]).exits(4);
    let mut child =
        stage.command(&["list", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
    serving.end();
}

#[test]
fn no_secret_is_in_what_serve_logs() {
    let stage = Stage::new();
    let serving = stage.serve();
    let token = std::fs::read_to_string(stage.data_dir().join("owner-token")).unwrap();
    let link = stage.run(&["open"]).exits(0).stdout;
    let code = link.trim().split_once("#code=").unwrap().1.to_owned();
    stage.json(&["demo", "--answers", "approve,deny:my own words"]).exits(4);
    serving.end();
    let log = std::fs::read_to_string(stage.data_dir().join("logs/sayso.log")).unwrap();
    assert!(log.contains("ready"), "{log}");
    for secret in [token.trim(), &code, "my own words"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
