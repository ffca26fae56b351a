//! `sayso ask` where nobody can be asked: no host, something that is no host, a command line that cannot be. None of it
//! is ever a yes.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

fn sayso(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sayso"));
    command.args(args).stdin(Stdio::null());
    for name in [
        "SAYSO_DATA_DIR",
        "SAYSO_TOKEN",
        "SAYSO_URL",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "DBUS_SESSION_BUS_ADDRESS",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs `ask` on a data folder, with and without waiting, and looks at how it fails.
#[track_caller]
fn check_never_a_yes(data_dir: &Path, code: i32, said: &str) {
    for waiting in [&[][..], &["--wait", "--wait-limit", "1s"]] {
        let mut command = sayso(&["ask", "--id", "r1", "Deploy?", "--json", "--data-dir"]);
        let output = command.arg(data_dir).args(waiting).output().unwrap();
        assert_fails(&output, code, said);
    }
}

#[track_caller]
fn assert_fails(output: &Output, code: i32, said: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    assert!(stderr.contains(said), "{stderr}");
}

/// Something at the place of a host's socket that answers each request with what `say` gives for its first line.
fn pretend(say: impl Fn(&str) -> String + Send + 'static) -> TempDir {
    let folder = TempDir::new().unwrap();
    let listener = UnixListener::bind(folder.path().join("sayso.sock")).unwrap();
    // It ends with the test's process.
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let _ = answer(stream, &say);
        }
    });
    folder
}

fn answer(mut stream: UnixStream, say: &impl Fn(&str) -> String) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.take(length).read_to_end(&mut Vec::new())?;
    stream.write_all(say(&first).as_bytes())
}

