use serde::{Deserialize, Serialize};

/// What a tool may do without a person. The strictest of several wins, so the order is the meaning:
/// `Allow < Ask < Forbid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// Runs without asking.
    Allow,
    /// Waits for a person.
    Ask,
    /// Never runs.
    Forbid,
}

impl Policy {
    /// The strictest of all that apply; [`Policy::Ask`] when none does, so that silence is never a yes.
    pub fn strictest(of: impl IntoIterator<Item = Self>) -> Self {
        of.into_iter().max().unwrap_or(Self::Ask)
    }
}
