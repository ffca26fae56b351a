//! The tests' own tools, tried on real things: a bus, a display, a browser and HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use sayso_tests::bus::PrivateBus;
use sayso_tests::desktop::Desktop;
use sayso_tests::display::Display;
use sayso_tests::model::{Reply, ScriptedModel, Style, call};
use sayso_tests::notifications::{Behaviour, FakeNotifications};
use sayso_tests::tray::{MenuEntry, TrayWatcher};
use sayso_tests::webdriver::Session;
use sayso_tests::{wait, wait_until};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::Command;
use std::time::Duration;
use zbus::zvariant::{OwnedObjectPath, Structure};

type Hints = HashMap<&'static str, zbus::zvariant::Value<'static>>;

async fn notify(connection: &zbus::Connection, replaces: u32, summary: &str) -> zbus::Result<u32> {
    let hints = Hints::from([("urgency", 1_u8.into())]);
    let body = ("Sayso", replaces, "", summary, "body", vec!["k1", "Approve", "k2", "Deny"], hints, -1_i32);
    let (name, path) = ("org.freedesktop.Notifications", "/org/freedesktop/Notifications");
    let reply = connection.call_method(Some(name), path, Some(name), "Notify", &body).await?;
    reply.body().deserialize()
}

#[tokio::test]
async fn a_bus_is_private_and_ends_with_its_value() {
    let (one, two) = (PrivateBus::start(), PrivateBus::start());
    assert_ne!(one.address(), two.address());
    let connection = one.connect().await;
    connection.request_name("org.example.Alone").await.unwrap();
    two.connect().await.request_name("org.example.Alone").await.unwrap();
    let address = one.address().to_owned();
    drop(one);
    let again = zbus::connection::Builder::address(address.as_str()).unwrap().build().await;
    assert!(again.is_err(), "the daemon outlived its value");
}

#[tokio::test]
async fn the_notification_service_records_presses_and_withdrawals() {
    let bus = PrivateBus::start();
    let service = FakeNotifications::start(&bus, Behaviour::with_actions()).await;
    let app = bus.connect().await;
    let mut presses = {
        let rule = "type='signal',interface='org.freedesktop.Notifications',member='ActionInvoked'";
        zbus::MessageStream::for_match_rule(rule, &app, None).await.unwrap()
    };
    let id = notify(&app, 0, "May I?").await.unwrap();
    let shown = service.wait_for("May I?").await;
    assert_eq!(shown.id, id);
    assert_eq!(shown.actions, [("k1".into(), "Approve".into()), ("k2".into(), "Deny".into())]);
    assert_eq!(shown.hints["urgency"], "U8(1)");

    service.press(id, "k1").await;
    let message = futures_util::StreamExt::next(&mut presses).await.unwrap().unwrap();
    assert_eq!(message.body().deserialize::<(u32, String)>().unwrap(), (id, "k1".to_owned()));
    FakeNotifications::forge_press(&bus, id, "k2").await;
    let message = futures_util::StreamExt::next(&mut presses).await.unwrap().unwrap();
    assert_eq!(message.body().deserialize::<(u32, String)>().unwrap(), (id, "k2".to_owned()));

    assert_eq!(notify(&app, id, "May I now?").await.unwrap(), id);
    let name = "org.freedesktop.Notifications";
    let path = "/org/freedesktop/Notifications";
    app.call_method(Some(name), path, Some(name), "CloseNotification", &id).await.unwrap();
    service.wait_withdrawn(id).await;
    assert_eq!(service.shown().len(), 2);
}

#[tokio::test]
async fn a_hanging_notification_service_records_but_never_replies() {
    let bus = PrivateBus::start();
    let service = FakeNotifications::start(&bus, Behaviour::hanging()).await;
    let app = bus.connect().await;
    let asked = tokio::time::timeout(Duration::from_millis(300), notify(&app, 0, "Anyone there?")).await;
    assert!(asked.is_err(), "it replied");
    assert_eq!(service.shown().len(), 1);
}

#[tokio::test]
async fn an_absent_notification_service_is_an_error_at_once() {
    let bus = PrivateBus::start();
    assert!(notify(&bus.connect().await, 0, "Nobody").await.is_err());
}

/// A tray item and its menu as a desktop app has them, small enough to check the reader with.
struct Item;

#[zbus::interface(name = "org.kde.StatusNotifierItem")]
impl Item {
    #[zbus(property)]
    async fn menu(&self) -> OwnedObjectPath {
        OwnedObjectPath::try_from("/Menu").unwrap()
    }

    #[zbus(property, name = "XAyatanaLabel")]
    async fn label(&self) -> String {
        "2".to_owned()
    }
}

