use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use sayso_domain::RequestKey;
use sayso_gateway::{Client, ClientError};
use sayso_host::HistoryCopy;
use sayso_host::dto::{
    HistoryDetail, HistoryFilter, HistoryItem, HistoryPage, Problem, RequestRef, Risk, Verification, Verify,
};
use serde_json::Value;

use crate::args::HistoryCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::filters::Filters;
use crate::inbox::one_that_begins;
use crate::out::Out;
use crate::record;
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
    db: Option<PathBuf>,
    filters: Filters,
    command: Option<HistoryCommand>,
) -> Result<Exit, Failure> {
    if command.is_some() && filters != Filters::default() {
        return Err(Failure::usage("Filters go with `history` alone, or after `history export`."));
    }
    let is_copy = db.is_some();
    let record = async || Record::of(data_dir, db).await;
    match command {
        None => print_decisions(out, &record().await?, filters).await,
        Some(HistoryCommand::Show { key }) => show(out, &record().await?, &key).await,
        Some(HistoryCommand::Verify { file: None, head, .. }) => verify(out, &record().await?, head).await,
        Some(HistoryCommand::Verify { file: Some(file), head, key }) => {
            record::verify_file(out, &file, head.as_deref(), key.as_deref())
        }
        Some(HistoryCommand::Head) => record::head(out, &record().await?).await,
        Some(HistoryCommand::Export { format, no_reasons, filters, file }) => {
            let filter = HistoryFilter { limit: filters.limit, ..filter(*filters) };
            let export = record::ExportTo { filter, format, reasons: !no_reasons, file };
            record::export(out, &record().await?, export).await
        }
        Some(HistoryCommand::Import { file, into }) => record::import(out, &file, &into),
        Some(HistoryCommand::Redact { yes, .. }) if !is_copy => record::redact(out, data_dir, yes).await,
        Some(HistoryCommand::Redact { .. }) => Err(Failure::usage("A copy is only read: leave --db out.")),
    }
}

/// Where decisions are read.
pub(crate) enum Record {
    /// From a host that runs.
    Host(Way),
    /// From a database, where none does.
    File(DatabaseFile),
}

/// A database, and the copy of it that is read once it is needed.
pub(crate) struct DatabaseFile {
    path: PathBuf,
    copy: OnceCell<Box<HistoryCopy>>,
}

impl DatabaseFile {
    fn at(path: PathBuf) -> Self {
        Self { path, copy: OnceCell::new() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn copy(&self) -> Result<&HistoryCopy, Failure> {
        if let Some(copy) = self.copy.get() {
            return Ok(copy);
        }
        let copy = Box::new(HistoryCopy::open(&self.path)?);
        Ok(self.copy.get_or_init(|| copy))
    }
}

impl Record {
    async fn of(data_dir: &Path, db: Option<PathBuf>) -> Result<Self, Failure> {
        if let Some(db) = db {
            return Ok(Self::File(DatabaseFile::at(db)));
        }
        match Client::connect(data_dir).await {
            Ok(client) => Ok(Self::Host(Way::Socket(client))),
            Err(ClientError::NoHost(_)) => {
                let database = data_dir.join("sayso.db");
                if database.exists() {
                    return Ok(Self::File(DatabaseFile::at(database)));
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
            Self::File(file) => Ok(file.copy()?.page(filter)?),
        }
    }

    async fn show(&self, key: &str) -> Result<HistoryDetail, Failure> {
        match self {
            Self::Host(way) => way.call("history.show", RequestRef { key: key.to_owned() }).await,
            Self::File(file) => Ok(file.copy()?.show(key)?),
        }
    }

    async fn verify(&self, head: Option<String>) -> Result<Verification, Failure> {
        match self {
            Self::Host(way) => way.call("history.verify", Verify { head }).await,
            Self::File(file) => Ok(file.copy()?.verify(head.as_deref())?),
        }
    }
}

/// What the options say, but for how many.
fn filter(filters: Filters) -> HistoryFilter {
    HistoryFilter {
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
        whole: None,
    }
}

async fn print_decisions(out: &Out, record: &Record, filters: Filters) -> Result<Exit, Failure> {
    let mut left = if filters.all { u32::MAX } else { filters.limit.unwrap_or(USUAL) };
    let mut filter = HistoryFilter { whole: Some(true), ..filter(filters) };
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
