use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use sayso_domain::{Digest, RequestKey, RequestState, SourceId};

use super::entry::{REQUEST, RUN};
use super::stored::Stored;
use super::walk::{Found, at};
use super::{EntryType, Problem, decision};
use crate::{Conn, StoreError, requests, settlements, sources};

/// The decisions that were taken back.
const REVOKED: &str = "
SELECT CAST(content AS INTEGER) FROM ledger JOIN ledger_fields USING (chain_id, seq)
WHERE chain_id = ?1 AND type = 'revoked' AND name = 'decision' AND content IS NOT NULL";

/// A chain's decisions beside what History shows of them.
pub(super) struct Decisions<'a> {
    conn: &'a Conn,
    /// What kinds of sources there are.
    kinds: HashMap<SourceId, String>,
    standing: i64,
    /// Decisions that some entry says were taken back.
    revoked: BTreeSet<i64>,
    /// Those of them that were read, with their requests, until the entry that takes them back.
    taken_back: BTreeMap<i64, Vec<u8>>,
}

impl<'a> Decisions<'a> {
    pub(super) fn of_chain(conn: &'a Conn, chain: &str) -> Result<Self, StoreError> {
        let revoked = conn.rows(REVOKED, [chain], |row| Ok(row.get(0)?))?.into_iter().collect();
        Ok(Self { conn, kinds: HashMap::new(), standing: 0, revoked, taken_back: BTreeMap::new() })
    }

    /// How many were read that nobody took back.
    pub(super) fn standing(&self) -> i64 {
        self.standing
    }

    /// The next entry of the chain.
    pub(super) fn check(&mut self, entry: &Stored) -> Result<Option<Found>, StoreError> {
        match std::str::from_utf8(&entry.kind).ok().and_then(EntryType::from_name) {
            Some(EntryType::Decision) => self.decision(entry),
            Some(EntryType::Revoked) => Ok(self.revoked(entry)),
            Some(
                EntryType::Delivery
                | EntryType::Effect
                | EntryType::RunEnd
                | EntryType::Redaction
                | EntryType::Prune,
            )
            | None => Ok(None),
        }
    }

    /// Whether History shows what the entry says. Erased fields cannot be compared; nor can what was said in a decision
    /// that was taken back, which is nowhere else.
    fn decision(&mut self, entry: &Stored) -> Result<Option<Found>, StoreError> {
        let changed = Ok(at(Problem::Changed, entry.seq));
        let is_revoked = self.revoked.contains(&entry.seq);
        if is_revoked {
            self.taken_back.insert(entry.seq, entry.request.clone().unwrap_or_default());
        } else {
            self.standing += 1;
        }
        let key = entry.request.as_deref().and_then(|key| std::str::from_utf8(key).ok());
        let Some(key) = key.and_then(|key| key.parse::<RequestKey>().ok()) else { return changed };
        let mut shown = || -> Result<_, StoreError> {
            let Some(request) = requests::get(self.conn, key)? else { return Ok(None) };
            let kind = match self.kinds.entry(request.source) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => match sources::get(self.conn, request.source)? {
                    Some(source) => unknown.insert(source.kind),
                    None => return Ok(None),
                },
            };
            if is_revoked {
                let fields = decision::asked(&request, kind)?;
                return Ok(Some((request, None, fields)));
            }
            let Some(settled) = settlements::get(self.conn, key)? else { return Ok(None) };
            let fields = decision::fields(&request, &settled, kind)?;
            Ok(Some((request, Some(settled), fields)))
        };
        let (request, settled, fields) = match shown() {
            Ok(Some(shown)) => shown,
            Ok(None) => return Ok(at(Problem::Removed, entry.seq)),
            // What is stored cannot be read as a decision any more.
            Err(StoreError::Damaged) => return changed,
            Err(error) => return Err(error),
        };
        let is_whole = entry.find("digest").is_some_and(|digest| digest.content.is_none())
            || Digest::of(&request.shown_text) == request.digest;
        let same_run =
            entry.content(RUN) == request.run.map(|run| run.to_string()).as_ref().map(String::as_bytes);
        let same_fields = fields.iter().all(|(name, content)| {
            entry.find(name).is_some_and(|field| {
                field.content.as_ref().is_none_or(|written| written == content.as_bytes())
            })
        });
        let nothing_lost = entry.fields.iter().all(|field| {
            field.name == REQUEST.as_bytes()
                || field.name == RUN.as_bytes()
                || field.content.is_none()
                || (is_revoked && decision::SAID.iter().any(|said| said.as_bytes() == field.name))
                || fields.iter().any(|(name, _)| name.as_bytes() == field.name)
        });
        let same_state = settled.is_none_or(|settled| {
            request.state == RequestState::Settled(settled.settlement.outcome)
                && settled.settlement.at.as_millis() == entry.at
        });
        if is_whole && same_run && same_fields && nothing_lost && same_state { Ok(None) } else { changed }
    }

    /// A decision is taken back once, after it was made.
    fn revoked(&mut self, entry: &Stored) -> Option<Found> {
        let decision = entry.content("decision").and_then(|seq| std::str::from_utf8(seq).ok()?.parse().ok());
        let request = decision.and_then(|seq: i64| self.taken_back.remove(&seq));
        if request.is_some() && request == entry.request { None } else { at(Problem::Changed, entry.seq) }
    }
}
