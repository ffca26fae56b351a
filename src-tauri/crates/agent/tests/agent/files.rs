//! File tools: beneath the folder, bound to what was shown.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;

use sayso_agent::{Arguments, Draft, Folder, Limits, Ran, ToolContext, ToolSetup, Toolkit};
use sayso_domain::{Digest, Policy, ToolResult, sha256};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Files {
    toolkit: Toolkit,
    /// Holds the agent's folder and what is beside it.
    around: TempDir,
    context: ToolContext,
}

impl Files {
    fn new() -> Self {
        let around = tempfile::tempdir().unwrap();
        fs::create_dir(around.path().join("in")).unwrap();
        fs::create_dir(around.path().join("out")).unwrap();
        fs::write(around.path().join("out/secret"), "s3cret\n").unwrap();
        let folder = Folder::open(&around.path().join("in")).unwrap();
        let context = ToolContext { folder: Some(Arc::new(folder)), ..ToolContext::default() };
        let limits = Limits { output: 2000, file: 10_000, ..Limits::default() };
        Self { toolkit: Toolkit::standard(&ToolSetup { limits, ..ToolSetup::default() }), around, context }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.around.path().join("in").join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    async fn ran(&self, tool: &str, arguments: &Value, hash: Option<&str>) -> Ran {
        let arguments = Arguments::parse(&arguments.to_string()).unwrap();
        let context = ToolContext { file_hash: hash.map(str::to_owned), ..self.context.clone() };
        self.toolkit.get(tool).unwrap().run(&arguments, &context).await
    }

    async fn run(&self, tool: &str, arguments: Value) -> ToolResult {
        match self.ran(tool, &arguments, None).await {
            Ran::Done(result) => result,
            Ran::Stale(_) => panic!("nobody was shown anything"),
        }
    }

    async fn draft(&self, tool: &str, arguments: &Value) -> Result<Draft, ToolResult> {
        let arguments = Arguments::parse(&arguments.to_string()).unwrap();
        self.toolkit.get(tool).unwrap().draft(&arguments, &self.context).await
    }
}

fn hash(content: &str) -> String {
    Digest(sha256(content.as_bytes())).to_string()
}

#[tokio::test]
async fn a_new_file_is_shown_whole_and_written_with_its_folders() {
    let files = Files::new();
    let write = json!({ "path": "a/b/new.txt", "content": "one\ntwo\n" });
    let draft = files.draft("write_file", &write).await.unwrap();
    assert_eq!(draft.prompt, "Create a/b/new.txt?");
    assert_eq!(draft.file_hash.as_deref(), Some("absent"));
    assert_eq!(
        draft.diff.as_deref(),
        Some("--- /dev/null\n+++ b/a/b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n")
    );
    assert!(!files.path("a").exists(), "a draft changes nothing");
    let Ran::Done(result) = files.ran("write_file", &write, Some("absent")).await else { panic!("stale") };
    assert_eq!(result.output, "a/b/new.txt is written: 8 bytes.");
    assert_eq!(files.content("a/b/new.txt"), "one\ntwo\n");
    assert_eq!(fs::read_dir(files.path("a/b")).unwrap().count(), 1, "nothing else is left there");
}

#[tokio::test]
async fn an_edit_is_bound_to_the_file_that_was_shown() {
    let files = Files::new();
    files.write("f", "one\ntwo\nthree\n");
    let edit = json!({ "path": "f", "old_text": "two", "new_text": "2" });
    let draft = files.draft("edit_file", &edit).await.unwrap();
    assert_eq!(draft.prompt, "Edit f?");
    assert_eq!(draft.file_hash.as_deref(), Some(hash("one\ntwo\nthree\n").as_str()));
    assert_eq!(draft.diff.as_deref(), Some("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"));

    files.write("f", "one\ntwo\nTHREE\n");
    let Ran::Stale(again) = files.ran("edit_file", &edit, draft.file_hash.as_deref()).await else {
        panic!("it was written");
    };
    assert_eq!(files.content("f"), "one\ntwo\nTHREE\n", "nothing was done");
    assert!(again.diff.unwrap().contains(" THREE"));
    let Ran::Done(result) = files.ran("edit_file", &edit, again.file_hash.as_deref()).await else {
        panic!("stale")
    };
    assert!(!result.is_error);
    assert_eq!(files.content("f"), "one\n2\nTHREE\n");

    // A second yes for the same: the file moved on, and the text is gone.
    let Ran::Done(result) = files.ran("edit_file", &edit, again.file_hash.as_deref()).await else {
        panic!("stale")
    };
    assert!(result.is_error && result.output.contains("does not occur"), "{}", result.output);
}

#[tokio::test]
async fn a_write_is_bound_to_the_file_that_was_shown() {
    let files = Files::new();
    let write = json!({ "path": "f", "content": "mine\n" });
    files.write("f", "theirs\n");
    let Ran::Stale(draft) = files.ran("write_file", &write, Some("absent")).await else {
        panic!("it was written")
    };
    assert_eq!(draft.prompt, "Replace f?");
    assert_eq!(files.content("f"), "theirs\n");
    let Ran::Done(_) = files.ran("write_file", &write, draft.file_hash.as_deref()).await else {
        panic!("stale")
    };
    assert_eq!(files.content("f"), "mine\n");
    // Done already, whoever did it: nothing to ask.
    let Ran::Done(result) = files.ran("write_file", &write, Some("absent")).await else { panic!("stale") };
    assert!(!result.is_error);
    assert!(files.draft("write_file", &write).await.unwrap_err().output.contains("already holds"));
    // Policy let it through, so nobody was shown a hash.
    assert!(!files.run("write_file", json!({ "path": "f", "content": "new\n" })).await.is_error);
}

#[tokio::test]
async fn an_edit_that_is_not_clear_is_refused_with_help() {
    let files = Files::new();
    files.write("f", "a b a\n");
    for (edit, help) in [
        (json!({ "path": "f", "old_text": "x", "new_text": "y" }), "does not occur"),
        (json!({ "path": "f", "old_text": "a", "new_text": "y" }), "occurs 2 times"),
        (json!({ "path": "f", "old_text": "", "new_text": "y" }), "`old_text` is empty"),
        (json!({ "path": "f", "old_text": "a", "new_text": "a" }), "are the same"),
        (json!({ "path": "f", "new_text": "a" }), "`old_text` is missing"),
        (json!({ "path": "none", "old_text": "a", "new_text": "b" }), "does not exist"),
    ] {
        let rejected = files.draft("edit_file", &edit).await.unwrap_err();
        assert!(rejected.is_error && rejected.output.contains(help), "{}", rejected.output);
    }
    files
        .run("edit_file", json!({ "path": "f", "old_text": "a", "new_text": "y", "replace_all": true }))
        .await;
    assert_eq!(files.content("f"), "y b y\n");
    files.write("crlf", "one\r\ntwo\r\nthree\r\n");
    files.run("edit_file", json!({ "path": "crlf", "old_text": "one\ntwo", "new_text": "1\n2" })).await;
    assert_eq!(files.content("crlf"), "1\r\n2\r\nthree\r\n");
}

#[tokio::test]
async fn neither_dots_nor_links_nor_whole_paths_lead_out() {
    let files = Files::new();
    let out = files.around.path().join("out");
    symlink(&out, files.path("dir")).unwrap();
    symlink(out.join("secret"), files.path("link")).unwrap();
    symlink("../out/secret", files.path("relative")).unwrap();
    symlink(out.join("new"), files.path("dangling")).unwrap();
    let secret = out.join("secret").display().to_string();
    for path in [
        "../out/secret",
        "dir/secret",
        "link",
        "relative",
        "dangling",
        "a/../../out/secret",
        &secret,
        "/etc/hosts",
    ] {
        let calls = [
            ("read_file", json!({ "path": path })),
            ("write_file", json!({ "path": path, "content": "x" })),
            ("edit_file", json!({ "path": path, "old_text": "s3cret", "new_text": "x" })),
            ("list_files", json!({ "path": path })),
            ("search_files", json!({ "path": path, "pattern": "s3cret" })),
        ];
        for (tool, arguments) in calls {
            let result = files.run(tool, arguments).await;
            assert!(result.is_error, "{tool} {path}: {}", result.output);
            assert!(!result.output.contains("s3cret"), "{tool} {path}: {}", result.output);
        }
    }
    for path in ["dir/new", "dir/sub/new"] {
        assert!(files.run("write_file", json!({ "path": path, "content": "x" })).await.is_error, "{path}");
    }
    assert!(files.draft("write_file", &json!({ "path": "dir/new", "content": "x" })).await.is_err());
    assert_eq!(fs::read_to_string(out.join("secret")).unwrap(), "s3cret\n");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing was made outside");
    let found = files.run("search_files", json!({ "pattern": "s3cret" })).await;
    assert_eq!(found.output, "[no line matches]", "links are not followed");
}

#[tokio::test]
async fn a_link_that_stays_inside_works_and_shows_where_it_leads() {
    let files = Files::new();
    files.write("real", "old\n");
    symlink("real", files.path("alias")).unwrap();
    let write = json!({ "path": "alias", "content": "new\n" });
    assert_eq!(files.draft("write_file", &write).await.unwrap().prompt, "Replace alias (a link to real)?");
    files.run("write_file", write).await;
    assert_eq!(files.content("real"), "new\n");
    assert!(fs::symlink_metadata(files.path("alias")).unwrap().is_symlink(), "the link is still one");
    let whole = files.path("real").canonicalize().unwrap();
    assert_eq!(files.run("read_file", json!({ "path": whole })).await.output, "new\n");
}

/// Both places hold the same, so that only the link tells them apart.
#[tokio::test]
async fn a_link_that_leads_elsewhere_since_it_was_shown_is_asked_about_again() {
    let files = Files::new();
    for folder in ["one", "two"] {
        fs::create_dir(files.path(folder)).unwrap();
    }
    std::os::unix::fs::symlink("one", files.path("link")).unwrap();
    let write = json!({ "path": "link/new", "content": "text" });
    let draft = files.draft("write_file", &write).await.unwrap();
    fs::remove_file(files.path("link")).unwrap();
    std::os::unix::fs::symlink("two", files.path("link")).unwrap();
    let Ran::Stale(again) = files.ran("write_file", &write, draft.file_hash.as_deref()).await else {
        panic!("it was written elsewhere");
    };
    assert!(again.prompt.contains("two/new"), "{}", again.prompt);
    assert!(!files.path("one/new").exists() && !files.path("two/new").exists());
    let Ran::Done(result) = files.ran("write_file", &write, again.file_hash.as_deref()).await else {
        panic!("it is what was shown");
    };
    assert!(!result.is_error, "{}", result.output);
    assert_eq!(files.content("two/new"), "text");
}

/// Each folder of a path takes stack: a model must not be able to use it up.
#[tokio::test]
async fn a_path_without_end_is_refused() {
    let files = Files::new();
    for path in ["d/".repeat(100_000) + "x", "d/".repeat(2000) + "x", "x".repeat(5000)] {
        for tool in ["read_file", "list_files", "search_files", "write_file", "edit_file"] {
            let arguments =
                json!({ "path": path, "pattern": "a", "content": "a", "old_text": "a", "new_text": "b" });
            let result = files.run(tool, arguments).await;
            assert!(result.is_error && result.output.contains("The path is longer"), "{}", result.output);
        }
    }
    let deep = "d/".repeat(150) + "x";
    let result = files.run("write_file", json!({ "path": deep, "content": "a" })).await;
    assert!(!result.is_error, "{}", result.output);
    assert!(!files.run("read_file", json!({ "path": deep })).await.is_error);
}

#[tokio::test]
async fn permissions_stay_and_a_failed_write_leaves_the_file_as_it_was() {
    let files = Files::new();
    files.write("run.sh", "old");
    fs::set_permissions(files.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    files.run("write_file", json!({ "path": "run.sh", "content": "new" })).await;
    assert_eq!(fs::metadata(files.path("run.sh")).unwrap().permissions().mode() & 0o777, 0o750);
    files.write("file", "x");
    for path in ["file/below", ".", "", "run.sh/"] {
        let result = files.run("write_file", json!({ "path": path, "content": "y" })).await;
        assert!(result.is_error || path == "run.sh/", "{path}: {}", result.output);
    }
    assert_eq!(files.content("file"), "x");
}

#[tokio::test]
async fn reading_is_in_lines_and_says_how_to_go_on() {
    let files = Files::new();
    let lines: String = (1..=500).map(|line| format!("line {line}\n")).collect();
    files.write("f", &lines);
    let result = files.run("read_file", json!({ "path": "f", "offset": 3, "limit": 2 })).await;
    assert_eq!(result.output, "line 3\nline 4\n[lines 3 to 4 of 500; read on with offset 5]");
    let result = files.run("read_file", json!({ "path": "f" })).await;
    assert!(
        result.output.len() < 2100 && result.output.contains("of 500; read on with offset"),
        "{}",
        result.output
    );
    let result = files.run("read_file", json!({ "path": "f", "offset": 500 })).await;
    assert_eq!(result.output, "line 500\n");
    assert!(files.run("read_file", json!({ "path": "f", "offset": 501 })).await.is_error);
    files.write("long", "x".repeat(5000));
    assert!(
        files
            .run("read_file", json!({ "path": "long" }))
            .await
            .output
            .contains("bytes cut here of this line")
    );
    files.write("empty", "");
    assert_eq!(files.run("read_file", json!({ "path": "empty" })).await.output, "[empty is empty]");
}

#[tokio::test]
async fn what_is_no_text_or_too_large_or_no_file_is_refused_politely() {
    let files = Files::new();
    files.write("binary", b"\x7fELF\0\0");
    files.write("latin", b"caf\xe9");
    files.write("huge", "x".repeat(10_001));
    let made = std::process::Command::new("mkfifo").arg(files.path("pipe")).status().unwrap();
    assert!(made.success());
    for (path, help) in [
        ("binary", "not a text file"),
        ("latin", "not a text file"),
        ("huge", "larger than"),
        ("pipe", "no ordinary file"),
        (".", "is a folder"),
        ("none", "does not exist"),
    ] {
        let result = files.run("read_file", json!({ "path": path })).await;
        assert!(result.is_error && result.output.contains(help), "{path}: {}", result.output);
    }
    let draft = files.draft("write_file", &json!({ "path": "latin", "content": "café" })).await.unwrap();
    assert!(draft.diff.unwrap().contains("bytes that are no text"));
}

#[tokio::test]
async fn listing_and_searching_leave_out_what_is_ignored_and_are_bounded() {
    let files = Files::new();
    fs::create_dir_all(files.path("src/deep")).unwrap();
    fs::create_dir_all(files.path(".git")).unwrap();
    fs::create_dir_all(files.path("target")).unwrap();
    files.write(".gitignore", "target\n");
    files.write(".git/config", "needle\n");
    files.write("target/out", "needle\n");
    files.write("src/a.rs", "hay\nneedle one\n");
    files.write("src/deep/b.rs", "Needle two\n");
    let list = files.run("list_files", json!({})).await;
    assert_eq!(list.output, ".gitignore (7)\nsrc/\n");
    let list = files.run("list_files", json!({ "path": "src", "recursive": true })).await;
    assert_eq!(list.output, "src/a.rs (15)\nsrc/deep/\nsrc/deep/b.rs (11)\n");
    let found = files.run("search_files", json!({ "pattern": "needle" })).await;
    assert_eq!(found.output, "src/a.rs:2: needle one\n");
    let found =
        files.run("search_files", json!({ "pattern": "needle", "ignore_case": true, "path": "src" })).await;
    assert_eq!(found.output, "src/a.rs:2: needle one\nsrc/deep/b.rs:1: Needle two\n");
    let found = files.run("search_files", json!({ "pattern": "needle", "include_ignored": true })).await;
    assert!(found.output.contains("target/out:1"), "{}", found.output);
    assert!(
        files.run("search_files", json!({ "pattern": "(" })).await.output.contains("no regular expression")
    );
    files.write("many", "needle\n".repeat(1000));
    let found = files.run("search_files", json!({ "pattern": "needle", "path": "many" })).await;
    assert!(found.output.contains("there are more") && found.output.len() < 2200, "{}", found.output);
    for index in 0..300 {
        files.write(&format!("file{index}"), "");
    }
    let list = files.run("list_files", json!({})).await;
    assert!(list.output.contains("more entries are left out") && list.output.len() < 2200);
}

#[tokio::test]
async fn reading_is_allowed_and_everything_else_asks() {
    let toolkit = Toolkit::standard(&ToolSetup::default());
    let policy = |name: &str| toolkit.get(name).unwrap().policy(&Value::Null);
    for name in ["read_file", "list_files", "search_files", "question"] {
        assert_eq!(policy(name), Policy::Allow, "{name}");
        assert!(!toolkit.get(name).unwrap().has_effects());
    }
    for name in ["shell", "write_file", "edit_file", "web_fetch"] {
        assert_eq!(policy(name), Policy::Ask, "{name}");
        assert!(toolkit.get(name).unwrap().has_effects());
    }
    assert_eq!(toolkit.specs().count(), 8);
    assert_eq!(toolkit.summary("write_file", r#"{"path":"a","content":"b"}"#), "a");
    assert_eq!(toolkit.summary("nobody", "{"), "{");
}

#[tokio::test]
async fn without_a_folder_or_with_one_that_vanished_the_model_is_told_so() {
    let files = Files::new();
    let nowhere = ToolContext::default();
    let arguments =
        Arguments::parse(r#"{"path":"a","content":"b","pattern":"c","old_text":"d","new_text":"e"}"#)
            .unwrap();
    for name in ["read_file", "write_file", "edit_file", "list_files", "search_files"] {
        let tool = files.toolkit.get(name).unwrap();
        let Ran::Done(result) = tool.run(&arguments, &nowhere).await else { panic!("stale") };
        assert!(result.output.contains("no folder to work in"), "{name}: {}", result.output);
    }
    let folder = files.around.path().join("in");
    fs::rename(&folder, files.around.path().join("moved")).unwrap();
    fs::create_dir(&folder).unwrap();
    let result = files.run("write_file", json!({ "path": "a", "content": "b" })).await;
    assert!(result.is_error && result.output.contains("no longer there"), "{}", result.output);
    assert!(
        Folder::open(Path::new("/nonexistent/folder")).unwrap_err().to_string().contains("cannot be opened")
    );
}