struct Menu {
    pressed: tokio::sync::mpsc::UnboundedSender<i32>,
}

type Layout = (i32, HashMap<String, zbus::zvariant::Value<'static>>, Vec<zbus::zvariant::Value<'static>>);

#[zbus::interface(name = "com.canonical.dbusmenu")]
impl Menu {
    async fn get_layout(&self, _parent: i32, _depth: i32, _names: Vec<String>) -> (u32, Layout) {
        let entry = |id: i32, label: &'static str, enabled: bool| {
            let properties =
                HashMap::from([("label".to_owned(), label.into()), ("enabled".to_owned(), enabled.into())]);
            let layout: Layout = (id, properties, Vec::new());
            zbus::zvariant::Value::from(Structure::from(layout))
        };
        (1, (0, HashMap::new(), vec![entry(1, "_Open Sayso", true), entry(2, "2 waiting", false)]))
    }

    async fn event(&self, id: i32, kind: String, _data: zbus::zvariant::OwnedValue, _at: u32) {
        assert_eq!(kind, "clicked");
        self.pressed.send(id).unwrap();
    }
}

#[tokio::test]
async fn the_tray_watcher_reads_and_presses_a_menu() {
    let bus = PrivateBus::start();
    let watcher = TrayWatcher::start(&bus).await;
    let (pressed, mut presses) = tokio::sync::mpsc::unbounded_channel();
    let app = bus.connect().await;
    app.object_server().at("/Item", Item).await.unwrap();
    app.object_server().at("/Menu", Menu { pressed }).await.unwrap();
    let (name, path) = ("org.kde.StatusNotifierWatcher", "/StatusNotifierWatcher");
    app.call_method(Some(name), path, Some(name), "RegisterStatusNotifierItem", &"/Item").await.unwrap();

    let item = watcher.item().await;
    assert_eq!(watcher.count(), 1);
    assert_eq!(item.label().await, "2");
    let entry =
        |id, label: &str, enabled| MenuEntry { id, label: label.to_owned(), enabled, children: Vec::new() };
    assert_eq!(item.menu().await, [entry(1, "Open Sayso", true), entry(2, "2 waiting", false)]);
    item.press("Open").await;
    assert_eq!(presses.recv().await, Some(1));
}

#[tokio::test]
async fn a_display_shows_windows_and_can_be_looked_at() {
    let display = Display::start().await;
    assert!(display.windows().is_empty());
    let picture = display.picture();
    assert_eq!((picture.width, picture.height), (1280, 800));
    assert!(picture.colours(9) == 1, "an empty screen has one colour");
    let folder = tempfile::tempdir().unwrap();
    let file = picture.save(&folder.path().join("screen.png"));
    assert_eq!(std::fs::read(file).unwrap()[..4], *b"\x89PNG");
}

#[tokio::test]
async fn a_desktop_ends_what_was_started_in_it() {
    let desktop = Desktop::start().await;
    let mut command = Command::new("sleep");
    desktop.apply(&mut command);
    let mut orphan = command.arg("300").spawn().unwrap();
    wait_until("the process is seen", wait::SOON, async || desktop.processes().contains_key(&orphan.id()))
        .await;
    drop(desktop);
    assert!(!orphan.wait().unwrap().success(), "it ended by itself");
}

#[tokio::test]
async fn chromium_opens_a_page_reads_and_presses() {
    let browser = Session::chromium().await;
    let page = "<title>Hello</title><p id=p>before</p><button>Press me not</button><label>Your name <input></label>
        <button onclick=\"p.textContent = 'after ' + document.querySelector('input').value\">Press me</button>
        <script>addEventListener('keydown', event => { if (event.key === 'j') p.textContent = 'down'; })</script>";
    let model = ScriptedModel::start(Style::OpenAi, [Reply::html(page)]).await;
    browser.goto(&model.base_url()).await;
    assert_eq!(browser.client.title().await.unwrap(), "Hello");
    browser.wait_text("before").await;
    browser.fill("Your name", "Ada").await;
    browser.press("Press me").await;
    browser.wait_text("after Ada").await;
    browser.wait_gone("before").await;
    browser.type_keys("j").await;
    browser.wait_text("down").await;
    assert_eq!(browser.find("#p").await.text().await.unwrap(), "down");
    let (_, _, width, _) = browser.client.get_window_rect().await.unwrap();
    assert!(width > 0, "numbers pass through the client");
    assert_eq!(
        browser.client.execute("return 9007199254740991", vec![]).await.unwrap(),
        json!(9007199254740991_u64)
    );
    assert!(std::fs::metadata(browser.shot("support-selftest").await).unwrap().len() > 500);
    browser.end().await;
}

