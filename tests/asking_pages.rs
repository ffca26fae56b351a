//! The examples of `docs/asking`, run as they stand: what a reader copies works, and a no is a no.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use sayso_tests::asking::{Asking, add_sender, waiting, waiting_key, without_a_token};
use sayso_tests::sayso::{Host, Sayso, build_folder};
use serde_json::json;
use tempfile::TempDir;

/// One page's example.
struct Example {
    page: &'static str,
    /// What its block of code begins with.
    language: &'static str,
    file: &'static str,
    program: &'static str,
}

/// The one block of this language.
fn code(example: &Example) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/asking").join(example.page);
    let text = std::fs::read_to_string(page).unwrap();
    let fence = format!("\n```{}\n", example.language);
    let blocks: Vec<&str> = text.split(&fence).skip(1).collect();
    assert_eq!(blocks.len(), 1, "{} has one complete example", example.page);
    blocks[0].split_once("\n```").unwrap().0.to_owned() + "\n"
}

struct Stage {
    sayso: Sayso,
    host: Option<Host>,
    url: String,
    root: TempDir,
    token: String,
}

impl Stage {
    async fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let sayso = Sayso::new(&root.path().join("data"));
        // Its own port, which it keeps when it is started again.
        let host = sayso.serve_with(&[]);
        let url = host.url.clone();
        let token = add_sender(&sayso, "example").await;
        Self { sayso, host: Some(host), url, root, token }
    }

    fn run(&self, example: &Example) -> Asking {
        let file = self.root.path().join(example.file);
        std::fs::write(&file, code(example)).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        let path = format!("{}:{}", build_folder().display(), std::env::var("PATH").unwrap());
        let mut command = without_a_token(Command::new(example.program));
        command.arg(&file).env("PATH", path).env("SAYSO_DATA_DIR", self.sayso.data_dir());
        command.env("SAYSO_URL", &self.url).env("SAYSO_TOKEN", &self.token);
        command.current_dir(self.root.path());
        Asking::start(command)
    }
}

/// Approves, with the host killed and started again meanwhile; declines; and lets it find no host at all.
async fn check(example: Example) {
    let mut stage = Stage::new().await;
    let asking = stage.run(&example);
    let item = waiting(&stage.sayso).await;
    assert_eq!(
        (&item["source"], &item["request"]["data"]),
        (&json!("example"), &json!({ "version": "1.2" }))
    );
    stage.host.take().unwrap().kill();
    stage.host = Some(stage.sayso.serve_with(&[]));
    stage.sayso.run(&["approve", &waiting_key(&stage.sayso).await]).await.exits(0);
    let said = asking.end().await.exits(0);
    assert_eq!(said.stdout, "Approved.\n", "{said:?}");
    let history = stage.sayso.json(&["history"]).await.exits(0).values();
    assert_eq!(history.len(), 1, "it asks once: {history:?}");

    let asking = stage.run(&example);
    let key = waiting_key(&stage.sayso).await;
    stage.sayso.run(&["deny", &key, "--reason", "my own words"]).await.exits(0);
    let said = asking.end().await.exits(1);
    assert!(said.stdout.contains("Not approved") && said.stdout.contains("declined"), "{said:?}");
    assert!(!format!("{said:?}").contains("my own words"), "{said:?}");

    stage.host.take().unwrap().stop().await;
    let said = stage.run(&example).end().await;
    assert!(said.code != 0 && !said.stdout.contains("Approved"), "{said:?}");
}

#[tokio::test]
#[ignore = "needs curl and bash"]
async fn the_example_for_curl_works() {
    check(Example { page: "curl.md", language: "bash", file: "ask.sh", program: "bash" }).await;
}

#[tokio::test]
#[ignore = "needs Python"]
async fn the_example_for_python_works() {
    check(Example { page: "python.md", language: "python", file: "ask.py", program: "python3" }).await;
}

#[tokio::test]
#[ignore = "needs Node"]
async fn the_example_for_node_works() {
    check(Example { page: "node.md", language: "js", file: "ask.mjs", program: "node" }).await;
}

#[tokio::test]
#[ignore = "needs bash"]
async fn the_example_for_a_shell_script_works() {
    let example = Example { page: "shell.md", language: "bash", file: "deploy.sh", program: "bash" };
    let stage = Stage::new().await;
    let decide = async |arguments: &[&str]| {
        let key = waiting_key(&stage.sayso).await;
        let all: Vec<&str> = [arguments[0], &key].iter().chain(&arguments[1..]).copied().collect();
        stage.sayso.run(&all).await.exits(0);
    };
    let asking = stage.run(&example);
    decide(&["approve"]).await;
    decide(&["answer", "--data", r#"{"answers":["now"]}"#]).await;
    assert_eq!(asking.end().await.exits(0).stdout, "Deploying now.\n");
    let asking = stage.run(&example);
    decide(&["deny"]).await;
    assert_eq!(asking.end().await.exits(1).stdout, "Not deployed.\n");
}
