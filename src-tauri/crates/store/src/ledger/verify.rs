use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use sayso_domain::{Digest, RequestKey, RequestState, SourceId};

use super::entry::{REQUEST, RUN};
use super::gap::Gaps;
use super::seal::START;
use super::stored::{Damage, Entries, Stored, bytes};
use super::walk::{Found, Walk, at};
use super::{EntryType, decision};
use crate::{Conn, Progress, StoreError, meta, requests, settlements, sources};

/// What is wrong with the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// An entry, its head, or what History shows of it differs from what was written.
    Changed,
    /// An entry is missing, or the decision that it is about.
    Removed,
    /// An entry, or a decision, was not written by the app.
    Inserted,
    /// The chain ends before its head.
    Truncated,
}

/// Whether the ledger is intact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Whether it is.
    pub ok: bool,
    /// How many entries were read.
    pub entries: u64,
    /// The hash of this device's last entry.
    pub head: Option<Digest>,
    /// The first entry that is wrong; none where the problem is not with one.
    pub entry: Option<u64>,
    /// What is wrong with it.
    pub problem: Option<Problem>,
}

impl Problem {
    /// `changed`, `removed`, `inserted` or `truncated`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Removed => "removed",
            Self::Inserted => "inserted",
            Self::Truncated => "truncated",
        }
    }
}

/// Reads every entry and every field, and finds the first that is not as it was written. It also compares each decision
/// with the request and the settlement that History shows. An error means that the file could not be read at all.
pub fn verify(conn: &Conn) -> Result<Verification, StoreError> {
    verify_up_to(conn, None, &Progress::default())
}

/// The same, and whether a head that was noted earlier is still in the chain: if all is well but for that, the chain was
/// cut off and its head moved. (A head that a prune has removed since is not in it any more either.)
pub fn verify_up_to(
    conn: &Conn,
    noted: Option<Digest>,
    progress: &Progress,
) -> Result<Verification, StoreError> {
    let mut check = Check { conn, noted, progress, entries: 0, decisions: 0, head: None };
    let found = check.all()?;
    Ok(Verification {
        ok: found.is_none(),
        entries: check.entries,
        head: check.head,
        entry: found.and_then(|found| found.entry),
        problem: found.map(|found| found.problem),
    })
}

struct Check<'a> {
    conn: &'a Conn,
    noted: Option<Digest>,
    progress: &'a Progress,
    entries: u64,
    decisions: i64,
    head: Option<Digest>,
}

/// A chain's last number and hash, as the file says.
struct Head {
    seq: i64,
    hash: Vec<u8>,
}

