use sayso_domain::{DecidedBy, RequestKey, Settlement, Surface};
use sayso_inbox::Decided;
use sayso_store::deliveries::DeliveryRow;
use sayso_store::settlements::SettlementRow;

use super::request::json;
use crate::dto::Decision;

pub(crate) fn of_decided(decided: &Decided) -> Decision {
    let decision = decision(decided.key, &decided.settlement, decided.by, decided.surface);
    Decision { undo_until: decided.undo_until.map(|at| at.to_string()), ..decision }
}

pub(crate) fn of_row(key: RequestKey, row: &SettlementRow, delivery: Option<&DeliveryRow>) -> Decision {
    let held = delivery.filter(|delivery| delivery.claimed_at.is_none());
    let decision = decision(key, &row.settlement, row.by, row.surface);
    Decision { undo_until: held.map(|held| held.deliver_after.to_string()), ..decision }
}

fn decision(key: RequestKey, settlement: &Settlement, by: DecidedBy, surface: Option<Surface>) -> Decision {
    Decision {
        key: key.to_string(),
        outcome: settlement.outcome.to_string(),
        answer: json(&settlement.answer),
        class: settlement.outcome.class().map(|class| class.as_str().to_owned()),
        decided_by: by.as_str().to_owned(),
        surface: surface.map(|surface| surface.as_str().to_owned()),
        decided_at: settlement.at.to_string(),
        undo_until: None,
    }
}
