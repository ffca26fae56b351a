//! What the inbox's list shows of a request, worked out once. Judging its risk takes a parse, and its text may be long; what
//! was shown of a request never changes, so the list keeps what it found, in memory and bounded. Nothing of it is stored: it is
//! what today's rules say, whichever host asked.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sayso_domain::RequestKey;
use sayso_store::waiting::WaitingRow;
use sayso_store::{Conn, StoreError, requests};

use crate::dto::RequestItem;
use crate::view;

/// So many are kept for sure, and twice as many at most: what was not asked for lately goes first.
const KEPT: usize = 16_384;

/// Items of requests that wait.
#[derive(Default)]
pub(crate) struct Listed(Mutex<Generations>);

#[derive(Default)]
struct Generations {
    young: HashMap<RequestKey, RequestItem>,
    old: HashMap<RequestKey, RequestItem>,
}

impl Listed {
    /// The item of a request that waits; none where it is gone.
    pub(crate) fn item(&self, conn: &Conn, row: &WaitingRow) -> Result<Option<RequestItem>, StoreError> {
        let key = row.place.key;
        let item = match self.known(key) {
            Some(item) => item,
            None => {
                let Some(row) = requests::get(conn, key)? else { return Ok(None) };
                let item = view::request::item(&row);
                self.keep(key, item.clone());
                item
            }
        };
        // What is kept is of a request that waits, whatever became of it since.
        Ok(Some(RequestItem {
            state: "pending".to_owned(),
            snoozed_until: row
                .snoozed_until
                .filter(|at| *at > sayso_agent::system_time())
                .map(|at| at.to_string()),
            ..item
        }))
    }

    fn known(&self, key: RequestKey) -> Option<RequestItem> {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(item) = generations.young.get(&key) {
            return Some(item.clone());
        }
        let item = generations.old.remove(&key)?;
        generations.keep(key, item.clone());
        Some(item)
    }

    fn keep(&self, key: RequestKey, item: RequestItem) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).keep(key, item);
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generations.young.len() + generations.old.len()
    }
}

impl Generations {
    fn keep(&mut self, key: RequestKey, item: RequestItem) {
        if self.young.len() >= KEPT {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, item);
    }
}

#[cfg(test)]
mod tests {
    use sayso_domain::{Kind, Request, Shown, SourceId, Time};
    use sayso_store::requests::{Purpose, RequestRow};
    use uuid::Uuid;

    use super::*;

    fn row(n: u64) -> RequestRow {
        let key = RequestKey::new(Uuid::from_u64_pair(1, n));
        let shown = Shown::new(Request::new(key.to_string(), Kind::Approval, format!("{n}?")), "ci");
        let shown_text = shown.to_text();
        RequestRow {
            key,
            source: SourceId::new(Uuid::from_u64_pair(2, 1)),
            run: None,
            slot: None,
            purpose: Purpose::Tool,
            digest: sayso_domain::Digest::of(&shown_text),
            shown,
            shown_text,
            state: sayso_domain::RequestState::Pending,
            received_at: Time::from_millis(0),
            snoozed_until: None,
        }
    }

    #[test]
    fn what_is_kept_of_lists_is_bounded_and_what_is_asked_for_stays() {
        let listed = Listed::default();
        let often = row(0);
        listed.keep(often.key, view::request::item(&often));
        for n in 1..u64::try_from(3 * KEPT).unwrap() {
            let one = row(n);
            listed.keep(one.key, view::request::item(&one));
            assert!(listed.known(often.key).is_some(), "after {n}");
        }
        assert!(listed.len() <= 2 * KEPT, "{}", listed.len());
        assert!(listed.known(row(1).key).is_none(), "the oldest went");
    }
}
