//! The examples of `docs/asking`, run as they stand: what a reader copies works, and a no is a no.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sayso_tests::asking::{Asking, add_sender, waiting, waiting_key, without_a_token};
use sayso_tests::model::{Reply, ScriptedModel, Style, call};
use sayso_tests::sayso::{Host, Sayso, build_folder};
use sayso_tests::wait::{SOON, wait_value};
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

/// Python with the packages that the pages name, which `make other-programs` puts there.
const PYTHON: &str = "tools/python/bin/python";

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
    environment: Vec<(&'static str, String)>,
}

impl Stage {
    async fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let sayso = Sayso::new(&root.path().join("data"));
        // Its own port, which it keeps when it is started again.
        let host = sayso.serve_with(&[]);
        let url = host.url.clone();
        let token = add_sender(&sayso, "example").await;
        Self { sayso, host: Some(host), url, root, token, environment: Vec::new() }
    }

    /// A program with all that finds this host.
    fn command(&self, program: &str) -> Command {
        let path = format!("{}:{}", build_folder().display(), std::env::var("PATH").unwrap());
        let program = match program {
            PYTHON => {
                let python = build_folder().parent().expect("a target folder").join(PYTHON);
                assert!(python.exists(), "no {}: `make other-programs` puts it there", python.display());
                python
            }
            program => PathBuf::from(program),
        };
        let mut command = without_a_token(Command::new(program));
        command.env("PATH", path).env("SAYSO_DATA_DIR", self.sayso.data_dir());
        command.env("SAYSO_URL", &self.url).env("SAYSO_TOKEN", &self.token);
        command.envs(self.environment.iter().map(|(name, value)| (*name, value)));
        command.current_dir(self.root.path());
        command
    }

    fn run(&self, example: &Example) -> Asking {
        let file = self.root.path().join(example.file);
        std::fs::write(&file, code(example)).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
        let mut command = self.command(example.program);
        command.arg(&file);
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

/// A signature in the form of Standard Webhooks, made by nothing of ours.
fn signed(stage: &Stage, secret: &str, id: &str, at: u64, body: &str) -> String {
    const SIGN: &str = "import base64, hashlib, hmac, sys
secret, signed = sys.argv[1:]
key = base64.b64decode(secret.removeprefix('whsec_'))
print('v1,' + base64.b64encode(hmac.digest(key, signed.encode(), hashlib.sha256)).decode())";
    let mut command = stage.command("python3");
    let output = command.args(["-c", SIGN, secret, &format!("{id}.{at}.{body}")]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Python"]
async fn the_example_for_webhooks_takes_what_is_genuine_once() {
    use std::io::{BufRead as _, BufReader};
    let example = Example { page: "webhooks.md", language: "python", file: "receive.py", program: "python3" };
    let stage = Stage::new().await;
    let file = stage.root.path().join(example.file);
    std::fs::write(&file, code(&example)).unwrap();
    // The address must be known before there is a secret for it.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/");
    let set = stage.sayso.run(&["sender", "callback", "example", &url, "--in-file"]).await.exits(0);
    let mut receiver = Command::new(example.program)
        .arg(&file)
        .env("WEBHOOK_SECRET", set.stdout.trim())
        .env("PORT", port.to_string())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(receiver.stderr.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready.trim(), url);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let forged = http.post(&url).header("webhook-id", "x").header("webhook-timestamp", "1");
    let forged = forged.header("webhook-signature", "v1,AAAA").body("{}").send().await.unwrap();
    assert_eq!(forged.status().as_u16(), 401);

    let post = async |id: &str, age: u64, body: &str, signature: Option<String>| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let at = since.as_secs() - age;
        let own = signed(&stage, set.stdout.trim(), id, at, body);
        let request = http.post(&url).header("webhook-id", id).header("webhook-timestamp", at);
        let request = request.header("webhook-signature", signature.as_ref().unwrap_or(&own));
        (request.body(body.to_owned()).send().await.unwrap().status().as_u16(), own)
    };
    // Captured and sent again: under its own id it is taken and does nothing, changed or late it is refused.
    let yes = r#"{"type":"request.settled","data":{"id":"d0","answer":{"id":"d0","ok":true}}}"#;
    let (status, captured) = post("captured", 0, yes, None).await;
    assert_eq!(status, 204);
    assert_eq!(post("captured", 0, yes, None).await.0, 204);
    assert_eq!(post("another", 0, yes, Some(captured.clone())).await.0, 401);
    assert_eq!(post("captured", 0, &yes.replace("d0", "d9"), Some(captured)).await.0, 401);
    assert_eq!(post("late", 301, yes, None).await.0, 401);

    let token = stage.root.path().join("token");
    std::fs::write(&token, &stage.token).unwrap();
    let ask = async |id: &str| {
        let token = token.to_str().unwrap();
        stage.sayso.run(&["ask", "--token-file", token, "--id", id, "Deploy?"]).await.exits(4);
        waiting_key(&stage.sayso).await
    };
    let key = ask("d1").await;
    stage.sayso.run(&["approve", &key]).await.exits(0);
    let mut lines = BufReader::new(receiver.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    let (first, second) = tokio::task::block_in_place(|| (next(), next()));
    assert_eq!(
        (first.as_str(), second.as_str()),
        ("Approved.", "Approved."),
        "the captured one, and the first"
    );
    // The same once more changes nothing.
    stage.sayso.run(&["sender", "resend", &key]).await.exits(0);
    let key = ask("d2").await;
    stage.sayso.run(&["deny", &key, "--reason", "my own words"]).await.exits(0);
    assert_eq!(tokio::task::block_in_place(next), "Not approved: declined", "nothing was done twice");
    receiver.kill().unwrap();
    receiver.wait().unwrap();
}

#[tokio::test]
#[ignore = "needs Python with packages"]
async fn the_example_for_an_mcp_client_works() {
    check(Example { page: "mcp.md", language: "python", file: "ask.py", program: PYTHON }).await;
}

#[tokio::test]
#[ignore = "needs Python with packages"]
async fn an_mcp_client_in_python_asks_over_http_as_well() {
    const SCRIPT: &str = r#"
import asyncio, os, sys
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    headers = {"Authorization": "Bearer " + os.environ["SAYSO_TOKEN"]}
    http = httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(60), trust_env=False)
    mode = sys.argv[1]
    async with http, Client(streamable_http_client(os.environ["SAYSO_URL"] + "/mcp", http_client=http), mode=mode) as sayso:
        told = []
        async def progress(done, total, message):
            told.append(message)
        asked = {"tool_name": "Bash", "input": {"n": 9007199254740993}, "tool_use_id": mode}
        result = await sayso.call_tool("permission_prompt", asked, progress_callback=progress)
        assert told, "it was told that it waits"
        print(result.content[0].text)

asyncio.run(main())
"#;
    let stage = Stage::new().await;
    let file = stage.root.path().join("client.py");
    std::fs::write(&file, SCRIPT).unwrap();
    // Both generations of the protocol.
    for mode in ["auto", "legacy"] {
        let mut command = stage.command(PYTHON);
        command.arg(&file).arg(mode);
        let asking = Asking::start(command);
        stage.sayso.run(&["approve", &waiting_key(&stage.sayso).await]).await.exits(0);
        let said = asking.end().await.exits(0);
        assert_eq!(
            said.stdout, "{\"behavior\":\"allow\",\"updatedInput\":{\"n\":9007199254740993}}\n",
            "{said:?}"
        );
    }
}

/// Two calls in one turn, of which the person approves the first: it runs once, the other does not.
async fn check_agent(example: Example) {
    let mut stage = Stage::new().await;
    let model = ScriptedModel::answering(Style::OpenAi, |asked| {
        let last = asked.json["messages"].as_array().and_then(|messages| messages.last()).cloned();
        if last.unwrap_or_default()["role"] == "tool" {
            return Reply::text("That was all.");
        }
        let deploy = |id: &str, version: &str| call(id, "deploy", &json!({ "version": version }));
        Reply::calls([deploy("c1", "1.1"), deploy("c2", "1.2")])
    })
    .await;
    stage.environment = vec![("OPENAI_BASE_URL", model.base_url()), ("OPENAI_API_KEY", "none".to_owned())];
    stage.environment.push(("NO_PROXY", "127.0.0.1".to_owned()));
    let asking = stage.run(&example);
    for _ in 0..2 {
        let item = wait_value("a call waits", SOON, async || {
            stage.sayso.json(&["list"]).await.exits(0).values().into_iter().next()
        })
        .await;
        assert_eq!(item["request"]["data"]["tool"], "deploy");
        let key = item["key"].as_str().unwrap();
        if item["request"]["data"]["arguments"]["version"] == "1.1" {
            stage.sayso.run(&["approve", key]).await.exits(0);
        } else {
            stage.sayso.run(&["deny", key, "--reason", "my own words"]).await.exits(0);
        }
    }
    let said = asking.end().await.exits(0);
    assert_eq!(said.stdout, "Deploying 1.1.\nThat was all.\n", "{said:?}");
    let results = model.captured().pop().unwrap().json["messages"].as_array().unwrap().clone();
    let results: Vec<_> = results.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(results[0]["content"], "1.1 is deployed");
    assert_eq!(results[1]["content"], "declined/expired: Run deploy?");
    assert!(model.bodies().iter().all(|body| !body.contains("my own words")));

    // With no host nothing runs.
    stage.host.take().unwrap().stop().await;
    let said = stage.run(&example).end().await.exits(0);
    assert_eq!(said.stdout, "That was all.\n", "{said:?}");
}

#[tokio::test]
#[ignore = "needs Python with packages"]
async fn the_example_for_langgraph_works() {
    check_agent(Example { page: "langgraph.md", language: "python", file: "agent.py", program: PYTHON })
        .await;
}

#[tokio::test]
#[ignore = "needs Python with packages"]
async fn the_example_for_the_openai_agents_sdk_works() {
    check_agent(Example { page: "openai-agents.md", language: "python", file: "agent.py", program: PYTHON })
        .await;
}
