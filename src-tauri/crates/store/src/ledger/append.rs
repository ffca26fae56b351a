use rusqlite::{Connection, params};
use sayso_domain::risk::RiskLevel;
use sayso_domain::{Digest, RequestKey};

use super::entry::{REQUEST, RUN};
use super::seal::{SALT, START, Sealed, VERSION, field_digest};
use super::{Entry, EntryRef, EntryType, decision};
use crate::{StoreError, Tx, decisions, meta, requests, search, settlements, sources};

/// Gives a chain its empty beginning.
pub(crate) fn begin_chain(conn: &Connection, chain: &str) -> rusqlite::Result<()> {
    conn.execute(
        "INSERT INTO chains (chain_id, head_seq, head_hash) VALUES (?1, 0, ?2)",
        params![chain, START],
    )?;
    Ok(())
}

/// Appends an entry to this device's chain.
fn seal(tx: &Tx<'_>, entry: &Entry) -> Result<EntryRef, StoreError> {
    let chain = meta::chain(tx)?;
    let head = tx.row("SELECT head_seq, head_hash FROM chains WHERE chain_id = ?1", [&chain], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, [u8; 32]>(1)?))
    })?;
    let Some((last, prev)) = head else {
        return Err(StoreError::damaged("the ledger has lost its head"));
    };
    let seq = last + 1;
    let contents = contents(entry);
    let fields = seal_fields(&contents)?;
    let hash = Sealed {
        v: VERSION,
        chain: &chain,
        seq,
        prev: &prev,
        kind: entry.kind.as_str(),
        at: entry.at.as_millis(),
        fields: fields.iter().map(|field| (field.name, field.digest.as_slice())).collect(),
    }
    .hash();
    tx.run(
        "INSERT INTO ledger (chain_id, seq, v, type, at, request_key, run_id, prev, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            chain,
            seq,
            VERSION,
            entry.kind.as_str(),
            entry.at.as_millis(),
            entry.request.map(|key| key.to_string()),
            entry.run.map(|run| run.to_string()),
            prev,
            hash,
        ],
    )?;
    for field in fields {
        tx.run(
            "INSERT INTO ledger_fields (chain_id, seq, name, digest, salt, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![chain, seq, field.name, field.digest, field.salt, field.content],
        )?;
    }
    let moved = tx.run_one(
        "UPDATE chains SET head_seq = ?2, head_hash = ?3 WHERE chain_id = ?1 AND head_seq = ?4",
        params![chain, seq, hash, last],
    )?;
    if !moved {
        return Err(StoreError::Conflict);
    }
    Ok(EntryRef { chain, seq: seq.unsigned_abs(), hash: Digest(hash) })
}

/// Appends the decision of a request that has just settled, from what is stored of it, and puts it into History's list and
/// index. `risk` is what was shown to whoever decided.
pub fn append_decision(tx: &Tx<'_>, key: RequestKey, risk: RiskLevel) -> Result<EntryRef, StoreError> {
    let request = requests::get(tx, key)?.ok_or(StoreError::Conflict)?;
    let settled = settlements::get(tx, key)?.ok_or(StoreError::Conflict)?;
    let source = sources::get(tx, request.source)?.ok_or(StoreError::Conflict)?;
    let entry = append(
        tx,
        &Entry {
            kind: EntryType::Decision,
            at: settled.settlement.at,
            request: Some(key),
            run: request.run,
            fields: decision::fields(&request, &settled, &source.kind, Some(risk))?,
        },
    )?;
    let n = decisions::insert(tx, &request, &settled, &source.name, Some(risk))?;
    search::add(tx, n, &request, &settled)?;
    Ok(entry)
}

/// Appends an entry, and sees to it that History finds what it says.
pub fn append(tx: &Tx<'_>, entry: &Entry) -> Result<EntryRef, StoreError> {
    match (entry.request, entry.kind) {
        (Some(key), EntryType::Effect) => search::rewrite(tx, key, || seal(tx, entry)),
        _ => seal(tx, entry),
    }
}

struct Field<'a> {
    name: &'static str,
    content: &'a str,
    salt: [u8; SALT],
    digest: [u8; 32],
}

/// Every field with its content; what the columns repeat is in here too.
fn contents(entry: &Entry) -> Vec<(&'static str, String)> {
    let request = entry.request.map(|key| (REQUEST, key.to_string()));
    let run = entry.run.map(|run| (RUN, run.to_string()));
    let mut all: Vec<_> = entry.fields.iter().cloned().chain(request).chain(run).collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    all
}

fn seal_fields<'a>(contents: &'a [(&'static str, String)]) -> Result<Vec<Field<'a>>, StoreError> {
    let mut salts = vec![0; SALT * contents.len()];
    getrandom::fill(&mut salts).map_err(|error| StoreError::Io(format!("no random numbers: {error}")))?;
    let fields = contents.iter().zip(salts.as_chunks::<SALT>().0).map(|((name, content), salt)| Field {
        name,
        content,
        salt: *salt,
        digest: field_digest(salt, content.as_bytes()),
    });
    Ok(fields.collect())
}
