//! The API for senders against its own document, by a program that invents requests: Schemathesis.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::process::Command;

use sayso_tests::asking::{Asking, add_sender};
use sayso_tests::random::is_soak;
use sayso_tests::sayso::{Sayso, build_folder};
use serde_json::json;

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
    command.args(["--max-examples", if is_soak() { "1000" } else { "60" }, "--no-color"]);
    // It keeps what it found in the folder where it runs.
    command.current_dir(root.path());
    let said = Asking::start(command).end().await;
    assert_eq!(said.code, 0, "{}\n{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("No issues found"), "{}", said.stdout);

    let waiting = sayso.json(&["list"]).await.exits(0).values();
    let history = sayso.json(&["history", "--all"]).await.exits(0).values();
    assert!(!waiting.is_empty() && !history.is_empty(), "it asked, and took back");
    assert!(
        history
            .iter()
            .all(|item| item["outcome"] == json!("cancelled") || item["outcome"] == json!("expired"))
    );
    sayso.run(&["history", "verify"]).await.exits(0);
    host.stop().await;
}
