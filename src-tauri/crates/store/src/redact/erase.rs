use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;
use sayso_domain::{DecidedBy, Digest, RequestKey, Shown, Surface, Time};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::places::{FoundField, FoundRow, Owner, PLACES};
use super::{Found, Secret};
use crate::ledger::{self, Entry, EntryType};
use crate::{
    Conn, StoreError, Tx, calls, column, deliveries, requests, runs, settlements, sources, verdicts,
};

/// Fields of entries that only point to a decision which may hold what was said or shown.
const TEXTS: &[&str] = &["answer", "error", "output", "detail"];

/// How much a secret's erasure is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Entries of the ledger that lose a content.
    pub entries: u64,
    /// The contents.
    pub fields: u64,
    /// Decided requests that hold it.
    pub requests: u64,
    /// Requests and runs that hold it and have not ended: they are left alone.
    pub running: u64,
    /// Texts outside of the ledger.
    pub places: u64,
}

/// Who erases, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// When.
    pub at: Time,
    /// Where the person asked for it.
    pub surface: Surface,
}

/// What an owner loses.
#[derive(Default)]
struct Loss {
    fields: BTreeSet<(String, i64, String)>,
    places: u64,
}

/// What [`erase`] would do, without doing it.
pub fn tally(conn: &Conn, found: &Found) -> Result<Tally, StoreError> {
    let mut ended = Ended { conn, known: BTreeMap::new() };
    let chosen = chosen(conn, found, &mut ended)?;
    let entries: BTreeSet<_> = chosen.fields.iter().map(|(field, _)| (&field.chain, field.seq)).collect();
    let mut tally = Tally {
        entries: entries.len() as u64,
        fields: chosen.fields.len() as u64,
        places: chosen.rows.len() as u64,
        ..Tally::default()
    };
    tally.requests = chosen.owners.iter().filter(|owner| matches!(owner, Owner::Request(_))).count() as u64;
    tally.running = ended.known.values().filter(|ended| !**ended).count() as u64;
    Ok(tally)
}

/// Erases a secret where it was found, and records that. [`StoreError::Refused`], and nothing is changed, if what would be
/// left could not be read: the text is one that the app itself writes.
pub fn erase(tx: &Tx<'_>, secret: &Secret, found: &Found, erasure: Erasure) -> Result<Tally, StoreError> {
    // What is overwritten leaves nothing in the pages that it was in.
    tx.row("PRAGMA secure_delete = ON", [], |_| Ok(()))?;
    let mut ended = Ended { conn: tx, known: BTreeMap::new() };
    let chosen = chosen(tx, found, &mut ended)?;
    let mut losses: BTreeMap<Owner, Loss> =
        chosen.owners.iter().map(|owner| (*owner, Loss::default())).collect();
    for row in chosen.rows {
        let Some(place) = PLACES.get(row.place) else { continue };
        let mut changed = 0;
        for text in place.texts {
            changed += u64::from(erase_text(tx, secret, place.table, text, row.rowid)?);
        }
        losses.entry(row.owner).or_default().places += changed;
    }
    for (owner, loss) in &mut losses {
        check_readable(tx, *owner)?;
        if let Owner::Request(key) = owner {
            loss.fields.extend(erase_decision(tx, *key)?);
        }
    }
    for (field, owner) in chosen.fields {
        if TEXTS.contains(&field.name.as_str()) && erase_field(tx, &field.chain, field.seq, &field.name)? {
            let lost = (field.chain.clone(), field.seq, field.name.clone());
            losses.entry(owner).or_default().fields.insert(lost);
        }
    }
    losses.retain(|_, loss| loss.places > 0 || !loss.fields.is_empty());
    let mut tally = Tally::default();
    for (owner, loss) in &losses {
        record(tx, *owner, loss, erasure)?;
        let entries: BTreeSet<_> = loss.fields.iter().map(|(chain, seq, _)| (chain, seq)).collect();
        tally.entries += entries.len() as u64;
        tally.fields += loss.fields.len() as u64;
        tally.places += loss.places;
        tally.requests += u64::from(matches!(owner, Owner::Request(_)));
    }
    tally.running = ended.known.values().filter(|ended| !**ended).count() as u64;
    Ok(tally)
}

/// What of all that was found is erased: what has ended.
struct Chosen<'a> {
    owners: BTreeSet<Owner>,
    rows: Vec<&'a FoundRow>,
    fields: Vec<(&'a FoundField, Owner)>,
}

