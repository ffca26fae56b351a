//! What a model writes, while it writes.

use futures_util::StreamExt as _;
use sayso_tests::gate::Gate;
use sayso_tests::model::{Captured, Reply, ScriptedModel, Style, call};
use sayso_tests::rpc::Rpc;
use sayso_tests::stage::{Stage, count_lines};
use sayso_tests::wait::SOON;
use sayso_tests::webdriver::Session;
use sayso_tests::window_stage::WindowStage;
use sayso_tests::{wait_until, wait_value};
use serde_json::{Value, json};

const FIRST: &str = "I look at the folder first";
const WORDS: &str = "I look at the folder first, and then I say what is in it.";

pub(crate) const STYLES: [(Style, &str); 2] = [(Style::OpenAi, "openai"), (Style::Anthropic, "anthropic")];

/// The text that is being written, over rpc.
async fn live(rpc: &Rpc, run: &str) -> Option<String> {
    rpc.run(run).await["live"]["text"].as_str().map(str::to_owned)
}

async fn wait_live(rpc: &Rpc, run: &str, text: &str) {
    wait_until(&format!("{text:?} is being written"), SOON, async || {
        live(rpc, run).await.is_some_and(|live| live.starts_with(text))
    })
    .await;
}

fn texts(run: &Value) -> Vec<&str> {
    let messages = run["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["text"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn what_a_model_writes_is_shown_while_it_writes_and_then_its_message_is_there_once() {
    for (style, name) in STYLES {
        let gate = Gate::closed();
        let replies = [Reply::text(WORDS).held_after(FIRST, &gate)];
        let stage = Stage::new(ScriptedModel::start(style, replies).await);
        let host = stage.sayso.serve();
        let rpc = Rpc::to(&host, &stage.sayso);
        stage.add_agent(json!({ "style": name })).await;
        let run = stage.start_run("look").await;
        wait_live(&rpc, &run, FIRST).await;
        let shown = rpc.run(&run).await;
        assert_eq!((&shown["item"]["status"], texts(&shown).len()), (&json!("running"), 0));
        assert_eq!(shown["live"]["turn"], 1);
        let alone = rpc.ok("runs.live", json!({ "run": run })).await;
        assert_eq!(alone, shown["live"]);
        assert_eq!(stage.model.captured().len(), 1, "it is still the first call");
        gate.open();
        stage.wait_status(&run, "done").await;
        let shown = rpc.run(&run).await;
        assert_eq!((texts(&shown), &shown["live"]), (vec![WORDS], &Value::Null));
        assert_eq!(rpc.ok("runs.live", json!({ "run": run })).await, Value::Null);
        // What a stream says of its tokens counts as any other.
        let usage = stage.sayso.json(&["runs"]).await.exits(0).value()["usage"].clone();
        assert_eq!(usage, json!({ "input_tokens": 10, "output_tokens": 5 }));
    }
}

/// The throttle is [the host's own test](../../src-tauri/crates/host/src/live.rs); here it is that it reaches the events.
#[tokio::test]
async fn writing_is_announced_under_a_topic_of_its_own_and_not_with_each_piece() {
    let gate = Gate::closed();
    let long = "word ".repeat(2000) + "end";
    let replies = [Reply::text(&long).held_after("word", &gate)];
    let stage = Stage::new(ScriptedModel::start(Style::OpenAi, replies).await);
    let host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let token = std::fs::read_to_string(stage.sayso.data_dir().join("owner-token")).unwrap();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let events = http.get(format!("{}/events", host.url)).bearer_auth(token.trim()).send().await.unwrap();
    let mut events = events.bytes_stream();
    let run = stage.start_run("write").await;
    let (mut heard, mut is_open) = (String::new(), false);
    let done = async {
        while let Some(Ok(bytes)) = events.next().await {
            heard += &String::from_utf8_lossy(&bytes);
            if heard.contains("\"live\"") && !is_open {
                is_open = true;
                gate.open();
            }
            if is_open && stage.run_status(&run).await == "done" {
                break;
            }
        }
    };
    tokio::time::timeout(SOON, done).await.expect("the run ends");
    let of_run = format!("{{\"topic\":\"live\",\"id\":\"{run}\"}}");
    let announced = heard.matches(&of_run).count();
    assert!((1..=10).contains(&announced), "{announced} announcements of some fifty pieces: {heard}");
}

#[tokio::test]
async fn a_stop_amid_the_writing_leaves_nothing_half_said() {
    let gate = Gate::closed();
    let script = move |captured: &Captured| match captured.raw.contains("once more") {
        true => Reply::text("All of it."),
        false => Reply::text(WORDS).held_after(FIRST, &gate),
    };
    let stage = Stage::new(ScriptedModel::answering(Style::OpenAi, script).await);
    let host = stage.sayso.serve();
    let rpc = Rpc::to(&host, &stage.sayso);
    stage.add_agent(json!({})).await;
    let run = stage.start_run("look").await;
    wait_live(&rpc, &run, FIRST).await;
    rpc.ok("runs.stop", json!({ "run": run })).await;
    wait_until("nothing is being written", SOON, async || live(&rpc, &run).await.is_none()).await;
    assert_eq!(rpc.run(&run).await["item"]["status"], "interrupted");
    rpc.ok("runs.tell", json!({ "run": run, "text": "once more" })).await;
    stage.wait_status(&run, "done").await;
    assert_eq!(texts(&rpc.run(&run).await), ["All of it."]);
    assert!(!stage.model.bodies().last().unwrap().contains(FIRST), "half an answer is none");
}

fn append() -> Reply {
    let arguments = json!({ "command": "echo happened >> effect.txt" });
    Reply::turn("I append a line.", [call("c1", "shell", &arguments)])
}

#[tokio::test]
async fn a_stream_that_breaks_is_asked_again_and_half_a_call_never_runs() {
    for (style, name) in STYLES {
        // In the text, in the call's arguments where they look whole to the eye, and before anything.
        let broken =
            ["I app", "echo happened >> eff", "I append a line."].map(|said| append().broken_after(said));
        let replies = broken.into_iter().chain([append(), Reply::text("Done.")]);
        let stage = Stage::new(ScriptedModel::start(style, replies).await);
        let host = stage.sayso.serve();
        let rpc = Rpc::to(&host, &stage.sayso);
        stage.add_agent(json!({ "style": name, "tools": { "shell": "allow" } })).await;
        let run = stage.start_run("append").await;
        stage.wait_status(&run, "done").await;
        assert_eq!(count_lines(&stage.work().join("effect.txt"), "happened"), 1);
        let shown = rpc.run(&run).await;
        assert_eq!(texts(&shown), ["I append a line.", "Done."]);
        assert_eq!((shown["calls"].as_array().unwrap().len(), &shown["live"]), (1, &Value::Null));
        let bodies = stage.model.bodies();
        assert_eq!(bodies.len(), 5);
        assert!(bodies[..4].iter().all(|body| *body == bodies[0]), "the same is asked again");
        stage.model.assert_fit_to_send(&[]);
    }
}

#[tokio::test]
async fn a_stream_that_breaks_each_time_ends_as_a_clear_error_and_nothing_runs() {
    let breaking = async |(style, name)| {
        let script = |_: &Captured| append().broken_after("echo happened");
        let stage = Stage::new(ScriptedModel::answering(style, script).await);
        let host = stage.sayso.serve();
        stage.add_agent(json!({ "style": name, "tools": { "shell": "allow" } })).await;
        let run = stage.start_run("append").await;
        stage.wait_status(&run, "error").await;
        let shown = Rpc::to(&host, &stage.sayso).run(&run).await;
        let why = shown["item"]["detail"].as_str().unwrap();
        assert!(
            why.contains("broke before its answer was complete") && why.contains("Nothing more was run"),
            "{why}"
        );
        assert_eq!((shown["calls"].as_array().unwrap().len(), &shown["live"]), (0, &Value::Null));
        assert!(!stage.work().join("effect.txt").exists());
        assert_eq!(stage.list().await.len(), 0);
        assert_eq!(stage.model.captured().len(), 4, "as often as any broken connection");
    };
    tokio::join!(breaking(STYLES[0]), breaking(STYLES[1]));
}

#[tokio::test]
async fn a_server_that_cannot_stream_works_whether_it_says_so_or_ignores_it_or_is_not_asked() {
    let refuses = |captured: &Captured| match captured.json["stream"] == true {
        true => {
            let body = json!({ "error": { "message": "streaming is not supported" } }).to_string();
            Reply::Raw { status: 400, headers: Vec::new(), body }
        }
        false => Reply::text(WORDS),
    };
    let ignores = |_: &Captured| Reply::text(WORDS).whole();
    let is_not_asked = |captured: &Captured| match captured.json["stream"] == true {
        true => Reply::status(400),
        false => Reply::text(WORDS),
    };
    for (style, name) in STYLES {
        let ways: [(ScriptedModel, Value); 3] = [
            (ScriptedModel::answering(style, refuses).await, json!({})),
            (ScriptedModel::answering(style, ignores).await, json!({})),
            (ScriptedModel::answering(style, is_not_asked).await, json!({ "stream": false })),
        ];
        for (model, mut more) in ways {
            let stage = Stage::new(model);
            let _host = stage.sayso.serve();
            more["style"] = json!(name);
            stage.add_agent(more).await;
            let run = stage.sayso.json(&["run", "--agent", "worker", "go", "--wait"]).await.exits(0).values();
            assert_eq!(run.last().unwrap()["text"], WORDS);
            stage.sayso.run(&["agent", "test", "worker"]).await.exits(0);
        }
    }
}

/// In a page: the words are there while the model stands still, once, with a mark that they go on; then the message takes
/// their place.
async fn watch(page: &Session, stage: &Stage, gate: &Gate, picture: &str) {
    let run = stage.start_run("Say what is in the folder").await;
    page.press("Runs").await;
    page.wait_text(FIRST).await;
    assert!(!gate_is_passed(stage, &run).await, "it is still writing");
    page.find(".caret").await;
    assert!(!page.text().await.contains("and then I say"));
    page.shot(picture).await;
    // Whatever comes in between, the words are never gone and never there twice.
    gate.open();
    let counted = wait_value("the whole message is there", SOON, async || {
        let text = page.text().await;
        assert_eq!(text.matches(FIRST).count(), 1, "{text}");
        text.contains("and then I say what is in it.").then_some(text)
    })
    .await;
    assert_eq!(counted.matches(FIRST).count(), 1);
    stage.wait_status(&run, "done").await;
    wait_until("the caret is gone", SOON, async || {
        let carets = "return document.querySelectorAll('.caret').length";
        page.client.execute(carets, Vec::new()).await.is_ok_and(|count| count == json!(0))
    })
    .await;
    assert_eq!(page.text().await.matches(FIRST).count(), 1);
}

async fn gate_is_passed(stage: &Stage, run: &str) -> bool {
    stage.run_status(run).await != "running"
}

async fn writing_stage(gate: &Gate) -> Stage {
    let gate = gate.clone();
    let script = move |_: &Captured| Reply::text(WORDS).held_after(FIRST, &gate);
    Stage::new(ScriptedModel::answering(Style::OpenAi, script).await)
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn in_the_window_text_appears_while_the_model_is_still_writing() {
    let gate = Gate::closed();
    let window = WindowStage::open(writing_stage(&gate).await).await;
    window.page.wait_text("Nothing waits for you").await;
    window.stage.add_agent(json!({})).await;
    watch(&window.page, &window.stage, &gate, "window-writing").await;
    window.page.end().await;
}

#[tokio::test]
#[ignore = "needs Chromium and the built UI: `make test` has them"]
async fn in_the_browser_text_appears_while_the_model_is_still_writing() {
    let gate = Gate::closed();
    let stage = writing_stage(&gate).await;
    let _host = stage.sayso.serve();
    stage.add_agent(json!({})).await;
    let link = stage.sayso.run(&["open"]).await.exits(0).stdout.trim().to_owned();
    let page = Session::chromium().await;
    page.goto(&link).await;
    watch(&page, &stage, &gate, "browser-writing").await;
    page.end().await;
}
