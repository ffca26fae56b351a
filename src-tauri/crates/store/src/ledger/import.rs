use std::io::BufRead;
use std::path::Path;

use rusqlite::params;
use sayso_domain::{Digest, RequestKey, RunId, SourceId, Time};
use serde_json::json;
use uuid::Uuid;

use super::entry::{REQUEST, RUN};
use super::stored::Stored;
use super::{EntryType, decision, file, verify_up_to};
use crate::conn::Tx;
use crate::migrate::MIGRATIONS;
use crate::new_file::NewFile;
use crate::redact::MARK;
use crate::{Progress, StoreError, open, sources};

/// Makes a new database of exported lines, to look at the decisions of another machine: what the entries say, and nothing
/// that could go on. Its chain is that of the file. Says how many decisions it has. The file must have been verified, and
/// be whole; what comes of it is verified once more before it gets its name.
pub fn import_lines(from: &mut dyn BufRead, into: &Path, progress: &Progress) -> Result<u64, StoreError> {
    let new = NewFile::create(into)?;
    let conn =
        open::writer_at(new.beside(), MIGRATIONS).map_err(|error| StoreError::Io(error.to_string()))?;
    conn.batch("BEGIN IMMEDIATE")?;
    let decisions = fill(&Tx::new(&conn), from, progress)?;
    conn.batch("COMMIT")?;
    let found = verify_up_to(&conn, None, &Progress::default())?;
    if !found.ok {
        return Err(StoreError::Refused(format!(
            "This export does not have all that a copy needs: entry {} would not verify. Nothing was made. Export the whole \
             record, with reasons.",
            found.entry.unwrap_or_default()
        )));
    }
    conn.row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    conn.row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
    drop(conn);
    new.finish()?;
    Ok(decisions)
}

fn fill(tx: &Tx<'_>, from: &mut dyn BufRead, progress: &Progress) -> Result<u64, StoreError> {
    let (chain, entries) = file::entries(from)?;
    tx.run("DELETE FROM chains", [])?;
    tx.run("UPDATE meta SET value = ?1 WHERE key = 'chain'", [&chain])?;
    let start = Digest([0; 32]).0;
    tx.run("INSERT INTO chains (chain_id, head_seq, head_hash) VALUES (?1, 0, ?2)", params![chain, start])?;
    let mut decisions = 0;
    for entry in entries {
        let (entry, shown) = entry?;
        progress.advance(1)?;
        insert(tx, &chain, &entry)?;
        let copy = Copied { tx, entry: &entry, at: Time::from_millis(entry.at) };
        match std::str::from_utf8(&entry.kind).ok().and_then(EntryType::from_name) {
            Some(EntryType::Decision) => {
                decisions += 1;
                copy.decision(shown)?;
            }
            Some(EntryType::Delivery) => copy.delivery()?,
            Some(EntryType::RunEnd) => copy.run_end()?,
            Some(EntryType::Effect | EntryType::Revoked | EntryType::Redaction | EntryType::Prune) | None => {
            }
        }
        tx.run("UPDATE chains SET head_seq = ?1, head_hash = ?2", params![entry.seq, entry.hash])?;
    }
    Ok(decisions)
}

/// The entry itself.
fn insert(tx: &Tx<'_>, chain: &str, entry: &Stored) -> Result<(), StoreError> {
    let text = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|_| StoreError::damaged("an imported entry is no text"))
    };
    tx.run(
        "INSERT INTO ledger (chain_id, seq, v, type, at, request_key, run_id, prev, hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            chain,
            entry.seq,
            entry.v,
            text(&entry.kind)?,
            entry.at,
            entry.text(REQUEST),
            entry.text(RUN),
            entry.prev,
            entry.hash,
        ],
    )?;
    for field in &entry.fields {
        let content = field.content.as_deref().map(text).transpose()?;
        tx.run(
            "INSERT INTO ledger_fields (chain_id, seq, name, digest, salt, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![chain, entry.seq, text(&field.name)?, field.digest, field.salt, content],
        )?;
    }
    Ok(())
}

/// What History shows of an entry.
struct Copied<'a> {
    tx: &'a Tx<'a>,
    entry: &'a Stored,
    at: Time,
}