fn chosen<'a>(conn: &Conn, found: &'a Found, ended: &mut Ended<'_>) -> Result<Chosen<'a>, StoreError> {
    let mut chosen = Chosen { owners: BTreeSet::new(), rows: Vec::new(), fields: Vec::new() };
    for row in &found.rows {
        if ended.has(row.owner)? {
            chosen.owners.insert(row.owner);
            chosen.rows.push(row);
        }
    }
    for field in &found.fields {
        let Some(owner) = owner_of(conn, field)? else { continue };
        if ended.has(owner)? && is_text(conn, field)? {
            chosen.owners.insert(owner);
            chosen.fields.push((field, owner));
        }
    }
    Ok(chosen)
}

/// What has ended, each looked up once.
struct Ended<'a> {
    conn: &'a Conn,
    known: BTreeMap<Owner, bool>,
}

impl Ended<'_> {
    fn has(&mut self, owner: Owner) -> Result<bool, StoreError> {
        if let Some(known) = self.known.get(&owner) {
            return Ok(*known);
        }
        let (sql, id) = match owner {
            Owner::Request(key) => (
                "SELECT EXISTS (
                     SELECT 1 FROM requests
                     JOIN deliveries ON deliveries.request = requests.key AND deliveries.state <> 'waiting'
                     LEFT JOIN runs ON runs.id = requests.run
                     WHERE requests.key = ?1 AND requests.state <> 'pending'
                       AND coalesce(runs.status, 'done') NOT IN ('running', 'pending'))",
                key.to_string(),
            ),
            Owner::Run(run) => (
                "SELECT NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1 AND status IN ('running', 'pending'))
                    AND NOT EXISTS (
                        SELECT 1 FROM requests
                        LEFT JOIN deliveries ON deliveries.request = requests.key
                        WHERE requests.run = ?1 AND coalesce(deliveries.state, 'waiting') = 'waiting')",
                run.to_string(),
            ),
        };
        let has = self.conn.row(sql, [id], |row| Ok(row.get::<_, bool>(0)?))?.unwrap_or_default();
        self.known.insert(owner, has);
        Ok(has)
    }
}

/// Whose an entry is: its request's, else its run's. What belongs to neither says nothing from outside.
fn owner_of(conn: &Conn, field: &FoundField) -> Result<Option<Owner>, StoreError> {
    let owner = conn.row(
        "SELECT request_key, run_id FROM ledger WHERE chain_id = ?1 AND seq = ?2",
        (&field.chain, field.seq),
        |row| {
            let request = column::parsed_opt(row, "request_key")?.map(Owner::Request);
            Ok(request.or(column::parsed_opt(row, "run_id")?.map(Owner::Run)))
        },
    )?;
    Ok(owner.flatten())
}

/// Whether it is a text of somebody's, and not one of ours. A decision's contents follow from what is stored of it.
fn is_text(conn: &Conn, field: &FoundField) -> Result<bool, StoreError> {
    const OURS: &[&str] = &["request", "run", "source", "source_kind", "kind", "outcome", "surface"];
    let kind = conn.row(
        "SELECT type FROM ledger WHERE chain_id = ?1 AND seq = ?2",
        (&field.chain, field.seq),
        |row| Ok(row.get::<_, String>(0)?),
    )?;
    let is_decision = kind.as_deref() == Some(EntryType::Decision.as_str());
    let name = field.name.as_str();
    Ok(if is_decision { !OURS.contains(&name) } else { TEXTS.contains(&name) })
}

fn erase_text(tx: &Tx<'_>, secret: &Secret, table: &str, text: &str, rowid: i64) -> Result<bool, StoreError> {
    let select = format!("SELECT {text} FROM {table} WHERE rowid = ?1");
    let stored = tx.row(&select, [rowid], |row| Ok(row.get::<_, Option<String>>(0)?))?;
    let Some(stored) = stored.flatten() else { return Ok(false) };
    if (table, text) == ("requests", "shown") {
        let Some(left) = erased_shown(secret, &stored)? else { return Ok(false) };
        return tx.run_one(
            "UPDATE requests SET shown = ?2, digest = ?3 WHERE rowid = ?1",
            params![rowid, left, Digest::of(&left).0],
        );
    }
    let Some(left) = secret.erased(&stored) else { return Ok(false) };
    tx.run_one(&format!("UPDATE {table} SET {text} = ?2 WHERE rowid = ?1"), params![rowid, left])
}

