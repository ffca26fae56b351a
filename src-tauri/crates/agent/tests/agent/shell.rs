//! Commands: what they see, how long they live, what is left of them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use sayso_agent::{
    Arguments, Folder, Limits, Ran, Tool, ToolContext, ToolSetup, Toolkit, hide_memory, kill_marked,
};
use sayso_domain::ToolResult;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::support::until;

struct Shell {
    tool: Arc<dyn Tool>,
    folder: TempDir,
    context: ToolContext,
}

impl Shell {
    fn new() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        let toolkit = Toolkit::standard(&ToolSetup { limits, ..ToolSetup::default() });
        let folder = tempfile::tempdir().unwrap();
        let context = ToolContext {
            folder: Some(Arc::new(Folder::open(folder.path()).unwrap())),
            call: format!("test-{}", uuid::Uuid::now_v7()),
            ..ToolContext::default()
        };
        Self { tool: Arc::clone(toolkit.get("shell").unwrap()), folder, context }
    }

    async fn run(&self, command: &str) -> ToolResult {
        self.run_with(&json!({ "command": command })).await
    }

    async fn run_with(&self, arguments: &serde_json::Value) -> ToolResult {
        let arguments = Arguments::parse(&arguments.to_string()).unwrap();
        match self.tool.run(&arguments, &self.context).await {
            Ran::Done(result) => result,
            Ran::Stale(_) => panic!("a command is never stale"),
        }
    }

    /// The processes that carry this call's mark.
    fn left(&self) -> usize {
        marked(&self.context.call)
    }
}

fn marked(call: &str) -> usize {
    let mark = format!("SAYSO_CALL={call}");
    let environments = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        std::fs::read(entry.path().join("environ")).ok()
    });
    environments.filter(|environ| environ.windows(mark.len()).any(|window| window == mark.as_bytes())).count()
}

#[tokio::test]
async fn output_and_exit_code_come_back_in_order() {
    let shell = Shell::new();
    let result = shell.run("echo out; echo err >&2; echo out again; exit 3").await;
    assert_eq!(result.output, "out\nerr\nout again\n[exit code 3]");
    assert!(result.is_error);
    let result = shell.run("true").await;
    assert_eq!((result.output.as_str(), result.is_error), ("[no output, exit code 0]", false));
    let result = shell.run("kill -9 $$").await;
    assert_eq!(result.output, "[no output, ended by signal 9]");
    let result = shell.run("pwd; cat").await;
    let folder = shell.folder.path().canonicalize().unwrap();
    assert_eq!(result.output, format!("{}\n[exit code 0]", folder.display()), "no input hangs it");
    let result = shell.run("-x").await;
    assert!(result.output.contains("-x: ") && result.is_error, "a line is never an option: {result:?}");
    assert!(shell.run(r"printf 'a\377b'").await.output.contains("not UTF-8"));
}

#[tokio::test]
async fn a_command_sees_no_key_no_token_and_no_session_bus() {
    let allowed = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "TMPDIR", "SAYSO_CALL"];
    // What the shell itself adds.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let shell = Shell::new();
    let result = shell.run("env").await;
    for line in result.output.lines().filter(|line| line.contains('=')) {
        let name = line.split('=').next().unwrap();
        let is_right = allowed.contains(&name) || own.contains(&name) || name.starts_with("LC_");
        assert!(is_right, "{line}");
    }
    assert!(result.output.contains("PATH="));
    assert!(
        std::env::vars().any(|(name, _)| name.starts_with("CARGO")),
        "the test's own environment holds what must not be seen"
    );
    assert!(!result.output.contains("CARGO"));
}

#[tokio::test]
async fn a_command_cannot_look_into_the_process_that_started_it() {
    use rustix::process::{DumpableBehavior, dumpable_behavior, geteuid};
    hide_memory().unwrap();
    assert!(matches!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable));
    let shell = Shell::new();
    let result = shell.run("cat /proc/$PPID/environ").await;
    assert!(geteuid().is_root() || result.output.contains("Permission denied"), "{}", result.output);
    assert_eq!(shell.run("echo fine; cat /proc/$$/environ >/dev/null").await.output, "fine\n[exit code 0]");
    assert_eq!(shell.left(), 0);
}

#[tokio::test]
async fn a_command_ends_at_its_time_limit_with_all_its_children() {
    let shell = Shell::new();
    let started = Instant::now();
    // One leaves the group, one has no mark, and one has neither but its parent.
    let command = "echo begun; setsid sleep 600 & (sleep 600 & sleep 600) & env -i sh -c 'echo $$ >a; exec sleep 600' & \
                   env -i setsid sh -c 'echo $$ >b; exec sleep 600' & sleep 600";
    let result = shell.run_with(&json!({ "command": command, "timeout_seconds": 1 })).await;
    assert!(result.is_error && result.output.contains("begun\n[ended after 1 seconds"), "{}", result.output);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert_eq!(shell.left(), 0);
    for file in ["a", "b"] {
        let pid = std::fs::read_to_string(shell.folder.path().join(file)).unwrap();
        let line = std::fs::read(format!("/proc/{}/cmdline", pid.trim())).unwrap_or_default();
        assert!(line.is_empty(), "{file}: {} lives on", pid.trim());
    }
}

