//! Asking while the host dies, comes back, or was never there; and watching through it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use sayso_tests::asking::{Asking, waiting_key, without_a_token};
use sayso_tests::desktop::Desktop;
use sayso_tests::process::{OwnedChild, signal};
use sayso_tests::sayso::{Sayso, sayso_bin};
use sayso_tests::tray::TrayWatcher;
use sayso_tests::wait::{SOON, wait_until, wait_value};
use serde_json::{Value, json};
use tempfile::TempDir;

fn stage() -> (TempDir, Sayso) {
    let root = tempfile::tempdir().unwrap();
    let sayso = Sayso::new(&root.path().join("data"));
    (root, sayso)
}

#[tokio::test]
async fn a_host_that_is_killed_loses_no_request_and_asks_none_twice() {
    let (_root, sayso) = stage();
    let mut host = sayso.serve();
    let mut asking = Asking::ask(&sayso, &["--wait", "Deploy?"]);
    let key = waiting_key(&sayso).await;
    for _ in 0..3 {
        host.kill();
        host = sayso.serve();
        assert_eq!(waiting_key(&sayso).await, key);
        assert!(asking.is_running());
    }
    sayso.run(&["approve", &key]).await.exits(0);
    let said = asking.end().await.exits(0);
    assert_eq!(said.value()["ok"], json!(true));
    let history = sayso.json(&["history"]).await.exits(0).values();
    assert_eq!(history.len(), 1, "{history:?}");
    host.stop().await;
}

#[tokio::test]
async fn an_answer_given_just_before_the_host_died_arrives_after_it() {
    let (_root, sayso) = stage();
    let host = sayso.serve();
    // Nobody waits while it is answered.
    Asking::ask(&sayso, &["--id", "r1", "Deploy?"]).end().await.exits(4);
    sayso.run(&["approve", &waiting_key(&sayso).await]).await.exits(0);
    host.kill();
    Asking::ask(&sayso, &["--id", "r1", "--wait", "Deploy?"]).end().await.exits(3);
    let _host = sayso.serve();
    let said = Asking::ask(&sayso, &["--id", "r1", "--wait", "Deploy?"]).end().await.exits(0);
    assert_eq!(said.value(), json!({ "id": "r1", "ok": true }));
}

#[tokio::test]
async fn a_host_that_stays_away_is_told_and_is_no_yes() {
    let (_root, sayso) = stage();
    let host = sayso.serve();
    let with_deadline = Asking::ask(&sayso, &["--wait", "--expires", "3s", "--json", "Deploy?"]);
    waiting_key(&sayso).await;
    host.kill();
    let said = with_deadline.end().await.exits(3);
    assert!(said.stdout.is_empty(), "{said:?}");
    assert!(said.stderr.contains("cannot be reached") && said.stderr.contains("no yes"), "{said:?}");
}

#[tokio::test]
async fn start_starts_a_host_where_none_runs_and_leaves_a_running_one_alone() {
    let (_root, sayso) = stage();
    let start = |sayso: &Sayso| {
        let mut command = without_a_token(sayso.command(&["ask", "--start", "--id", "r1", "Deploy?"]));
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        Asking::start(command)
    };
    let said = start(&sayso).end().await.exits(4);
    assert!(said.stderr.contains("sayso serve"), "{said:?}");
    let pid = pid_of_host(&sayso);
    let again = start(&sayso).end().await.exits(4);
    assert_eq!((again.stderr.as_str(), pid_of_host(&sayso)), ("", pid));
    end_host(&sayso, pid).await;
}

