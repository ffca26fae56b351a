use std::collections::BTreeSet;

use sayso_domain::Digest;
use serde_json::Value;

use super::entry::{REQUEST, RUN};
use super::gap::Gaps;
use super::seal::{SALT, field_digest};
use super::stored::Stored;
use super::{EntryType, Problem};
use crate::{Progress, StoreError};

/// The first that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) problem: Problem,
    pub(super) entry: Option<u64>,
}

pub(super) fn at(problem: Problem, seq: i64) -> Option<Found> {
    Some(Found { problem, entry: u64::try_from(seq).ok() })
}

/// A walk through a chain, entry by entry: whether each follows the one before it, and holds what its hash says.
pub(super) struct Walk<'a> {
    pub(super) chain: &'a str,
    /// The number of the next entry.
    pub(super) seq: i64,
    /// The hash of the one before it.
    pub(super) prev: Vec<u8>,
    /// What was removed as a prune says.
    pub(super) gaps: &'a Gaps,
    /// The number of the last entry, where it is known beforehand.
    pub(super) head_seq: i64,
    /// A hash to look out for.
    pub(super) sought: Option<Digest>,
    pub(super) is_sought_seen: bool,
    pub(super) entries: u64,
    /// Erased fields that no redaction has named so far.
    pub(super) erased: BTreeSet<(i64, Vec<u8>)>,
    pub(super) progress: &'a Progress,
}

impl Walk<'_> {
    /// Goes to the end. `look` may find more wrong with an entry that is whole in itself.
    pub(super) fn all(
        &mut self,
        mut entries: impl Iterator<Item = Result<Stored, StoreError>>,
        mut look: impl FnMut(&Stored) -> Result<Option<Found>, StoreError>,
    ) -> Result<Option<Found>, StoreError> {
        let mut before = None;
        let mut next = entries.next().transpose()?;
        while let Some(entry) = next {
            self.progress.advance(1)?;
            self.entries += 1;
            next = entries.next().transpose()?;
            if entry.seq < self.seq || (entry.seq > self.head_seq && self.seq > self.head_seq) {
                return Ok(at(Problem::Inserted, entry.seq));
            }
            if entry.seq > self.seq {
                let Some(gap) =
                    self.gaps.exactly(self.seq, entry.seq - 1).filter(|gap| gap.prev == *self.prev)
                else {
                    return Ok(at(Problem::Removed, self.seq));
                };
                self.seq = entry.seq;
                self.follow(gap.head.to_vec());
                before = None;
            }
            if let Some(found) = self.seal(&entry, next.as_ref(), before.as_ref()) {
                return Ok(Some(found));
            }
            if !entry.is_link
                && let Some(found) =
                    self.contents(&entry).map_or_else(|| look(&entry), |found| Ok(Some(found)))?
            {
                return Ok(Some(found));
            }
            before = Some(self.follow(entry.hash));
            self.seq += 1;
        }
        Ok(None)
    }

    fn follow(&mut self, hash: Vec<u8>) -> Vec<u8> {
        self.is_sought_seen |= self.sought.is_some_and(|sought| sought.0 == *hash);
        std::mem::replace(&mut self.prev, hash)
    }

    /// Whether an entry is sealed and follows the one before it; if not, what was done.
    fn seal(&self, entry: &Stored, next: Option<&Stored>, before: Option<&Vec<u8>>) -> Option<Found> {
        let (chain, seq) = (self.chain, self.seq);
        let is_sealed = entry.hash_as(chain, seq).is_some_and(|hash| hash == *entry.hash);
        if is_sealed && entry.prev == self.prev {
            None
        } else if next.is_some_and(|next| next.prev == self.prev) {
            // The one after it follows the one before it.
            at(Problem::Inserted, seq)
        } else if before == Some(&entry.prev) {
            // It follows the one before the one before it.
            at(Problem::Inserted, seq - 1)
        } else if entry.hash_as(chain, seq + 1).is_some_and(|hash| hash == *entry.hash) {
            // It was the one after, and was moved up.
            at(Problem::Removed, seq)
        } else if is_sealed && seq > 1 {
            // It is whole, but what it follows is no longer what it followed.
            at(Problem::Changed, seq - 1)
        } else {
            at(Problem::Changed, seq)
        }
    }

    /// Whether every content is what its digest says, and columns repeat what fields say.
    fn contents(&mut self, entry: &Stored) -> Option<Found> {
        let changed = at(Problem::Changed, entry.seq);
        for field in &entry.fields {
            if field.seq != entry.seq {
                return changed;
            }
            match (&field.salt, &field.content) {
                (Some(salt), Some(content)) => {
                    if salt.len() != SALT || field_digest(salt, content) != *field.digest {
                        return changed;
                    }
                }
                (None, None) if field.is_withheld => {}
                (None, None) if ![REQUEST.as_bytes(), RUN.as_bytes()].contains(&field.name.as_slice()) => {
                    self.erased.insert((entry.seq, field.name.clone()));
                }
                _ => return changed,
            }
        }
        if entry.content(REQUEST) != entry.request.as_deref() || entry.content(RUN) != entry.run.as_deref() {
            return changed;
        }
        match std::str::from_utf8(&entry.kind).ok().and_then(EntryType::from_name) {
            Some(EntryType::Redaction) => {
                self.redaction(entry);
                None
            }
            Some(
                EntryType::Decision
                | EntryType::Delivery
                | EntryType::Effect
                | EntryType::RunEnd
                | EntryType::Revoked
                | EntryType::Prune,
            ) => None,
            None => changed,
        }
    }

    fn redaction(&mut self, entry: &Stored) {
        let list = entry.content("erased").and_then(|json| serde_json::from_slice::<Value>(json).ok());
        for item in list.as_ref().and_then(Value::as_array).into_iter().flatten() {
            let chain = item.get("chain").and_then(Value::as_str).unwrap_or(self.chain);
            let seq = item.get("seq").and_then(Value::as_i64);
            let field = item.get("field").and_then(Value::as_str);
            if let (true, Some(seq), Some(field)) = (chain == self.chain, seq, field) {
                self.erased.remove(&(seq, field.as_bytes().to_vec()));
            }
        }
    }
}