#[tokio::test]
async fn what_a_command_leaves_behind_neither_hangs_the_call_nor_lives_on() {
    let shell = Shell::new();
    let started = Instant::now();
    let result = shell.run("setsid sleep 600 & sleep 600 & echo done").await;
    assert_eq!(result.output, "done\n[exit code 0]");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    let result = shell.run("setsid sleep 600 >/dev/null 2>&1 & echo done").await;
    assert_eq!(result.output, "done\n[exit code 0]");
    assert_eq!(shell.left(), 0);
}

#[tokio::test]
async fn a_shell_that_is_ended_never_gets_to_the_rest_of_its_line() {
    let shell = Shell::new();
    let line = "sleep 600; touch after; (setsid sh -c 'sleep 600; touch after' & setsid -f sh -c 'sleep 600; touch after')";
    let lines = [
        format!("setsid sh -c \"{line}\" & {line}"),
        line.to_owned(),
        format!("sh -c \"{line}\"; touch after"),
    ];
    for line in lines {
        shell.run_with(&json!({ "command": line, "timeout_seconds": 1 })).await;
        assert_eq!(shell.left(), 0);
        assert!(!shell.folder.path().join("after").exists(), "{line}");
    }
}

#[tokio::test]
async fn a_stop_ends_a_command_and_its_children() {
    let mut shell = Shell::new();
    shell.context.stop = CancellationToken::new();
    let stop = shell.context.stop.clone();
    let stopping = async {
        until("three processes run", || shell.left() >= 3).await;
        stop.cancel();
    };
    let (result, ()) = tokio::join!(shell.run("echo begun; setsid sleep 600 & sleep 600"), stopping);
    assert!(result.is_error && result.output.contains("begun\n[stopped by the person"), "{}", result.output);
    assert_eq!(shell.left(), 0);
}

#[tokio::test]
async fn a_command_that_is_given_up_ends_too() {
    let shell = Shell::new();
    tokio::select! {
        _ = shell.run("setsid sleep 600 & sleep 600") => panic!("it waits"),
        () = until("three processes run", || shell.left() >= 3) => {}
    }
    assert_eq!(shell.left(), 0);
}

#[tokio::test]
async fn what_a_host_that_is_gone_left_behind_is_found_by_its_mark() {
    let prefix = format!("run-{}", uuid::Uuid::now_v7());
    let call = format!("{prefix}-1-0-x");
    let mut command = tokio::process::Command::new("sh");
    let mut child = command
        .args(["-c", "setsid sleep 600 & wait"])
        .env("SAYSO_CALL", &call)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    until("both run", || marked(&call) == 2).await;
    assert_eq!(kill_marked(""), 0);
    assert_eq!(marked(&call), 2);
    let kill = tokio::task::spawn_blocking(move || kill_marked(&prefix));
    child.wait().await.unwrap();
    assert_eq!(kill.await.unwrap(), 2);
    assert_eq!(marked(&call), 0);
}

#[tokio::test]
async fn output_beyond_the_limit_is_cut_in_the_middle_and_drained() {
    let shell = Shell::with(Limits { output: 1000, ..Limits::default() });
    let result = shell.run("echo first; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo last").await;
    assert!(result.output.starts_with("first\nxxx") && result.output.ends_with("x\nlast\n[exit code 0]"));
    let cut = 5_000_000 + "first\n\nlast\n".len() - 1000;
    assert!(result.output.contains(&format!("[… {cut} bytes cut here …]")), "{}", result.output);
    assert!(result.output.len() < 1100);
}

#[tokio::test]
async fn what_cannot_run_is_refused_before_anyone_is_asked() {
    let shell = Shell::new();
    for arguments in [
        json!({}),
        json!({ "command": " " }),
        json!({ "command": 3 }),
        json!({ "command": "a\0b" }),
        json!({ "command": "ls", "timeout_seconds": "soon" }),
    ] {
        let arguments = Arguments::parse(&arguments.to_string()).unwrap();
        let rejected = shell.tool.draft(&arguments, &shell.context).await.unwrap_err();
        assert!(rejected.output.contains("Nothing was run"), "{}", rejected.output);
    }
    let list = Arguments::parse(r#"{"command":"ls"}"#).unwrap();
    assert_eq!(shell.tool.draft(&list, &shell.context).await.unwrap().prompt, "Run `ls`?");
    let nowhere = shell.tool.draft(&list, &ToolContext::default()).await.unwrap_err();
    assert!(nowhere.output.contains("no folder to work in"));
    std::fs::remove_dir_all(shell.folder.path()).unwrap();
    assert!(shell.run("ls").await.output.contains("no longer there"));
}
