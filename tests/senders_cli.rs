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

/// Takes one post after the other, and gives the body of each.
fn receiver() -> (String, std::sync::mpsc::Receiver<String>) {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/answers", listener.local_addr().unwrap());
    let (give, got) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                if stream.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
                    break;
                }
                if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = text.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            stream
                .get_mut()
                .write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .unwrap();
            if give.send(String::from_utf8(body).unwrap()).is_err() {
                return;
            }
        }
    });
    (url, got)
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_posted_to_a_callback_that_the_owner_sets_and_again_by_hand() {
    let root = tempfile::tempdir().unwrap();
    let sayso = Sayso::new(&root.path().join("data"));
    let host = sayso.serve();
    let token = root.path().join("token");
    sayso.run(&["sender", "add", "bot", "--token-file", token.to_str().unwrap()]).await.exits(0);
    let (url, got) = receiver();
    sayso.run(&["sender", "callback", "bot"]).await.exits(2);
    sayso.run(&["sender", "callback", "bot", "http://example.com/"]).await.exits(1);
    let set = sayso.run(&["sender", "callback", "bot", &url, "--in-file"]).await.exits(0);
    assert!(set.stdout.starts_with("whsec_") && !set.stderr.contains("whsec_"), "{set:?}");
    sayso.run(&["ask", "--token-file", token.to_str().unwrap(), "--id", "d1", "Deploy?"]).await.exits(4);
    let key = sayso.json(&["list"]).await.exits(0).values()[0]["key"].as_str().unwrap().to_owned();
    sayso.run(&["deny", &key, "--reason", "not on a Friday"]).await.exits(0);
    let wait = std::time::Duration::from_secs(30);
    let body = tokio::task::spawn_blocking(move || (got.recv_timeout(wait).unwrap(), got)).await.unwrap();
    assert!(body.0.contains(r#""answer":{"id":"d1","ok":false,"reason":"declined"}"#), "{}", body.0);
    sayso.run(&["sender", "resend", &key]).await.exits(0);
    let again = tokio::task::spawn_blocking(move || body.1.recv_timeout(wait).unwrap()).await.unwrap();
    assert_eq!(again, body.0, "the same message");
    sayso.run(&["sender", "callback", "bot", "--off"]).await.exits(0);
    sayso.run(&["sender", "resend", &key]).await.exits(1);
    drop(host);
}
