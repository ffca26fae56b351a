//! The API for senders against its own document, by a program that invents requests: Schemathesis.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use sayso_tests::asking::add_sender;
use sayso_tests::random::is_soak;
use sayso_tests::sayso::{Sayso, build_folder};
use serde_json::json;
use tokio::process::Command;

/// It finds nothing: no answer that the document does not name, no error of the server's own, nothing that is taken though
/// it must not be. And whatever was asked, nothing of it became a yes.
#[tokio::test]
#[ignore = "needs a Python package: `make test` has it"]
async fn schemathesis_finds_nothing_and_gets_no_yes() {
    let root = tempfile::tempdir().unwrap();
    let sayso = Sayso::new(&root.path().join("data"));
    let host = sayso.serve();
    let token = add_sender(&sayso, "schemathesis").await;
    let program = build_folder().parent().expect("a target folder").join("tools/python/bin/schemathesis");
    assert!(program.exists(), "no {}: `make other-programs` puts it there", program.display());
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemathesis.toml");
    let mut command = Command::new(program);
    command.arg("--config-file").arg(config).arg("run").arg(format!("{}/v1/openapi.json", host.url));
    command.arg("--header").arg(format!("Authorization: Bearer {token}"));
    let (examples, limit) = if is_soak() { ("1000", 30) } else { ("20", 3) };
    command.args(["--max-examples", examples, "--no-color"]);
    // It keeps what it found in the folder where it runs.
    command.current_dir(root.path()).stdin(Stdio::null()).kill_on_drop(true);
    let ended = tokio::time::timeout(Duration::from_secs(60 * limit), command.output()).await;
    let output = ended.expect("it ends").expect("it can be started");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("No issues found"), "{said}");

    let waiting = sayso.json(&["list"]).await.exits(0).values();
    let history = sayso.json(&["history", "--all"]).await.exits(0).values();
    assert!(!waiting.is_empty() || !history.is_empty(), "it asked");
    assert!(
        history
            .iter()
            .all(|item| item["outcome"] == json!("cancelled") || item["outcome"] == json!("expired"))
    );
    sayso.run(&["history", "verify"]).await.exits(0);
    host.stop().await;
}