impl Copied<'_> {
    /// A field's content; a mark where it was erased.
    fn field(&self, name: &str) -> Option<String> {
        let found = self.entry.find(name)?;
        if found.content.is_some() {
            return self.entry.text(name).map(str::to_owned);
        }
        Some(match name {
            "data" => json!(MARK).to_string(),
            "notes" => json!([MARK]).to_string(),
            "extra" => json!({}).to_string(),
            _ => MARK.to_owned(),
        })
    }

    fn needed(&self, name: &str) -> Result<String, StoreError> {
        self.field(name)
            .ok_or_else(|| StoreError::damaged(format_args!("an imported decision lacks `{name}`")))
    }

    fn decision(&self, shown: Option<String>) -> Result<(), StoreError> {
        let unreadable = || StoreError::damaged("an imported decision cannot be read");
        let key: RequestKey = self.needed(REQUEST)?.parse().map_err(|_| unreadable())?;
        let text = match shown {
            Some(text) => text,
            None => decision::shown(|name| self.field(name)).ok_or_else(unreadable)?.to_text(),
        };
        let new_id = SourceId::new(Uuid::now_v7());
        let (source_kind, source) = (self.needed("source_kind")?, self.needed("source")?);
        let source = sources::ensure(self.tx, &source_kind, &source, self.at, new_id)?;
        let run = self.field(RUN);
        if let Some(run) = &run {
            self.run(run, source)?;
        }
        let call = self.field("call");
        let call = call.as_deref().and_then(|call| call.split_once('.'));
        let number = |text: &str| text.parse::<u32>().map_err(|_| unreadable());
        let call =
            call.map(|(turn, index)| Ok::<_, StoreError>((number(turn)?, number(index)?))).transpose()?;
        let time = |name| self.field(name).map(|at| at.parse::<Time>().map(Time::as_millis)).transpose();
        let outcome = self.needed("outcome")?;
        self.tx.run(
            "INSERT INTO requests (key, source, id, run, turn, idx, purpose, kind, tool, shown, digest, state, cause,
                                   received_at, expires_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            params![
                key.to_string(),
                source.to_string(),
                self.needed("request_id")?,
                run,
                call.map(|(turn, _)| turn),
                call.map(|(_, index)| index),
                self.needed("purpose")?,
                self.needed("kind")?,
                self.field("tool"),
                text,
                Digest::of(&text).0,
                outcome,
                self.field("cause"),
                time("received_at").map_err(|_| unreadable())?,
                time("expires_at").map_err(|_| unreadable())?,
            ],
        )?;
        let is_ok = ["approved", "answered"].contains(&outcome.as_str());
        let stands_in = json!({ "id": self.needed("request_id")?, "ok": is_ok }).to_string();
        let answer = self.entry.text("answer").map_or(stands_in.clone(), str::to_owned);
        self.tx.run(
            "INSERT INTO settlements (request, outcome, cause, answer, reason, edited_arguments, decided_by, surface, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                key.to_string(),
                outcome,
                self.field("cause"),
                answer,
                self.field("reason"),
                self.field("edited_arguments"),
                self.needed("decided_by")?,
                self.field("surface"),
                self.at.as_millis(),
            ],
        )?;
        self.tx.run(
            "INSERT INTO deliveries (request, answer, state, deliver_after, next_at, ended_at)
             VALUES (?1, ?2, 'undeliverable', ?3, ?3, ?3)",
            params![key.to_string(), stands_in, self.at.as_millis()],
        )?;
        Ok(())
    }

    /// A run of which only its decisions are known.
    fn run(&self, run: &str, source: SourceId) -> Result<(), StoreError> {
        let run: RunId = run.parse().map_err(|_| StoreError::damaged("an imported run's id"))?;
        self.tx.run(
            "INSERT INTO runs (id, source, agent, task, config, status, turn, told_at, max_turns, input_tokens,
                               output_tokens, queued, created_at, updated_at)
             VALUES (?1, ?2, ?3, '', '{}', 'interrupted', 0, 0, 0, 0, 0, '[]', ?4, ?4)
             ON CONFLICT (id) DO NOTHING",
            params![run.to_string(), source.to_string(), self.needed("source")?, self.at.as_millis()],
        )?;
        Ok(())
    }

    fn delivery(&self) -> Result<(), StoreError> {
        self.tx.run(
            "UPDATE deliveries SET state = ?2, ended_at = ?3, attempts = coalesce(?4, 0), answer = coalesce(?5, answer)
             WHERE request = ?1",
            params![
                self.needed(REQUEST)?,
                self.needed("state")?,
                self.at.as_millis(),
                self.field("attempts").and_then(|count| count.parse::<u32>().ok()),
                self.entry.text("answer"),
            ],
        )?;
        Ok(())
    }

    fn run_end(&self) -> Result<(), StoreError> {
        self.tx.run(
            "UPDATE runs SET status = ?2, detail = ?3, updated_at = ?4 WHERE id = ?1",
            params![self.needed(RUN)?, self.needed("status")?, self.field("detail"), self.at.as_millis()],
        )?;
        Ok(())
    }
}
