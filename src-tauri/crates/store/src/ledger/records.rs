use std::collections::HashSet;

use sayso_domain::{Digest, RequestKey, Time};

use super::entry::REQUEST;
use super::read::of_request;
use super::stored::{Damage, Entries, Stored};
use super::{EntryRow, EntryType};
use crate::{Conn, Progress, StoreError, meta};

/// The field with the person's own words.
pub(super) const REASON: &str = "reason";

/// Which decisions go out of the app's own views, and how much of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The requests that were decided; none for all.
    pub requests: Option<HashSet<RequestKey>>,
    /// Whether the person's own words go along.
    pub reasons: bool,
}

/// A decision as the ledger has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The decision's entry.
    pub decision: EntryRow,
    /// What came of it, oldest first: delivery, effects, redactions, how its run ended.
    pub next: Vec<EntryRow>,
}

impl Selection {
    pub(super) fn has(&self, key: Option<RequestKey>) -> bool {
        self.requests.as_ref().is_none_or(|known| key.is_some_and(|key| known.contains(&key)))
    }
}

/// Hands over the decisions of this device's chain one by one, oldest first. Says how many could not be read.
pub fn records(
    conn: &Conn,
    selection: &Selection,
    damage: Damage,
    progress: &Progress,
    mut each: impl FnMut(Record) -> Result<(), StoreError>,
) -> Result<u64, StoreError> {
    let chain = meta::chain(conn)?;
    let mut entries = Entries::new(conn, &chain, damage)?;
    progress.expect(entries.most());
    let mut skipped = 0;
    while let Some(entry) = entries.next().transpose()? {
        progress.advance(1)?;
        let key = entry.key();
        if entry.kind != EntryType::Decision.as_str().as_bytes() || !selection.has(key) {
            continue;
        }
        match record(conn, &chain, &entry, key, selection) {
            Ok(record) => each(record)?,
            Err(StoreError::Damaged) if damage == Damage::IsSkipped => skipped += 1,
            Err(error) => return Err(error),
        }
    }
    Ok(skipped + entries.skipped)
}

fn record(
    conn: &Conn,
    chain: &str,
    entry: &Stored,
    key: Option<RequestKey>,
    selection: &Selection,
) -> Result<Record, StoreError> {
    let mut decision = entry.row(chain)?;
    if !selection.reasons {
        decision.fields.retain(|(name, _)| name != REASON);
    }
    let mut next = key.map(|key| of_request(conn, key)).transpose()?.unwrap_or_default();
    next.retain(|other| other.kind != EntryType::Decision);
    Ok(Record { decision, next })
}

impl Stored {
    /// The request that it is about.
    pub(super) fn key(&self) -> Option<RequestKey> {
        self.text(REQUEST).and_then(|key| key.parse().ok())
    }

    fn row(&self, chain: &str) -> Result<EntryRow, StoreError> {
        let text = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec()).map_err(|_| StoreError::damaged("an entry is no text"))
        };
        let hash = <[u8; 32]>::try_from(self.hash.as_slice());
        let fields = self
            .fields
            .iter()
            .map(|field| Ok((text(&field.name)?, field.content.as_deref().map(text).transpose()?)));
        Ok(EntryRow {
            chain: chain.to_owned(),
            seq: self.seq.unsigned_abs(),
            hash: Digest(hash.map_err(|_| StoreError::damaged("an entry's hash"))?),
            kind: EntryType::from_name(&text(&self.kind)?)
                .ok_or_else(|| StoreError::damaged("an entry's type"))?,
            at: Time::from_millis(self.at),
            fields: fields.collect::<Result<_, StoreError>>()?,
        })
    }
}
