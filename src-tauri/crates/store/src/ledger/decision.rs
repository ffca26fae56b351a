use sayso_domain::risk::RiskLevel;
use sayso_domain::run::SlotId;
use sayso_domain::{Cause, Surface};

use crate::StoreError;
use crate::column::to_json;
use crate::requests::RequestRow;
use crate::settlements::{Kept, SettlementRow};

/// Everything about a decision, from what is stored of it: what was asked and shown, by whom; what was answered, why, by
/// whom and where. All but `request` and `run`.
pub(super) fn fields(
    request: &RequestRow,
    settled: &SettlementRow,
    source_kind: &str,
    risk: Option<RiskLevel>,
) -> Result<Vec<(&'static str, String)>, StoreError> {
    let shown = &request.shown;
    let wire = &shown.request;
    let outcome = settled.settlement.outcome;
    let kept = Kept::of(&settled.settlement.answer, outcome.class())?;
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
        ("outcome", Some(outcome.to_string())),
        ("cause", outcome.cause().map(Cause::as_str).map(str::to_owned)),
        ("answer", Some(kept.answer)),
        ("reason", settled.reason.clone()),
        ("edited_arguments", settled.settlement.edited.clone()),
        ("decided_by", Some(settled.by.as_str().to_owned())),
        ("surface", settled.surface.map(Surface::as_str).map(str::to_owned)),
        ("risk", risk.map(RiskLevel::as_str).map(str::to_owned)),
    ];
    Ok(all.into_iter().filter_map(|(name, content)| Some((name, content?))).collect())
}