/// A request as shown, part by part, so that none of its own keys is taken for the secret.
fn erased_shown(secret: &Secret, text: &str) -> Result<Option<String>, StoreError> {
    let mut shown: Shown = column::json(text, "a request as shown")?;
    let erase = |text: &mut String| {
        if let Some(left) = secret.erased(text) {
            *text = left;
        }
    };
    let wire = &mut shown.request;
    erase(&mut wire.id);
    erase(&mut wire.prompt);
    for text in [&mut wire.url, &mut shown.tool, &mut shown.arguments, &mut shown.folder, &mut shown.diff] {
        text.iter_mut().for_each(erase);
    }
    shown.notes.iter_mut().for_each(erase);
    erase_json(secret, &mut wire.data)?;
    erase_json(secret, &mut wire.extra)?;
    erase_json(secret, &mut shown.editable)?;
    erase_json(secret, &mut shown.choices)?;
    let left = shown.to_text();
    Ok((left != text && secret.is_in(text)).then_some(left))
}

fn erase_json<T: Serialize + DeserializeOwned>(secret: &Secret, value: &mut T) -> Result<(), StoreError> {
    if let Some(left) = secret.erased(&column::to_json(value)?) {
        *value = serde_json::from_str(&left).map_err(|_| too_ordinary())?;
    }
    Ok(())
}

fn too_ordinary() -> StoreError {
    StoreError::Refused(
        "This text is part of what Sayso itself writes beside every decision, so that erasing it would make decisions \
         unreadable. Nothing was changed. Give more of the secret."
            .to_owned(),
    )
}

/// What is left must be what the app can read.
fn check_readable(conn: &Conn, owner: Owner) -> Result<(), StoreError> {
    let read = || -> Result<(), StoreError> {
        match owner {
            Owner::Request(key) => {
                requests::get(conn, key)?;
                settlements::get(conn, key)?;
                deliveries::get(conn, key)?;
                verdicts::of_request(conn, key)?;
            }
            Owner::Run(run) => {
                runs::get(conn, run)?;
                calls::from_turn(conn, run, 0)?;
            }
        }
        Ok(())
    };
    match read() {
        Err(StoreError::Damaged) => Err(too_ordinary()),
        read => read,
    }
}

/// Erases whatever of a decision's entry is no longer what is stored of it.
fn erase_decision(tx: &Tx<'_>, key: RequestKey) -> Result<Vec<(String, i64, String)>, StoreError> {
    let (Some(request), Some(settled)) = (requests::get(tx, key)?, settlements::get(tx, key)?) else {
        return Ok(Vec::new());
    };
    let Some(source) = sources::get(tx, request.source)? else { return Ok(Vec::new()) };
    let left = ledger::decision_fields(&request, &settled, &source.kind)?;
    let stored = tx.rows(
        "SELECT chain_id, seq, name, content FROM ledger JOIN ledger_fields USING (chain_id, seq)
         WHERE request_key = ?1 AND type = 'decision' AND content IS NOT NULL AND name NOT IN ('request', 'run')",
        [key.to_string()],
        |row| {
            let place = (row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?);
            Ok((place, row.get::<_, String>(3)?))
        },
    )?;
    let mut lost = Vec::new();
    for ((chain, seq, name), content) in stored {
        let is_left = left.iter().any(|(known, text)| *known == name && *text == content);
        if !is_left && erase_field(tx, &chain, seq, &name)? {
            lost.push((chain, seq, name));
        }
    }
    Ok(lost)
}

fn erase_field(tx: &Tx<'_>, chain: &str, seq: i64, name: &str) -> Result<bool, StoreError> {
    tx.run_one(
        "UPDATE ledger_fields SET salt = NULL, content = NULL
         WHERE chain_id = ?1 AND seq = ?2 AND name = ?3 AND content IS NOT NULL",
        params![chain, seq, name],
    )
}

fn record(tx: &Tx<'_>, owner: Owner, loss: &Loss, erasure: Erasure) -> Result<(), StoreError> {
    let erased: Vec<_> = loss
        .fields
        .iter()
        .map(|(chain, seq, field)| json!({ "chain": chain, "seq": seq, "field": field }))
        .collect();
    let (request, run) = match owner {
        Owner::Request(key) => (Some(key), requests::get(tx, key)?.and_then(|request| request.run)),
        Owner::Run(run) => (None, Some(run)),
    };
    let fields = vec![
        ("erased", column::to_json(&erased)?),
        ("places", loss.places.to_string()),
        ("decided_by", DecidedBy::Person.as_str().to_owned()),
        ("surface", erasure.surface.as_str().to_owned()),
    ];
    ledger::append(tx, &Entry { kind: EntryType::Redaction, at: erasure.at, request, run, fields })?;
    Ok(())
}
