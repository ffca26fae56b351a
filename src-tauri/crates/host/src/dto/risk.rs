use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How much care a request's answer needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(rename_all = "lowercase")]
pub enum Risk {
    /// Nothing found that a mistake could not be mended.
    Low,
    /// Worth a look.
    Medium,
    /// Never to be approved in passing.
    High,
}

/// What a note on the risk is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct RiskMark {
    /// What it is about: a stable name such as `sends_secrets`.
    pub code: String,
    /// How much care it calls for.
    pub level: Risk,
    /// The note: it is among the request's notes, where those were worked out when it was asked.
    pub text: String,
    /// Where the part of the command begins that it is about, in bytes.
    pub start: Option<u32>,
    /// Where that part ends.
    pub end: Option<u32>,
}
