//! The app in the background, and whoever asks.

use std::process::{Command, Stdio};

use sayso_tests::desktop::Desktop;
use sayso_tests::process::OwnedChild;
use sayso_tests::rpc::Rpc;
use sayso_tests::sayso::{Sayso, desktop_bin};
use sayso_tests::wait::SOON;
use sayso_tests::{wait_until, wait_value};
use serde_json::{Value, json};

/// The app without a window.
pub(crate) struct Background {
    pub(crate) desktop: Desktop,
    pub(crate) app: OwnedChild,
    asking: Asking,
}

/// Who asks and decides in the app of a desktop.
pub(crate) struct Asking {
    pub(crate) sayso: Sayso,
    pub(crate) rpc: Rpc,
}

impl std::ops::Deref for Background {
    type Target = Asking;

    fn deref(&self) -> &Asking {
        &self.asking
    }
}

impl Background {
    /// On a new desktop with nothing on its bus.
    pub(crate) async fn start() -> Self {
        Self::start_on(Desktop::start().await).await
    }

    /// On a desktop that is prepared, for example with a notification service.
    pub(crate) async fn start_on(desktop: Desktop) -> Self {
        let app = OwnedChild::start(&mut command(&desktop, &["--background"]));
        let asking = Asking::of(&desktop).await;
        Self { desktop, app, asking }
    }

    /// Ends the app by force and starts it again, with something done in between.
    pub(crate) async fn kill_and_start(&mut self, between: impl FnOnce(&Sayso)) {
        self.app.kill();
        std::fs::remove_file(self.sayso.data_dir().join("endpoint.json")).unwrap();
        between(&self.sayso);
        self.app = OwnedChild::start(&mut command(&self.desktop, &["--background"]));
        self.asking = Asking::of(&self.desktop).await;
    }

    /// Until the app would find this request's notification again after it was killed.
    pub(crate) async fn wait_remembered(&self, key: &str) {
        wait_until("what is shown is remembered", SOON, async || {
            let run = self.desktop.home().join("run");
            let folders = std::fs::read_dir(run).unwrap().flatten();
            folders
                .map(|folder| folder.path().join("notifications.json"))
                .any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(key)))
        })
        .await;
    }

    pub(crate) fn has_window(&self) -> bool {
        self.desktop.display.windows().iter().any(|title| title.contains("Sayso"))
    }

    pub(crate) async fn wait_window(&self) {
        wait_until("a window is open", SOON, async || self.has_window()).await;
    }
}

impl Asking {
    /// Once the app's host has its doors open.
    pub(crate) async fn of(desktop: &Desktop) -> Self {
        let sayso = Sayso::new(&desktop.data_dir());
        let file = sayso.data_dir().join("endpoint.json");
        let url = wait_value("the host has its doors open", SOON, async || {
            let endpoint: Value = serde_json::from_slice(&std::fs::read(&file).ok()?).ok()?;
            endpoint["url"].as_str().map(str::to_owned)
        });
        let rpc = Rpc::at(&url.await, sayso.data_dir());
        rpc.call("status", json!({})).await.unwrap();
        Self { sayso, rpc }
    }

    /// A program of this machine asks for a yes or no; gives the request's key.
    pub(crate) async fn ask(&self, prompt: &str) -> String {
        self.ask_with(prompt, &[]).await
    }

    /// The same with more of `sayso ask`'s options.
    pub(crate) async fn ask_with(&self, prompt: &str, more: &[&str]) -> String {
        let arguments: Vec<_> = ["ask", prompt].iter().chain(more).copied().collect();
        let asked = self.sayso.json(&arguments).await.exits(4).value();
        asked["key"].as_str().expect("a key").to_owned()
    }

    /// A request whose arguments nobody should approve in passing.
    pub(crate) async fn ask_high_risk(&self, prompt: &str) -> String {
        let data = json!({ "tool": "shell", "arguments": { "command": "rm -rf /" } });
        let key = self.ask_with(prompt, &["--data", &data.to_string()]).await;
        let shown = self.rpc.call("inbox.show", json!({ "key": key })).await.unwrap();
        assert_eq!(shown["item"]["risk"], "high", "{shown}");
        key
    }

    pub(crate) async fn set(&self, changes: Value) {
        self.rpc.call("settings.set", changes).await.unwrap();
    }

    /// `pending`, or how it ended.
    pub(crate) async fn state(&self, key: &str) -> String {
        let shown = self.rpc.call("inbox.show", json!({ "key": key })).await.unwrap();
        shown["item"]["state"].as_str().unwrap().to_owned()
    }

    /// Waits until a request ended so, and gives the surface that decided it.
    pub(crate) async fn decided(&self, key: &str, outcome: &str) -> String {
        wait_until(&format!("{key} is {outcome}"), SOON, async || self.state(key).await == outcome).await;
        let shown = self.rpc.call("inbox.show", json!({ "key": key })).await.unwrap();
        shown["decision"]["surface"].as_str().unwrap_or_default().to_owned()
    }

    /// Decides from the command line.
    pub(crate) async fn deny(&self, key: &str) {
        self.sayso.run(&["deny", key]).await.exits(0);
    }

    /// What the app says of itself.
    pub(crate) async fn status(&self) -> Value {
        self.rpc.call("status", json!({})).await.unwrap()
    }
}

/// The app on a desktop, with these arguments.
pub(crate) fn command(desktop: &Desktop, arguments: &[&str]) -> Command {
    let mut command = Command::new(desktop_bin());
    desktop.apply(&mut command);
    command.args(arguments).stdin(Stdio::null());
    command
}
