use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows};
use sayso_domain::{Digest, RequestKey, RequestState};
use serde_json::Value;

use super::entry::{REQUEST, RUN};
use super::seal::{SALT, START, Sealed, VERSION, field_digest};
use super::{EntryType, decision};
use crate::{Conn, StoreError, decisions, meta, requests, settlements, sources};

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
    let mut check = Check { conn, entries: 0, decisions: 0, head: None, erased: BTreeSet::new() };
    let found = check.all()?;
    Ok(Verification {
        ok: found.is_none(),
        entries: check.entries,
        head: check.head,
        entry: found.and_then(|found| found.entry),
        problem: found.map(|found| found.problem),
    })
}

#[derive(Clone, Copy)]
struct Found {
    problem: Problem,
    entry: Option<u64>,
}

fn at(problem: Problem, seq: i64) -> Option<Found> {
    Some(Found { problem, entry: u64::try_from(seq).ok() })
}

struct Check<'a> {
    conn: &'a Conn,
    entries: u64,
    decisions: i64,
    head: Option<Digest>,
    /// Erased fields that no redaction has named so far.
    erased: BTreeSet<(i64, Vec<u8>)>,
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
        let raw = self.conn.raw();
        let mut entries = raw.prepare_cached(
            "SELECT seq, v, type, at, request_key, run_id, prev, hash FROM ledger WHERE chain_id = ?1 ORDER BY seq",
        )?;
        let mut entries = entries.query([chain])?;
        let mut fields = raw.prepare_cached(
            "SELECT seq, name, digest, salt, content FROM ledger_fields WHERE chain_id = ?1 ORDER BY seq, name",
        )?;
        let mut fields = Fields { rows: fields.query([chain])?, peeked: None };

        let head_seq = head.map_or(i64::MAX, |head| head.seq);
        let mut before = None;
        let mut prev = START.to_vec();
        let mut seq = 1;
        let mut next = Stored::next(&mut entries, &mut fields)?;
        while let Some(entry) = next {
            self.entries += 1;
            next = Stored::next(&mut entries, &mut fields)?;
            if entry.seq < seq || (entry.seq > head_seq && seq > head_seq) {
                return Ok(at(Problem::Inserted, entry.seq));
            }
            if entry.seq > seq {
                return Ok(at(Problem::Removed, seq));
            }
            let is_sealed = entry.hash_as(chain, seq).is_some_and(|hash| hash == *entry.hash);
            let found = if is_sealed && entry.prev == prev {
                self.contents(&entry)?
            } else if next.as_ref().is_some_and(|next| next.prev == prev) {
                // The one after it follows the one before it.
                at(Problem::Inserted, seq)
            } else if before.as_ref() == Some(&entry.prev) {
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
            };
            if found.is_some() {
                return Ok(found);
            }
            before = Some(std::mem::replace(&mut prev, entry.hash));
            seq += 1;
        }
        if let Some(stray) = fields.peek()? {
            return Ok(at(Problem::Inserted, stray.seq));
        }
        let last = seq - 1;
        self.head = (last > 0).then(|| <[u8; 32]>::try_from(prev.as_slice()).ok()).flatten().map(Digest);
        Ok(match head {
            Some(head) if head.seq > last => at(Problem::Truncated, seq),
            Some(head) if head.hash == prev => {
                self.erased.first().and_then(|(seq, _)| at(Problem::Changed, *seq))
            }
            Some(_) | None => at(Problem::Changed, last),
        })
    }

    /// Whether every content is what its digest says, and what columns and History repeat is the same.
    fn contents(&mut self, entry: &Stored) -> Result<Option<Found>, StoreError> {
        let changed = at(Problem::Changed, entry.seq);
        for field in &entry.fields {
            if field.seq != entry.seq {
                return Ok(changed);
            }
            match (&field.salt, &field.content) {
                (Some(salt), Some(content)) => {
                    if salt.len() != SALT || field_digest(salt, content) != *field.digest {
                        return Ok(changed);
                    }
                }
                (None, None) if ![REQUEST.as_bytes(), RUN.as_bytes()].contains(&field.name.as_slice()) => {
                    self.erased.insert((entry.seq, field.name.clone()));
                }
                _ => return Ok(changed),
            }
        }
        if entry.content(REQUEST) != entry.request.as_deref() || entry.content(RUN) != entry.run.as_deref() {
            return Ok(changed);
        }
        match std::str::from_utf8(&entry.kind).ok().and_then(EntryType::from_name) {
            Some(EntryType::Decision) => self.decision(entry),
            Some(EntryType::Redaction) => {
                self.redaction(entry);
                Ok(None)
            }
            Some(
                EntryType::Delivery
                | EntryType::Effect
                | EntryType::RunEnd
                | EntryType::Revoked
                | EntryType::Prune,
            ) => Ok(None),
            None => Ok(changed),
        }
    }

    /// Whether History shows what the entry says. Erased fields cannot be compared.
    fn decision(&mut self, entry: &Stored) -> Result<Option<Found>, StoreError> {
        self.decisions += 1;
        let changed = Ok(at(Problem::Changed, entry.seq));
        let key = entry.request.as_deref().and_then(|key| std::str::from_utf8(key).ok());
        let Some(key) = key.and_then(|key| key.parse::<RequestKey>().ok()) else { return changed };
        let shown = || -> Result<_, StoreError> {
            let Some(request) = requests::get(self.conn, key)? else { return Ok(None) };
            let Some(settled) = settlements::get(self.conn, key)? else { return Ok(None) };
            let Some(source) = sources::get(self.conn, request.source)? else { return Ok(None) };
            let risk = decisions::risk_of(self.conn, key)?;
            let fields = decision::fields(&request, &settled, &source.kind, risk)?;
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
            entry.find(name).is_some_and(|field| {
                field.content.as_ref().is_none_or(|written| written == content.as_bytes())
            })
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

    fn redaction(&mut self, entry: &Stored) {
        let list = entry.content("erased").and_then(|json| serde_json::from_slice::<Value>(json).ok());
        for item in list.as_ref().and_then(Value::as_array).into_iter().flatten() {
            let seq = item.get("seq").and_then(Value::as_i64);
            let field = item.get("field").and_then(Value::as_str);
            if let (Some(seq), Some(field)) = (seq, field) {
                self.erased.remove(&(seq, field.as_bytes().to_vec()));
            }
        }
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

/// An entry as bytes: whatever was done to it, it can be read.
struct Stored {
    seq: i64,
    v: i64,
    kind: Vec<u8>,
    at: i64,
    request: Option<Vec<u8>>,
    run: Option<Vec<u8>>,
    prev: Vec<u8>,
    hash: Vec<u8>,
    fields: Vec<StoredField>,
}

struct StoredField {
    seq: i64,
    name: Vec<u8>,
    digest: Vec<u8>,
    salt: Option<Vec<u8>>,
    content: Option<Vec<u8>>,
}

impl Stored {
    fn next(entries: &mut Rows<'_>, fields: &mut Fields<'_>) -> Result<Option<Self>, StoreError> {
        let Some(row) = entries.next()? else { return Ok(None) };
        let seq = row.get(0)?;
        Ok(Some(Self {
            seq,
            v: row.get(1)?,
            kind: bytes(row, 2)?.unwrap_or_default(),
            at: row.get(3)?,
            request: bytes(row, 4)?,
            run: bytes(row, 5)?,
            prev: bytes(row, 6)?.unwrap_or_default(),
            hash: bytes(row, 7)?.unwrap_or_default(),
            fields: fields.of(seq)?,
        }))
    }

    /// Its hash, were it at this place.
    fn hash_as(&self, chain: &str, seq: i64) -> Option<[u8; 32]> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let fields = self.fields.iter().map(|field| Some((text(&field.name)?, field.digest.as_slice())));
        let sealed = Sealed {
            v: self.v,
            chain,
            seq,
            prev: &self.prev,
            kind: text(&self.kind)?,
            at: self.at,
            fields: fields.collect::<Option<_>>()?,
        };
        (self.v == VERSION).then(|| sealed.hash())
    }

    fn find(&self, name: &str) -> Option<&StoredField> {
        self.fields.iter().find(|field| field.name == name.as_bytes())
    }

    fn content(&self, name: &str) -> Option<&[u8]> {
        self.find(name).and_then(|field| field.content.as_deref())
    }
}

/// The fields of a chain, read alongside its entries.
struct Fields<'a> {
    rows: Rows<'a>,
    peeked: Option<StoredField>,
}

impl Fields<'_> {
    fn peek(&mut self) -> Result<Option<&StoredField>, StoreError> {
        if self.peeked.is_none() {
            self.peeked = match self.rows.next()? {
                None => None,
                Some(row) => Some(StoredField {
                    seq: row.get(0)?,
                    name: bytes(row, 1)?.unwrap_or_default(),
                    digest: bytes(row, 2)?.unwrap_or_default(),
                    salt: bytes(row, 3)?,
                    content: bytes(row, 4)?,
                }),
            };
        }
        Ok(self.peeked.as_ref())
    }

    /// Those of one entry. Fields of a number that no entry has go to the entry after it, which they don't fit.
    fn of(&mut self, seq: i64) -> Result<Vec<StoredField>, StoreError> {
        let mut fields = Vec::new();
        while self.peek()?.is_some_and(|field| field.seq <= seq) {
            fields.extend(self.peeked.take());
        }
        Ok(fields)
    }
}

/// A column's bytes, text or not.
fn bytes(row: &Row<'_>, index: usize) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        ValueRef::Integer(number) => Some(number.to_le_bytes().to_vec()),
        ValueRef::Real(number) => Some(number.to_le_bytes().to_vec()),
    })
}