/// What is started is a script that writes down how it was called and becomes a host.
#[tokio::test]
async fn start_takes_the_app_beside_the_command_where_there_is_a_display_and_keeps_the_token_to_itself() {
    let (root, sayso) = stage();
    let beside = |name: &str| root.path().join(name);
    std::fs::copy(sayso_bin(), beside("sayso")).unwrap();
    let script = format!(
        "#!/bin/sh\nprintf '%s|' \"$@\" \"$SAYSO_TOKEN\" \"$PWD\" >'{}'\nexec '{}' serve --data-dir \"$3\"\n",
        beside("called").display(),
        beside("sayso").display()
    );
    std::fs::write(beside("sayso-desktop"), script).unwrap();
    std::fs::set_permissions(beside("sayso-desktop"), std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = Command::new(beside("sayso"));
    command.args(["ask", "--start", "Deploy?"]).env("SAYSO_DATA_DIR", sayso.data_dir());
    command.env("DISPLAY", ":77").env("SAYSO_TOKEN", "sayso_nobody").env_remove("SAYSO_URL");
    command.env_remove("DBUS_SESSION_BUS_ADDRESS");
    // Nobody has this token, so that nothing is asked.
    let said = Asking::start(command).end().await.exits(1);
    assert!(said.stderr.contains("token is not known"), "{said:?}");
    let called = std::fs::read_to_string(beside("called")).unwrap();
    assert_eq!(called, format!("--background|--data-dir|{}||/|", sayso.data_dir().display()));
    end_host(&sayso, pid_of_host(&sayso)).await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn start_starts_the_app_in_the_tray_where_there_is_a_desktop() {
    let desktop = Desktop::start().await;
    let _watcher = TrayWatcher::start(&desktop.bus).await;
    let mut command = Command::new(sayso_bin());
    command.args(["ask", "--start", "Deploy?"]);
    desktop.apply(&mut command);
    let said = Asking::start(command).end().await.exits(4);
    assert_eq!(said.stderr, "");
    let names: Vec<String> = desktop.processes().into_values().collect();
    assert!(names.iter().any(|name| name == "sayso-desktop"), "{names:?}");
    assert!(desktop.display.windows().iter().all(|title| !title.contains("Sayso")), "it starts in the tray");
    let list = Sayso::new(&desktop.data_dir()).json(&["list"]).await.exits(0).values();
    assert_eq!(list.len(), 1, "{list:?}");
}

fn pid_of_host(sayso: &Sayso) -> u32 {
    let endpoint = std::fs::read_to_string(sayso.data_dir().join("endpoint.json")).unwrap();
    let endpoint: Value = serde_json::from_str(&endpoint).unwrap();
    u32::try_from(endpoint["pid"].as_u64().unwrap()).unwrap()
}

async fn end_host(sayso: &Sayso, pid: u32) {
    signal(pid, rustix::process::Signal::TERM);
    wait_until("the host has ended", SOON, async || !sayso.data_dir().join("endpoint.json").exists()).await;
}

/// `sayso watch` with its output in a file.
struct Watching {
    _process: OwnedChild,
    file: std::path::PathBuf,
}

impl Watching {
    fn start(root: &TempDir, sayso: &Sayso, arguments: &[&str]) -> Self {
        let file = root.path().join("watched");
        let mut command = sayso.command(&[&["watch"], arguments].concat());
        command.stdout(std::fs::File::create(&file).unwrap()).stderr(Stdio::null());
        Self { _process: OwnedChild::start(&mut command), file }
    }

    /// The first line that holds all of these words.
    async fn line(&self, words: &[&str]) -> String {
        wait_value(&format!("a line with {words:?}"), SOON + Duration::from_secs(10), async || {
            let text = std::fs::read_to_string(&self.file).unwrap();
            text.lines().find(|line| words.iter().all(|word| line.contains(word))).map(str::to_owned)
        })
        .await
    }
}

#[tokio::test]
async fn watch_tells_what_comes_and_goes_also_across_a_restart() {
    let (root, sayso) = stage();
    let host = sayso.serve();
    let watching = Watching::start(&root, &sayso, &["--json"]);
    let ask = async |prompt: &str| {
        let said = Asking::ask(&sayso, &[prompt]).end().await.exits(4).value();
        said["key"].as_str().unwrap().to_owned()
    };
    let first = ask("first").await;
    let line: Value = serde_json::from_str(&watching.line(&["waiting", &first]).await).unwrap();
    assert_eq!(line["event"], "waiting");
    assert_eq!(line["request"]["prompt"], "first");
    sayso.run(&["deny", &first, "--reason", "no"]).await.exits(0);
    let line: Value = serde_json::from_str(&watching.line(&["settled", &first]).await).unwrap();
    assert_eq!((&line["event"], &line["outcome"]), (&json!("settled"), &json!("declined")));
    let second = ask("second").await;
    watching.line(&["waiting", &second]).await;
    host.kill();
    watching.line(&["\"lost\""]).await;
    let _host = sayso.serve();
    watching.line(&["\"back\""]).await;
    sayso.run(&["approve", &second]).await.exits(0);
    watching.line(&["settled", &second, "approved"]).await;
    let third = ask("third").await;
    watching.line(&["waiting", &third]).await;
    let text = std::fs::read_to_string(&watching.file).unwrap();
    let told = |key: &str| text.lines().filter(|line| line.contains(key)).count();
    assert_eq!((told(&first), told(&second), told(&third)), (2, 2, 1), "each change is told once: {text}");
}

#[tokio::test]
async fn watch_shows_hidden_characters_and_keeps_each_change_on_one_line() {
    let (root, sayso) = stage();
    let _host = sayso.serve();
    let watching = Watching::start(&root, &sayso, &[]);
    Asking::ask(&sayso, &["pay\n2026  approved \u{202e}evil\u{1b}[2J"]).end().await.exits(4);
    let line = watching.line(&["waits", "pay"]).await;
    assert!(line.contains("⏎2026") && line.contains("‹U+202E›") && line.contains("‹U+001B›"), "{line}");
    assert!(line.contains("this computer"), "{line}");
}
