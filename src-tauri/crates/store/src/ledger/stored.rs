use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows};

use super::seal::{Sealed, VERSION};
use crate::StoreError;

/// An entry as bytes: whatever was done to it, it can be read.
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
}

pub(super) struct StoredField {
    pub(super) seq: i64,
    pub(super) name: Vec<u8>,
    pub(super) digest: Vec<u8>,
    pub(super) salt: Option<Vec<u8>>,
    pub(super) content: Option<Vec<u8>>,
}

impl Stored {
    pub(super) fn next(entries: &mut Rows<'_>, fields: &mut Fields<'_>) -> Result<Option<Self>, StoreError> {
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
}

/// The fields of a chain, read alongside its entries.
pub(super) struct Fields<'a> {
    rows: Rows<'a>,
    peeked: Option<StoredField>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(rows: Rows<'a>) -> Self {
        Self { rows, peeked: None }
    }

    pub(super) fn peek(&mut self) -> Result<Option<&StoredField>, StoreError> {
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
pub(super) fn bytes(row: &Row<'_>, index: usize) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(match row.get_ref(index)? {
        ValueRef::Null => None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.to_vec()),
        ValueRef::Integer(number) => Some(number.to_le_bytes().to_vec()),
        ValueRef::Real(number) => Some(number.to_le_bytes().to_vec()),
    })
}
