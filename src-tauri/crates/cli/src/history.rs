use std::path::{Path, PathBuf};

use sayso_gateway::{Client, ClientError};
use sayso_host::Offline;
use sayso_host::dto::{HistoryFilter, HistoryItem, HistoryPage, Problem, Verification, Verify};
use serde_json::Value;

use crate::args::{Filters, HistoryCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::record;
use crate::way::Way;
use crate::when::{now, relative};
use crate::wire;

/// How many decisions are asked for at once.
const PAGE: u32 = 500;
/// How many are printed unless told.
const USUAL: u32 = 100;

pub(crate) async fn history(
    out: &Out,
    data_dir: &Path,
    db: Option<&Path>,
    filters: Filters,
    command: Option<HistoryCommand>,
) -> Result<Exit, Failure> {
    if command.is_some() && filters != Filters::default() {
        return Err(Failure::usage("Filters go with `history` alone, or after `history export`."));
    }
    match command {
        None => print_decisions(out, &Record::of(data_dir, db).await?, filters).await,
        Some(HistoryCommand::Verify { file: None, head, .. }) => {
            verify(out, &Record::of(data_dir, db).await?, head).await
        }
        Some(HistoryCommand::Verify { file: Some(file), head, key }) => {
            record::verify_file(out, &file, head.as_deref(), key.as_deref())
        }
        Some(HistoryCommand::Head) => record::head(out, &Record::of(data_dir, db).await?).await,
        Some(HistoryCommand::Export { format, no_reasons, filters, file }) => {
            let filter = HistoryFilter { limit: filters.limit, ..filter(*filters) };
            let export = record::ExportTo { filter, format, reasons: !no_reasons, file };
            record::export(out, &Record::of(data_dir, db).await?, export).await
        }
        Some(HistoryCommand::Import { file, into }) => record::import(out, &file, &into),
        Some(HistoryCommand::Redact { yes, .. }) if db.is_none() => record::redact(out, data_dir, yes).await,
        Some(HistoryCommand::Redact { .. }) => Err(Failure::usage("A copy is only read: leave --db out.")),
    }
}

/// Where decisions are read.
pub(crate) enum Record {
    /// From a host that runs.
    Host(Way),
    /// From a copy of the database, where none does.
    File(PathBuf),
}

impl Record {
    async fn of(data_dir: &Path, db: Option<&Path>) -> Result<Self, Failure> {
        if let Some(db) = db {
            return Ok(Self::File(db.to_owned()));
        }
        match Client::connect(data_dir).await {
            Ok(client) => Ok(Self::Host(Way::Socket(client))),
            Err(ClientError::NoHost(_)) => {
                let database = data_dir.join("sayso.db");
                if database.exists() {
                    return Ok(Self::File(database));
                }
                let message = format!(
                    "There are no decisions in {}: it holds no sayso.db. Name another folder with --data-dir.",
                    data_dir.display()
                );
                Err(Failure::new(Exit::Gone, "not_found", message))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn page(&self, filter: &HistoryFilter) -> Result<HistoryPage, Failure> {
        match self {
            Self::Host(way) => way.call("history.list", filter).await,
            Self::File(database) => Ok(sayso_host::read_history(database, filter)?),
        }
    }

    async fn verify(&self, head: Option<String>) -> Result<Verification, Failure> {
        match self {
            Self::Host(way) => way.call("history.verify", Verify { head }).await,
            Self::File(database) => Ok(Offline::open(database)?.verify(head.as_deref())?),
        }
    }
}

/// What the options say, but for how many.
fn filter(filters: Filters) -> HistoryFilter {
    HistoryFilter {
        text: filters.text,
        outcome: filters.outcome,
        source: filters.source,
        run: filters.run,
        since: filters.since.map(|since| since.to_string()),
        after: None,
        limit: None,
    }
}

async fn print_decisions(out: &Out, record: &Record, filters: Filters) -> Result<Exit, Failure> {
    let mut left = if filters.all { u32::MAX } else { filters.limit.unwrap_or(USUAL) };
    let mut filter = filter(filters);
    let mut found_any = false;
    while left > 0 {
        filter.limit = Some(left.min(PAGE));
        let page = record.page(&filter).await?;
        found_any |= !page.items.is_empty();
        print_page(out, &page.items)?;
        left = left.saturating_sub(u32::try_from(page.items.len()).unwrap_or(u32::MAX));
        match page.next {
            Some(next) => filter.after = Some(next),
            None => break,
        }
    }
    if !found_any {
        out.line("No decisions match.")?;
    }
    Ok(Exit::Done)
}

fn print_page(out: &Out, items: &[HistoryItem]) -> Result<(), Failure> {
    if out.is_json() {
        items.iter().try_for_each(|item| out.value(&wire::history(item)))?;
        return Ok(());
    }
    if items.is_empty() {
        return Ok(());
    }
    let now = now();
    let row = |item: &HistoryItem| {
        let by = match &item.surface {
            Some(surface) => format!("{} ({surface})", item.decided_by),
            None => item.decided_by.clone(),
        };
        let answer = wire::json_of(&item.answer);
        let why = match item.outcome.as_str() {
            "answered" => answer.get("data").map(Value::to_string),
            "declined" => item.reason.clone(),
            _ => None,
        };
        [
            relative(&item.decided_at, now),
            if item.edited { format!("{}, edited", item.outcome) } else { item.outcome.clone() },
            by,
            item.source.clone(),
            item.prompt.clone(),
            why.unwrap_or_default(),
        ]
    };
    out.table(
        ["DECIDED", "OUTCOME", "BY", "FROM", "PROMPT", "ANSWER OR REASON"],
        &items.iter().map(row).collect::<Vec<_>>(),
    )?;
    Ok(())
}

async fn verify(out: &Out, record: &Record, head: Option<String>) -> Result<Exit, Failure> {
    let verified = record.verify(head).await?;
    if out.is_json() {
        out.value(&wire::verification(&verified))?;
    } else {
        say(out, "The record", &verified)?;
    }
    Ok(if verified.ok { Exit::Done } else { Exit::Refused })
}

/// Says what was found, in words.
pub(crate) fn say(out: &Out, what: &str, verified: &Verification) -> Result<(), Failure> {
    if verified.ok {
        let count = match verified.entries {
            1 => "1 entry".to_owned(),
            entries => format!("{entries} entries"),
        };
        out.line(&format!("{what} is intact: {count}."))?;
        out.field("head", verified.head.as_deref())?;
        return Ok(());
    }
    let entry = verified.entry.map(|entry| format!("Entry {entry}")).unwrap_or_else(|| "An entry".to_owned());
    let found = match verified.problem {
        Some(Problem::Changed) => "was changed after it was written",
        Some(Problem::Removed) => "was removed",
        Some(Problem::Inserted) => "was put in later",
        Some(Problem::Truncated) => {
            "and what followed were cut off, or the head that you noted is of another record"
        }
        None => "is wrong",
    };
    out.line(&format!("{what} is broken. {entry} {found}. Keep a copy of it before you go on."))?;
    Ok(())
}
