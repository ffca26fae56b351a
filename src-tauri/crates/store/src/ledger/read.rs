use rusqlite::Row;
use sayso_domain::{Digest, RequestKey};

use super::{EntryRow, EntryType};
use crate::{Conn, StoreError, column, meta};

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