impl Check<'_> {
    fn all(&mut self) -> Result<Option<Found>, StoreError> {
        let own = match meta::chain(self.conn) {
            Ok(chain) => chain,
            Err(StoreError::Damaged) => return Ok(Some(Found { problem: Problem::Changed, entry: None })),
            Err(error) => return Err(error),
        };
        let head =
            self.conn.row("SELECT head_seq, head_hash FROM chains WHERE chain_id = ?1", [&own], |row| {
                Ok(Head { seq: row.get(0)?, hash: bytes(row, 1)?.unwrap_or_default() })
            })?;
        if let Some(found) = self.chain(&own, head.as_ref())? {
            return Ok(Some(found));
        }
        if self.knows_others(&own)? || self.has_unwritten_decisions()? {
            return Ok(Some(Found { problem: Problem::Inserted, entry: None }));
        }
        Ok(None)
    }

    fn chain(&mut self, chain: &str, head: Option<&Head>) -> Result<Option<Found>, StoreError> {
        let gaps = Gaps::of_chain(self.conn, chain)?;
        let mut entries = Entries::new(self.conn, chain, Damage::Fails)?;
        self.progress.expect(entries.most());
        let mut walk = Walk {
            chain,
            seq: 1,
            prev: START.to_vec(),
            gaps: &gaps,
            head_seq: head.map_or(i64::MAX, |head| head.seq),
            sought: self.noted,
            is_sought_seen: false,
            entries: 0,
            erased: BTreeSet::new(),
            progress: self.progress,
        };
        let (conn, decisions) = (self.conn, &mut self.decisions);
        let mut kinds = HashMap::new();
        let found = walk.all(&mut entries, |entry| {
            if entry.kind != EntryType::Decision.as_str().as_bytes() {
                return Ok(None);
            }
            *decisions += 1;
            decision(conn, &mut kinds, entry)
        });
        self.entries = walk.entries;
        if let Some(found) = found? {
            return Ok(Some(found));
        }
        if let Some(stray) = entries.stray()? {
            return Ok(at(Problem::Inserted, stray));
        }
        let last = walk.seq - 1;
        self.head = (last > 0).then(|| <[u8; 32]>::try_from(walk.prev.as_slice()).ok()).flatten().map(Digest);
        Ok(match head {
            Some(head) if head.seq > last => at(Problem::Truncated, walk.seq),
            Some(head) if head.hash == walk.prev => match walk.erased.first() {
                Some((seq, _)) => at(Problem::Changed, *seq),
                None if self.noted.is_some() && !walk.is_sought_seen => at(Problem::Truncated, walk.seq),
                None => None,
            },
            Some(_) | None => at(Problem::Changed, last),
        })
    }

    /// Whether there are entries or fields of chains that this file doesn't write.
    fn knows_others(&self, own: &str) -> Result<bool, StoreError> {
        for table in ["chains", "ledger", "ledger_fields"] {
            let sql = format!(
                "SELECT EXISTS (SELECT 1 FROM {table} WHERE chain_id < ?1) \
                     OR EXISTS (SELECT 1 FROM {table} WHERE chain_id > ?1)"
            );
            if self.conn.row(&sql, [own], |row| Ok(row.get::<_, bool>(0)?))? != Some(false) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn has_unwritten_decisions(&self) -> Result<bool, StoreError> {
        let settled =
            self.conn.row("SELECT count(*) FROM settlements", [], |row| Ok(row.get::<_, i64>(0)?))?;
        Ok(settled != Some(self.decisions))
    }
}

/// Whether History shows what the entry says. Erased fields cannot be compared.
fn decision(
    conn: &Conn,
    kinds: &mut HashMap<SourceId, String>,
    entry: &Stored,
) -> Result<Option<Found>, StoreError> {
    let changed = Ok(at(Problem::Changed, entry.seq));
    let key = entry.request.as_deref().and_then(|key| std::str::from_utf8(key).ok());
    let Some(key) = key.and_then(|key| key.parse::<RequestKey>().ok()) else { return changed };
    let mut shown = || -> Result<_, StoreError> {
        let Some(request) = requests::get(conn, key)? else { return Ok(None) };
        let Some(settled) = settlements::get(conn, key)? else { return Ok(None) };
        let kind = match kinds.entry(request.source) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => match sources::get(conn, request.source)? {
                Some(source) => unknown.insert(source.kind),
                None => return Ok(None),
            },
        };
        let fields = decision::fields(&request, &settled, kind)?;
        Ok(Some((request, settled, fields)))
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
        entry
            .find(name)
            .is_some_and(|field| field.content.as_ref().is_none_or(|written| written == content.as_bytes()))
    });
    let nothing_lost = entry.fields.iter().all(|field| {
        field.name == REQUEST.as_bytes()
            || field.name == RUN.as_bytes()
            || field.content.is_none()
            || fields.iter().any(|(name, _)| name.as_bytes() == field.name)
    });
    let same_state = request.state == RequestState::Settled(settled.settlement.outcome)
        && settled.settlement.at.as_millis() == entry.at;
    if is_whole && same_run && same_fields && nothing_lost && same_state { Ok(None) } else { changed }
}
