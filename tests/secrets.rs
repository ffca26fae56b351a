//! Tokens of senders, signing secrets of their callbacks and what MCP headers stand for: they are in no log, no database,
//! no list of processes, no error and nothing that a crash leaves.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sayso_tests::asking::{Asking, waiting_key, without_a_token};
use sayso_tests::process::OwnedChild;
use sayso_tests::sayso::{Said, Sayso, build_folder};
use sayso_tests::stage::{AGENT, Stage};
use sayso_tests::wait::SOON;
use sayso_tests::{wait_until, wait_value};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// What an MCP server's headers stand for.
const MCP_SECRET: &str = "mcp-header-8f1c0f6f1a";
/// What a callback's address holds.
const PATH_SECRET: &str = "callback-path-77d0c1b2e4";

/// A server of somebody else's that says back whatever it was sent, with a status that is no success.
struct Echo {
    url: String,
    got: Arc<Mutex<Vec<String>>>,
    _serving: JoinSet<()>,
}

impl Echo {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&got);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = vec![0; 64 * 1024];
                let Ok(count) = stream.read(&mut bytes).await else { continue };
                let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
                let line = text.replace(['\r', '\n'], " ");
                let head = format!(
                    "HTTP/1.1 403 {line}\r\nwww-authenticate: {line}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    text.len()
                );
                let _ = stream.write_all((head + &text).as_bytes()).await;
                seen.lock().unwrap().push(text);
            }
        });
        Self { url, got, _serving: serving }
    }

    fn heard(&self, part: &str) -> bool {
        self.got.lock().unwrap().iter().any(|text| text.contains(part))
    }
}

/// All that was said by anybody, to be searched at the end.
#[derive(Default)]
struct Heard(Vec<(String, Vec<u8>)>);

impl Heard {
    fn add(&mut self, from: impl Into<String>, what: impl Into<Vec<u8>>) {
        self.0.push((from.into(), what.into()));
    }

    fn said(&mut self, from: &str, said: &Said) {
        self.add(from, format!("{}\n{}", said.stdout, said.stderr));
    }

    fn response(&mut self, from: &str, head: &reqwest::header::HeaderMap, body: &str) {
        self.add(from, format!("{head:?}\n{body}"));
    }

    /// What the system tells of processes: how each was called, and its environment, but for the one variable that this
    /// test itself gave to each of `given`.
    fn processes(&mut self, given: &[(u32, &str)]) {
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let name = entry.file_name();
            let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            for file in ["cmdline", "comm", "environ"] {
                let Ok(bytes) = std::fs::read(entry.path().join(file)) else { continue };
                for part in bytes.split(|byte| *byte == 0) {
                    let is_own = |(of, name): &(u32, &str)| *of == pid && part.starts_with(name.as_bytes());
                    if !given.iter().any(is_own) {
                        self.add(format!("{file} of process {pid}"), part);
                    }
                }
            }
        }
    }

    /// Every file below a folder. The owner's own token and signing secrets, which the person chose to keep in files, are
    /// for the owner's eyes alone; the search is for them elsewhere.
    fn files(&mut self, folder: &Path) -> usize {
        let (mut folders, mut read) = (vec![folder.to_owned()], 0);
        while let Some(folder) = folders.pop() {
            for found in std::fs::read_dir(folder).unwrap().flatten() {
                let path = found.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "key") {
                    assert_eq!(mode(&path), 0o600, "{}", path.display());
                } else if let Ok(bytes) = std::fs::read(&path) {
                    read += 1;
                    self.add(path.to_string_lossy(), bytes);
                }
            }
        }
        read
    }

    /// Where a secret is, whole or a good part of it.
    fn places_of(&self, secret: &str) -> Vec<&str> {
        let bare = secret.split_once('_').map_or(secret, |(_, bare)| bare);
        let part = &bare.as_bytes()[..bare.len().min(20)];
        let has = |bytes: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        self.0.iter().filter(|(_, bytes)| has(bytes)).map(|(from, _)| from.as_str()).collect()
    }
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// A host that logs all that it can, with what it says in a file.
fn serve(sayso: &Sayso, stderr: &Path) -> (OwnedChild, String) {
    let mut command = sayso.command(&["serve", "--port", "0"]);
    let file = std::fs::OpenOptions::new().create(true).append(true).open(stderr).unwrap();
    command.stdout(Stdio::piped()).stderr(file);
    let mut host = OwnedChild::start(&mut command);
    let url = host.read_line(Duration::from_secs(30), |line| {
        let ready: Value = serde_json::from_str(line).ok()?;
        ready["url"].as_str().map(str::to_owned)
    });
    (host, url)
}

