//! Keeping the record, and taking it elsewhere: exports, verification of files, redaction, backups, through the real binary.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const SOON: Duration = Duration::from_secs(20);
const REASON: &str = "=over <b>budget</b> hunter2-hunter2";

/// A data folder with four decisions of the demo agent, one of them a no with a reason.
struct Stage {
    root: TempDir,
}

struct Said {
    code: i32,
    stdout: String,
    stderr: String,
}

/// A running `sayso serve`; dropped, it is killed.
struct Serving(Child);

impl Stage {
    fn new() -> Self {
        let stage = Self { root: TempDir::new().unwrap() };
        let answers = format!("approve,deny:{REASON},approve,approve");
        stage.run(&["demo", "--answers", &answers]).exits(0);
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn database(&self) -> PathBuf {
        self.path("data/sayso.db")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
        command.args(args).arg("--data-dir").arg(self.path("data")).env_remove("DBUS_SESSION_BUS_ADDRESS");
        command.env_remove("SAYSO_LOG").current_dir(self.root.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Said {
        Said::of(self.command(args).output().unwrap())
    }

    fn json(&self, args: &[&str]) -> Value {
        let said = Said::of(self.command(args).arg("--json").output().unwrap()).exits(0);
        serde_json::from_str(said.stdout.lines().next().unwrap_or_else(|| panic!("{}", said.stderr))).unwrap()
    }

    fn with_input(&self, args: &[&str], input: &str) -> Said {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Said::of(child.wait_with_output().unwrap())
    }

    fn serve(&self) -> Serving {
        let mut command = self.command(&["serve", "--port", "0"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("url"), "{line}");
        Serving(child)
    }

    fn reasons(&self) -> String {
        self.run(&["history", "--outcome", "declined"]).exits(0).stdout
    }

    /// What lies in a folder.
    fn files(&self, folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Said {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.stdout, self.stderr);
        self
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_export_is_verified_by_itself_with_and_without_a_host() {
    let stage = Stage::new();
    for name in ["without.jsonl", "with.jsonl"] {
        let _host = (name == "with.jsonl").then(|| stage.serve());
        stage.run(&["history", "export", name]).exits(0);
        let proof = stage.json(&["history", "verify", name]);
        assert_eq!(
            (&proof["ok"], &proof["decisions"], &proof["whole"]),
            (&true.into(), &4.into(), &true.into())
        );
        let head = stage.json(&["history", "head"])["hash"].as_str().unwrap().to_owned();
        assert_eq!(proof["head"], head.as_str());
        stage.run(&["history", "verify", "--head", &head]).exits(0);
        stage.run(&["history", "verify", name, "--head", &head]).exits(0);
        let other = "0".repeat(63) + "1";
        stage.run(&["history", "verify", "--head", &other]).exits(1);
        let said = stage.run(&["history", "verify", name, "--head", &other]).exits(1);
        assert!(said.stdout.contains("cut off"), "{}", said.stdout);
        stage.run(&["history", "verify", "--head", "nonsense"]).exits(2);
        // Nobody with a key of ours signed it.
        stage.run(&["history", "verify", name, "--key", "AAAA"]).exits(1);
    }
    let text = fs::read_to_string(stage.path("with.jsonl")).unwrap();
    assert!(text.contains("hunter2-hunter2"));
    fs::write(stage.path("changed.jsonl"), text.replace("budget", "Budget")).unwrap();
    let said = stage.run(&["history", "verify", "changed.jsonl"]).exits(1);
    assert!(said.stdout.contains("was changed"), "{}", said.stdout);
}

#[test]
fn exports_hold_the_reason_unless_told_and_overwrite_nothing() {
    let stage = Stage::new();
    for format in ["jsonl", "csv", "html"] {
        let (with, without) = (format!("with.{format}"), format!("without.{format}"));
        stage.run(&["history", "export", "--format", format, "--outcome", "declined", &with]).exits(0);
        stage.run(&["history", "export", "--format", format, "--no-reasons", &without]).exits(0);
        let read = |name: &str| fs::read_to_string(stage.path(name)).unwrap();
        assert!(
            read(&with).contains("hunter2-hunter2") && read(&with).contains("Create hello.txt?"),
            "{format}"
        );
        assert!(!read(&with).contains("date -u"), "{format}: more than the filter lets through");
        assert!(
            !read(&without).contains("hunter2-hunter2") && read(&without).contains("date -u"),
            "{format}"
        );
        let before = read(&with);
        let said = stage.run(&["history", "export", "--format", format, &with]).exits(1);
        assert!(said.stderr.contains("already"), "{}", said.stderr);
        assert_eq!(read(&with), before);
        let stdout = stage.run(&["history", "export", "--format", format, "-"]).exits(0).stdout;
        assert!(stdout.contains("hunter2-hunter2"), "{format}");
    }
    let csv = fs::read_to_string(stage.path("with.csv")).unwrap();
    assert!(csv.contains("\"'=over <b>budget</b>"), "{csv}");
    let html = fs::read_to_string(stage.path("with.html")).unwrap();
    assert!(
        html.contains("=over &lt;b&gt;budget") && !html.contains("<b>") && !html.contains("<script"),
        "{html}"
    );
}

#[test]
fn a_copy_is_read_and_exported_and_left_as_it_is() {
    let stage = Stage::new();
    fs::create_dir(stage.path("copy")).unwrap();
    let copy = stage.path("copy/mine.db");
    fs::copy(stage.database(), &copy).unwrap();
    fs::remove_file(stage.database()).unwrap();
    let bytes = fs::read(&copy).unwrap();
    let db = copy.to_str().unwrap();
    assert!(stage.run(&["history", "--db", db]).exits(0).stdout.contains("hunter2-hunter2"));
    stage.run(&["history", "verify", "--db", db]).exits(0);
    stage.run(&["history", "head", "--db", db]).exits(0);
    stage.run(&["history", "export", "--db", db, "--format", "csv", "out.csv"]).exits(0);
    assert_eq!(fs::read(&copy).unwrap(), bytes);
    assert_eq!(stage.files(&stage.path("copy")), ["mine.db"]);
}

#[test]
fn of_a_damaged_file_the_rest_is_exported_and_what_is_missing_is_counted() {
    let stage = Stage::new();
    let whole = fs::read(stage.database()).unwrap();
    // A page with a text of one decision's entry, and nothing that leads to others.
    let text = b"Run `ls -la`?";
    let mut left_out = 0;
    for at in whole.windows(text.len()).enumerate().filter(|(_, window)| *window == text).map(|(at, _)| at) {
        let page = at / 4096 * 4096;
        let mut bytes = whole.clone();
        bytes[page..page + 64].fill(0xff);
        let name = format!("damaged-{page}.db");
        fs::write(stage.path(&name), &bytes).unwrap();
        let db = stage.path(&name);
        let db = db.to_str().unwrap();
        let refused = stage.run(&["history", "--db", db]).exits(6);
        assert!(refused.stderr.contains("damaged"), "{}", refused.stderr);
        let said = stage.run(&["history", "export", "--db", db, "--format", "csv", "-"]);
        if said.code != 0 {
            // The damage is where no decision can be told from another.
            assert!(said.stderr.contains("damaged"), "{}", said.stderr);
            continue;
        }
        if said.stderr.contains("left out") {
            left_out += 1;
            assert!(
                said.stdout.contains("Create hello.txt?") || said.stdout.contains("date -u"),
                "{}",
                said.stdout
            );
        }
        assert_eq!(fs::read(db).unwrap(), bytes);
    }
    assert!(left_out > 0, "no page that was damaged had an entry");
}

#[test]
fn a_secret_is_told_first_and_then_erased_for_good() {
    let stage = Stage::new();
    let host = stage.serve();
    stage.run(&["backup", "create"]).exits(0);
    let redact = ["history", "redact", "--text", "-"];
    let told = stage.with_input(&redact, "hunter2-hunter2\n").exits(0);
    assert!(
        told.stdout.contains("Nothing was changed") && told.stdout.contains("backups"),
        "{}",
        told.stdout
    );
    assert!(stage.reasons().contains("hunter2-hunter2"));
    stage.with_input(&[&redact[..], &["--yes"]].concat(), "hunter2-hunter2\n").exits(0);
    assert!(!stage.reasons().contains("hunter2-hunter2") && stage.reasons().contains("[redacted]"));
    stage.run(&["history", "verify"]).exits(0);
    for file in ["sayso.db", "sayso.db-wal", "sayso.db-shm"] {
        let bytes = fs::read(stage.path("data").join(file)).unwrap();
        assert!(!bytes.windows(15).any(|window| window == b"hunter2-hunter2"), "{file}");
    }
    stage.run(&["history", "export", "after.jsonl"]).exits(0);
    assert!(!fs::read_to_string(stage.path("after.jsonl")).unwrap().contains("hunter2-hunter2"));
    stage.run(&["history", "verify", "after.jsonl"]).exits(0);
    let short = stage.with_input(&redact, "ab\n").exits(2);
    assert!(short.stderr.contains("fewer"), "{}", short.stderr);
    drop(host);
}

#[test]
fn a_backup_is_made_and_restored_with_and_without_a_host() {
    let stage = Stage::new();
    let decisions = |stage: &Stage| stage.run(&["history", "--json"]).exits(0).stdout.lines().count();
    stage.run(&["backup", "create", "mine.db"]).exits(0);
    stage.run(&["backup", "create", "mine.db"]).exits(6);
    stage.run(&["demo", "--answers", "approve,approve,approve,approve"]).exits(0);
    assert_eq!(decisions(&stage), 8);
    let host = stage.serve();
    stage.run(&["backup", "create"]).exits(0);
    let made = stage.json(&["backup", "list"])["path"].as_str().unwrap().to_owned();
    stage.run(&["backup", "restore", "mine.db"]).exits(0);
    let began = Instant::now();
    // The host starts anew meanwhile.
    while stage.run(&["history", "--json"]).stdout.lines().count() != 4 {
        assert!(began.elapsed() < SOON, "the backup is not put in place");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(stage.run(&["runs", "--json"]).exits(0).stdout.contains("done"));
    drop(host);
    stage.run(&["backup", "restore", &made]).exits(0);
    assert_eq!(decisions(&stage), 8);
    stage.run(&["history", "verify"]).exits(0);
    let kept = stage.files(&stage.path("data/backups"));
    assert_eq!(kept.iter().filter(|name| name.contains("before-restore")).count(), 2, "{kept:?}");
    fs::write(stage.path("text.db"), "no database").unwrap();
    let refused = stage.run(&["backup", "restore", "text.db"]).exits(6);
    assert!(refused.stderr.contains("text.db"), "{}", refused.stderr);
    assert_eq!(decisions(&stage), 8);
}

#[test]
fn a_full_disk_and_a_newer_file_are_told_in_words() {
    let stage = Stage::new();
    for format in ["jsonl", "csv", "html"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = stage.command(&["history", "export", "--format", format, "-"]);
        let said = Said::of(command.stdout(full).output().unwrap()).exits(6);
        assert!(said.stderr.contains("The disk is full"), "{}", said.stderr);
    }
    let mut bytes = fs::read(stage.database()).unwrap();
    // The format's number, as SQLite keeps it.
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    fs::write(stage.path("newer.db"), &bytes).unwrap();
    let db = stage.path("newer.db");
    let db = db.to_str().unwrap();
    for args in [
        &["history", "--db", db][..],
        &["history", "export", "--db", db, "x.csv"],
        &["backup", "restore", db],
    ] {
        let said = stage.run(args).exits(6);
        assert!(said.stderr.contains("newer Sayso"), "{}", said.stderr);
    }
    assert!(!stage.path("x.csv").exists());
    stage.run(&["history", "verify"]).exits(0);
}

#[test]
fn a_whole_export_becomes_a_database_that_shows_and_verifies_the_same() {
    let stage = Stage::new();
    let _host = stage.serve();
    let redact = ["history", "redact", "--text", "-", "--yes"];
    stage.with_input(&redact, "date -u && uname").exits(0);
    stage.run(&["history", "export", "all.jsonl"]).exits(0);
    stage.run(&["history", "import", "all.jsonl", "other.db"]).exits(0);
    let db = stage.path("other.db");
    let db = db.to_str().unwrap();
    let original = stage.run(&["history", "--json"]).exits(0).stdout;
    assert!(original.contains("[redacted]"), "{original}");
    let shown = |text: &str, name: &str| {
        let values: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        values.iter().map(|value| value[name].clone()).collect::<Vec<_>>()
    };
    let copied = stage.run(&["history", "--json", "--db", db]).exits(0).stdout;
    for name in
        ["key", "outcome", "decided_by", "surface", "source", "run", "decided_at", "received_at", "edited"]
    {
        assert_eq!(shown(&copied, name), shown(&original, name), "{name}");
    }
    for name in ["request", "answer"] {
        assert_eq!(shown(&copied, name)[1..], shown(&original, name)[1..], "{name}");
    }
    assert_eq!(stage.json(&["history", "verify", "--db", db]), stage.json(&["history", "verify"]));
    stage.run(&["history", "export", "--db", db, "again.jsonl"]).exits(0);
    assert_eq!(stage.json(&["history", "verify", "again.jsonl"])["decisions"], 4);
    for (name, args) in [("some", &["--outcome", "declined"][..]), ("quiet", &["--no-reasons"])] {
        let file = format!("{name}.jsonl");
        stage.run(&[&["history", "export", &file][..], args].concat()).exits(0);
        stage.run(&["history", "import", &file, "none.db"]).exits(2);
        assert!(!stage.path("none.db").exists());
    }
    stage.run(&["history", "import", "all.jsonl", "other.db"]).exits(2);
}
