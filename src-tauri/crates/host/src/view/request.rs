use sayso_domain::{Choice, RequestState};
use sayso_store::requests::RequestRow;
use sayso_store::settlements::SettlementRow;

use super::{decision, summary};
use crate::dto::{RequestChoice, RequestDetail, RequestItem, TrailStep};

pub(crate) fn item(row: &RequestRow) -> RequestItem {
    let request = &row.shown.request;
    RequestItem {
        key: row.key.to_string(),
        kind: request.kind.to_string(),
        prompt: request.prompt.clone(),
        summary: summary::of_shown(&row.shown),
        source: row.shown.source.clone(),
        run: row.run.map(|run| run.to_string()),
        tool: row.shown.tool.clone(),
        state: match row.state {
            RequestState::Pending => "pending".to_owned(),
            RequestState::Settled(outcome) => outcome.to_string(),
        },
        received_at: row.received_at.to_string(),
        expires_at: request.expires_at.map(|at| at.to_string()),
        request: json(request),
        digest: row.digest.to_string(),
    }
}

pub(crate) fn detail(
    row: &RequestRow,
    trail: Vec<TrailStep>,
    settled: Option<&SettlementRow>,
) -> RequestDetail {
    let shown = &row.shown;
    RequestDetail {
        item: item(row),
        arguments: shown.arguments.clone(),
        editable: shown.editable.as_ref().filter(|_| shown.is_editable()).map(ToString::to_string),
        choices: shown.choices.iter().map(choice).collect(),
        data: shown.request.data.as_ref().map(ToString::to_string),
        url: shown.request.url.clone(),
        folder: shown.folder.clone(),
        diff: shown.diff.clone(),
        notes: shown.notes.clone(),
        trail,
        decision: settled.map(|settled| decision::of_row(row.key, settled)),
    }
}

fn choice(choice: &Choice) -> RequestChoice {
    RequestChoice {
        id: choice.id.clone(),
        label: choice.label.clone(),
        effect: choice.effect.as_str().to_owned(),
    }
}

pub(crate) fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
