//! The real window through WebKitWebDriver, and the real browser through chromedriver.

use crate::desktop::Desktop;
use crate::process::{self, OwnedChild};
use crate::{wait, wait_until, wait_value};
use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A driver needs this long after a session's end to end the app; ended earlier it leaves an orphan that is the
/// app's single instance and makes the next session hang.
const AFTERMATH: Duration = Duration::from_millis(150);

const PRESSABLE: &str =
    "button, a, summary, [role=button], [role=tab], [role=menuitem], [role=option], [role=switch]";

/// Finds what a person would find by its name.
const BY_NAME: &str = "
    const [selector, wanted] = arguments;
    const usable = [...document.querySelectorAll(selector)].filter(
        one => !one.disabled && one.getAttribute('aria-disabled') !== 'true' && one.getClientRects().length > 0);
    const names = one => [
        one.getAttribute('aria-label'), one.getAttribute('placeholder'), one.innerText,
        ...[...(one.labels || [])].map(label => label.innerText),
        ...(one.getAttribute('aria-labelledby') || '').split(' ').map(id => document.getElementById(id)?.innerText),
    ].filter(Boolean).map(name => name.trim().replace(/\\s+/g, ' '));
    return usable.find(one => names(one).includes(wanted)) ||
        usable.find(one => names(one).some(name => name.startsWith(wanted))) || null;
";

/// A session with one window. Call [`Session::end`] when done; dropping, as a failing test does, ends the driver and
/// the browser at once.
#[derive(Debug)]
pub struct Session {
    /// The WebDriver client, for what has no shorthand here.
    pub client: Client,
    driver: OwnedChild,
    /// The home folder of the driver and the browser, where the session has one of its own.
    profile: TempDir,
}

impl Session {
    /// Starts the desktop app `binary` under WebKitWebDriver and waits until its window has a page.
    pub async fn window(
        desktop: &Desktop,
        binary: &Path,
        arguments: &[&str],
        extra: &[(&str, &str)],
    ) -> Self {
        assert!(binary.is_absolute() && binary.is_file(), "no app at {}", binary.display());
        let profile = tempfile::tempdir().expect("a temporary folder");
        let log = profile.path().join("driver.log");
        let port = free_port();
        let mut command = process::logged("WebKitWebDriver", &log);
        desktop.apply(&mut command);
        command.arg(format!("--port={port}")).arg("--host=127.0.0.1");
        command.env("TAURI_WEBVIEW_AUTOMATION", "true").envs(extra.iter().copied());
        let driver = OwnedChild::start(&mut command);
        let options = json!({ "webkitgtk:browserOptions": { "binary": binary, "args": arguments } });
        Self::connect(driver, port, options, profile, &log).await
    }

    /// Starts headless Chromium with a fresh profile.
    pub async fn chromium() -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let log = profile.path().join("driver.log");
        let program = process::find_program("chromedriver").expect("chromedriver is installed");
        let mut command = process::logged(program, &log);
        command.arg("--port=0").env("HOME", profile.path()).env("XDG_CONFIG_HOME", profile.path());
        command.env_remove("DISPLAY").env_remove("DBUS_SESSION_BUS_ADDRESS").stdout(Stdio::piped());
        let mut driver = OwnedChild::start(&mut command);
        let port = driver.read_line(Duration::from_secs(20), |line| {
            line.split_once("started successfully on port ")?.1.trim_end_matches('.').parse::<u16>().ok()
        });
        let data = profile.path().join("profile");
        let data = format!("--user-data-dir={}", data.display());
        let mut switches = vec!["--headless=new", "--disable-gpu", "--no-first-run", &data];
        switches.extend(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
        switches.extend(["--disable-dev-shm-usage", "--window-size=1180,900"]);
        if rustix::process::geteuid().is_root() {
            switches.push("--no-sandbox");
        }
        let chromium = ["chromium", "google-chrome"].into_iter().find_map(process::find_program);
        let chromium = chromium.expect("chromium is installed");
        let options = json!({ "goog:chromeOptions": { "binary": chromium, "args": switches } });
        Self::connect(driver, port, options, profile, &log).await
    }

    async fn connect(driver: OwnedChild, port: u16, options: Value, profile: TempDir, log: &Path) -> Self {
        let Value::Object(capabilities) = options else { unreachable!("capabilities are an object") };
        wait_until("the driver listens", wait::SOON, async || {
            tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok()
        })
        .await;
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(capabilities);
        let address = format!("http://127.0.0.1:{port}");
        let connected = tokio::time::timeout(Duration::from_secs(60), builder.connect(&address)).await;
        let said = || fs::read_to_string(log).unwrap_or_default();
        let client = match connected {
            Ok(Ok(client)) => client,
            Ok(Err(error)) => panic!("no session: {error}; the driver said: {}", said()),
            Err(_) => panic!("no session within a minute; the driver said: {}", said()),
        };
        Self { client, driver, profile }
    }

