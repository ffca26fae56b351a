//! One narrow row per decision, of its own commit: what History orders, filters and counts by. It repeats what other
//! tables hold, so that each question has an index that ends with the order of the list. `n` is that order: a decision that
//! is written later comes before all others, whatever the clock says.
//!
//! `latest` is the latest `at` of this row and those before it. It never falls, so that a moment is found in the order by
//! looking once; the few rows that a clock that was set back made earlier than those before them have an index of their own.

use rusqlite::params;
use sayso_domain::risk::RiskLevel;
use sayso_domain::{Digest, RequestKey, Surface, Time};

use crate::requests::RequestRow;
use crate::settlements::SettlementRow;
use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE decisions (
    n          INTEGER PRIMARY KEY,
    request    TEXT NOT NULL UNIQUE REFERENCES settlements (request),
    at         INTEGER NOT NULL,
    latest     INTEGER NOT NULL CHECK (latest >= at),
    waited     INTEGER NOT NULL,
    outcome    TEXT NOT NULL,
    source     TEXT NOT NULL,
    kind       TEXT NOT NULL,
    decided_by TEXT NOT NULL,
    surface    TEXT,
    tool       TEXT,
    risk       TEXT CHECK (risk IN ('low', 'medium', 'high')),
    alike      INTEGER,
    redacted   INTEGER NOT NULL DEFAULT 0 CHECK (redacted IN (0, 1)),
    indexed    INTEGER NOT NULL DEFAULT 0 CHECK (indexed IN (0, 1))
) STRICT;
INSERT INTO decisions (request, at, latest, waited, outcome, source, kind, decided_by, surface, tool)
SELECT settlements.request, settlements.at, settlements.at, max(0, settlements.at - requests.received_at),
       settlements.outcome, sources.name, requests.kind, settlements.decided_by, settlements.surface, requests.tool
FROM settlements
JOIN requests ON requests.key = settlements.request
JOIN sources ON sources.id = requests.source
ORDER BY settlements.at, settlements.request;
CREATE INDEX decisions_latest ON decisions (latest);
CREATE INDEX decisions_set_back ON decisions (at) WHERE at < latest;
CREATE INDEX decisions_outcome ON decisions (outcome);
CREATE INDEX decisions_source ON decisions (source);
CREATE INDEX decisions_kind ON decisions (kind);
CREATE INDEX decisions_decided_by ON decisions (decided_by);
CREATE INDEX decisions_surface ON decisions (surface) WHERE surface IS NOT NULL;
CREATE INDEX decisions_tool ON decisions (tool) WHERE tool IS NOT NULL;
CREATE INDEX decisions_risk ON decisions (risk) WHERE risk IS NOT NULL;
CREATE INDEX decisions_unindexed ON decisions (indexed) WHERE indexed = 0;
";

/// A level's name as it is stored.
pub(crate) fn risk_from_name(name: &str) -> Option<RiskLevel> {
    [RiskLevel::Low, RiskLevel::Medium, RiskLevel::High].into_iter().find(|level| level.as_str() == name)
}

/// What History lists and filters a decision by.
pub(crate) struct DecisionRow {
    at: Time,
    outcome: String,
    source: String,
    kind: String,
    decided_by: String,
    surface: Option<String>,
    tool: Option<String>,
    /// The risk as it was shown at the decision, where that is known.
    pub(crate) risk: Option<RiskLevel>,
}

impl DecisionRow {
    /// Whether it says the same as the tables that it repeats.
    pub(crate) fn repeats(&self, request: &RequestRow, settled: &SettlementRow, source: &str) -> bool {
        self.at == settled.settlement.at
            && self.outcome == settled.settlement.outcome.as_str()
            && self.source == source
            && self.kind == request.shown.request.kind.as_str()
            && self.decided_by == settled.by.as_str()
            && self.surface.as_deref() == settled.surface.map(Surface::as_str)
            && self.tool == request.shown.tool
    }
}

/// A decision's row, if History lists it.
pub(crate) fn get(conn: &Conn, key: RequestKey) -> Result<Option<DecisionRow>, StoreError> {
    conn.row("SELECT * FROM decisions WHERE request = ?1", [key.to_string()], |row| {
        Ok(DecisionRow {
            at: column::time(row, "at")?,
            outcome: row.get("outcome")?,
            source: row.get("source")?,
            kind: row.get("kind")?,
            decided_by: row.get("decided_by")?,
            surface: row.get("surface")?,
            tool: row.get("tool")?,
            risk: column::named_opt(row, "risk", risk_from_name)?,
        })
    })
}

/// Adds a decision that has just been settled; gives its place, at which its words come into the index.
pub(crate) fn insert(
    tx: &Tx<'_>,
    request: &RequestRow,
    settled: &SettlementRow,
    source: &str,
    risk: Option<RiskLevel>,
) -> Result<i64, StoreError> {
    let at = settled.settlement.at.as_millis();
    tx.run(
        "INSERT INTO decisions (request, at, latest, waited, outcome, source, kind, decided_by, surface, tool, risk,
                                alike, indexed)
         VALUES (?1, ?2, max(?2, coalesce((SELECT latest FROM decisions ORDER BY n DESC LIMIT 1), ?2)),
                 max(0, ?2 - ?3), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, 1)",
        params![
            request.key.to_string(),
            at,
            request.received_at.as_millis(),
            settled.settlement.outcome.as_str(),
            source,
            request.shown.request.kind.as_str(),
            settled.by.as_str(),
            settled.surface.map(Surface::as_str),
            request.shown.tool,
            risk.map(RiskLevel::as_str),
            alike(request)?,
        ],
    )?;
    Ok(tx.raw().last_insert_rowid())
}

/// A decision's place, and whether its words are in the index.
pub(crate) fn place_of(conn: &Conn, key: RequestKey) -> Result<Option<(i64, bool)>, StoreError> {
    conn.row("SELECT n, indexed FROM decisions WHERE request = ?1", [key.to_string()], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// Notes whether a decision's words are in the index.
pub(crate) fn set_indexed(tx: &Tx<'_>, n: i64, is_indexed: bool) -> Result<(), StoreError> {
    tx.run("UPDATE decisions SET indexed = ?2 WHERE n = ?1", params![n, is_indexed]).map(drop)
}

/// Requests that ask the same have the same number: of the same source, for the same call, or in the same words.
pub(crate) fn alike(request: &RequestRow) -> Result<i64, StoreError> {
    let shown = &request.shown;
    let asked = shown.arguments.as_deref().unwrap_or(&shown.request.prompt);
    let all = (shown.source.as_str(), shown.request.kind.as_str(), shown.tool.as_deref(), asked);
    let Digest(bytes) = Digest::of(&column::to_json(&all)?);
    let mut first = [0; 8];
    first.copy_from_slice(&bytes[..8]);
    Ok(i64::from_le_bytes(first))
}
