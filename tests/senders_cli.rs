//! `sayso sender`: a token is shown once, to its owner, and is kept nowhere but as a hash.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sayso_tests::asking::add_sender;
use sayso_tests::sayso::Sayso;
use serde_json::json;

/// Every file below a folder that holds `text`.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[tokio::test]
async fn senders_are_added_listed_rotated_and_revoked() {
    let root = tempfile::tempdir().unwrap();
    let sayso = Sayso::new(&root.path().join("data"));
    let host = sayso.serve();
    let said = sayso
        .run(&[
            "sender",
            "add",
            "deploys",
            "--colour",
            "teal",
            "--max-open",
            "3",
            "--per-minute",
            "60",
            "--may-edit",
        ])
        .await
        .exits(0);
    let first = said.stdout.trim().to_owned();
    assert!(first.len() >= 32 && !first.contains(char::is_whitespace), "{first:?}");
    assert!(said.stderr.contains("SAYSO_TOKEN") && !said.stderr.contains(&first), "{said:?}");

    let list = sayso.json(&["sender", "list"]).await.exits(0).values();
    let item = &list[0];
    assert_eq!((list.len(), &item["name"], &item["colour"]), (1, &json!("deploys"), &json!("teal")));
    assert_eq!((&item["max_open"], &item["per_minute"]), (&json!(3), &json!(60)));
    assert_eq!((&item["may_edit"], &item["own_choices"]), (&json!(true), &json!(false)));
    let words = sayso.run(&["sender", "list"]).await.exits(0).stdout;
    assert!(words.contains("deploys") && words.contains("never"), "{words}");

    sayso.json(&["sender", "add", "deploys"]).await.exits(1);
    sayso.json(&["sender", "add", "This Computer"]).await.exits(1);
    sayso.json(&["sender", "rotate", "nobody"]).await.exits(5);

    let second = sayso.json(&["sender", "rotate", "deploys"]).await.exits(0).value();
    let second = second["token"].as_str().unwrap().to_owned();
    assert_ne!(first, second);
    sayso.run(&["sender", "revoke", "deploys"]).await.exits(0);
    assert!(sayso.json(&["sender", "list"]).await.value()["revoked_at"].is_string());
    host.stop().await;
    for token in [first, second] {
        assert_eq!(files_with(sayso.data_dir(), &token), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_token_can_go_straight_into_a_file_that_only_its_owner_reads() {
    let root = tempfile::tempdir().unwrap();
    let sayso = Sayso::new(&root.path().join("data"));
    let _host = sayso.serve();
    let file = root.path().join("token");
    // Others could read what is there; the new one is closed to them.
    std::fs::write(&file, "old").unwrap();
    let path = file.to_str().unwrap();
    let said = sayso.run(&["sender", "add", "deploys", "--token-file", path]).await.exits(0);
    let token = std::fs::read_to_string(&file).unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(said.stdout, "");
    assert!(token.trim().len() >= 32 && !said.stderr.contains(token.trim()), "{said:?}");
    let said = sayso.json(&["sender", "rotate", "deploys", "--token-file", path]).await.exits(0);
    assert!(said.value().get("token").is_none(), "{said:?}");
    assert_ne!(std::fs::read_to_string(&file).unwrap(), token);

    // A file that cannot be made is told before there is a token to lose.
    let before = sayso.json(&["sender", "list"]).await.value()["token_at"].clone();
    for wrong in ["/not/there/token", root.path().to_str().unwrap()] {
        sayso.run(&["sender", "rotate", "deploys", "--token-file", wrong]).await.exits(6);
    }
    assert_eq!(sayso.json(&["sender", "list"]).await.value()["token_at"], before);
    // What is refused leaves the file as it was.
    let kept = std::fs::read_to_string(&file).unwrap();
    sayso.run(&["sender", "add", "deploys", "--token-file", path]).await.exits(1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), kept);
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 2, "nothing is left beside it");
    add_sender(&sayso, "another").await;
}
