use sayso_store::history::HistoryRow;
use sayso_store::ledger::{self, EntryRow, EntryType};

use super::request::json;
use super::summary;
use crate::dto::{HistoryDetail, HistoryEntry, HistoryItem, Problem, Verification};

pub(crate) fn item(row: &HistoryRow) -> HistoryItem {
    let shown = &row.request.shown;
    let settlement = &row.settled.settlement;
    HistoryItem {
        key: row.request.key.to_string(),
        request: json(&shown.request),
        kind: shown.request.kind.to_string(),
        prompt: shown.request.prompt.clone(),
        summary: summary::of_shown(shown),
        answer: json(&settlement.answer),
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
    }
}

pub(crate) fn detail(row: &HistoryRow, entries: &[EntryRow]) -> HistoryDetail {
    let shown = &row.request.shown;
    HistoryDetail {
        item: item(row),
        tool: shown.tool.clone(),
        arguments: shown.arguments.clone(),
        edited_arguments: row.settled.settlement.edited.clone(),
        folder: shown.folder.clone(),
        diff: shown.diff.clone(),
        sent: json(&row.settled.settlement.delivered()),
        delivery: row.delivery.as_str().to_owned(),
        digest: row.request.digest.to_string(),
        entries: entries.iter().map(entry).collect(),
        next: entries.iter().filter_map(next).collect(),
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
