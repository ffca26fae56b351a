use std::cmp::Reverse;
use std::collections::HashMap;

use super::HistoryQuery;
use super::filter::{VALUES, With, each};
use crate::{Conn, StoreError};

/// No more than so many are counted, the newest.
pub const MOST_COUNTED: u32 = 10_000;
/// So many values are named.
const MOST_VALUES: usize = 20;

/// How many decisions have a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The value.
    pub value: String,
    /// How many.
    pub count: u32,
}

/// How many decisions a query names, and how many of them have what; most first. Each is counted without its own filter,
/// so that it says what another choice would find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them, [`MOST_COUNTED`] at most.
    pub total: u32,
    /// Whether there are more.
    pub is_capped: bool,
    /// By outcome.
    pub outcome: Vec<Count>,
    /// By source.
    pub source: Vec<Count>,
    /// By kind.
    pub kind: Vec<Count>,
    /// By who or what decided.
    pub decided_by: Vec<Count>,
    /// By where a person decided.
    pub surface: Vec<Count>,
    /// By tool.
    pub tool: Vec<Count>,
    /// By risk.
    pub risk: Vec<Count>,
}

/// Counts; a query's cursor and limit are left aside.
pub fn counts(conn: &Conn, query: &HistoryQuery) -> Result<Counts, StoreError> {
    let query = HistoryQuery { after: None, limit: Some(MOST_COUNTED + 1), ..query.clone() };
    let columns = VALUES.map(|name| format!("d.{name}")).join(", ");
    let mut tallies = VALUES.map(|_| HashMap::<String, u32>::new());
    let is_set: Vec<bool> = query.values().iter().map(|value| value.is_some()).collect();
    let mut total = 0;
    each(conn, &query, With::Nothing, &columns, &mut |row| {
        total += 1;
        if total <= MOST_COUNTED {
            for (name, tally) in VALUES.iter().zip(&mut tallies) {
                tick(tally, row.get_ref(*name)?.as_str_or_null().map_err(rusqlite::Error::from)?);
            }
        }
        Ok(())
    })?;
    for (index, name) in VALUES.iter().enumerate().filter(|(index, _)| is_set[*index]) {
        let mut tally = HashMap::new();
        let others = HistoryQuery { limit: Some(MOST_COUNTED), ..query.without(index) };
        each(conn, &others, With::Nothing, &format!("d.{name}"), &mut |row| {
            tick(&mut tally, row.get_ref(*name)?.as_str_or_null().map_err(rusqlite::Error::from)?);
            Ok(())
        })?;
        tallies[index] = tally;
    }
    let [tool, source, surface, risk, outcome, decided_by, kind] = tallies.map(most_first);
    Ok(Counts {
        total: total.min(MOST_COUNTED),
        is_capped: total > MOST_COUNTED,
        outcome,
        source,
        kind,
        decided_by,
        surface,
        tool,
        risk,
    })
}

fn tick(tally: &mut HashMap<String, u32>, value: Option<&str>) {
    let Some(value) = value else { return };
    match tally.get_mut(value) {
        Some(count) => *count += 1,
        None => {
            tally.insert(value.to_owned(), 1);
        }
    }
}

fn most_first(tally: HashMap<String, u32>) -> Vec<Count> {
    let mut counts: Vec<_> = tally.into_iter().map(|(value, count)| Count { value, count }).collect();
    counts.sort_unstable_by(|a, b| (Reverse(a.count), &a.value).cmp(&(Reverse(b.count), &b.value)));
    counts.truncate(MOST_VALUES);
    counts
}
