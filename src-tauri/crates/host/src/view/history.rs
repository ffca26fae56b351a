use sayso_domain::search::Snippet;
use sayso_store::history::HistoryRow;
use sayso_store::ledger::{self, EntryRow, EntryType, Redacted};

use super::request::{as_dto, json};
use super::summary;
use crate::dto::{
    HistoryDetail, HistoryEffect, HistoryEntry, HistoryItem, HistoryRedaction, HistoryRunEnd, HistorySnippet,
    Problem, Verification,
};

/// So many characters of a prompt are in a list.
const PROMPT: usize = 300;
/// So many characters of a summary are in a list.
const SUMMARY: usize = 200;

/// `whole`: with what only one that is looked at needs.
pub(crate) fn item(row: &HistoryRow, whole: bool) -> HistoryItem {
    let shown = &row.request.shown;
    let settlement = &row.settled.settlement;
    let (prompt, summary) = (shown.request.prompt.as_str(), summary::of_shown(shown));
    HistoryItem {
        key: row.request.key.to_string(),
        request: if whole { json(&shown.request) } else { String::new() },
        kind: shown.request.kind.to_string(),
        prompt: if whole { prompt.to_owned() } else { head(prompt, PROMPT) },
        summary: if whole { summary } else { head(&summary, SUMMARY) },
        tool: shown.tool.clone(),
        risk: row.risk.map(as_dto),
        answer: if whole { json(&settlement.answer) } else { String::new() },
        reason: row.settled.reason.clone(),
        outcome: settlement.outcome.to_string(),
        class: settlement.outcome.class().map(|class| class.as_str().to_owned()),
        edited: settlement.edited.is_some(),
        decided_by: row.settled.by.as_str().to_owned(),
        surface: row.settled.surface.map(|surface| surface.as_str().to_owned()),
        source: shown.source.clone(),
        run: row.request.run.map(|run| run.to_string()),
        received_at: row.request.received_at.to_string(),
        decided_at: settlement.at.to_string(),
        waited_ms: row.waited_ms,
        redacted: row.is_redacted,
        snippet: row.snippet.as_ref().map(snippet),
    }
}

fn snippet(found: &Snippet) -> HistorySnippet {
    HistorySnippet { field: found.field.to_owned(), text: found.text.clone(), marks: found.marks.clone() }
}

/// The beginning of a text.
fn head(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

pub(crate) fn detail(row: &HistoryRow, entries: &[EntryRow], redacted: Vec<Redacted>) -> HistoryDetail {
    let shown = &row.request.shown;
    let of = |kind: EntryType| entries.iter().filter(move |entry| entry.kind == kind);
    let is_delivered = |entry: &&EntryRow| entry.field("state") == Some("delivered");
    HistoryDetail {
        item: item(row, true),
        tool: shown.tool.clone(),
        arguments: shown.arguments.clone(),
        edited_arguments: row.settled.settlement.edited.clone(),
        folder: shown.folder.clone(),
        diff: shown.diff.clone(),
        notes: shown.notes.clone(),
        risk: row.risk.map(as_dto),
        waited_ms: row.waited_ms,
        sent: json(&row.settled.settlement.delivered()),
        delivery: row.delivery.as_str().to_owned(),
        delivered_at: of(EntryType::Delivery).find(is_delivered).map(|entry| entry.at.to_string()),
        effects: of(EntryType::Effect).map(effect).collect(),
        run_end: of(EntryType::RunEnd).next().map(run_end),
        redactions: redacted
            .into_iter()
            .map(|redacted| HistoryRedaction { at: redacted.at.to_string(), fields: redacted.fields })
            .collect(),
        digest: row.request.digest.to_string(),
        entries: entries.iter().map(entry).collect(),
        next: entries.iter().filter_map(next).collect(),
    }
}

fn effect(row: &EntryRow) -> HistoryEffect {
    HistoryEffect {
        at: row.at.to_string(),
        output: row.field("output").map(str::to_owned),
        is_error: row.field("is_error") == Some("true"),
    }
}

fn run_end(row: &EntryRow) -> HistoryRunEnd {
    HistoryRunEnd {
        at: row.at.to_string(),
        status: row.field("status").unwrap_or_default().to_owned(),
        detail: row.field("detail").map(str::to_owned),
    }
}

fn entry(row: &EntryRow) -> HistoryEntry {
    HistoryEntry {
        seq: row.seq,
        kind: row.kind.as_str().to_owned(),
        hash: row.hash.to_string(),
        at: row.at.to_string(),
    }
}

/// What an entry says of what came of the decision.
fn next(row: &EntryRow) -> Option<String> {
    let field = |name| row.field(name).unwrap_or_default();
    match row.kind {
        EntryType::Delivery => Some("The answer was delivered.".to_owned()),
        EntryType::Effect => {
            let output = sayso_domain::text::cut(field("output").trim(), 500);
            let end = if field("is_error") == "true" {
                "The call ended with an error"
            } else {
                "The call was done"
            };
            Some(if output.is_empty() { format!("{end}.") } else { format!("{end}: {output}") })
        }
        EntryType::RunEnd => Some(format!("The run ended: {}.", field("status"))),
        EntryType::Revoked => Some("The decision was taken back.".to_owned()),
        EntryType::Redaction => Some("Parts of the record were erased.".to_owned()),
        EntryType::Decision | EntryType::Prune => None,
    }
}

pub(crate) fn verification(found: ledger::Verification) -> Verification {
    Verification {
        ok: found.ok,
        entries: found.entries,
        head: found.head.map(|head| head.to_string()),
        entry: found.entry,
        problem: found.problem.map(|problem| match problem {
            ledger::Problem::Changed => Problem::Changed,
            ledger::Problem::Removed => Problem::Removed,
            ledger::Problem::Inserted => Problem::Inserted,
            ledger::Problem::Truncated => Problem::Truncated,
        }),
    }
}
