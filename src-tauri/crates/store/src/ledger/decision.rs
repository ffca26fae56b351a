use sayso_domain::run::SlotId;
use sayso_domain::{Cause, Shown, Surface};
use serde_json::{Map, Value, json};

use crate::StoreError;
use crate::column::to_json;
use crate::requests::RequestRow;
use crate::settlements::{Kept, SettlementRow};

/// The fields that say what was answered, why, by whom and where.
pub(super) const SAID: [&str; 7] =
    ["outcome", "cause", "answer", "reason", "edited_arguments", "decided_by", "surface"];

/// What was shown, as far as a decision's fields say it: all but what may be edited, and the source's own choices.
pub(super) fn shown(field: impl Fn(&str) -> Option<String>) -> Option<Shown> {
    let parsed = |name| field(name).map(|text| serde_json::from_str::<Value>(&text)).transpose();
    let text = |name| field(name).map(Value::from);
    let mut request = Map::new();
    for (key, value) in [
        ("id", text("request_id")),
        ("kind", text("kind")),
        ("prompt", text("prompt")),
        ("url", text("url")),
        ("data", parsed("data").ok()?),
        ("expiresAt", text("expires_at")),
    ] {
        request.extend(value.map(|value| (key.to_owned(), value)));
    }
    if let Some(Value::Object(extra)) = parsed("extra").ok()? {
        request.extend(extra);
    }
    let shown = json!({
        "request": request,
        "source": field("source")?,
        "run": text("run"),
        "tool": text("tool"),
        "arguments": text("arguments"),
        "folder": text("folder"),
        "file_hash": text("file_hash"),
        "diff": text("diff"),
        "notes": parsed("notes").ok()?.unwrap_or_else(|| json!([])),
    });
    serde_json::from_value(shown).ok()
}

/// Everything about a decision, from what is stored of it: what was asked and shown, by whom; what was answered, why, by
/// whom and where. All but `request` and `run`.
pub(crate) fn fields(
    request: &RequestRow,
    settled: &SettlementRow,
    source_kind: &str,
) -> Result<Vec<(&'static str, String)>, StoreError> {
    let mut fields = asked(request, source_kind)?;
    fields.extend(said(settled)?);
    Ok(fields)
}

/// What was asked and shown, and by whom.
pub(super) fn asked(
    request: &RequestRow,
    source_kind: &str,
) -> Result<Vec<(&'static str, String)>, StoreError> {
    let shown = &request.shown;
    let wire = &shown.request;
    let notes = (!shown.notes.is_empty()).then(|| to_json(&shown.notes)).transpose()?;
    let extra = (!wire.extra.is_empty()).then(|| to_json(&wire.extra)).transpose()?;
    let all = [
        ("request_id", Some(wire.id.clone())),
        ("source", Some(shown.source.clone())),
        ("source_kind", Some(source_kind.to_owned())),
        ("call", request.slot.map(|SlotId { turn, index }| format!("{turn}.{index}"))),
        ("purpose", Some(request.purpose.as_str().to_owned())),
        ("tool", shown.tool.clone()),
        ("kind", Some(wire.kind.to_string())),
        ("prompt", Some(wire.prompt.clone())),
        ("url", wire.url.clone()),
        ("data", wire.data.as_ref().map(to_json).transpose()?),
        ("expires_at", wire.expires_at.map(|at| at.to_string())),
        ("extra", extra),
        ("arguments", shown.arguments.clone()),
        ("folder", shown.folder.clone()),
        ("file_hash", shown.file_hash.clone()),
        ("diff", shown.diff.clone()),
        ("notes", notes),
        ("digest", Some(request.digest.to_string())),
        ("received_at", Some(request.received_at.to_string())),
    ];
    Ok(all.into_iter().filter_map(|(name, content)| Some((name, content?))).collect())
}

fn said(settled: &SettlementRow) -> Result<Vec<(&'static str, String)>, StoreError> {
    let outcome = settled.settlement.outcome;
    let kept = Kept::of(&settled.settlement.answer, outcome.class())?;
    let all = [
        ("outcome", Some(outcome.to_string())),
        ("cause", outcome.cause().map(Cause::as_str).map(str::to_owned)),
        ("answer", Some(kept.answer)),
        ("reason", settled.reason.clone()),
        ("edited_arguments", settled.settlement.edited.clone()),
        ("decided_by", Some(settled.by.as_str().to_owned())),
        ("surface", settled.surface.map(Surface::as_str).map(str::to_owned)),
    ];
    Ok(all.into_iter().filter_map(|(name, content)| Some((name, content?))).collect())
}