fn http(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn no_host_is_told_at_once_and_is_no_yes() {
    let folder = TempDir::new().unwrap();
    check_never_a_yes(folder.path(), 3, "Sayso does not run");
    check_never_a_yes(&folder.path().join("not/there"), 3, "Sayso does not run");

    // A host that was killed left its socket.
    drop(UnixListener::bind(folder.path().join("sayso.sock")).unwrap());
    check_never_a_yes(folder.path(), 3, "Sayso does not run");

    let file = TempDir::new().unwrap();
    std::fs::write(file.path().join("sayso.sock"), "{\"ok\":true}").unwrap();
    check_never_a_yes(file.path(), 3, "Sayso");

    let at_no_port = sayso(&["ask", "Deploy?"]).env("SAYSO_URL", "http://127.0.0.1:9").output().unwrap();
    assert_fails(&at_no_port, 3, "Sayso does not run at http://127.0.0.1:9");
}

#[test]
fn what_is_no_host_is_no_yes() {
    let check = |say: fn(&str) -> String, said: &str| {
        check_never_a_yes(pretend(say).path(), 3, said);
    };
    check(|_| "yes\n{\"id\":\"r1\",\"ok\":true}\n".to_owned(), "not Sayso");
    check(|_| http("200 OK", "<h1>Welcome</h1>"), "not Sayso");
    check(|_| http("200 OK", ""), "not Sayso");
    check(|_| http("302 Found", ""), "not Sayso");
    check(|_| http("500 Internal Server Error", "ok"), "not Sayso");
    check(|_| http("200 OK", r#"{"id":"another","state":"approved"}"#), "not Sayso");
    // It closes the connection without a word.
    check(|_| String::new(), "stopped answering");
    // It breaks off in the middle of a yes.
    check(
        |_| "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"id\":\"r1\",\"ok\":true}".to_owned(),
        "stopped answering",
    );
}

#[test]
fn an_answer_that_is_not_the_requests_own_is_no_yes() {
    let check = |answer: &'static str| {
        let folder = pretend(move |line| match line.split(' ').nth(1).unwrap_or_default() {
            "/v1/requests" => http("201 Created", r#"{"id":"r1","state":"pending"}"#),
            _ => http("200 OK", answer),
        });
        let mut command = sayso(&["ask", "--id", "r1", "--wait", "Deploy?", "--data-dir"]);
        assert_fails(&command.arg(folder.path()).output().unwrap(), 3, "not Sayso");
    };
    check(r#"{"id":"r2","ok":true}"#);
    check(r#"{"ok":true}"#);
    check(r#"{"id":"r1","ok":"true"}"#);
    check(r#"{"id":"r1"}"#);
    check("true");
}

#[test]
fn a_host_that_hangs_is_told_and_is_no_yes() {
    let folder = TempDir::new().unwrap();
    let listener = UnixListener::bind(folder.path().join("sayso.sock")).unwrap();
    let mut command = sayso(&["ask", "--wait", "Deploy?", "--data-dir"]);
    assert_fails(&command.arg(folder.path()).output().unwrap(), 3, "Sayso gave no answer within");
    drop(listener);
}

#[test]
fn a_host_that_was_busy_when_it_was_asked_is_asked_once_more_and_its_answer_counts() {
    let folder = TempDir::new().unwrap();
    let listener = UnixListener::bind(folder.path().join("sayso.sock")).unwrap();
    std::thread::spawn(move || {
        let mut streams = listener.incoming().map_while(Result::ok);
        let _unanswered = streams.next();
        let say = |line: &str| {
            let body = if line.contains("/answer") {
                r#"{"id":"r1","ok":true}"#
            } else {
                r#"{"id":"r1","state":"pending"}"#
            };
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
        };
        for stream in streams {
            let _ = answer(stream, &say);
        }
    });
    let mut command = sayso(&["ask", "--wait", "--id", "r1", "Deploy?", "--data-dir"]);
    let output = command.arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"id\":\"r1\",\"ok\":true}\n");
}

#[test]
fn a_command_line_that_cannot_be_asks_nobody() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("not.json"), "{").unwrap();
    std::fs::write(path("empty"), "\n").unwrap();
    let (schema, token) = (path("not.json"), path("empty"));
    let check = |args: &[&str], said: &str| {
        let mut command = sayso(&["ask"]);
        assert_fails(&command.args(args).arg("--data-dir").arg(folder.path()).output().unwrap(), 2, said);
    };
    check(&[], "PROMPT");
    check(&["P", "--expires", "soon"], "10m");
    check(&["P", "--wait-limit", "10m"], "--wait");
    check(&["P", "--data", "{"], "JSON");
    check(&["P", "--option", "a", "--kind", "approval"], "--option");
    check(&["P", "--schema", schema.to_str().unwrap()], "schema");
    check(&["P", "--token-file", token.to_str().unwrap()], "token");
    check(&["P", "--token-file", "/not/there"], "token");
    let elsewhere = sayso(&["ask", "P"]).env("SAYSO_URL", "http://example.com:80").output().unwrap();
    assert_fails(&elsewhere, 2, "http://127.0.0.1:PORT");
    let started = sayso(&["ask", "P", "--start"]).env("SAYSO_URL", "http://127.0.0.1:9").output().unwrap();
    assert_fails(&started, 2, "SAYSO_URL");
}

#[test]
fn a_token_is_in_no_error() {
    let folder = TempDir::new().unwrap();
    let secret = "s3cr3t-t0ken";
    let refusing = pretend(|_| {
        let problem =
            json!({ "title": "Unauthorized", "status": 401, "code": "revoked", "detail": "It was revoked." });
        http("401 Unauthorized", &problem.to_string())
    });
    for (data_dir, code) in [(folder.path(), 3), (refusing.path(), 1)] {
        for token in [secret.to_owned(), format!("{secret} and more")] {
            let mut command = sayso(&["ask", "--wait", "P", "--json", "--data-dir"]);
            let output = command.arg(data_dir).env("SAYSO_TOKEN", &token).output().unwrap();
            let expected = if token.contains(' ') { 2 } else { code };
            assert_eq!(output.status.code(), Some(expected), "{output:?}");
            assert!(!format!("{output:?}").contains(secret), "{output:?}");
        }
    }
}

#[test]
fn shells_and_man_are_told_what_there_is() {
    for shell in ["bash", "zsh", "fish"] {
        let output = sayso(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("wait-limit") && script.contains("watch"),
            "{shell}"
        );
    }
    for (args, expected) in [(&["man"][..], "sayso"), (&["man", "ask"], "sayso\\-ask")] {
        let output = sayso(args).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{args:?}");
        assert!(page.contains(".TH") && page.contains(expected), "{page}");
    }
    assert_eq!(sayso(&["man", "nonsense"]).output().unwrap().status.code(), Some(2));
    assert_eq!(sayso(&["completions", "nonsense"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn watching_needs_a_host() {
    let folder = TempDir::new().unwrap();
    let output = sayso(&["watch", "--json", "--data-dir"]).arg(folder.path()).output().unwrap();
    assert_fails(&output, 3, "Sayso does not run");
    let error: Value =
        serde_json::from_slice(output.stderr.split(|byte| *byte == b'\n').nth(1).unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "no_host");
}

#[test]
fn completions_that_nobody_reads_are_no_error() {
    let mut child =
        sayso(&["completions", "bash"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
}
