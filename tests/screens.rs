//! Takes the pictures that the README and the docs show, of the real window with real requests in it:
//! `make screens` writes them into `docs/screens`.
#![allow(clippy::expect_used, reason = "a picture that fails has no result")]

use std::path::Path;

use sayso_tests::desktop::Desktop;
use sayso_tests::model::{Captured, Reply, ScriptedModel, Style, call};
use sayso_tests::sayso::desktop_bin;
use sayso_tests::stage::Stage;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use sayso_tests::webdriver::Session;
use serde_json::{Value, json};

const README: &str = "# Atlas\n\n## Install\n\nnpm install -g atlas\n\n## Use\n\natlas plan\n";

/// What the model calls for each task; it ends once it has the result.
fn script(captured: &Captured) -> Reply {
    let messages = captured.json["messages"].as_array().cloned().unwrap_or_default();
    if messages.last().is_some_and(|message| message["role"] == "tool") {
        return Reply::text("Done.");
    }
    let task = messages.iter().rev().find(|message| message["role"] == "user");
    let task = task.and_then(|message| message["content"].as_str()).unwrap_or_default();
    let (tool, arguments) = match task {
        "Cut release 2.4.0" => ("shell", json!({ "command": "git push origin v2.4.0" })),
        "Migrate the database" => {
            let options = json!(["Staging", "Production", "Skip this step"]);
            (
                "question",
                json!({ "questions": [{ "question": "Which environment should I migrate?", "options": options }] }),
            )
        }
        _ => {
            let new = "cargo install atlas --locked\n# needs Rust 1.90 or newer";
            ("edit_file", json!({ "path": "README.md", "old_text": "npm install -g atlas", "new_text": new }))
        }
    };
    Reply::calls([call("call_1", tool, &arguments)])
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let stage = Stage::new(ScriptedModel::answering(Style::OpenAi, script).await);
    std::fs::write(stage.work().join("README.md"), README).expect("a file to edit");
    let desktop = Desktop::start().await;
    let _tray = sayso_tests::tray::TrayWatcher::start(&desktop.bus).await;
    let _notifications = sayso_tests::notifications::FakeNotifications::start(
        &desktop.bus,
        sayso_tests::notifications::Behaviour::with_actions(),
    )
    .await;
    let data = stage.sayso.data_dir().to_string_lossy().into_owned();
    let page = Session::window(&desktop, &desktop_bin(), &["--data-dir", &data], &[]).await;
    page.wait_text("Nothing waits for you").await;
    save(&page, "empty").await;
    for (agent, task, more) in [
        ("docs-agent", "Bring the README up to date", json!({})),
        ("release-bot", "Migrate the database", json!({})),
        ("release-bot", "Cut release 2.4.0", json!({ "ask_timeout_seconds": 280 })),
    ] {
        ask(&stage, agent, task, more).await;
    }
    for (prompt, name) in [("Edit README.md", "edit"), ("Which environment", "question"), ("Run", "inbox")] {
        page.press("Inbox").await;
        let option = format!("//*[@role='option'][contains(., '{prompt}')]");
        let option = page.client.wait().for_element(fantoccini::Locator::XPath(&option)).await;
        option.expect("the request is in the list").click().await.expect("it can be selected");
        // The buttons come alive once the guard has passed.
        wait_until("a decision can be made", SOON, async || {
            let script = "return [...document.querySelectorAll('footer button')].every(one => !one.disabled)";
            page.client.execute(script, Vec::new()).await.is_ok_and(|ready| ready == json!(true))
        })
        .await;
        save(&page, name).await;
    }
    page.end().await;
}

async fn ask(stage: &Stage, agent: &str, task: &str, more: Value) {
    let mut setup = stage.setup(more);
    setup["name"] = json!(agent);
    let file = stage.write_setup(&setup);
    stage.sayso.run(&["agent", "add", &file.to_string_lossy()]).await.exits(0);
    let before = stage.list().await.len();
    stage.sayso.run(&["run", "--agent", agent, task]).await.exits(0);
    wait_until("it asks", SOON, async || stage.list().await.len() > before).await;
}

/// Both themes.
async fn save(page: &Session, name: &str) {
    for theme in ["light", "dark"] {
        let script = format!("document.documentElement.dataset.theme = '{theme}'");
        page.client.execute(&script, Vec::new()).await.expect("the theme can be set");
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        // The web view hands out the frame that it drew last, so the first picture may be of what was there before.
        page.shot(&format!("{name}-{theme}")).await;
        let shot = page.shot(&format!("{name}-{theme}")).await;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/screens");
        std::fs::create_dir_all(&folder).expect("the folder for pictures");
        std::fs::copy(shot, folder.join(format!("{name}-{theme}.png"))).expect("the picture is kept");
    }
}