#[tokio::test]
async fn a_failing_test_leaves_no_browser_behind() {
    let browser = Session::chromium().await;
    let home = browser.home().to_string_lossy().into_owned();
    let left = async || sayso_tests::process::with_environment("HOME", &home);
    assert!(left().await.len() > 1, "the driver and the browser run");
    drop(browser);
    wait_until("nothing is left", wait::SOON, async || left().await.is_empty()).await;
}

/// WebKit's own small browser, which stands where the app will.
fn mini_browser() -> std::path::PathBuf {
    let libraries = std::fs::read_dir("/usr/lib").unwrap().flatten();
    let files = libraries.map(|folder| folder.path().join("webkit2gtk-4.1/MiniBrowser"));
    files.into_iter().find(|file| file.is_file()).expect("WebKitGTK ships its small browser")
}

#[tokio::test]
async fn a_webkit_window_opens_a_page_reads_presses_and_ends() {
    let desktop = Desktop::start().await;
    let browser = mini_browser();
    let window = Session::window(&desktop, &browser, &["--automation"], &[]).await;
    let page =
        "<title>Hello</title><p id=p>before</p><button onclick=\"p.textContent='after'\">Press me</button>";
    let model = ScriptedModel::start(Style::OpenAi, [Reply::html(page)]).await;
    window.goto(&model.base_url()).await;
    window.wait_text("before").await;
    window.press("Press").await;
    window.wait_text("after").await;
    assert!(desktop.display.picture().colours(9) >= 9, "the window is on the display");
    let names: Vec<_> = desktop.processes().into_values().collect();
    assert!(names.iter().any(|name| name.starts_with("WebKitWebProces")), "{names:?}");
    window.end().await;
    wait_until("nothing is left", wait::SOON, async || desktop.processes().is_empty()).await;
}

async fn ask(model: &ScriptedModel, path: &str, body: &Value) -> reqwest::Result<reqwest::Response> {
    let url = format!("{}{path}", model.base_url());
    reqwest::Client::new().post(url).header("authorization", "Bearer k").json(body).send().await
}

#[tokio::test]
async fn the_model_speaks_both_styles_and_keeps_every_body() {
    let arguments = json!({ "path": "a.txt" });
    for (style, path) in [(Style::OpenAi, "/chat/completions"), (Style::Anthropic, "/v1/messages")] {
        let replies = [Reply::calls([call("c1", "read_file", &arguments)]), Reply::text("done")];
        let model = ScriptedModel::start(style, replies).await;
        let body = json!({ "messages": [{ "role": "user", "content": "go" }], "n": 9007199254740993_u64 });
        let first: Value = ask(&model, path, &body).await.unwrap().json().await.unwrap();
        let (asked, given) = match style {
            Style::OpenAi => {
                let call = &first["choices"][0]["message"]["tool_calls"][0];
                let given = call["function"]["arguments"].as_str().unwrap().to_owned();
                (call["id"].clone(), given)
            }
            Style::Anthropic => (first["content"][0]["id"].clone(), first["content"][0]["input"].to_string()),
        };
        assert_eq!((asked, given), (json!("c1"), arguments.to_string()));
        let second = ask(&model, path, &body).await.unwrap().text().await.unwrap();
        assert!(second.contains("done"));
        assert_eq!(ask(&model, path, &body).await.unwrap().status(), 400, "nothing more was scripted");

        model.wait_requests(3).await;
        let captured = model.captured();
        assert!(captured[0].path.ends_with(path));
        assert_eq!(captured[0].headers["authorization"], "Bearer k");
        assert!(captured[0].raw.contains("9007199254740993"));
        assert_eq!(captured[0].json, body);
        model.assert_balanced();
    }
}

#[tokio::test]
async fn the_model_fails_in_every_way_a_model_can() {
    let replies =
        [Reply::status(503), Reply::html("<h1>Hi</h1>"), Reply::body("{\"choices\": ["), Reply::Dropped];
    let model = ScriptedModel::start(Style::OpenAi, replies).await;
    let body = json!({ "messages": [] });
    let next = async || ask(&model, "/chat/completions", &body).await;
    assert_eq!(next().await.unwrap().status(), 503);
    assert_eq!(next().await.unwrap().headers()["content-type"], "text/html");
    assert!(next().await.unwrap().json::<Value>().await.is_err());
    assert!(next().await.is_err(), "the connection was not dropped");
    model.push(Reply::text("late").after(Duration::from_millis(80)));
    let started = std::time::Instant::now();
    assert_eq!(next().await.unwrap().status(), 200);
    assert!(started.elapsed() >= Duration::from_millis(80));
}
