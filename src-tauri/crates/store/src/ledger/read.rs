use rusqlite::Row;
use sayso_domain::{Digest, RequestKey, Time};
use serde_json::Value;

use super::{EntryRow, EntryType};
use crate::{Conn, StoreError, column, meta};

/// What a redaction erased of what is known of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// When.
    pub at: Time,
    /// The names of the fields, each once.
    pub fields: Vec<String>,
}

/// The entries about a request, oldest first: its decision, the entries that point to it, and how its run ended.
pub fn of_request(conn: &Conn, key: RequestKey) -> Result<Vec<EntryRow>, StoreError> {
    let mut rows = conn.rows(
        "SELECT * FROM ledger WHERE request_key = ?1
         UNION
         SELECT * FROM (
             SELECT ended.* FROM ledger AS decision
             JOIN ledger AS ended ON ended.run_id = decision.run_id AND ended.type = 'run_end'
                                  AND ended.chain_id = decision.chain_id AND ended.seq > decision.seq
             WHERE decision.request_key = ?1 AND decision.type = 'decision'
             ORDER BY ended.seq LIMIT 1
         )
         ORDER BY at, seq",
        [key.to_string()],
        of_row,
    )?;
    for row in &mut rows {
        row.fields = conn.rows(
            "SELECT name, content FROM ledger_fields WHERE chain_id = ?1 AND seq = ?2 ORDER BY name",
            (&row.chain, column::count(row.seq)),
            |field| Ok((field.get(0)?, field.get(1)?)),
        )?;
    }
    Ok(rows)
}

/// The number and the hash of the last entry of this device's chain; 0 and zeros where there is none.
pub fn head(conn: &Conn) -> Result<(u64, Digest), StoreError> {
    let chain = meta::chain(conn)?;
    let head = conn.row("SELECT head_seq, head_hash FROM chains WHERE chain_id = ?1", [chain], |row| {
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), column::digest(row, "head_hash")?))
    })?;
    head.ok_or_else(|| StoreError::damaged("the ledger has lost its head"))
}

/// What was erased of these entries, oldest first.
pub fn redacted_of(conn: &Conn, entries: &[EntryRow]) -> Result<Vec<Redacted>, StoreError> {
    if entries.iter().all(|entry| entry.fields.iter().all(|(_, content)| content.is_some())) {
        return Ok(Vec::new());
    }
    let all = conn.rows(
        "SELECT ledger.chain_id, ledger.at, ledger_fields.content FROM ledger
         JOIN ledger_fields ON ledger_fields.chain_id = ledger.chain_id AND ledger_fields.seq = ledger.seq
         WHERE ledger.type = 'redaction' AND ledger_fields.name = 'erased' ORDER BY ledger.chain_id, ledger.seq",
        [],
        |row| Ok((row.get::<_, String>(0)?, column::time(row, "at")?, row.get::<_, Option<String>>(2)?)),
    )?;
    let mut found = Vec::new();
    for (own, at, erased) in all {
        let erased: Value = erased.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        let mut fields = Vec::new();
        for one in erased.as_array().into_iter().flatten() {
            let chain = one.get("chain").and_then(Value::as_str).unwrap_or(&own);
            let is_of =
                |entry: &EntryRow| entry.chain == chain && one.get("seq") == Some(&Value::from(entry.seq));
            if let Some(field) = one.get("field").and_then(Value::as_str)
                && entries.iter().any(is_of)
                && !fields.iter().any(|known| known == field)
            {
                fields.push(field.to_owned());
            }
        }
        if !fields.is_empty() {
            found.push(Redacted { at, fields });
        }
    }
    Ok(found)
}

/// The number of a request's last decision in this device's chain, once it settled.
pub fn decision_of(conn: &Conn, key: RequestKey) -> Result<Option<u64>, StoreError> {
    conn.row(
        "SELECT seq FROM ledger WHERE request_key = ?1 AND type = 'decision' ORDER BY seq DESC LIMIT 1",
        [key.to_string()],
        |row| Ok(row.get::<_, i64>(0)?.unsigned_abs()),
    )
}

fn of_row(row: &Row<'_>) -> Result<EntryRow, StoreError> {
    Ok(EntryRow {
        chain: row.get("chain_id")?,
        seq: row.get::<_, i64>("seq")?.unsigned_abs(),
        hash: column::digest(row, "hash")?,
        kind: column::named(row, "type", EntryType::from_name)?,
        at: column::time(row, "at")?,
        fields: Vec::new(),
    })
}
