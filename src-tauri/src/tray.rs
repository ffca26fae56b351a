use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sayso_host::dto::Health;
use tauri::image::Image;
use tauri::menu::{Menu, MenuItem, PredefinedMenuItem};
use tauri::tray::{TrayIcon, TrayIconBuilder};
use tauri::{AppHandle, Runtime};

use crate::attempt::attempt;
use crate::identity;
use crate::window::{self, Page};

const IDLE: &[u8] = include_bytes!("../../icons/tray-idle.png");
const WAITING: &[u8] = include_bytes!("../../icons/tray-waiting.png");

/// The tray icon with its menu.
pub(crate) struct Tray<R: Runtime> {
    icon: TrayIcon<R>,
    waiting: MenuItem<R>,
    shown: Mutex<u32>,
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
        let waiting = MenuItem::with_id(app, "waiting", waiting_label(0), true, None::<&str>)?;
        let open = MenuItem::with_id(app, "open", "Open Sayso", true, None::<&str>)?;
        let quit = MenuItem::with_id(app, "quit", "Quit", true, None::<&str>)?;
        let line = PredefinedMenuItem::separator(app)?;
        let icon = TrayIconBuilder::with_id("sayso")
            .icon(Image::from_bytes(IDLE)?)
            .tooltip("Sayso")
            .menu(&Menu::with_items(app, &[&waiting, &open, &line, &quit])?)
            .temp_dir_path(icon_dir(data_dir))
            .on_menu_event(|app, event| match event.id().as_ref() {
                "waiting" => window::show(app, Page::Inbox),
                "open" => window::show(app, Page::AsItIs),
                "quit" => app.exit(0),
                _ => {}
            })
            .build(app)?;
        Ok(Self { icon, waiting, shown: Mutex::new(0) })
    }

    /// Shows how many requests wait.
    pub(crate) fn show(&self, count: u32) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *shown, count);
        if before == count {
            return;
        }
        if let Err(error) = self.change(before, count) {
            tracing::warn!("the tray cannot be changed: {error}");
        }
    }

    fn change(&self, before: u32, count: u32) -> tauri::Result<()> {
        self.waiting.set_text(waiting_label(count))?;
        self.icon.set_title(Some(if count == 0 { String::new() } else { count.to_string() }))?;
        self.icon.set_tooltip(Some(if count == 0 { "Sayso".to_owned() } else { waiting_label(count) }))?;
        if (before == 0) != (count == 0) {
            self.icon.set_icon(Some(Image::from_bytes(if count == 0 { IDLE } else { WAITING })?))?;
        }
        Ok(())
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

fn waiting_label(count: u32) -> String {
    if count == 0 { "Nothing waiting".to_owned() } else { format!("{count} waiting") }
}

/// Where the icon's picture lies for the panel to read.
fn icon_dir(data_dir: &Path) -> PathBuf {
    identity::session_dir(data_dir).unwrap_or_else(|| data_dir.join("tray"))
}
