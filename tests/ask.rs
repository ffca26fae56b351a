//! `sayso ask` with a person who answers: what it prints, how it exits, and what is left behind.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;
use sayso_tests::asking::{Asking, add_sender, waiting, waiting_key, without_a_token};
use sayso_tests::sayso::{Host, Sayso};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Stage {
    sayso: Sayso,
    _host: Host,
    root: TempDir,
}

impl Stage {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let sayso = Sayso::new(&root.path().join("data"));
        Self { _host: sayso.serve(), sayso, root }
    }

    fn ask(&self, arguments: &[&str]) -> Asking {
        Asking::ask(&self.sayso, arguments)
    }

    async fn decide(&self, arguments: &[&str]) {
        let key = waiting_key(&self.sayso).await;
        let all: Vec<&str> = arguments[..1]
            .iter()
            .copied()
            .chain([key.as_str()])
            .chain(arguments[1..].iter().copied())
            .collect();
        self.sayso.run(&all).await.exits(0);
    }

    async fn history(&self) -> Vec<Value> {
        self.sayso.json(&["history"]).await.exits(0).values()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }
}

#[tokio::test]
async fn only_a_yes_exits_with_0_and_the_persons_words_stay_home() {
    let stage = Stage::new();
    let asking = stage.ask(&["--wait", "Deploy?", "--id", "r1", "--data", r#"{"build":9007199254740993}"#]);
    let item = waiting(&stage.sayso).await;
    assert_eq!(
        item["request"].to_string(),
        r#"{"id":"r1","kind":"approval","prompt":"Deploy?","data":{"build":9007199254740993}}"#
    );
    assert_eq!((&item["source"], &item["run"]), (&json!("this computer"), &Value::Null));
    stage.decide(&["approve"]).await;
    let said = asking.end().await.exits(0);
    assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("{\"id\":\"r1\",\"ok\":true}\n", ""));

    let asking = stage.ask(&["--wait", "Deploy?", "--id", "r2"]);
    stage.decide(&["deny", "--reason", "over budget"]).await;
    let said = asking.end().await.exits(1);
    assert_eq!(said.value(), json!({ "id": "r2", "ok": false, "reason": "declined" }));
    assert!(!format!("{said:?}").contains("over budget"), "{said:?}");
    assert_eq!(stage.history().await[0]["answer"]["reason"], "over budget");

    let said = stage.ask(&["--wait", "Deploy?", "--expires", "1s"]).end().await.exits(5);
    assert_eq!((&said.value()["ok"], &said.value()["reason"]), (&json!(false), &json!("expired")));
    // What is over when it is asked can be nobody's yes either.
    assert_ne!(stage.ask(&["--wait", "Deploy?", "--expires", "2020-01-01T00:00:00Z"]).end().await.code, 0);
}

#[tokio::test]
async fn a_choice_and_a_form_bring_back_what_the_person_gave() {
    let stage = Stage::new();
    let asking = stage.ask(&["--wait", "Where?", "--option", "staging", "--option", "production"]);
    let item = waiting(&stage.sayso).await;
    assert_eq!(item["request"]["kind"], "question");
    stage.decide(&["answer", "--data", r#"{"answers":["staging"]}"#]).await;
    assert_eq!(asking.end().await.exits(0).value()["data"], json!({ "answers": ["staging"] }));

    let schema = stage.path("schema.json");
    std::fs::write(
        &schema,
        r#"{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}"#,
    )
    .unwrap();
    let asking = stage.ask(&["--wait", "How many?", "--schema", schema.to_str().unwrap()]);
    let item = waiting(&stage.sayso).await;
    assert_eq!(item["request"]["kind"], "input");
    stage.decide(&["answer", "--data", r#"{"count":3}"#]).await;
    assert_eq!(asking.end().await.exits(0).value()["data"], json!({ "count": 3 }));

    let secret = stage.path("secret.json");
    std::fs::write(&secret, r#"{"type":"object","properties":{"password":{"type":"string"}}}"#).unwrap();
    let said =
        stage.ask(&["--wait", "Log in", "--schema", secret.to_str().unwrap(), "--json"]).end().await.exits(1);
    assert!(said.stdout.is_empty() && said.stderr.contains("secret_field"), "{said:?}");
}

#[tokio::test]
async fn a_script_asks_in_one_line_and_is_shown_with_its_program_and_folder() {
    let stage = Stage::new();
    let folder = stage.path("work");
    std::fs::create_dir(&folder).unwrap();
    let script = "if echo 'Deploy?' | sayso ask --wait - >/dev/null; then echo deploying; else echo not; fi";
    let run = || {
        let mut command = without_a_token(Command::new("bash"));
        let path =
            format!("{}:{}", sayso_tests::sayso::build_folder().display(), std::env::var("PATH").unwrap());
        command.args(["-c", script]).env("PATH", path).env("SAYSO_DATA_DIR", stage.sayso.data_dir());
        command.current_dir(&folder);
        Asking::start(command)
    };
    let asking = run();
    let key = waiting_key(&stage.sayso).await;
    let detail = stage.sayso.json(&["show", &key]).await.exits(0).value();
    assert_eq!(detail["request"]["prompt"], "Deploy?");
    assert_eq!(detail["folder"], json!(folder));
    let notes = detail["notes"].to_string();
    assert!(notes.contains("bash") && notes.contains("sayso"), "{notes}");
    stage.decide(&["approve"]).await;
    assert_eq!(asking.end().await.stdout, "deploying\n");
    let asking = run();
    stage.decide(&["deny"]).await;
    assert_eq!(asking.end().await.stdout, "not\n");
}

#[tokio::test]
async fn without_waiting_nothing_is_approved_yet_and_the_same_id_looks_again() {
    let stage = Stage::new();
    let ask = async |more: &[&str]| stage.ask(&[&["--id", "r1", "--json"], more].concat()).end().await;
    let said = ask(&["Deploy?"]).await.exits(4);
    assert_eq!((&said.value()["id"], &said.value()["state"]), (&json!("r1"), &json!("pending")));
    assert!(said.value()["key"].is_string(), "{said:?}");
    ask(&["Deploy?"]).await.exits(4);
    let said = ask(&["Deploy everything?"]).await.exits(1);
    assert!(said.stdout.is_empty() && said.stderr.contains("id_in_use"), "{said:?}");
    // So does waiting for no longer than a moment.
    let said = ask(&["Deploy?", "--wait", "--wait-limit", "1s"]).await.exits(4);
    assert!(said.stdout.is_empty() && said.stderr.contains("still_waiting"), "{said:?}");
    assert_eq!(stage.sayso.json(&["list"]).await.values().len(), 1);
    stage.decide(&["approve"]).await;
    assert_eq!(ask(&["Deploy?"]).await.exits(0).value(), json!({ "id": "r1", "ok": true }));
    // It was printed, so it was taken: an answer is used once.
    let said = ask(&["Deploy?"]).await.exits(5);
    assert!(said.stdout.is_empty() && said.stderr.contains("acknowledged"), "{said:?}");
}

#[tokio::test]
async fn ctrl_c_takes_the_request_back() {
    let stage = Stage::new();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let asking = stage.ask(&["--wait", "Deploy?", "--json"]);
        let key = waiting_key(&stage.sayso).await;
        asking.signal(signal);
        let said = asking.end().await.exits(code);
        assert!(said.stdout.is_empty() && said.stderr.contains("interrupted"), "{said:?}");
        assert!(stage.sayso.json(&["list"]).await.exits(0).values().is_empty());
        let decided = &stage.history().await[0];
        assert_eq!((&decided["key"], &decided["outcome"]), (&json!(key), &json!("cancelled")));
        assert_eq!(decided["decided_by"], "source");
        // A yes comes too late.
        stage.sayso.run(&["approve", &key]).await.exits(5);
    }
}

#[tokio::test]
async fn an_answer_that_nobody_can_read_is_no_yes_and_stays_to_be_read() {
    let stage = Stage::new();
    let mut asking = stage.ask(&["--wait", "--id", "r1", "Deploy?"]);
    asking.stop_reading();
    stage.decide(&["approve"]).await;
    let said = asking.end().await.exits(1);
    assert!(said.stderr.contains("cannot be written"), "{said:?}");

    // A disk that is full.
    let script =
        format!("{} ask --wait --id r1 'Deploy?' >/dev/full", sayso_tests::sayso::sayso_bin().display());
    let mut command = without_a_token(Command::new("sh"));
    command.args(["-c", &script]).env("SAYSO_DATA_DIR", stage.sayso.data_dir());
    Asking::start(command).end().await.exits(1);

    let said = stage.ask(&["--wait", "--id", "r1", "Deploy?"]).end().await.exits(0);
    assert_eq!(said.value(), json!({ "id": "r1", "ok": true }));
}

#[tokio::test]
async fn a_sender_asks_under_its_own_name_until_it_is_revoked() {
    let stage = Stage::new();
    let token = add_sender(&stage.sayso, "deploys").await;
    let file = stage.path("token");
    std::fs::write(&file, &token).unwrap();
    let ask = |arguments: &[&str]| {
        let all: Vec<&str> = ["ask", "--wait", "--json"].iter().chain(arguments).copied().collect();
        let mut command = without_a_token(stage.sayso.command(&all));
        command.env("SAYSO_TOKEN", &token);
        Asking::start(command)
    };
    let asking = ask(&["Deploy?"]);
    assert_eq!(waiting(&stage.sayso).await["source"], "deploys");
    stage.decide(&["approve"]).await;
    asking.end().await.exits(0);

    let asking = stage.ask(&["--wait", "Deploy?", "--token-file", file.to_str().unwrap()]);
    assert_eq!(waiting(&stage.sayso).await["source"], "deploys");
    stage.sayso.run(&["sender", "revoke", "deploys"]).await.exits(0);
    let said = asking.end().await.exits(1);
    assert!(said.stdout.is_empty() || said.value()["ok"] == json!(false), "{said:?}");
    assert!(stage.sayso.json(&["list"]).await.values().is_empty());

    let said = ask(&["Deploy again?"]).end().await.exits(1);
    assert!(said.stdout.is_empty() && said.stderr.contains("revoked"), "{said:?}");
    assert!(stage.sayso.json(&["list"]).await.values().is_empty(), "nobody is asked for it");
}

#[tokio::test]
async fn asking_has_none_of_the_owners_rights() {
    let stage = Stage::new();
    assert!(stage.sayso.data_dir().join("owner-token").exists());
    // Over loopback a token is needed, and the owner's is not looked for.
    let mut command = without_a_token(Command::new(sayso_tests::sayso::sayso_bin()));
    command.args(["ask", "--json", "Deploy?"]).env("SAYSO_URL", &stage._host.url);
    let said = Asking::start(command).end().await.exits(1);
    assert!(said.stdout.is_empty() && said.stderr.contains("unauthorized"), "{said:?}");
    // A token that is wrong does not fall back to this computer.
    let mut command = without_a_token(stage.sayso.command(&["ask", "--json", "Deploy?"]));
    command.env("SAYSO_TOKEN", "wrong");
    let said = Asking::start(command).end().await.exits(1);
    assert!(said.stdout.is_empty() && said.stderr.contains("unauthorized"), "{said:?}");
    assert!(stage.sayso.json(&["list"]).await.values().is_empty());

    let token = add_sender(&stage.sayso, "deploys").await;
    let mut command = without_a_token(Command::new(sayso_tests::sayso::sayso_bin()));
    command.args(["ask", "--wait", "Deploy?"]).env("SAYSO_URL", &stage._host.url).env("SAYSO_TOKEN", token);
    let asking = Asking::start(command);
    stage.decide(&["approve"]).await;
    asking.end().await.exits(0);
}
