use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A sender: a bot or script that asks over HTTP.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct SenderItem {
    /// Its name, as the person set it: what requests show as their source.
    pub name: String,
    /// One or two letters that stand for it.
    pub initials: String,
    /// The name of its colour.
    pub colour: String,
    /// How many of its requests wait.
    pub open: u32,
    /// How many it has ever asked.
    pub total: u32,
    /// How many may wait at once.
    pub max_open: u32,
    /// How many it may ask within a minute.
    pub per_minute: u32,
    /// Whether it may declare requests editable.
    pub may_edit: bool,
    /// Whether it may bring choices of its own.
    pub own_choices: bool,
    /// Where its answers are posted to.
    pub callback_url: Option<String>,
    /// Where the secret lies that signs them: `keyring` or `file`.
    pub callback_key: Option<String>,
    /// How many answers its callback has not taken yet though they were tried.
    pub failing: u32,
    /// How many are tried no more; they can still be fetched, or posted by hand.
    pub given_up: u32,
    /// Why the newest of them was not taken.
    pub last_failure: Option<String>,
    /// When it was added.
    pub created_at: String,
    /// When its token was made.
    pub token_at: String,
    /// When it last called.
    pub last_seen_at: Option<String>,
    /// When it was revoked.
    pub revoked_at: Option<String>,
}

/// A sender to add, or what to change of one. What is left out is as usual, or stays.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(deny_unknown_fields)]
pub struct SenderSetup {
    /// Its name.
    pub name: String,
    /// One or two letters.
    #[serde(default)]
    #[ts(optional)]
    pub initials: Option<String>,
    /// `blue`, `green`, `amber`, `red`, `violet`, `teal`, `pink` or `grey`.
    #[serde(default)]
    #[ts(optional)]
    pub colour: Option<String>,
    /// How many may wait at once.
    #[serde(default)]
    #[ts(optional)]
    pub max_open: Option<u32>,
    /// How many it may ask within a minute.
    #[serde(default)]
    #[ts(optional)]
    pub per_minute: Option<u32>,
    /// Whether it may declare requests editable.
    #[serde(default)]
    #[ts(optional)]
    pub may_edit: Option<bool>,
    /// Whether it may bring choices of its own.
    #[serde(default)]
    #[ts(optional)]
    pub own_choices: Option<bool>,
}

/// Which sender.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct SenderName {
    /// Its name.
    pub name: String,
}

/// A sender with its new token. The token is in no other place, and cannot be had again.
#[derive(Clone, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct SenderToken {
    /// The sender.
    pub sender: SenderItem,
    /// Its token, to be shown once.
    pub token: String,
}

impl fmt::Debug for SenderToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderToken").field("sender", &self.sender).finish_non_exhaustive()
    }
}

/// Where a sender's answers are posted to.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(deny_unknown_fields)]
pub struct SenderCallback {
    /// Its name.
    pub name: String,
    /// `https`, or `http` to this machine; none takes the callback away.
    pub url: Option<String>,
    /// Where the secret shall lie that signs them: `keyring`, or `file` for one in the data folder. The keyring if left
    /// out.
    #[serde(default)]
    #[ts(optional)]
    pub keep_in: Option<String>,
}

/// A sender with the new secret that its callback is signed with. It cannot be had again.
#[derive(Clone, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct SenderSecret {
    /// The sender.
    pub sender: SenderItem,
    /// The secret, to be shown once; none if the callback was taken away.
    pub secret: Option<String>,
}

impl fmt::Debug for SenderSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SenderSecret").field("sender", &self.sender).finish_non_exhaustive()
    }
}

/// What became of an answer that was posted by hand.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Resent {
    /// Whether the server took it.
    pub ok: bool,
    /// What happened, for a person.
    pub message: String,
}
