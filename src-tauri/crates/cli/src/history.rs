use std::path::{Path, PathBuf};

use sayso_gateway::{Client, ClientError};
use sayso_host::dto::{Empty, HistoryFilter, HistoryItem, HistoryPage, Problem, Verification};
use serde_json::Value;

use crate::args::{Filters, HistoryCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
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
    filters: Filters,
    command: Option<HistoryCommand>,
) -> Result<Exit, Failure> {
    let record = Record::of(data_dir).await?;
    match command {
        None => print_decisions(out, &record, filters).await,
        Some(HistoryCommand::Verify) if filters == Filters::default() => verify(out, &record).await,
        Some(HistoryCommand::Verify) => {
            Err(Failure::usage("`history verify` checks all decisions: leave the filters out."))
        }
    }
}

/// Where decisions are read.
enum Record {
    /// From a host that runs.
    Host(Way),
    /// From a copy of the database, where none does.
    File(PathBuf),
}

impl Record {
    async fn of(data_dir: &Path) -> Result<Self, Failure> {
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

    async fn verify(&self) -> Result<Verification, Failure> {
        match self {
            Self::Host(way) => way.call("history.verify", Empty {}).await,
            Self::File(database) => Ok(sayso_host::verify_history(database)?),
        }
    }
}

async fn print_decisions(out: &Out, record: &Record, filters: Filters) -> Result<Exit, Failure> {
    let mut left = if filters.all { u32::MAX } else { filters.limit.unwrap_or(USUAL) };
    let mut filter = HistoryFilter {
        text: filters.text,
        outcome: filters.outcome,
        source: filters.source,
        run: filters.run,
        since: filters.since.map(|since| since.to_string()),
        after: None,
        limit: None,
    };
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

async fn verify(out: &Out, record: &Record) -> Result<Exit, Failure> {
    let verified = record.verify().await?;
    if out.is_json() {
        out.value(&wire::verification(&verified))?;
    } else if verified.ok {
        let count = match verified.entries {
            1 => "1 entry".to_owned(),
            entries => format!("{entries} entries"),
        };
        out.line(&format!("The record is intact: {count}."))?;
        out.field("head", verified.head.as_deref())?;
    } else {
        let entry =
            verified.entry.map(|entry| format!("Entry {entry}")).unwrap_or_else(|| "An entry".to_owned());
        let what = match verified.problem {
            Some(Problem::Changed) => "was changed after it was written",
            Some(Problem::Removed) => "was removed",
            Some(Problem::Inserted) => "was put in later",
            Some(Problem::Truncated) => "and what followed were cut off",
            None => "is wrong",
        };
        out.line(&format!(
            "The record is broken. {entry} {what}. Keep a copy of the data folder before you go on."
        ))?;
    }
    Ok(if verified.ok { Exit::Done } else { Exit::Refused })
}
