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
    /// Whether new requests raise desktop notifications.
    pub notifications: bool,
    /// Whether closing the window keeps the app in the tray.
    pub close_to_tray: bool,
    /// For how many seconds a decision can be taken back, 0 to 10: so long its answer is held.
    pub undo_seconds: u8,
    /// How long decisions are kept.
    pub retention: Retention,
}

/// How long decisions are kept. What goes, goes by whole days, oldest first, and the record says so.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[derive(PartialEq, Eq)]
#[serde(default)]
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
            notifications: true,
            close_to_tray: true,
            undo_seconds: 3,
            retention: Retention::default(),
        }
    }
}
