use sayso_domain::text::beginning;
use sayso_domain::{Choice, Digest, RequestState, risk};
use sayso_store::requests::{Outline, RequestRow};

use super::summary;
use crate::dto::{Decision, RequestChoice, RequestDetail, RequestItem, Risk, RiskMark, TrailStep, Waiting};

/// How many characters a list shows of a prompt, and of what will run.
const PROMPT: usize = 300;
const SUMMARY: usize = 200;

pub(crate) fn item(row: &RequestRow) -> RequestItem {
    with_risk(row, risk::of_shown(&row.shown).level)
}

fn with_risk(row: &RequestRow, level: risk::RiskLevel) -> RequestItem {
    let (shown, request) = (&row.shown, &row.shown.request);
    RequestItem {
        key: row.key.to_string(),
        kind: request.kind.to_string(),
        prompt: beginning(&request.prompt, PROMPT),
        summary: beginning(&summary::of_shown(&row.shown), SUMMARY),
        source: row.shown.source.clone(),
        run: row.run.map(|run| run.to_string()),
        tool: row.shown.tool.clone(),
        state: match row.state {
            RequestState::Pending => "pending".to_owned(),
            RequestState::Settled(outcome) => outcome.to_string(),
        },
        received_at: row.received_at.to_string(),
        expires_at: request.expires_at.map(|at| at.to_string()),
        digest: row.digest.to_string(),
        risk: as_dto(level),
        snoozed_until: row.snoozed_until.map(|at| at.to_string()),
        group: group(row),
        plain: request.kind.is_permission() && shown.choices.is_empty() && request.schema().is_none(),
        request: None,
    }
}

pub(crate) fn waiting(row: &Outline) -> Waiting {
    Waiting {
        key: row.key.to_string(),
        expires_at: row.expires_at.map(|at| at.to_string()),
        snoozed_until: row.snoozed_until.map(|at| at.to_string()),
    }
}

pub(crate) fn detail(row: &RequestRow, trail: Vec<TrailStep>, decision: Option<Decision>) -> RequestDetail {
    let shown = &row.shown;
    let found = risk::of_shown(shown);
    RequestDetail {
        item: with_risk(row, found.level),
        prompt: shown.request.prompt.clone(),
        request: json(&shown.request),
        arguments: shown.arguments.clone(),
        editable: shown.editable.as_ref().filter(|_| shown.is_editable()).map(ToString::to_string),
        choices: shown.choices.iter().map(choice).collect(),
        data: shown.request.data.as_ref().map(ToString::to_string),
        url: shown.request.url.clone(),
        folder: shown.folder.clone(),
        diff: shown.diff.clone(),
        notes: shown.notes.clone(),
        marks: found.notes.into_iter().map(mark).collect(),
        trail,
        decision,
    }
}

/// What is the same for identical requests and for no others: of all that is shown, but for the id and the times.
fn group(row: &RequestRow) -> String {
    let mut shown = row.shown.clone();
    shown.request.id.clear();
    shown.request.expires_at = None;
    shown.run = None;
    Digest::of(&format!("{} {}", row.source, shown.to_text())).to_string()
}

fn choice(choice: &Choice) -> RequestChoice {
    RequestChoice {
        id: choice.id.clone(),
        label: choice.label.clone(),
        effect: choice.effect.as_str().to_owned(),
    }
}

fn mark(note: risk::RiskNote) -> RiskMark {
    let place = |at: Option<usize>| at.and_then(|at| u32::try_from(at).ok());
    RiskMark {
        code: note.code.as_str().to_owned(),
        level: as_dto(note.level),
        start: place(note.part.as_ref().map(|part| part.start)),
        end: place(note.part.as_ref().map(|part| part.end)),
        text: note.text,
    }
}

fn as_dto(level: risk::RiskLevel) -> Risk {
    match level {
        risk::RiskLevel::Low => Risk::Low,
        risk::RiskLevel::Medium => Risk::Medium,
        risk::RiskLevel::High => Risk::High,
    }
}

pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
