use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use rusqlite::Row;
use sayso_domain::RequestKey;

use super::HistoryQuery;
use super::filter::{With, each};
use crate::requests::{self, RequestRow};
use crate::{Conn, StoreError, column};

/// So many are named of what was asked most.
const MOST_ASKED: usize = 10;
const DAY: i64 = 24 * 60 * 60 * 1000;
const MINUTE: i64 = 60 * 1000;

/// What charts show of the decisions that a query names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Charts {
    /// Each day with decisions, oldest first.
    pub days: Vec<Day>,
    /// How long people took.
    pub waits: Option<Waits>,
    /// By source, most decisions first.
    pub sources: Vec<OfSource>,
    /// What was asked most.
    pub most_asked: Vec<Asked>,
    /// What was denied most.
    pub most_denied: Vec<Asked>,
    /// What expired most.
    pub expired: Vec<Asked>,
}

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Day {
    /// Days since 1970-01-01, where the person is.
    pub number: i64,
    /// Approved.
    pub approved: u32,
    /// Answered.
    pub answered: u32,
    /// Declined.
    pub declined: u32,
    /// Cancelled.
    pub cancelled: u32,
    /// Expired.
    pub expired: u32,
    /// How long people took; none where no person decided.
    pub waits: Option<Waits>,
}

/// How long people took to decide, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// Half of the decisions took no longer.
    pub median_ms: u64,
    /// 95 of 100 took no longer.
    pub p95_ms: u64,
}

/// A source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfSource {
    /// Its name.
    pub source: String,
    /// How many decisions.
    pub count: u32,
    /// How long people took; none where no person decided.
    pub waits: Option<Waits>,
}

/// Requests that asked the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The last of them.
    pub request: RequestRow,
    /// How many.
    pub count: u32,
}

/// What charts show; a query's cursor and limit are left aside. A day begins where the person's clock is
/// `offset_minutes` ahead of UTC.
pub fn charts(conn: &Conn, query: &HistoryQuery, offset_minutes: i32) -> Result<Charts, StoreError> {
    let query = HistoryQuery { after: None, limit: None, ..query.clone() };
    let mut tally = Tally::default();
    let columns = "d.n, d.at, d.waited, d.outcome, d.decided_by, d.source, d.alike";
    each(conn, &query, With::Nothing, columns, &mut |row| {
        tally.add(row, i64::from(offset_minutes) * MINUTE)
    })?;
    let asked = tally.asked.values();
    let most = |count: fn(&Alike) -> u32| -> Result<Vec<Asked>, StoreError> {
        let mut all: Vec<_> = asked.clone().filter(|alike| count(alike) > 0).collect();
        all.sort_unstable_by_key(|alike| (Reverse(count(alike)), Reverse(alike.last)));
        let first = all.into_iter().take(MOST_ASKED);
        first.map(|alike| Ok(Asked { request: request_at(conn, alike.last)?, count: count(alike) })).collect()
    };
    let (most_asked, most_denied, expired) =
        (most(|alike| alike.asked)?, most(|alike| alike.denied)?, most(|alike| alike.expired)?);
    let mut sources: Vec<_> = tally
        .sources
        .into_iter()
        .map(|(source, (count, mut waits))| OfSource { source, count, waits: of_waits(&mut waits) })
        .collect();
    sources.sort_unstable_by(|a, b| (Reverse(a.count), &a.source).cmp(&(Reverse(b.count), &b.source)));
    let mut all_waits: Vec<u64> = tally.days.values().flat_map(|(_, waits)| waits).copied().collect();
    let days = tally.days.into_values();
    Ok(Charts {
        waits: of_waits(&mut all_waits),
        days: days.map(|(day, mut waits)| Day { waits: of_waits(&mut waits), ..day }).collect(),
        sources,
        most_asked,
        most_denied,
        expired,
    })
}

#[derive(Default)]
struct Tally {
    days: BTreeMap<i64, (Day, Vec<u64>)>,
    sources: HashMap<String, (u32, Vec<u64>)>,
    asked: HashMap<i64, Alike>,
}

/// Requests that asked the same: how many, and the place of the last.
#[derive(Default)]
struct Alike {
    last: i64,
    asked: u32,
    denied: u32,
    expired: u32,
}

impl Tally {
    fn add(&mut self, row: &Row<'_>, offset: i64) -> Result<(), StoreError> {
        let text = |name| row.get_ref(name).and_then(|value| Ok(value.as_str()?));
        let (n, at, waited): (i64, i64, i64) = (row.get("n")?, row.get("at")?, row.get("waited")?);
        let number = at.saturating_add(offset).div_euclid(DAY);
        let day =
            Day { number, approved: 0, answered: 0, declined: 0, cancelled: 0, expired: 0, waits: None };
        let (day, day_waits) = self.days.entry(number).or_insert((day, Vec::new()));
        let outcome = text("outcome")?;
        let (mut denied, mut expired) = (0, 0);
        match outcome {
            "approved" => day.approved += 1,
            "answered" => day.answered += 1,
            "declined" => (day.declined, denied) = (day.declined + 1, 1),
            "expired" => (day.expired, expired) = (day.expired + 1, 1),
            _ => day.cancelled += 1,
        }
        let source = text("source")?;
        if !self.sources.contains_key(source) {
            self.sources.insert(source.to_owned(), (0, Vec::new()));
        }
        if let Some((count, source_waits)) = self.sources.get_mut(source) {
            *count += 1;
            if text("decided_by")? == "person" {
                day_waits.push(waited.unsigned_abs());
                source_waits.push(waited.unsigned_abs());
            }
        }
        if let Some(alike) = row.get("alike")? {
            let alike: &mut Alike = self.asked.entry(alike).or_default();
            alike.last = alike.last.max(n);
            alike.asked += 1;
            alike.denied += denied;
            alike.expired += expired;
        }
        Ok(())
    }
}

/// By nearest rank.
fn of_waits(waits: &mut [u64]) -> Option<Waits> {
    if waits.is_empty() {
        return None;
    }
    waits.sort_unstable();
    let rank = |hundredths: usize| waits[(waits.len() * hundredths).div_ceil(100) - 1];
    Some(Waits { median_ms: rank(50), p95_ms: rank(95) })
}

fn request_at(conn: &Conn, n: i64) -> Result<RequestRow, StoreError> {
    let key = conn.row("SELECT request FROM decisions WHERE n = ?1", [n], |row| {
        column::parsed::<RequestKey>(row, "request")
    })?;
    requests::get(conn, key.ok_or(StoreError::Conflict)?)?.ok_or(StoreError::Conflict)
}
