use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A key in the OS keyring. Its value never crosses back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct KeyItem {
    /// Its name; an agent's set-up refers to it as `keyring:NAME`.
    pub name: String,
    /// The agents that use it.
    pub used_by: Vec<String>,
}

/// Which key.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(deny_unknown_fields)]
pub struct KeyName {
    /// Its name.
    pub name: String,
}

/// A key to keep in the OS keyring.
#[derive(Clone, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(deny_unknown_fields)]
pub struct KeySet {
    /// Its name.
    pub name: String,
    /// The key itself. It is written to the keyring and nowhere else.
    pub value: String,
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySet").field("name", &self.name).finish_non_exhaustive()
    }
}