    /// The home folder of the driver; Chromium's too.
    pub fn home(&self) -> &Path {
        self.profile.path()
    }

    /// Opens `url`.
    pub async fn goto(&self, url: &str) {
        self.client.goto(url).await.unwrap_or_else(|error| panic!("cannot open {url}: {error}"));
    }

    /// The text a person can read now.
    pub async fn text(&self) -> String {
        let script = "return document.body ? document.body.innerText : ''";
        let text = self.client.execute(script, Vec::new()).await;
        text.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Waits until the page shows `text`.
    pub async fn wait_text(&self, text: &str) {
        let started = std::time::Instant::now();
        loop {
            let shown = self.text().await;
            if shown.contains(text) {
                return;
            }
            assert!(started.elapsed() < wait::SOON, "the page never shows {text:?}, but: {shown}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until the page no longer shows `text`.
    pub async fn wait_gone(&self, text: &str) {
        let what = format!("{text:?} is no longer shown");
        wait_until(&what, wait::SOON, async || !self.text().await.contains(text)).await;
    }

    /// Waits for the first element that matches the CSS `selector`.
    pub async fn find(&self, selector: &str) -> Element {
        let what = format!("an element {selector} is on the page");
        wait_value(&what, wait::SOON, async || self.client.find(Locator::Css(selector)).await.ok()).await
    }

    /// Clicks the button, link, tab or option called `name`, once it is there and enabled: the one whose label or
    /// text is exactly that, else the first that starts with it.
    pub async fn press(&self, name: &str) {
        let button = self.named(PRESSABLE, name).await;
        button.click().await.unwrap_or_else(|error| panic!("cannot press {name:?}: {error}"));
    }

    /// Types `text` into the field called `name` by its label or placeholder, in place of what it held.
    pub async fn fill(&self, name: &str, text: &str) {
        let field = self.named("input, textarea, select", name).await;
        field.clear().await.unwrap_or_else(|error| panic!("cannot empty {name:?}: {error}"));
        field.send_keys(text).await.unwrap_or_else(|error| panic!("cannot type into {name:?}: {error}"));
    }

    /// Types `keys` with the page in focus, for single-key commands.
    pub async fn type_keys(&self, keys: &str) {
        let body = self.find("body").await;
        body.send_keys(keys).await.unwrap_or_else(|error| panic!("cannot type {keys:?}: {error}"));
    }

    /// Waits for a visible, enabled element that matches `selector` and is called `name`.
    async fn named(&self, selector: &str, name: &str) -> Element {
        let what = format!("{name:?} is there and enabled");
        wait_value(&what, wait::SOON, async || {
            let arguments = vec![json!(selector), json!(name)];
            let found = self.client.execute(BY_NAME, arguments).await.ok()?;
            let id = found.as_object()?.values().next()?.as_str()?.to_owned();
            Some(Element::from_element_id(self.client.clone(), id.into()))
        })
        .await
    }

    /// Saves what the page looks like as `NAME.png` beside the build's output, in `shots`, and says where.
    pub async fn shot(&self, name: &str) -> PathBuf {
        let folder = crate::sayso::build_folder().join("shots");
        fs::create_dir_all(&folder).expect("the folder for pictures can be made");
        let file = folder.join(format!("{name}.png"));
        let picture = self.client.screenshot().await.expect("a picture of the page");
        fs::write(&file, picture).expect("the picture can be written");
        file
    }

    /// Ends the session, gives the driver the time it needs to end the app, then ends the driver.
    pub async fn end(mut self) {
        let _ = self.client.clone().close().await;
        tokio::time::sleep(AFTERMATH).await;
        let _ = self.driver.terminate(Duration::from_secs(10)).await;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        process::end_all_of_home(self.profile.path());
    }
}

/// A port nobody listens on at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// Whether the programs for [`Session::chromium`] are installed.
pub fn has_chromium() -> bool {
    ["chromium", "chromedriver"].into_iter().all(|name| process::find_program(name).is_some())
}

/// A command with this desktop's environment, for apps that are watched from outside.
pub fn command_on(desktop: &Desktop, program: &Path) -> Command {
    let mut command = Command::new(program);
    desktop.apply(&mut command);
    command
}
