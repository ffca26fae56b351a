//! Decisions of the past, newest first: a list in pages, how many there are of what, and what charts show. What is asked
//! for is a [`HistoryQuery`]; how it is found is in `filter`.

mod charts;
mod counts;
mod filter;
mod list;

use std::fmt;
use std::str::FromStr;

use sayso_domain::risk::RiskLevel;
use sayso_domain::search::Snippet;
use sayso_domain::{RunId, Time};

use crate::deliveries::DeliveryState;
use crate::requests::RequestRow;
use crate::settlements::SettlementRow;

pub use charts::{Asked, Charts, Day, OfSource, Waits, charts};
pub use counts::{Count, Counts, MOST_COUNTED, counts};
pub use list::{get, keys, list};

/// Which decisions. All that are set must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryQuery {
    /// What is searched for in the texts of a decision; see [`sayso_domain::search`].
    pub text: Option<String>,
    /// The outcome's name.
    pub outcome: Option<String>,
    /// The source's name.
    pub source: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// Who or what decided.
    pub decided_by: Option<String>,
    /// Where a person decided.
    pub surface: Option<String>,
    /// The tool.
    pub tool: Option<String>,
    /// The risk as it was shown.
    pub risk: Option<String>,
    /// The run.
    pub run: Option<RunId>,
    /// Decided at or after.
    pub since: Option<Time>,
    /// Decided before.
    pub until: Option<Time>,
    /// Only what follows this place of an earlier page.
    pub after: Option<HistoryCursor>,
    /// At most so many; none for all.
    pub limit: Option<u32>,
}

/// A place in the list: pages stay stable while new decisions come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryCursor(i64);

/// The text is no place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a place in the history")]
pub struct ParseCursorError;

/// A decision.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRow {
    /// Its place in the list.
    pub cursor: HistoryCursor,
    /// The request as it was shown.
    pub request: RequestRow,
    /// How it ended.
    pub settled: SettlementRow,
    /// Whether its answer arrived.
    pub delivery: DeliveryState,
    /// The risk as it was shown, where that is known.
    pub risk: Option<RiskLevel>,
    /// How long it waited for the decision, in milliseconds.
    pub waited_ms: u64,
    /// Whether parts of its record were erased.
    pub is_redacted: bool,
    /// Where what was searched for is in it.
    pub snippet: Option<Snippet>,
}

impl fmt::Display for HistoryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for HistoryCursor {
    type Err = ParseCursorError;

    fn from_str(text: &str) -> Result<Self, ParseCursorError> {
        text.parse().map(Self).map_err(|_| ParseCursorError)
    }
}
