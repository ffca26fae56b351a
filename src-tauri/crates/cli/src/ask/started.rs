//! Starting Sayso for somebody who wants to ask: in the tray, or without a desktop where there is none.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sayso_gateway::{AskError, Asker};

use crate::exit::Exit;
use crate::failure::Failure;

/// How long Sayso may take until it can be asked.
const SLOWEST_START: Duration = Duration::from_secs(30);
/// How often to look whether it is there.
const STEP: Duration = Duration::from_millis(50);
/// How long to go on looking after the program that was started has ended: it may have handed over to another one.
const AFTER_ITS_END: Duration = Duration::from_secs(2);

/// What is started.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Program {
    /// The app in the tray.
    Desktop(PathBuf),
    /// The host alone.
    Serve(PathBuf),
}

/// Returns once Sayso can be asked, starting it where it does not run.
pub(super) async fn ensure(asker: &Asker, data_dir: &Path) -> Result<(), Failure> {
    match asker.reach().await {
        Ok(()) => return Ok(()),
        Err(AskError::Down { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let program = choose()?;
    if let Program::Serve(_) = &program {
        let said = "There is no desktop here, so `sayso serve` was started. `sayso list` shows what waits.";
        let _ = writeln!(std::io::stderr(), "{said}");
    }
    let mut child = program.start(data_dir)?;
    let mut latest = Instant::now() + SLOWEST_START;
    let mut has_ended = false;
    while asker.reach().await.is_err() {
        if !has_ended && !matches!(child.try_wait(), Ok(None)) {
            has_ended = true;
            latest = latest.min(Instant::now() + AFTER_ITS_END);
        }
        if Instant::now() >= latest {
            return Err(not_started(&program, has_ended));
        }
        tokio::time::sleep(STEP).await;
    }
    Ok(())
}

fn choose() -> Result<Program, Failure> {
    let own = std::env::current_exe().map_err(|error| {
        let message = format!(
            "Sayso was not started: this program does not know where it is ({error}). Nobody was asked."
        );
        Failure::new(Exit::NoHost, "not_started", message)
    })?;
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let desktop = if has_display || cfg!(target_os = "macos") { find_desktop(&own) } else { None };
    Ok(desktop.map_or(Program::Serve(own), Program::Desktop))
}

/// Beside this program, else in the PATH.
fn find_desktop(own: &Path) -> Option<PathBuf> {
    const NAME: &str = "sayso-desktop";
    let beside = own.parent().map(|folder| folder.join(NAME));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path =
        std::env::split_paths(&path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(NAME));
    beside.into_iter().chain(in_path).find(|file| file.is_file())
}

impl Program {
    /// In a group of its own, so that Ctrl-C ends only this command, and without the asker's token.
    fn start(&self, data_dir: &Path) -> Result<Child, Failure> {
        let (file, argument) = match self {
            Self::Desktop(file) => (file, "--background"),
            Self::Serve(file) => (file, "serve"),
        };
        let data_dir = std::path::absolute(data_dir).unwrap_or_else(|_| data_dir.to_owned());
        let mut command = Command::new(file);
        command.arg(argument).arg("--data-dir").arg(data_dir).current_dir("/").env_remove("SAYSO_TOKEN");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.spawn().map_err(|error| {
            let message = format!(
                "Sayso was not started: {} cannot be run ({error}). Nobody was asked.",
                file.display()
            );
            Failure::new(Exit::NoHost, "not_started", message)
        })
    }
}

fn not_started(program: &Program, has_ended: bool) -> Failure {
    let (file, by_hand) = match program {
        Program::Desktop(file) => (file, "sayso-desktop"),
        Program::Serve(file) => (file, "sayso serve"),
    };
    let what = if has_ended { "ended at once" } else { "was started and is not ready yet" };
    let message =
        format!("{} {what}. Nobody was asked. Run `{by_hand}` to see what it says.", file.display());
    Failure::new(Exit::NoHost, "not_started", message)
}
