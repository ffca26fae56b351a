//! Starting with the session, links, the shortcut, and where the window was.

use sayso_tests::desktop::Desktop;
use sayso_tests::process::OwnedChild;
use sayso_tests::tray::TrayWatcher;
use sayso_tests::wait::SOON;
use sayso_tests::wait_until;
use serde_json::json;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::protocol::xtest::ConnectionExt as _;

use crate::stage::{Background, command};

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn starting_with_the_session_is_an_entry_of_the_desktops_and_goes_when_it_is_not_wanted() {
    let app = Background::start().await;
    let entry = app.desktop.home().join(".config/autostart/sayso-desktop.desktop");
    wait_until("it is known", SOON, async || app.status().await["autostart"]["ok"] == true).await;
    assert!(!entry.exists());
    app.set(json!({ "autostart": true })).await;
    wait_until("the entry is there", SOON, async || entry.exists()).await;
    let text = std::fs::read_to_string(&entry).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("Exec=")).unwrap();
    assert!(line.ends_with("sayso-desktop --background"), "{text}");
    app.set(json!({ "autostart": false })).await;
    wait_until("the entry is gone", SOON, async || !entry.exists()).await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_link_opens_its_request_and_a_hostile_one_does_nothing() {
    let app = Background::start().await;
    let key = app.ask("Plant a tree?").await;
    for hostile in
        [format!("sayso://request/{key}?ok=true"), format!("sayso://approve/{key}"), "sayso:".to_owned()]
    {
        let mut second = OwnedChild::start(&mut command(&app.desktop, &[&hostile]));
        let status = second.wait(SOON).await;
        assert_eq!(status.code(), Some(2), "{hostile}");
    }
    let mut second = OwnedChild::start(&mut command(&app.desktop, &["--background"]));
    assert!(second.wait(SOON).await.success());
    assert!(!app.has_window(), "nothing was opened so far");
    let mut second = OwnedChild::start(&mut command(&app.desktop, &[&format!("sayso://request/{key}")]));
    assert!(second.wait(SOON).await.success());
    app.wait_window().await;
    assert_eq!(app.state(&key).await, "pending");
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn the_shortcut_opens_the_inbox_from_anywhere() {
    let app = Background::start().await;
    assert!(app.status().await["global_shortcut"].is_null());
    app.set(json!({ "global_shortcut": "Ctrl+Alt+S" })).await;
    wait_until("it is listened for", SOON, async || app.status().await["global_shortcut"]["ok"] == true)
        .await;
    let keys = Keys::on(app.desktop.display.name());
    assert!(!app.has_window());
    keys.press(&[0xffe3, 0xffe9, u32::from(b's')]);
    app.wait_window().await;
    app.set(json!({ "global_shortcut": null })).await;
    wait_until("it is let go", SOON, async || app.status().await["global_shortcut"].is_null()).await;
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn a_key_that_no_keyring_takes_is_refused_and_is_in_no_file() {
    const KEY: &str = "sk-this-must-stay-away";
    let app = Background::start().await;
    // No keyring is on this bus.
    let refused = app.rpc.call("keys.set", json!({ "name": "work", "value": KEY })).await;
    assert_eq!(refused, Err("bad_request".to_owned()));
    assert_eq!(app.rpc.call("keys.list", json!({})).await, Ok(json!([])), "what was not kept is not listed");
    let mut open = vec![app.desktop.home().to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.is_file() {
            let holds =
                std::fs::read(&path).unwrap().windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!holds, "{} holds the key", path.display());
        }
    }
}

/// A keyboard.
struct Keys {
    display: x11rb::rust_connection::RustConnection,
}

impl Keys {
    fn on(display: &str) -> Self {
        Self { display: x11rb::connect(Some(display)).unwrap().0 }
    }

    /// Presses keys by what they are called in X, one after the other, and lets them go.
    fn press(&self, symbols: &[u32]) {
        let setup = self.display.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let map = self.display.get_keyboard_mapping(first, last - first + 1).unwrap().reply().unwrap();
        let per_code = usize::from(map.keysyms_per_keycode);
        let code = |symbol: u32| {
            let at = map.keysyms.chunks(per_code).position(|symbols| symbols.contains(&symbol)).unwrap();
            first + u8::try_from(at).unwrap()
        };
        const PRESS: u8 = 2;
        const RELEASE: u8 = 3;
        for symbol in symbols {
            self.display.xtest_fake_input(PRESS, code(*symbol), 0, x11rb::NONE, 0, 0, 0).unwrap();
        }
        for symbol in symbols.iter().rev() {
            self.display.xtest_fake_input(RELEASE, code(*symbol), 0, x11rb::NONE, 0, 0, 0).unwrap();
        }
        self.display.flush().unwrap();
        self.display.get_input_focus().unwrap().reply().unwrap();
    }
}

#[tokio::test]
#[ignore = "needs the built desktop app and its system packages: `make test` has them"]
async fn the_window_comes_back_where_it_was() {
    let desktop = Desktop::start().await;
    let watcher = TrayWatcher::start(&desktop.bus).await;
    let app = Background::start_on(desktop).await;
    let (item, display) = (watcher.item().await, &app.desktop.display);
    let place = || display.window_place("Sayso");
    item.press("Open Sayso").await;
    app.wait_window().await;
    display.place_window("Sayso", (150, 120, 900, 560));
    let size = |(_, _, width, height)| (width, height);
    wait_until("it is moved", SOON, async || place().map(size) == Some((900, 560))).await;
    let before = place();
    for _ in 0..2 {
        display.close_window("Sayso");
        wait_until("it is closed", SOON, async || !app.has_window()).await;
        item.press("Open Sayso").await;
        wait_until("it is where it was", SOON, async || place() == before).await;
    }
    // A place that is on no screen is not used; the size is.
    display.close_window("Sayso");
    wait_until("it is closed", SOON, async || !app.has_window()).await;
    let file = app.sayso.data_dir().join("window.json");
    let far = json!({ "x": 90_000, "y": 90_000, "width": 900, "height": 560, "maximized": false });
    std::fs::write(&file, far.to_string()).unwrap();
    item.press("Open Sayso").await;
    wait_until("it is on the screen", SOON, async || {
        place().is_some_and(|(x, y, width, height)| x < 1280 && y < 800 && (width, height) == (900, 560))
    })
    .await;
}
