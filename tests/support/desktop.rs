//! One test's whole desktop: a bus, a display and a home folder that nothing else shares.

use crate::bus::PrivateBus;
use crate::display::Display;
use crate::process;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A desktop of one test. When dropped it ends every process that was started with its home folder.
#[derive(Debug)]
pub struct Desktop {
    /// The session bus: start a notification service or a tray watcher on it before the app.
    pub bus: PrivateBus,
    /// The display.
    pub display: Display,
    home: TempDir,
}

impl Desktop {
    /// Starts the bus and the display and makes the home folder.
    pub async fn start() -> Self {
        Self::on(Display::start().await)
    }

    /// The same on a display that was started before.
    pub fn on(display: Display) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let runtime = home.path().join("run");
        std::fs::create_dir(&runtime).expect("a runtime folder");
        std::fs::set_permissions(&runtime, std::fs::Permissions::from_mode(0o700)).expect("its permissions");
        Self { bus: PrivateBus::start(), display, home }
    }

    /// The home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Where the app keeps its data when it is told nothing.
    pub fn data_dir(&self) -> PathBuf {
        self.home().join(".local/share/sayso")
    }

    /// Gives `command` this desktop's environment and nothing of the outer one but PATH and what
    /// makes a failure readable.
    pub fn apply(&self, command: &mut Command) {
        command.env_clear().envs(self.environment());
        for kept in ["PATH", "RUST_LOG", "RUST_BACKTRACE"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
    }

    /// The processes started with this desktop's home folder, by id, with their command names.
    pub fn processes(&self) -> BTreeMap<u32, String> {
        process::with_environment("HOME", &self.home().to_string_lossy())
    }

    fn environment(&self) -> BTreeMap<&'static str, String> {
        let under = |folder: &str| self.home().join(folder).to_string_lossy().into_owned();
        BTreeMap::from([
            ("HOME", self.home().to_string_lossy().into_owned()),
            ("XDG_DATA_HOME", under(".local/share")),
            ("XDG_CONFIG_HOME", under(".config")),
            ("XDG_CACHE_HOME", under(".cache")),
            ("XDG_RUNTIME_DIR", under("run")),
            ("DBUS_SESSION_BUS_ADDRESS", self.bus.address().to_owned()),
            ("DISPLAY", self.display.name().to_owned()),
            ("GDK_BACKEND", "x11".to_owned()),
            // Without these a GTK app looks for accessibility and portal services that are not there.
            ("NO_AT_BRIDGE", "1".to_owned()),
            ("GTK_USE_PORTAL", "0".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
        ])
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        process::end_all_of_home(self.home());
    }
}
