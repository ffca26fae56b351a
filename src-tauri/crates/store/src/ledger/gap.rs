use sayso_domain::Digest;
use serde_json::{Value, json};

use super::stored::Stored;
use crate::{Conn, StoreError};

/// Entries that a prune removed, and what holds the chain together in their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    /// The number of the first of them.
    pub(super) first: i64,
    /// The number of the last of them.
    pub(super) last: i64,
    /// The hash of the entry before the first.
    pub(super) prev: [u8; 32],
    /// The hash of the last.
    pub(super) head: [u8; 32],
}

/// What the prune entries of a chain say. An entry is only believed because the walk comes by it later, and checks it.
#[derive(Default)]
pub(super) struct Gaps(pub(super) Vec<Gap>);

impl Gaps {
    /// What the chain in this file says.
    pub(super) fn of_chain(conn: &Conn, chain: &str) -> Result<Self, StoreError> {
        let texts = conn.rows(
            "SELECT seq, name, content FROM ledger_fields WHERE chain_id = ?1 AND content IS NOT NULL AND seq IN (
                 SELECT seq FROM ledger WHERE chain_id = ?1 AND type = 'prune'
             ) ORDER BY seq",
            [chain],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)),
        );
        // What cannot be read closes no gap, and is found when the walk comes by it.
        let texts = match texts {
            Err(StoreError::Damaged) => Vec::new(),
            texts => texts?,
        };
        let gaps = texts.chunk_by(|a, b| a.0 == b.0).filter_map(|fields| {
            Gap::of(|name| fields.iter().find(|field| field.1 == name).map(|field| field.2.as_str()))
        });
        Ok(Self(gaps.collect()))
    }

    /// The gap that is just these numbers.
    pub(super) fn exactly(&self, first: i64, last: i64) -> Option<Gap> {
        self.0.iter().find(|gap| (gap.first, gap.last) == (first, last)).copied()
    }
}

impl Gap {
    /// From the fields of a prune entry.
    fn of<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<Self> {
        let summary: Value = serde_json::from_str(field("summary")?).ok()?;
        Some(Self {
            first: field("first")?.parse().ok()?,
            last: field("last")?.parse().ok()?,
            prev: summary.get("prev")?.as_str()?.parse::<Digest>().ok()?.0,
            head: field("head")?.parse::<Digest>().ok()?.0,
        })
    }

    pub(super) fn of_entry(entry: &Stored) -> Option<Self> {
        Self::of(|name| entry.text(name))
    }

    pub(super) fn to_json(self) -> Value {
        json!({
            "first": self.first,
            "last": self.last,
            "prev": Digest(self.prev).to_string(),
            "head": Digest(self.head).to_string(),
        })
    }

    pub(super) fn from_json(json: &Value) -> Option<Self> {
        let digest = |name: &str| json.get(name)?.as_str()?.parse::<Digest>().ok().map(|digest| digest.0);
        let number = |name: &str| json.get(name)?.as_i64();
        Some(Self {
            first: number("first")?,
            last: number("last")?,
            prev: digest("prev")?,
            head: digest("head")?,
        })
    }
}
