//! Measures the release build of the desktop app beside an empty Tauri app, from outside and in the same run, and
//! prints a page of Markdown. `make measure` builds both and writes the page to docs/measurements.md.
//!
//! Usage: `measure SAYSO_DESKTOP EMPTY_TAURI [DEB]`. The times of `make run` and `make test` on a fresh machine come
//! from the environment (`MADE_RUN`, `MADE_TEST`), as those who measured them wrote them down.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a measurement that fails has no result")]

use sayso_tests::desktop::Desktop;
use sayso_tests::display::Display;
use sayso_tests::notifications::{Behaviour, FakeNotifications};
use sayso_tests::process::{OwnedChild, proportional_set_size};
use sayso_tests::tray::TrayWatcher;
use sayso_tests::webdriver::command_on;
use sayso_tests::{wait_until, wait_value};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Starts are repeated this often and the median is told.
const STARTS: usize = 9;
/// A page with text on it has at least so many colours; an empty window has one or two.
const PAINTED: usize = 9;
/// Memory is read this long after the last change, when start-up's own is given back.
const SETTLING: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() {
    let mut files = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(sayso), Some(empty)) = (files.next(), files.next()) else {
        eprintln!("usage: measure SAYSO_DESKTOP EMPTY_TAURI [DEB]");
        std::process::exit(2);
    };
    let deb = files.next();

    let paint = (starts(&sayso).await, starts(&empty).await);
    let theirs = Memory::open(&empty).await;
    let ours = Memory::of_sayso(&sayso).await;

    let mut page = String::from(HEAD);
    let machine = machine();
    writeln!(page, "\n{machine}\n").unwrap();
    writeln!(page, "| | Sayso | empty Tauri app |\n|---|---|---|").unwrap();
    let mut row =
        |name: &str, ours: &str, theirs: &str| writeln!(page, "| {name} | {ours} | {theirs} |").unwrap();
    row("Release binary", &size(&sayso), &size(&empty));
    if let Some(deb) = deb {
        row("Debian package", &size(&deb), "");
    }
    row("Start to first paint, median", &milliseconds(median(&paint.0)), &milliseconds(median(&paint.1)));
    row("Start to first paint, slowest", &milliseconds(slowest(&paint.0)), &milliseconds(slowest(&paint.1)));
    row("Memory, window open", &ours.window, &theirs);
    row("Memory, window closed to the tray", &ours.closed, "ends");
    row("Memory, started without a window", &ours.background, "not offered");
    writeln!(page, "\n| on a fresh machine, from a clean clone | |\n|---|---|").unwrap();
    for (name, variable) in
        [("`make run`, until the app has started", "MADE_RUN"), ("`make test`", "MADE_TEST")]
    {
        let time = std::env::var(variable).unwrap_or_else(|_| "not measured in this run".to_owned());
        writeln!(page, "| {name} | {time} |").unwrap();
    }
    print!("{page}");
}

const HEAD: &str = "# Measurements

Written by `make measure`, which builds Sayso and an empty Tauri app (`tests/empty-tauri`) with the same release profile
and measures both from outside, in turn, on the same virtual display. Neither has code for being measured.

- First paint: from starting the process to the first picture of the screen that shows a page with text, not just a window.
- Memory: proportional set size of the app and its web and network processes together, five seconds after the last change.
- Times on a fresh machine include everything: system packages, node modules, crates, compiling.
";

/// From start to first paint, several times, each on a display, a bus and a home folder of its own.
async fn starts(app: &Path) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let desktop = Desktop::on(Display::bare());
        let mut command = quiet(&desktop, app);
        let started = Instant::now();
        let _process = OwnedChild::start(&mut command);
        painted(&desktop).await;
        times.push(started.elapsed());
    }
    eprintln!("{}: painted after {:?}", app.display(), times);
    times
}

async fn painted(desktop: &Desktop) {
    let what = "a page with text is painted";
    wait_until(what, Duration::from_secs(60), async || desktop.display.picture().colours(PAINTED) >= PAINTED)
        .await;
}

fn quiet(desktop: &Desktop, app: &Path) -> Command {
    let mut command = command_on(desktop, app);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

struct Memory {
    window: String,
    closed: String,
    background: String,
}

impl Memory {
    /// On a desktop with a tray and a notification service, where closing the window keeps the app.
    async fn of_sayso(app: &Path) -> Self {
        let desktop = Desktop::start().await;
        let tray = TrayWatcher::start(&desktop.bus).await;
        let _notifications = FakeNotifications::start(&desktop.bus, Behaviour::with_actions()).await;
        let _process = OwnedChild::start(&mut quiet(&desktop, app));
        painted(&desktop).await;
        tray.item().await;
        let window = settled(&desktop).await;
        desktop.display.close_window("Sayso");
        wait_until("the window is gone", Duration::from_secs(20), async || {
            desktop.display.windows().is_empty()
        })
        .await;
        let closed = settled(&desktop).await;
        drop(desktop);

        let desktop = Desktop::start().await;
        let tray = TrayWatcher::start(&desktop.bus).await;
        let _process = OwnedChild::start(quiet(&desktop, app).arg("--background"));
        tray.item().await;
        let background = settled(&desktop).await;
        assert!(desktop.display.windows().is_empty(), "it opened a window");
        Self { window, closed, background }
    }

    async fn open(app: &Path) -> String {
        let desktop = Desktop::start().await;
        let _process = OwnedChild::start(&mut quiet(&desktop, app));
        painted(&desktop).await;
        settled(&desktop).await
    }
}

/// The memory of all of the desktop's processes, with the part of each.
async fn settled(desktop: &Desktop) -> String {
    tokio::time::sleep(SETTLING).await;
    let parts = wait_value("the app has processes", Duration::from_secs(10), async || {
        let read = |(pid, name): (u32, String)| Some((name, proportional_set_size(pid)?));
        let parts: Vec<_> = desktop.processes().into_iter().filter_map(read).collect();
        (!parts.is_empty()).then_some(parts)
    })
    .await;
    let total: u64 = parts.iter().map(|(_, bytes)| bytes).sum();
    let named: Vec<_> =
        parts.iter().map(|(name, bytes)| format!("{} {}", role(name), megabytes(*bytes))).collect();
    let memory = format!("{} MB ({})", megabytes(total), named.join(", "));
    eprintln!("memory: {memory}");
    memory
}

fn role(command: &str) -> &str {
    match command {
        name if name.starts_with("WebKitNetwork") => "network",
        name if name.starts_with("WebKitWeb") => "web",
        _ => "app",
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / 1e6)
}

fn size(file: &Path) -> String {
    let bytes = fs::metadata(file).unwrap_or_else(|error| panic!("{}: {error}", file.display())).len();
    format!("{:.1} MB", bytes as f64 / 1e6)
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    times[times.len() / 2]
}

fn slowest(times: &[Duration]) -> Duration {
    *times.iter().max().expect("there was a start")
}

fn milliseconds(time: Duration) -> String {
    format!("{} ms", time.as_millis())
}

/// What it was measured on, without naming the machine.
fn machine() -> String {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let system = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let system = system
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .unwrap_or("Linux")
        .trim_matches('"');
    let rustc = said("rustc", &["--version"]).unwrap_or_default();
    let rustc = rustc.split(' ').nth(1).unwrap_or("?").to_owned();
    let webkit = said("pkg-config", &["--modversion", "webkit2gtk-4.1"]).unwrap_or_else(|| "?".to_owned());
    format!(
        "Measured on {system} with {cores} cores, Rust {rustc}, WebKitGTK {webkit}, drawing in software under Xvfb."
    )
}
