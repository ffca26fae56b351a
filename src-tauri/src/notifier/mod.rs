//! Desktop notifications: one for every request that waits, withdrawn when it settles anywhere. They run on a thread of
//! their own and every call has a time limit, so that a service that hangs, dies or is missing stops nothing.
//!
//! A button decides only if the service itself says that it was pressed, and calls it by the name that this one
//! notification gave it.

mod board;
mod desktop;
mod handles;
mod life;
mod memory;
mod said;

use std::path::PathBuf;
use std::time::Duration;

use sayso_host::Host;
use sayso_host::dto::Health;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::pulse::Pulse;
use crate::screen::Locks;
use crate::window::Page;
use desktop::Desktop;
use life::Life;

const NAME: &str = "org.freedesktop.Notifications";
const PATH: &str = "/org/freedesktop/Notifications";
/// What the desktops call a click on the notification itself.
const DEFAULT_ACTION: &str = "default";

/// How long a service may take before the person is told that it hangs.
const LIMIT: Duration = Duration::from_secs(3);
/// How long after a failure it is tried again; a service that appears is tried at once.
const REST: Duration = Duration::from_secs(20);
/// How long the notifications of an app that ends may take to go.
const FAREWELL: Duration = Duration::from_secs(1);

/// What the notifier needs of the app.
pub(crate) struct Notifier {
    pub(crate) host: Host,
    /// Holds what the person wants of notifications.
    pub(crate) pulse: watch::Receiver<Pulse>,
    /// Who says that the screen is locked.
    pub(crate) locks: watch::Receiver<Locks>,
    pub(crate) stop: CancellationToken,
    /// A folder that lasts as long as the desktop session, where there is one.
    pub(crate) session_dir: Option<PathBuf>,
    /// Opens the window there, because the person clicked a notification.
    pub(crate) open: Box<dyn Fn(Page) + Send>,
}

impl Notifier {
    /// Starts the thread, which lets go of the token when it has ended.
    pub(crate) fn start(self, ended: TaskTrackerToken) -> std::io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("notifications".to_owned()).spawn(move || {
            runtime.block_on(self.run());
            // Whatever still hangs is left behind.
            runtime.shutdown_background();
            drop(ended);
        })?;
        Ok(())
    }

    async fn run(self) {
        let mut life = Life::new(&self);
        loop {
            match timeout(LIMIT, Desktop::connect()).await {
                Ok(Ok(desktop)) => life.serve(desktop).await,
                Ok(Err(error)) => life.no_bus(&error.to_string()),
                Err(_) => life.no_bus("it does not answer"),
            }
            if self.stop.is_cancelled() {
                return;
            }
            let _ = timeout(REST, self.stop.cancelled()).await;
        }
    }
}

/// A state that the person can do something about.
struct Trouble(&'static str);

const NO_BUS: Trouble = Trouble(
    "There is no session bus, so the desktop cannot show notifications. Requests still arrive in the inbox and wait. \
     Start Sayso from a desktop session to get them.",
);
const MISSING: Trouble = Trouble(
    "No notification service answers on this desktop. Requests still arrive in the inbox and wait. Start or install a \
     notification service, such as dunst; Sayso finds it by itself.",
);
const HANGS: Trouble = Trouble(
    "The desktop's notification service does not answer. Requests still arrive in the inbox and wait. Restart the \
     notification service; Sayso goes on by itself.",
);

impl From<Trouble> for Health {
    fn from(trouble: Trouble) -> Self {
        Self { ok: false, message: trouble.0.to_owned() }
    }
}
