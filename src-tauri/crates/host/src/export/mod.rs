//! Writes decisions for use elsewhere: as JSON Lines that prove themselves, as CSV, or as a page to read. Whatever the
//! size of the history, a few decisions are in memory at a time.

mod csv;
mod html;
mod words;

use std::collections::HashSet;
use std::io::{BufWriter, Write};

use sayso_agent::system_time as now;
use sayso_domain::RequestKey;
use sayso_store::ledger::{self, Damage, Exported, Footer, Selection};
use sayso_store::{Conn, Progress, StoreError};
use serde_json::{Value, json};

use crate::commands::history::{page, query};
use crate::dto::{ExportFormat, HistoryFilter};
use crate::signing::{Signer, Statement};

/// Decisions that are looked up at once.
const PAGE: u32 = 500;

/// What to write.
pub(crate) struct Export {
    pub(crate) filter: HistoryFilter,
    pub(crate) format: ExportFormat,
    pub(crate) reasons: bool,
    /// What to do about parts that cannot be read.
    pub(crate) damage: Damage,
    /// Who vouches for it.
    pub(crate) signer: Option<Signer>,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) decisions: u64,
    pub(crate) skipped: u64,
    pub(crate) is_signed: bool,
}

impl Written {
    /// In words.
    pub(crate) fn message(&self, format: ExportFormat) -> String {
        let count = match self.decisions {
            1 => "1 decision was exported".to_owned(),
            count => format!("{count} decisions were exported"),
        };
        let skipped = match self.skipped {
            0 => String::new(),
            1 => " 1 entry could not be read and was left out.".to_owned(),
            skipped => format!(" {skipped} entries could not be read and were left out."),
        };
        let signed = match (format, self.is_signed) {
            (ExportFormat::Jsonl, false) => {
                " It is not signed: there is no key for this record in the keyring."
            }
            (ExportFormat::Jsonl | ExportFormat::Csv | ExportFormat::Html, _) => "",
        };
        format!("{count}.{skipped}{signed}")
    }
}

impl Export {
    /// Writes all of it.
    pub(crate) fn write(
        &self,
        conn: &Conn,
        out: &mut dyn Write,
        progress: &Progress,
    ) -> Result<Written, StoreError> {
        let selection = self.selection(conn, progress)?;
        let mut out = BufWriter::with_capacity(1 << 18, out);
        let written = match self.format {
            ExportFormat::Jsonl => self.lines(conn, &selection, &mut out, progress),
            ExportFormat::Csv => csv::write(conn, self, &selection, &mut out, progress),
            ExportFormat::Html => html::write(conn, self, &selection, &mut out, progress),
        };
        let written = written?;
        out.flush().map_err(of_output)?;
        Ok(written)
    }

    /// What the filter lets through; all of it needs no list.
    fn selection(&self, conn: &Conn, progress: &Progress) -> Result<Selection, StoreError> {
        let reasons = self.reasons;
        if self.filter.limit.is_none() && self.words().is_empty() {
            return Ok(Selection { requests: None, reasons });
        }
        let mut left = self.filter.limit.unwrap_or(u32::MAX);
        let mut filter = HistoryFilter { after: None, ..self.filter.clone() };
        let mut requests = HashSet::new();
        while left > 0 {
            progress.go_on()?;
            filter.limit = Some(left.min(PAGE));
            let query = query(&filter).map_err(|error| StoreError::Refused(error.message))?;
            let page = page(conn, &query)?;
            left = left.saturating_sub(u32::try_from(page.items.len()).unwrap_or(u32::MAX));
            requests.extend(page.items.iter().filter_map(|item| item.key.parse::<RequestKey>().ok()));
            match page.next {
                Some(next) => filter.after = Some(next),
                None => break,
            }
        }
        Ok(Selection { requests: Some(requests), reasons })
    }

    /// The conditions of the filter, by name.
    fn words(&self) -> Vec<(String, String)> {
        let filter = json!(self.filter);
        let conditions = filter.as_object().into_iter().flatten();
        let set = conditions.filter(|(name, value)| {
            !value.is_null() && !["limit", "after", "whole"].contains(&name.as_str())
        });
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        set.map(|(name, value)| (name.clone(), text(value))).collect()
    }

    fn lines(
        &self,
        conn: &Conn,
        selection: &Selection,
        out: &mut dyn Write,
        progress: &Progress,
    ) -> Result<Written, StoreError> {
        let filter: serde_json::Map<_, _> =
            self.words().into_iter().map(|(name, value)| (name, Value::from(value))).collect();
        let about = json!({
            "filter": filter,
            "limit": self.filter.limit,
            "at": now().to_string(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        let sign = |exported: &Exported| self.footer(exported);
        let exported = ledger::write_lines(conn, &about, selection, self.damage, out, progress, sign)?;
        let (decisions, skipped) = (exported.decisions, exported.skipped);
        Ok(Written { decisions, skipped, is_signed: self.signer.is_some() })
    }

    fn footer(&self, exported: &Exported) -> Footer {
        let Some(signer) = &self.signer else { return Footer::default() };
        let signed = signer.sign(&statement(exported));
        Footer { signature: Some(signed.signature), public_key: Some(signed.public_key) }
    }
}

/// What the signature of an export says.
pub(crate) fn statement(exported: &Exported) -> Statement<'_> {
    Statement::Export {
        chain: &exported.chain,
        seq: exported.seq,
        hash: exported.head.to_string(),
        digest: exported.digest.to_string(),
    }
}

fn of_output(error: std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => StoreError::Full,
        _ => StoreError::Io(error.to_string()),
    }
}
