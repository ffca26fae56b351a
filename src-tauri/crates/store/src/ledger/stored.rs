use std::collections::VecDeque;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::seal::{Sealed, VERSION};
use crate::{Conn, StoreError};

/// So many entries are read at once.
const PAGE: i64 = 64;

/// An entry as bytes: whatever was done to it, it can be read.
#[derive(Default)]
pub(super) struct Stored {
    pub(super) seq: i64,
    pub(super) v: i64,
    pub(super) kind: Vec<u8>,
    pub(super) at: i64,
    pub(super) request: Option<Vec<u8>>,
    pub(super) run: Option<Vec<u8>>,
    pub(super) prev: Vec<u8>,
    pub(super) hash: Vec<u8>,
    pub(super) fields: Vec<StoredField>,
    /// Only its seal is here: its contents are elsewhere.
    pub(super) is_link: bool,
}

#[derive(Default)]
pub(super) struct StoredField {
    pub(super) seq: i64,
    pub(super) name: Vec<u8>,
    pub(super) digest: Vec<u8>,
    pub(super) salt: Option<Vec<u8>>,
    pub(super) content: Option<Vec<u8>>,
    /// Its content is elsewhere.
    pub(super) is_withheld: bool,
}

impl Stored {
    /// Its hash, were it at this place.
    pub(super) fn hash_as(&self, chain: &str, seq: i64) -> Option<[u8; 32]> {
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

    pub(super) fn find(&self, name: &str) -> Option<&StoredField> {
        self.fields.iter().find(|field| field.name == name.as_bytes())
    }

    pub(super) fn content(&self, name: &str) -> Option<&[u8]> {
        self.find(name).and_then(|field| field.content.as_deref())
    }

    /// A field's content where it is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.content(name).and_then(|content| std::str::from_utf8(content).ok())
    }
}

/// What to do about a part of the file that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// End with an error.
    Fails,
    /// Leave out what is in it, and count that.
    IsSkipped,
}

/// A chain's entries with their fields, in order. Only a few are in memory at a time.
pub(super) struct Entries<'a> {
    conn: &'a Conn,
    chain: &'a str,
    next: i64,
    last: i64,
    damage: Damage,
    /// Those that could not be read.
    pub(super) skipped: u64,
    ready: VecDeque<Stored>,
}

impl<'a> Entries<'a> {
    pub(super) fn new(conn: &'a Conn, chain: &'a str, damage: Damage) -> Result<Self, StoreError> {
        let newest = "SELECT seq FROM ledger WHERE chain_id = ?1 ORDER BY seq DESC LIMIT 1";
        let last = conn.row(newest, [chain], |row| Ok(row.get::<_, i64>(0)?));
        let last = match (last, damage) {
            (Err(StoreError::Damaged), Damage::IsSkipped) => {
                conn.row("SELECT head_seq FROM chains WHERE chain_id = ?1", [chain], |row| {
                    Ok(row.get::<_, i64>(0)?)
                })
            }
            (last, _) => last,
        };
        let last = last?.unwrap_or_default();
        Ok(Self { conn, chain, next: i64::MIN, last, damage, skipped: 0, ready: VecDeque::new() })
    }

    /// How many there are at most.
    pub(super) fn most(&self) -> u64 {
        u64::try_from(self.last).unwrap_or_default()
    }

    fn fill(&mut self) -> Result<(), StoreError> {
        while self.ready.is_empty() && self.next <= self.last {
            let from = self.next;
            match self.page(from, i64::MAX, PAGE) {
                Ok(page) => {
                    self.next = page.last().map_or(i64::MAX, |entry| entry.seq.saturating_add(1));
                    self.ready.extend(page);
                }
                Err(StoreError::Damaged) if self.damage == Damage::IsSkipped => {
                    let from = from.max(1);
                    self.next = from + PAGE;
                    for seq in from..self.next.min(self.last + 1) {
                        match self.page(seq, seq, 1) {
                            Ok(one) => self.ready.extend(one),
                            Err(StoreError::Damaged) => self.skipped += 1,
                            Err(error) => return Err(error),
                        }
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn page(&self, from: i64, to: i64, limit: i64) -> Result<Vec<Stored>, StoreError> {
        let mut entries = self.conn.rows(
            "SELECT seq, v, type, at, request_key, run_id, prev, hash FROM ledger
             WHERE chain_id = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq LIMIT ?4",
            (self.chain, from, to, limit),
            entry,
        )?;
        let Some(newest) = entries.last().map(|entry| entry.seq) else { return Ok(entries) };
        let fields = self.conn.rows(
            "SELECT seq, name, digest, salt, content FROM ledger_fields
             WHERE chain_id = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq, name",
            (self.chain, from, newest),
            field,
        )?;
        let mut at = 0;
        for field in fields {
            // Fields of a number that no entry has go to the entry after it, which they don't fit.
            while entries.get(at).is_some_and(|entry| entry.seq < field.seq) {
                at += 1;
            }
            if let Some(entry) = entries.get_mut(at) {
                entry.fields.push(field);
            }
        }
        Ok(entries)
    }

    /// The number of a field that comes after the last entry.
    pub(super) fn stray(&self) -> Result<Option<i64>, StoreError> {
        self.conn.row(
            "SELECT seq FROM ledger_fields WHERE chain_id = ?1 AND seq > ?2 ORDER BY seq LIMIT 1",
            (self.chain, self.last),
            |row| Ok(row.get(0)?),
        )
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Stored, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.fill() {
            Ok(()) => self.ready.pop_front().map(Ok),
            Err(error) => {
                self.next = i64::MAX;
                Some(Err(error))
            }
        }
    }
}

fn entry(row: &Row<'_>) -> Result<Stored, StoreError> {
    Ok(Stored {
        seq: row.get(0)?,
        v: row.get(1)?,
        kind: bytes(row, 2)?.unwrap_or_default(),
        at: row.get(3)?,
        request: bytes(row, 4)?,
        run: bytes(row, 5)?,
        prev: bytes(row, 6)?.unwrap_or_default(),
        hash: bytes(row, 7)?.unwrap_or_default(),
        fields: Vec::new(),
        is_link: false,
    })
}

fn field(row: &Row<'_>) -> Result<StoredField, StoreError> {
    Ok(StoredField {
        seq: row.get(0)?,
        name: bytes(row, 1)?.unwrap_or_default(),
        digest: bytes(row, 2)?.unwrap_or_default(),
        salt: bytes(row, 3)?,
        content: bytes(row, 4)?,
        is_withheld: false,
    })
}

/// A column's bytes, text or not.
pub(super) fn bytes(row: &Row<'_>, index: usize) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        ValueRef::Integer(number) => Some(number.to_le_bytes().to_vec()),
        ValueRef::Real(number) => Some(number.to_le_bytes().to_vec()),
    })
}
