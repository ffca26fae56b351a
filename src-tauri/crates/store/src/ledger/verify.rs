use std::collections::BTreeSet;

use sayso_domain::Digest;

use super::decisions::Decisions;
use super::gap::Gaps;
use super::seal::START;
use super::stored::{Damage, Entries, bytes};
use super::walk::{Found, Walk, at};
use crate::{Conn, Progress, StoreError, meta};

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
        let mut decisions = Decisions::of_chain(self.conn, chain)?;
        let found = walk.all(&mut entries, |entry| decisions.check(entry));
        self.decisions = decisions.standing();
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
