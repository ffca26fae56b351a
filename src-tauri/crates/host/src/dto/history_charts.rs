use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::HistoryFilter;

/// How many decisions there are of what; most first, 20 each at most. Each is counted without its own filter, and no more
/// than the newest 10,000 are.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryCounts {
    /// All that the filter names, 10,000 at most.
    pub total: u32,
    /// Whether there are more.
    pub capped: bool,
    /// By outcome.
    pub outcome: Vec<Count>,
    /// By source.
    pub source: Vec<Count>,
    /// By kind.
    pub kind: Vec<Count>,
    /// By who or what decided.
    pub decided_by: Vec<Count>,
    /// By where a person decided.
    pub surface: Vec<Count>,
    /// By tool.
    pub tool: Vec<Count>,
    /// By risk.
    pub risk: Vec<Count>,
}

/// How many have a value.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Count {
    /// The value.
    pub value: String,
    /// How many.
    pub count: u32,
}

/// What to draw charts of.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[serde(default)]
pub struct HistoryChartsOf {
    /// Which decisions.
    #[serde(flatten)]
    pub filter: HistoryFilter,
    /// How far the person's clock is ahead of UTC, in minutes: where their days begin.
    #[ts(optional, type = "number")]
    pub offset_minutes: Option<i32>,
}

/// What charts show.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryCharts {
    /// Each day with decisions, oldest first.
    pub days: Vec<HistoryDay>,
    /// How long people took to decide.
    pub times: HistoryTimes,
    /// By source, most decisions first.
    pub sources: Vec<SourceTimes>,
    /// What was asked most.
    pub most_asked: Vec<Asked>,
    /// What was denied most.
    pub most_denied: Vec<Asked>,
    /// What expired most.
    pub expired: Vec<Asked>,
}

/// How many were decided how on a day.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryDay {
    /// Such as `2026-12-01`.
    pub day: String,
    /// Approved.
    pub approved: u32,
    /// Answered.
    pub answered: u32,
    /// Declined.
    pub declined: u32,
    /// Cancelled.
    pub cancelled: u32,
    /// Expired.
    pub expired: u32,
}

/// How long people took to decide, in milliseconds; none where no person decided.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct HistoryTimes {
    /// Half took no longer.
    #[ts(type = "number | null")]
    pub median_ms: Option<u64>,
    /// 95 of 100 took no longer.
    #[ts(type = "number | null")]
    pub p95_ms: Option<u64>,
    /// The same for each day on which a person decided, oldest first.
    pub by_day: Vec<DayTimes>,
}

/// How long people took to decide on a day, in milliseconds.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct DayTimes {
    /// Such as `2026-12-01`.
    pub day: String,
    /// Half took no longer.
    #[ts(type = "number")]
    pub median_ms: u64,
    /// 95 of 100 took no longer.
    #[ts(type = "number")]
    pub p95_ms: u64,
}

/// How many a source asked, and how long people took to decide, in milliseconds.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct SourceTimes {
    /// Its name.
    pub source: String,
    /// How many decisions.
    pub count: u32,
    /// Half took no longer; none where no person decided.
    #[ts(type = "number | null")]
    pub median_ms: Option<u64>,
    /// 95 of 100 took no longer; none where no person decided.
    #[ts(type = "number | null")]
    pub p95_ms: Option<u64>,
}

/// Requests that asked the same.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
pub struct Asked {
    /// What they asked, on one line.
    pub label: String,
    /// The tool.
    pub tool: Option<String>,
    /// The kind.
    pub kind: String,
    /// Who asked.
    pub source: String,
    /// How many.
    pub count: u32,
}