/// What the tests' own caller says and gets.
struct Caller {
    http: reqwest::Client,
    url: String,
}

impl Caller {
    async fn call(&self, heard: &mut Heard, token: &str, path: &str, body: Option<Value>) -> u16 {
        let url = format!("{}{path}", self.url);
        let request = match &body {
            Some(body) => self.http.post(url).json(body),
            None => self.http.get(url),
        };
        let answer = request.bearer_auth(token).send().await.unwrap();
        let (status, head) = (answer.status().as_u16(), answer.headers().clone());
        heard.response(&format!("what {path} says with {status}"), &head, &answer.text().await.unwrap());
        status
    }
}

#[tokio::test]
async fn no_token_and_no_secret_is_in_a_log_the_database_a_list_of_processes_an_error_or_what_a_crash_leaves()
{
    let (stage, echo, mut heard) =
        (Stage::calling("t_env", json!({})).await, Echo::start().await, Heard::default());
    let plain = stage.sayso.clone().env("SAYSO_LOG", "trace").env("RUST_BACKTRACE", "full");
    let sayso = plain.clone().env("MCP_TEST_TOKEN", MCP_SECRET);
    let stderr = stage.path("stderr");
    let (mut host, url) = serve(&sayso, &stderr);
    let http = reqwest::Client::builder().no_proxy().timeout(SOON).build().unwrap();
    let caller = Caller { http, url };

    // Each is shown once, to the person who made it.
    let first = plain.run(&["sender", "add", "bot"]).await.exits(0).stdout.trim().to_owned();
    let token = plain.run(&["sender", "rotate", "bot"]).await.exits(0).stdout.trim().to_owned();
    let address = format!("{}/{PATH_SECRET}", echo.url);
    let signing = plain.run(&["sender", "callback", "bot", &address, "--in-file"]).await.exits(0);
    let signing = signing.stdout.trim().to_owned();
    assert!(token.starts_with("sayso_") && signing.starts_with("whsec_"));
    let file: PathBuf = stage.path("token");
    std::fs::write(&file, &token).unwrap();

    // Asked in every way, while all processes can be looked at.
    let by_file = ["ask", "--wait", "--token-file", file.to_str().unwrap(), "--id", "a", "Deploy?"];
    let mut by_environment = without_a_token(plain.command(&["ask", "--wait", "--id", "b", "Deploy?"]));
    by_environment.env("SAYSO_TOKEN", &token);
    let first_asking = Asking::start(without_a_token(plain.command(&by_file)));
    let mut other = OwnedChild::start(
        by_environment.stdout(Stdio::null()).stderr(std::fs::File::create(stage.path("b")).unwrap()),
    );
    let server = plain.command(&["mcp", "--token-file", file.to_str().unwrap()]);
    let mut server = tokio::process::Command::from(server);
    server.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let server = server.spawn().unwrap();
    wait_until("both wait", SOON, async || stage.list().await.len() == 2).await;
    heard.processes(&[(other.pid(), "SAYSO_TOKEN="), (host.pid(), "MCP_TEST_TOKEN=")]);
    drop(server);

    // What senders are told, with tokens that are right, wrong by a little, and of the past.
    let near = format!("{}x", &token[..token.len() - 1]);
    for (with, expected) in [(&token, 200), (&near, 401), (&first, 401)] {
        assert_eq!(caller.call(&mut heard, with, "/v1/requests/a", None).await, expected);
        caller.call(&mut heard, with, "/v1/requests/none", None).await;
        caller.call(&mut heard, with, "/v1/requests", Some(json!({ "id": 7 }))).await;
        caller.call(&mut heard, with, "/mcp", Some(json!({ "jsonrpc": "2.0" }))).await;
        let refused = caller.call(&mut heard, with, "/rpc", Some(json!({ "command": "status" }))).await;
        assert!(matches!(refused, 401 | 403), "{refused}");
    }
    let wrong = stage.path("wrong");
    for text in [near.as_str(), &first, "two words of a sayso_token"] {
        std::fs::write(&wrong, text).unwrap();
        let said = plain.run(&["ask", "--wait", "--token-file", wrong.to_str().unwrap(), "Deploy?"]).await;
        assert!(said.code != 0 && !said.stderr.contains("two words"), "{said:?}");
        heard.said("ask with a wrong token", &said);
    }

    // Answers are posted to a server that says back what it got; an MCP server does the same with its header.
    for id in ["a", "b"] {
        let list = stage.list().await;
        let item = list.iter().find(|item| item["request"]["id"] == id).unwrap();
        plain.run(&["approve", item["key"].as_str().unwrap()]).await.exits(0);
    }
    heard.said("ask --wait", &first_asking.end().await.exits(0));
    assert!(other.wait(SOON).await.success());
    // One that nobody fetches is posted.
    plain.run(&["ask", "--token-file", file.to_str().unwrap(), "Deploy?"]).await.exits(4);
    plain.run(&["approve", &waiting_key(&plain).await]).await.exits(0);
    wait_until("an answer was posted", SOON, async || echo.heard(PATH_SECRET)).await;
    let failing = wait_value("it is shown as failing", SOON, async || {
        let list = plain.json(&["sender", "list"]).await.exits(0);
        list.values().iter().any(|item| item["last_failure"].is_string()).then_some(list)
    });
    let failing = failing.await.values().remove(0)["last_failure"].as_str().unwrap().to_owned();
    assert!(!failing.contains(PATH_SECRET), "{failing}");
    let servers = json!({
        "t": { "command": build_folder().join("tiny-mcp-server"), "env": { "MCP_LIKE": "old" } },
        "web": { "url": format!("{}/mcp", echo.url), "headers": { "Authorization": "Bearer ${env:MCP_TEST_TOKEN}" } },
    });
    stage.add_agent(json!({ "mcpServers": servers, "tools": { "t_env": "ask" } })).await;
    plain.run(&["agent", "trust", AGENT, "--yes"]).await.exits(0);
    let run = stage.start_run("go").await;
    let key = waiting_key(&plain).await;
    assert!(echo.heard(MCP_SECRET), "the server at an address was called with what its header stands for");
    heard.processes(&[(host.pid(), "MCP_TEST_TOKEN=")]);
    plain.run(&["approve", &key]).await.exits(0);
    stage.wait_status(&run, "done").await;
    for arguments in [
        &["runs", "show", &run][..],
        &["agent", "list"],
        &["sender", "list"],
        &["history", "--all"],
        &["status"],
    ] {
        heard.said(&arguments.join(" "), &plain.json(arguments).await);
    }
    for body in stage.model.bodies() {
        heard.add("what the model was sent", body);
    }
    assert!(host.terminate(SOON).await.success());

    // A host that panics amid a sender's call; what was committed is there all the same.
    let (mut host, url) = serve(&sayso.clone().env("SAYSO_PANIC_AT", "sender_asked"), &stderr);
    let panicking = Caller { url, ..caller };
    let request = json!({ "id": "c", "kind": "approval", "prompt": "Deploy?" });
    assert_eq!(panicking.call(&mut heard, &token, "/v1/requests", Some(request.clone())).await, 503);
    assert_eq!(panicking.call(&mut heard, &token, "/v1/requests", Some(request)).await, 200);
    host.kill();
    let crash = std::fs::read_to_string(&stderr).unwrap();
    assert!(crash.contains("told to panic at SenderAsked") && crash.contains("stack backtrace"), "{crash}");
    let database = stage.sayso.data_dir().join("sayso.db");
    assert!(heard.files(stage.sayso.data_dir()) >= 2, "the log and the database were read");

    // And one whose database is damaged.
    std::fs::write(&database, "no database at all, and long enough to be taken for one ".repeat(200))
        .unwrap();
    let said = sayso.run(&["serve", "--port", "0"]).await;
    assert_ne!(said.code, 0, "{said:?}");
    heard.said("serve with a damaged database", &said);
    for arguments in [&["ask", "--token-file", file.to_str().unwrap(), "Deploy?"][..], &["sender", "list"]] {
        let said = plain.run(arguments).await;
        assert_ne!(said.code, 0, "{said:?}");
        heard.said("a command with no host", &said);
    }
    heard.add("stderr of the hosts", std::fs::read(&stderr).unwrap());
    heard.add("stderr of ask", std::fs::read(stage.path("b")).unwrap());
    for (name, secret) in [
        ("the first token", first.as_str()),
        ("the token", &token),
        ("the signing secret", &signing),
        ("an MCP server's header", MCP_SECRET),
    ] {
        assert_eq!(heard.places_of(secret), [""; 0], "{name}");
    }
    heard.add("the test's own file", std::fs::read(&file).unwrap());
    assert_eq!(heard.places_of(&token), ["the test's own file"], "what is there would be found");
    let log = std::fs::read_to_string(&stderr).unwrap();
    assert!(!log.contains(PATH_SECRET), "a callback's address may hold a token");
}
