//! The index of the words of every decision: an FTS5 table with no content of its own, whose rows are what
//! [`sayso_domain::search`] reads in a decision's texts. A decision's words are written in its own commit, and anew when
//! its call's output comes.
//!
//! To delete, the index must be told the words that it holds, and these are read from what is stored: so [`forget`] comes
//! before a text is changed or erased, and [`reindex`] after it. What was deleted is found no more, but its words stay on the
//! index's pages until these are merged; [`purge`] does that at once.

mod texts;

use rusqlite::params;
use sayso_domain::RequestKey;
use sayso_domain::search::words;

use crate::requests::{self, RequestRow};
use crate::settlements::{self, SettlementRow};
use crate::{Conn, StoreError, Tx, column, decisions, sources};

pub(crate) use texts::Texts;

pub(crate) const SCHEMA: &str = "
CREATE VIRTUAL TABLE decision_words USING fts5 (
    words,
    content = '',
    columnsize = 0,
    prefix = '2 3',
    tokenize = \"unicode61 remove_diacritics 0 categories 'L* M* N* P* S* C*'\"
);
";

/// What stands between the texts of a decision, so that no phrase goes from one into the next.
const BETWEEN: &str = " | ";

/// Adds the words of a new decision.
pub(crate) fn add(
    tx: &Tx<'_>,
    n: i64,
    request: &RequestRow,
    settled: &SettlementRow,
) -> Result<(), StoreError> {
    put(tx, n, &Texts::of(tx, request, settled)?)
}

/// Takes the words of a decision out of the index. Called before what is stored of it is changed or erased, in the same
/// transaction; until [`reindex`] it is searched by reading it.
pub fn forget(tx: &Tx<'_>, key: RequestKey) -> Result<(), StoreError> {
    let Some((n, true)) = decisions::place_of(tx, key)? else { return Ok(()) };
    delete(tx, n, &texts_of(tx, key)?)?;
    decisions::set_indexed(tx, n, false)
}

/// Writes the index's pages anew without the words that were taken out of it. It takes as long as writing the whole index,
/// so it is called once after all that had to be forgotten. The pages it leaves are free: what they held is gone with the
/// next `VACUUM`, or at once with `secure_delete`.
pub fn purge(tx: &Tx<'_>) -> Result<(), StoreError> {
    tx.run("INSERT INTO decision_words (decision_words) VALUES ('optimize')", [])?;
    Ok(())
}

/// Writes a decision's words anew after `change`, which adds to its texts.
pub(crate) fn rewrite<T>(
    tx: &Tx<'_>,
    key: RequestKey,
    change: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let Some((n, true)) = decisions::place_of(tx, key)? else { return change() };
    delete(tx, n, &texts_of(tx, key)?)?;
    let changed = change()?;
    put(tx, n, &texts_of(tx, key)?)?;
    Ok(changed)
}

/// Puts a decision into the index as it is stored now, and what History filters by with it. Called after what is stored of
/// it was changed or erased; [`forget`] must have been called before.
pub fn reindex(tx: &Tx<'_>, key: RequestKey) -> Result<(), StoreError> {
    let Some((n, is_indexed)) = decisions::place_of(tx, key)? else { return Ok(()) };
    if is_indexed {
        return Err(StoreError::Conflict);
    }
    fill(tx, n, key)
}

/// Takes a decision out of History's list and index: it was taken back, or is about to be removed. Called before its
/// settlement is deleted.
pub fn remove(tx: &Tx<'_>, key: RequestKey) -> Result<(), StoreError> {
    forget(tx, key)?;
    tx.run("DELETE FROM decisions WHERE request = ?1", [key.to_string()])?;
    Ok(())
}

/// Puts some of the decisions into the index that are not in it, the newest first: those of a file of an older version.
/// Whether there are more.
pub fn index_more(tx: &Tx<'_>, at_most: u32) -> Result<bool, StoreError> {
    let mut missing = tx.rows(
        "SELECT n, request FROM decisions WHERE indexed = 0 ORDER BY n DESC LIMIT ?1",
        [at_most],
        |row| Ok((row.get::<_, i64>(0)?, column::parsed::<RequestKey>(row, "request")?)),
    )?;
    let is_full = u32::try_from(missing.len()).is_ok_and(|count| count == at_most);
    // The index is written in its own order at once.
    missing.reverse();
    for (n, key) in missing {
        fill(tx, n, key)?;
    }
    Ok(is_full)
}

/// Whether some decisions are not in the index: for a while after a file of an older version was opened.
pub fn is_missing_some(conn: &Conn) -> Result<bool, StoreError> {
    let found = conn.row("SELECT EXISTS (SELECT 1 FROM decisions WHERE indexed = 0)", [], |row| {
        Ok(row.get::<_, bool>(0)?)
    })?;
    Ok(found.unwrap_or_default())
}

/// The texts of a decision as they are stored now.
pub(crate) fn texts_of(conn: &Conn, key: RequestKey) -> Result<Texts, StoreError> {
    let (request, settled) = stored(conn, key)?;
    Texts::of(conn, &request, &settled)
}

fn stored(conn: &Conn, key: RequestKey) -> Result<(RequestRow, SettlementRow), StoreError> {
    let request = requests::get(conn, key)?.ok_or(StoreError::Conflict)?;
    let settled = settlements::get(conn, key)?.ok_or(StoreError::Conflict)?;
    Ok((request, settled))
}

fn fill(tx: &Tx<'_>, n: i64, key: RequestKey) -> Result<(), StoreError> {
    let (request, settled) = stored(tx, key)?;
    let source = sources::get(tx, request.source)?.ok_or(StoreError::Conflict)?;
    tx.run(
        "UPDATE decisions
         SET source = ?2, tool = ?3, alike = ?4,
             redacted = EXISTS (SELECT 1 FROM ledger JOIN ledger_fields USING (chain_id, seq)
                                WHERE ledger.request_key = ?5 AND ledger_fields.content IS NULL)
         WHERE n = ?1",
        params![n, source.name, request.shown.tool, decisions::alike(&request)?, key.to_string()],
    )?;
    put(tx, n, &Texts::of(tx, &request, &settled)?)?;
    decisions::set_indexed(tx, n, true)
}

fn put(tx: &Tx<'_>, n: i64, texts: &Texts) -> Result<(), StoreError> {
    tx.run("INSERT INTO decision_words (rowid, words) VALUES (?1, ?2)", params![n, joined(texts)])?;
    Ok(())
}

fn delete(tx: &Tx<'_>, n: i64, texts: &Texts) -> Result<(), StoreError> {
    tx.run(
        "INSERT INTO decision_words (decision_words, rowid, words) VALUES ('delete', ?1, ?2)",
        params![n, joined(texts)],
    )?;
    Ok(())
}

fn joined(texts: &Texts) -> String {
    let mut all = String::new();
    for (_, text) in texts.fields() {
        if !all.is_empty() {
            all.push_str(BETWEEN);
        }
        for (index, word) in words(text).iter().enumerate() {
            if index > 0 {
                all.push(' ');
            }
            all.push_str(&word.text);
        }
    }
    all
}
