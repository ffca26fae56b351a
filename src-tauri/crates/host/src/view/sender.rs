use sayso_domain::Time;
use sayso_store::senders::Listed;

use crate::dto::SenderItem;
use crate::webhooks::SigningKey;

/// `last_seen` is what this process knows, which is written down later.
pub(crate) fn item(listed: &Listed, last_seen: Option<Time>) -> SenderItem {
    let row = &listed.row;
    SenderItem {
        name: row.name.clone(),
        initials: row.initials.clone(),
        colour: row.colour.clone(),
        open: listed.open,
        total: listed.total,
        max_open: row.max_open,
        per_minute: row.per_minute,
        may_edit: row.may_edit,
        own_choices: row.own_choices,
        callback_url: row.callback_url.clone(),
        callback_key: row.signing_key.as_deref().map(SigningKey::place_of).map(str::to_owned),
        failing: listed.failing,
        given_up: listed.given_up,
        last_failure: listed.last_failure.clone(),
        created_at: row.created_at.to_string(),
        token_at: row.token_at.to_string(),
        last_seen_at: row.last_seen_at.max(last_seen).map(|at| at.to_string()),
        revoked_at: row.revoked_at.map(|at| at.to_string()),
    }
}
