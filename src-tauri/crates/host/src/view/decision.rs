use sayso_domain::{DecidedBy, RequestKey, Settlement, Surface};
use sayso_inbox::Decided;
use sayso_store::settlements::SettlementRow;

use super::request::json;
use crate::dto::Decision;

pub(crate) fn of_decided(decided: &Decided) -> Decision {
    decision(decided.key, &decided.settlement, decided.by, decided.surface)
}

pub(crate) fn of_row(key: RequestKey, row: &SettlementRow) -> Decision {
    decision(key, &row.settlement, row.by, row.surface)
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
    }
}
