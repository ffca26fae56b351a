//! The tray: the icon with the count, and a menu of what may be done without the window.

mod follow;
mod menu;
mod panel;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::ZonedDateTime;
use sayso_domain::RequestKey;
use sayso_host::dto::{Decide, Decision, Health, Settings};
use sayso_host::{Host, Surface, code};
use serde_json::json;
use tauri::image::Image;
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Manager as _, Runtime};

use crate::attempt::attempt;
use crate::call::call;
use crate::glance::Glance;
use crate::start::Start;
use crate::window::{self, Page};
use crate::{app, identity, quiet};

pub(crate) use follow::follow;
pub(crate) use panel::watch as watch_panel;

const IDLE: &[u8] = include_bytes!("../../../icons/tray-idle.png");
const WAITING: &[u8] = include_bytes!("../../../icons/tray-waiting.png");
/// A decision does not count so soon after the menu changed: it was meant for what was there before.
const GUARD: Duration = Duration::from_millis(500);

/// What the tray shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    /// How many requests wait.
    waiting: u32,
    /// The newest of them.
    newest: Vec<Glance>,
    /// Why notifications are held back.
    held: Option<String>,
    /// Whether the person paused them.
    is_paused: bool,
    /// Who can be started.
    agents: Vec<String>,
}

/// What pressing an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Press {
    Show(Page),
    Decide { key: RequestKey, ok: bool, digest: String },
    Pause(Pause),
    Quit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Hour,
    Tomorrow,
    Over,
}

/// The tray icon with its menu.
pub(crate) struct Tray<R: Runtime> {
    icon: TrayIcon<R>,
    shown: Mutex<Shown>,
}

/// The menu that is there now. Its entries have names that no earlier menu had, so that a press on an entry that is gone
/// means nothing, whatever stands in its place.
struct Shown {
    model: Model,
    presses: HashMap<String, Press>,
    since: Instant,
}

impl<R: Runtime> Tray<R> {
    /// Puts the icon into the tray. Only on the main thread. None where the desktop's tray library is missing, which is
    /// found out by a panic of the crate that loads it.
    pub(crate) fn new(app: &AppHandle<R>, data_dir: &Path) -> Option<Self> {
        match attempt(|| Self::build(app, data_dir)) {
            Ok(Ok(tray)) => Some(tray),
            Ok(Err(error)) => {
                tracing::warn!("there is no tray: {error}");
                None
            }
            Err(said) => {
                tracing::warn!("there is no tray: {said}");
                None
            }
        }
    }

    fn build(app: &AppHandle<R>, data_dir: &Path) -> tauri::Result<Self> {
        let model = Model::default();
        let (menu, presses) = menu::build(app, &model)?;
        let icon = TrayIconBuilder::with_id("sayso")
            .icon(Image::from_bytes(IDLE)?)
            .tooltip("Sayso")
            .menu(&menu)
            .temp_dir_path(icon_dir(data_dir))
            .on_menu_event(|app, event| pressed(app, event.id().as_ref()))
            .build(app)?;
        Ok(Self { icon, shown: Mutex::new(Shown { model, presses, since: Instant::now() }) })
    }

    /// Shows this. Only on the main thread.
    pub(crate) fn show(&self, app: &AppHandle<R>, model: Model) {
        let before = self.shown().model.clone();
        if before != model
            && let Err(error) = self.change(app, &before, model)
        {
            tracing::warn!("the tray cannot be changed: {error}");
        }
    }

    fn change(&self, app: &AppHandle<R>, before: &Model, model: Model) -> tauri::Result<()> {
        let (menu, presses) = menu::build(app, &model)?;
        let count = model.waiting;
        // First what the entries mean, then the entries: none is ever there without its own meaning.
        *self.shown() = Shown { model, presses, since: Instant::now() };
        self.icon.set_menu(Some(menu))?;
        if before.waiting != count {
            self.icon.set_title(Some(if count == 0 { String::new() } else { count.to_string() }))?;
            self.icon.set_tooltip(Some(if count == 0 {
                "Sayso".to_owned()
            } else {
                menu::waiting_label(count)
            }))?;
        }
        if (before.waiting == 0) != (count == 0) {
            self.icon.set_icon(Some(Image::from_bytes(if count == 0 { IDLE } else { WAITING })?))?;
        }
        Ok(())
    }

    /// What pressing this entry means now.
    fn press(&self, id: &str) -> Option<Press> {
        let shown = self.shown();
        let press = shown.presses.get(id)?;
        match press {
            Press::Decide { .. } if shown.since.elapsed() < GUARD => None,
            Press::Decide { .. } | Press::Show(_) | Press::Pause(_) | Press::Quit => Some(press.clone()),
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pressed<R: Runtime>(app: &AppHandle<R>, id: &str) {
    let press = app.try_state::<Tray<R>>().and_then(|tray| tray.press(id));
    match press {
        Some(Press::Show(page)) => window::show(app, page),
        Some(Press::Quit) => app::quit_asking(app),
        Some(Press::Decide { key, ok, digest }) => {
            let params = Decide { key: key.to_string(), ok, data: None, reason: None, digest: Some(digest) };
            with_host(app, async move |app, host| decide(&app, &host, key, params).await);
        }
        Some(Press::Pause(pause)) => {
            with_host(app, async move |_, host| pause_notifications(&host, pause).await)
        }
        None => {}
    }
}

fn with_host<R: Runtime, F: Future<Output = ()> + Send + 'static>(
    app: &AppHandle<R>,
    work: impl FnOnce(AppHandle<R>, Host) -> F,
) {
    if let Some(host) = app.state::<Start>().running() {
        app::spawn(app, work(app.clone(), host));
    }
}

/// A decision that was taken shows by itself. Of one that was not, the window says why.
async fn decide<R: Runtime>(app: &AppHandle<R>, host: &Host, key: RequestKey, params: Decide) {
    if let Err(error) = call::<Decision>(host, Surface::Tray, "inbox.decide", params).await {
        tracing::info!("a press in the tray decided nothing: {}", error.message);
        let is_settled = [code::ALREADY_DECIDED, code::EXPIRED].contains(&error.code.as_str());
        window::show(app, if is_settled { Page::History(key) } else { Page::Request(key) });
    }
}

async fn pause_notifications(host: &Host, pause: Pause) {
    let now = ZonedDateTime::now();
    let until = match pause {
        Pause::Hour => Some(quiet::in_an_hour(&now)),
        Pause::Tomorrow => Some(quiet::tomorrow(&now)),
        Pause::Over => None,
    };
    let changes = json!({ "paused_until": until.map(|until| until.to_string()) });
    if let Err(error) = call::<Settings>(host, Surface::Tray, "settings.set", changes).await {
        tracing::warn!("notifications cannot be paused: {}", error.message);
    }
}

/// What Settings says of the tray: whether it was made, and whether the desktop has a panel that shows it.
pub(crate) fn health(made: bool, panel: bool) -> Health {
    let message = if !made {
        "The tray icon cannot be shown: the library libayatana-appindicator3 is missing. Nothing is lost, but closing the \
         window ends Sayso. Install it and start Sayso again."
    } else if !panel {
        "This desktop shows no tray icons. Nothing is lost, but closing the window ends Sayso. On GNOME, install the \
         AppIndicator extension; elsewhere, add a system tray to the panel."
    } else {
        ""
    };
    Health { ok: message.is_empty(), message: message.to_owned() }
}

/// Where the icon's picture lies for the panel to read.
fn icon_dir(data_dir: &Path) -> PathBuf {
    identity::session_dir(data_dir).unwrap_or_else(|| data_dir.join("tray"))
}
