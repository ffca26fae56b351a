use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;
use sayso_domain::{Digest, Time};
use serde::{Deserialize, Serialize};

use super::append::append;
use super::{Entry, EntryType};
use crate::{StoreError, Tx, column, meta};

/// Entries without a gap that are removed, or were before.
struct Range {
    first: i64,
    last: i64,
    head: [u8; 32],
    summary: Summary,
}

/// What was in them.
#[derive(Clone, Serialize, Deserialize)]
struct Summary {
    /// The hash before the first.
    prev: Digest,
    entries: u64,
    decisions: u64,
    outcomes: BTreeMap<String, u64>,
    from: String,
    to: String,
}

/// Removes the entries of what `crate::prune` chose, and of prunes and redactions from before that moment that are of no
/// use without them. For each gap in the chain one prune entry stays. Says how many went.
pub(crate) fn prune_chosen(tx: &Tx<'_>, before: Time, now: Time) -> Result<u64, StoreError> {
    let chain = meta::chain(tx)?;
    let going = going(tx, &chain, before)?;
    let removed: BTreeSet<i64> = going.iter().map(|range| range.first).collect();
    let (known, mut ranges) = known(tx, &chain, &removed)?;
    ranges.extend(going);
    for range in merged(ranges) {
        if !known.contains(&(range.first, range.last)) {
            append(tx, &entry(&range, now)?)?;
        }
    }
    for seq in &removed {
        for table in ["ledger_fields", "ledger"] {
            tx.run(&format!("DELETE FROM {table} WHERE chain_id = ?1 AND seq = ?2"), params![chain, seq])?;
        }
    }
    Ok(removed.len() as u64)
}

fn entry(range: &Range, now: Time) -> Result<Entry, StoreError> {
    Ok(Entry {
        kind: EntryType::Prune,
        at: now,
        request: None,
        run: None,
        fields: vec![
            ("first", range.first.to_string()),
            ("last", range.last.to_string()),
            ("head", Digest(range.head).to_string()),
            ("summary", column::to_json(&range.summary)?),
        ],
    })
}

/// The entries that go, each as a range of its own.
fn going(tx: &Tx<'_>, chain: &str, before: Time) -> Result<Vec<Range>, StoreError> {
    tx.rows(
        "WITH going AS (
             SELECT seq FROM ledger WHERE request_key IN (SELECT key FROM temp.pruned_requests)
             UNION
             SELECT seq FROM ledger WHERE run_id IN (SELECT id FROM temp.pruned_runs) AND request_key IS NULL
             UNION
             SELECT seq FROM ledger WHERE chain_id = ?1 AND type = 'prune'
             UNION
             SELECT seq FROM ledger WHERE chain_id = ?1 AND type = 'redaction'
                AND coalesce(request_key NOT IN (SELECT key FROM requests), run_id NOT IN (SELECT id FROM runs))
         )
         SELECT ledger.seq, ledger.prev, ledger.hash, ledger.at, settlements.outcome
         FROM ledger LEFT JOIN settlements ON settlements.request = request_key AND type = 'decision'
         WHERE chain_id = ?1 AND seq IN (SELECT seq FROM going) AND ledger.at < ?2 ORDER BY seq",
        params![chain, before.as_millis()],
        |row| {
            let seq = row.get("seq")?;
            let outcome: Option<String> = row.get("outcome")?;
            let at = column::time(row, "at")?.to_string();
            Ok(Range {
                first: seq,
                last: seq,
                head: row.get("hash")?,
                summary: Summary {
                    prev: column::digest(row, "prev")?,
                    entries: 1,
                    decisions: u64::from(outcome.is_some()),
                    outcomes: outcome.map(|outcome| (outcome, 1)).into_iter().collect(),
                    from: at.clone(),
                    to: at,
                },
            })
        },
    )
}

/// Which gaps the prune entries that stay tell of, and the widest ones that any tells of.
#[expect(clippy::type_complexity, reason = "the two are read together")]
fn known(
    tx: &Tx<'_>,
    chain: &str,
    removed: &BTreeSet<i64>,
) -> Result<(BTreeSet<(i64, i64)>, Vec<Range>), StoreError> {
    let texts = tx.rows(
        "SELECT seq, name, content FROM ledger_fields WHERE chain_id = ?1 AND seq IN (
             SELECT seq FROM ledger WHERE chain_id = ?1 AND type = 'prune') ORDER BY seq",
        [chain],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)),
    )?;
    let mut kept = BTreeSet::new();
    let mut ranges: Vec<Range> = Vec::new();
    for fields in texts.chunk_by(|a, b| a.0 == b.0) {
        let field = |name: &str| {
            let text = fields.iter().find(|field| field.1 == name).map(|field| field.2.as_str());
            text.ok_or_else(|| StoreError::damaged("a prune entry lacks a field"))
        };
        let number = |name: &str| field(name)?.parse().map_err(StoreError::damaged);
        let head: Digest = field("head")?.parse().map_err(StoreError::damaged)?;
        let range = Range {
            first: number("first")?,
            last: number("last")?,
            head: head.0,
            summary: column::json(field("summary")?, "a prune's summary")?,
        };
        if fields.first().is_some_and(|field| !removed.contains(&field.0)) {
            kept.insert((range.first, range.last));
        }
        ranges.push(range);
    }
    ranges.sort_by_key(|range| (range.first, -range.last));
    let mut reach = 0;
    ranges.retain(|range| {
        let is_new = range.last > reach;
        reach = reach.max(range.last);
        is_new
    });
    Ok((kept, ranges))
}

fn merged(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_by_key(|range| range.first);
    let mut merged: Vec<Range> = Vec::new();
    for range in ranges {
        match merged.last_mut().filter(|before| before.last + 1 == range.first) {
            Some(before) => before.take_in(range),
            None => merged.push(range),
        }
    }
    merged
}

impl Range {
    fn take_in(&mut self, next: Self) {
        self.last = next.last;
        self.head = next.head;
        self.summary.entries += next.summary.entries;
        self.summary.decisions += next.summary.decisions;
        self.summary.to = next.summary.to;
        for (outcome, count) in next.summary.outcomes {
            *self.summary.outcomes.entry(outcome).or_default() += count;
        }
    }
}
