use std::path::{Path, PathBuf};

use sayso_domain::RequestKey;
use sayso_gateway::{Client, ClientError};
use sayso_host::HistoryCopy;
use sayso_host::dto::{
    Empty, HistoryDetail, HistoryFilter, HistoryItem, HistoryPage, Problem, RequestRef, Risk, Verification,
};
use serde_json::Value;

use crate::args::{Filters, HistoryCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inbox::one_that_begins;
use crate::out::Out;
use crate::way::Way;
use crate::when::{now, relative};
use crate::wire;

/// How many decisions are asked for at once.
const PAGE: u32 = 500;
/// Among how many of the newest a beginning of a key is looked for.
const NEWEST: u32 = 1000;
/// How many are printed unless told.
const USUAL: u32 = 100;

pub(crate) async fn history(
    out: &Out,
    data_dir: &Path,
    copy: Option<PathBuf>,
    filters: Filters,
    command: Option<HistoryCommand>,
) -> Result<Exit, Failure> {
    if command.is_some() && filters != Filters::default() {
        return Err(Failure::usage(
            "Filters are for the list of decisions: leave them out of `history show` and `history verify`.",
        ));
    }
    let record = match copy {
        Some(copy) => Record::copy(&copy)?,
        None => Record::of(data_dir).await?,
    };
    match command {
        None => print_decisions(out, &record, filters).await,
        Some(HistoryCommand::Show { key }) => show(out, &record, &key).await,
        Some(HistoryCommand::Verify) => verify(out, &record).await,
    }
}

/// Where decisions are read.
enum Record {
    /// From a host that runs.
    Host(Way),
    /// From a copy of the database, where none does.
    Copy(Box<HistoryCopy>),
}

impl Record {
    async fn of(data_dir: &Path) -> Result<Self, Failure> {
        match Client::connect(data_dir).await {
            Ok(client) => Ok(Self::Host(Way::Socket(client))),
            Err(ClientError::NoHost(_)) => {
                let database = data_dir.join("sayso.db");
                if database.exists() {
                    return Self::copy(&database);
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

    fn copy(database: &Path) -> Result<Self, Failure> {
        Ok(Self::Copy(Box::new(HistoryCopy::open(database)?)))
    }

    async fn page(&self, filter: &HistoryFilter) -> Result<HistoryPage, Failure> {
        match self {
            Self::Host(way) => way.call("history.list", filter).await,
            Self::Copy(copy) => Ok(copy.page(filter)?),
        }
    }

    async fn show(&self, key: &str) -> Result<HistoryDetail, Failure> {
        match self {
            Self::Host(way) => way.call("history.show", RequestRef { key: key.to_owned() }).await,
            Self::Copy(copy) => Ok(copy.show(key)?),
        }
    }

    async fn verify(&self) -> Result<Verification, Failure> {
        match self {
            Self::Host(way) => way.call("history.verify", Empty {}).await,
            Self::Copy(copy) => Ok(copy.verify()?),
        }
    }
}

async fn print_decisions(out: &Out, record: &Record, filters: Filters) -> Result<Exit, Failure> {
    let mut left = if filters.all { u32::MAX } else { filters.limit.unwrap_or(USUAL) };
    let mut filter = HistoryFilter {
        text: filters.text,
        outcome: filters.outcome,
        source: filters.source,
        kind: filters.kind,
        decided_by: filters.decided_by,
        surface: filters.surface,
        tool: filters.tool,
        risk: filters.risk,
        run: filters.run,
        since: filters.since.map(|since| since.to_string()),
        until: filters.until.map(|until| until.to_string()),
        after: None,
        limit: None,
        whole: Some(true),
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
        let answer = wire::json_of(&item.answer);
        let why = match item.outcome.as_str() {
            "answered" => answer.get("data").map(Value::to_string),
            "declined" => item.reason.clone(),
            _ => None,
        };
        [
            relative(&item.decided_at, now),
            if item.edited { format!("{}, edited", item.outcome) } else { item.outcome.clone() },
            by(item),
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

async fn show(out: &Out, record: &Record, key: &str) -> Result<Exit, Failure> {
    let key = if key.parse::<RequestKey>().is_ok() {
        key.to_owned()
    } else {
        let newest = HistoryFilter { limit: Some(NEWEST), ..HistoryFilter::default() };
        let items = record.page(&newest).await?.items;
        one_that_begins(key, items.into_iter().map(|item| item.key), "decision", "sayso history --json")?
    };
    let detail = record.show(&key).await?;
    if out.is_json() {
        out.value(&wire::history_detail(&detail))?;
        return Ok(Exit::Done);
    }
    let item = &detail.item;
    let at = |time: &str| format!("{time} ({})", relative(time, now()));
    out.field("key", Some(&item.key))?;
    out.field("prompt", Some(&item.prompt))?;
    out.field("from", Some(&item.source))?;
    out.field("kind", Some(&item.kind))?;
    out.field("tool", detail.tool.as_deref())?;
    out.field("arguments", detail.arguments.as_deref())?;
    out.field("edited", detail.edited_arguments.as_deref())?;
    out.field("folder", detail.folder.as_deref())?;
    if let Some(diff) = &detail.diff {
        out.block("diff", diff)?;
    }
    for note in &detail.notes {
        out.field("note", Some(note))?;
    }
    out.field("risk", detail.risk.map(risk))?;
    out.field("digest", Some(&detail.digest))?;
    out.field("run", item.run.as_deref())?;
    out.field("asked", Some(&at(&item.received_at)))?;
    out.field("outcome", Some(&item.outcome))?;
    out.field("by", Some(&by(item)))?;
    out.field("decided", Some(&at(&item.decided_at)))?;
    out.field("reason", item.reason.as_deref())?;
    out.field("sent", Some(&detail.sent))?;
    out.field("delivery", Some(&detail.delivery))?;
    for step in &detail.next {
        out.field("next", Some(step))?;
    }
    for redaction in &detail.redactions {
        out.field("erased", Some(&format!("{}: {}", at(&redaction.at), redaction.fields.join(", "))))?;
    }
    Ok(Exit::Done)
}

fn by(item: &HistoryItem) -> String {
    match &item.surface {
        Some(surface) => format!("{} ({surface})", item.decided_by),
        None => item.decided_by.clone(),
    }
}

fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
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
