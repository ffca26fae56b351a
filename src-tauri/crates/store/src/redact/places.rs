use sayso_domain::{RequestKey, RunId};

use super::Secret;
use crate::{Conn, Progress, StoreError, column};

/// Whose a row is: what must have ended before anything of it is erased.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Request(RequestKey),
    Run(RunId),
}

/// A table with texts from outside.
pub(super) struct Place {
    pub(super) table: &'static str,
    /// The column that says whose a row is.
    owner: &'static str,
    is_run: bool,
    pub(super) texts: &'static [&'static str],
}

pub(super) const PLACES: &[Place] = &[
    Place { table: "requests", owner: "key", is_run: false, texts: &["id", "tool", "shown"] },
    Place {
        table: "settlements",
        owner: "request",
        is_run: false,
        texts: &["answer", "reason", "edited_arguments"],
    },
    Place { table: "verdicts", owner: "request", is_run: false, texts: &["answer", "reason"] },
    Place { table: "deliveries", owner: "request", is_run: false, texts: &["answer", "last_error"] },
    Place { table: "runs", owner: "id", is_run: true, texts: &["task", "config", "detail", "queued"] },
    Place { table: "messages", owner: "run", is_run: true, texts: &["content"] },
    Place { table: "calls", owner: "run", is_run: true, texts: &["call_id", "name", "arguments", "detail"] },
];

/// What a person set up, and changes themselves.
const SETUPS: &[(&str, &str, &[&str])] = &[
    ("agent", "SELECT name, config FROM agents", &["config"]),
    ("source", "SELECT name, name AS text FROM sources", &["text"]),
    ("setting", "SELECT key AS name, value FROM settings", &["value"]),
    (
        "sender",
        "SELECT sources.name, callback_url FROM senders JOIN sources ON sources.id = senders.source",
        &["callback_url"],
    ),
];

/// A row that holds the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundRow {
    pub(super) place: usize,
    pub(super) rowid: i64,
    pub(super) owner: Owner,
}

/// A field of the ledger that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundField {
    pub(super) chain: String,
    pub(super) seq: i64,
    pub(super) name: String,
}

/// Where a secret is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub(super) rows: Vec<FoundRow>,
    pub(super) fields: Vec<FoundField>,
    /// Set-ups that hold it, in words such as `agent builder`: a person changes those themselves.
    pub setups: Vec<String>,
}

/// Looks for a secret in every text that came from outside.
pub fn find(conn: &Conn, secret: &Secret, progress: &Progress) -> Result<Found, StoreError> {
    let mut found = Found::default();
    for (place, at) in PLACES.iter().zip(0..) {
        let Place { table, owner, is_run, texts } = place;
        let select = format!("SELECT rowid AS row_id, {owner} AS owner, {} FROM {table}", texts.join(", "));
        conn.rows(&select, [], |row| {
            progress.go_on()?;
            let mut holds = false;
            for text in *texts {
                holds |= row
                    .get_ref(*text)?
                    .as_str_or_null()
                    .unwrap_or_default()
                    .is_some_and(|text| secret.is_in(text));
            }
            if holds {
                let owner = if *is_run {
                    Owner::Run(column::parsed(row, "owner")?)
                } else {
                    Owner::Request(column::parsed(row, "owner")?)
                };
                found.rows.push(FoundRow { place: at, rowid: row.get("row_id")?, owner });
            }
            Ok(())
        })?;
    }
    conn.rows(
        "SELECT chain_id, seq, name, content FROM ledger_fields WHERE content IS NOT NULL",
        [],
        |row| {
            progress.go_on()?;
            if row.get_ref("content")?.as_str().is_ok_and(|text| secret.is_in(text)) {
                found.fields.push(FoundField {
                    chain: row.get("chain_id")?,
                    seq: row.get("seq")?,
                    name: row.get("name")?,
                });
            }
            Ok(())
        },
    )?;
    for (what, select, texts) in SETUPS {
        conn.rows(select, [], |row| {
            for text in *texts {
                let text = row.get_ref(*text)?.as_str_or_null().unwrap_or_default();
                if text.is_some_and(|text| secret.is_in(text)) {
                    found.setups.push(format!("{what} {}", row.get::<_, String>("name")?));
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}
