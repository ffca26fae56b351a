use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How the app is.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct AppStatus {
    /// The app's version.
    pub version: String,
    /// How many requests wait.
    #[ts(type = "number")]
    pub waiting: u32,
    /// How many of these are put off.
    #[ts(type = "number")]
    pub snoozed: u32,
    /// How many runs are running or pending.
    #[ts(type = "number")]
    pub active_runs: u32,
    /// The data folder.
    pub data_dir: String,
    /// Where the browser finds the app.
    pub url: Option<String>,
    /// Desktop notifications; none in a host without a desktop.
    pub notifications: Option<Health>,
    /// The tray; none in a host without a desktop.
    pub tray: Option<Health>,
    /// Whether starting with the desktop session is as Settings say; none in a host without a desktop.
    pub autostart: Option<Health>,
    /// The shortcut that opens the inbox from anywhere; none where none is set, and in a host without a desktop.
    pub global_shortcut: Option<Health>,
    /// Why notifications are held back now, in words: `paused until …`, `quiet hours until …`.
    pub quiet: Option<String>,
    /// What is wrong right now, in words: storage that cannot be written.
    pub problems: Vec<String>,
}

/// Whether a part works.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[derive(PartialEq, Eq)]
pub struct Health {
    /// Whether it does.
    pub ok: bool,
    /// What happened, what is safe and what to do; empty when ok.
    pub message: String,
}

/// The person's habits.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[derive(PartialEq, Eq)]
#[serde(default)]
pub struct Settings {
    /// The theme.
    pub appearance: Appearance,
    /// How much room things take.
    pub density: Density,
    /// The size of text in percent, 80 to 200.
    pub text_size: u16,
    /// Whether new requests raise desktop notifications.
    pub notifications: bool,
    /// Whether they may make a sound.
    pub sound: bool,
    /// Whether they say nothing but that a request waits.
    pub private: bool,
    /// How many minutes before its deadline a request is announced once more; 0 for never, 60 at most.
    pub reminder_minutes: u8,
    /// When no notifications are raised, each day.
    pub quiet_hours: Option<QuietHours>,
    /// Until when no notifications are raised.
    pub paused_until: Option<String>,
    /// Whether closing the window keeps the app in the tray.
    pub close_to_tray: bool,
    /// Whether the app starts in the background with the desktop session.
    pub autostart: bool,
    /// For how many seconds a decision can be taken back, 0 to 10: so long its answer is held.
    pub undo_seconds: u8,
    /// What opens the inbox from anywhere, such as `Ctrl+Alt+S`.
    pub global_shortcut: Option<String>,
    /// The person's own keys, by what they do.
    pub shortcuts: BTreeMap<String, String>,
    /// How long decisions are kept.
    pub retention: Retention,
}

/// A part of each day, by the wall clock; it may pass midnight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(deny_unknown_fields)]
pub struct QuietHours {
    /// When it begins, such as `22:00`.
    pub from: String,
    /// When it is over.
    pub to: String,
}

/// How much room things take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// As drawn.
    #[default]
    Comfortable,
    /// Closer together.
    Compact,
}

/// How long decisions are kept. What goes, goes by whole days, oldest first, and the record says so.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[derive(PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// For so many days; none for ever.
    #[ts(type = "number | null")]
    pub days: Option<u32>,
    /// As far as they take no more room than this; none for any.
    #[ts(type = "number | null")]
    pub megabytes: Option<u32>,
}

/// The most that [`Settings::undo_seconds`] can be.
pub const LONGEST_UNDO: u8 = 10;

/// The theme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(rename_all = "lowercase")]
pub enum Appearance {
    /// As the desktop has it.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

/// Nothing.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Empty {}

impl Default for Settings {
    fn default() -> Self {
        Self {
            appearance: Appearance::System,
            density: Density::Comfortable,
            text_size: 100,
            notifications: true,
            sound: true,
            private: false,
            reminder_minutes: 5,
            quiet_hours: None,
            paused_until: None,
            close_to_tray: true,
            autostart: false,
            undo_seconds: 3,
            global_shortcut: None,
            shortcuts: BTreeMap::new(),
            retention: Retention::default(),
        }
    }
}
