use std::ops::ControlFlow;

use rusqlite::types::Value as Cell;
use rusqlite::{Row, params_from_iter};
use sayso_domain::search::Query;

use super::HistoryQuery;
use crate::{Conn, StoreError, column, search};

/// What a query's result has beside `decisions AS d`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum With {
    Nothing,
    /// `requests AS r`, `settlements AS s` and `deliveries AS o`.
    Records,
}

/// The columns of `decisions` that a filter names a value of, those first that leave least: the index of the first that is
/// set is used.
pub(super) const VALUES: [&str; 7] = ["tool", "source", "surface", "risk", "outcome", "decided_by", "kind"];

impl HistoryQuery {
    /// Its values for [`VALUES`].
    pub(super) fn values(&self) -> [&Option<String>; 7] {
        [&self.tool, &self.source, &self.surface, &self.risk, &self.outcome, &self.decided_by, &self.kind]
    }

    /// The same query without one of [`VALUES`].
    pub(super) fn without(&self, index: usize) -> Self {
        let mut query = self.clone();
        let values = [
            &mut query.tool,
            &mut query.source,
            &mut query.surface,
            &mut query.risk,
            &mut query.outcome,
            &mut query.decided_by,
            &mut query.kind,
        ];
        if let Some(value) = values.into_iter().nth(index) {
            *value = None;
        }
        query
    }
}

/// Hands on the decisions that a query names, newest first, `query.limit` at most: `visit` gets `columns`. Those that are
/// not in the index of words, usually none, come after those that are, as many again at most.
pub(super) fn each(
    conn: &Conn,
    query: &HistoryQuery,
    with: With,
    columns: &str,
    visit: &mut dyn FnMut(&Row<'_>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let wanted = query.text.as_deref().map(Query::parse).filter(|wanted| !wanted.is_empty());
    let Some(bounds) = Bounds::of(conn, query)? else { return Ok(()) };
    let search = Search { conn, query, with, columns, bounds };
    let Some(wanted) = wanted else { return search.run(&Part::All, None, visit) };
    match wanted.expression() {
        Some(expression) => {
            let check = (!wanted.is_words()).then_some(&wanted);
            search.run(&Part::Indexed(expression), check, visit)?;
            search.run(&Part::Missing, Some(&wanted), visit)
        }
        None => search.run(&Part::All, Some(&wanted), visit),
    }
}

/// Which decisions are looked through.
enum Part {
    All,
    /// Those whose words fit an FTS5 expression.
    Indexed(String),
    /// Those whose words are not in the index.
    Missing,
}

struct Search<'a> {
    conn: &'a Conn,
    query: &'a HistoryQuery,
    with: With,
    columns: &'a str,
    bounds: Bounds,
}

impl Search<'_> {
    /// `check` reads each decision, where words in the index do not say all.
    fn run(
        &self,
        part: &Part,
        check: Option<&Query>,
        visit: &mut dyn FnMut(&Row<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut left = self.query.limit.unwrap_or(u32::MAX);
        let (sql, values) = self.sql(part);
        if left == 0 {
            return Ok(());
        }
        self.conn.each(&sql, params_from_iter(values), |row| {
            if let Some(wanted) = check {
                let texts = search::texts_of(self.conn, column::parsed(row, "request_key")?)?;
                if !wanted.matches(&texts.texts()) {
                    return Ok(ControlFlow::Continue(()));
                }
            }
            visit(row)?;
            left -= 1;
            Ok(if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    fn sql(&self, part: &Part) -> (String, Vec<Cell>) {
        let query = self.query;
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        let mut hold = |condition: String, value: Cell| {
            conditions.push(condition);
            values.push(value);
        };
        let values_set: Vec<_> = VALUES.into_iter().zip(query.values()).collect();
        let first = values_set.iter().find(|(_, value)| value.is_some()).map(|(name, _)| *name);
        let requests = "CROSS JOIN requests AS r ON r.key = d.request";
        let has_requests = self.with == With::Records || query.run.is_some();
        let joined = if has_requests { requests } else { "" };
        let (from, place) = match (part, first) {
            (Part::Indexed(expression), _) => {
                hold("w.words MATCH ?".to_owned(), Cell::Text(expression.clone()));
                (
                    format!("decision_words AS w CROSS JOIN decisions AS d ON d.n = w.rowid {joined}"),
                    "w.rowid",
                )
            }
            (Part::Missing, _) => (format!("decisions AS d INDEXED BY decisions_unindexed {joined}"), "d.n"),
            (Part::All, _) if query.run.is_some() => {
                ("requests AS r CROSS JOIN decisions AS d ON d.request = r.key".to_owned(), "d.n")
            }
            (Part::All, Some(name)) => {
                (format!("decisions AS d INDEXED BY decisions_{name} {joined}"), "d.n")
            }
            (Part::All, None) => (format!("decisions AS d {joined}"), "d.n"),
        };
        for (name, value) in values_set {
            if let Some(value) = value {
                hold(format!("d.{name} = ?"), Cell::Text(value.clone()));
            }
        }
        if let Some(run) = query.run {
            hold("r.run = ?".to_owned(), Cell::Text(run.to_string()));
        }
        if let Some(first) = self.bounds.first {
            hold(format!("{place} >= ?"), Cell::Integer(first));
        }
        if let Some(end) = self.bounds.end {
            hold(format!("{place} < ?"), Cell::Integer(end));
        }
        if let Some(since) = query.since {
            hold("d.at >= ?".to_owned(), Cell::Integer(since.as_millis()));
        }
        if let Some(until) = query.until {
            hold("d.at < ?".to_owned(), Cell::Integer(until.as_millis()));
        }
        if matches!(part, Part::Missing) {
            conditions.push("d.indexed = 0".to_owned());
        }
        let records = match self.with {
            With::Nothing => "",
            With::Records => {
                "CROSS JOIN settlements AS s ON s.request = d.request
                 CROSS JOIN deliveries AS o ON o.request = d.request"
            }
        };
        let conditions =
            if conditions.is_empty() { String::new() } else { format!("WHERE {}", conditions.join(" AND ")) };
        let columns = self.columns;
        let sql = format!(
            "SELECT d.request AS request_key, {columns} FROM {from} {records} {conditions} ORDER BY {place} DESC"
        );
        (sql, values)
    }
}

/// Between which places all lie that a query can name, by its moments and its cursor.
struct Bounds {
    first: Option<i64>,
    end: Option<i64>,
}

impl Bounds {
    /// None where there can be none.
    fn of(conn: &Conn, query: &HistoryQuery) -> Result<Option<Self>, StoreError> {
        let from = |at: i64| {
            conn.row("SELECT n FROM decisions WHERE latest >= ?1 ORDER BY latest, n LIMIT 1", [at], |row| {
                Ok(row.get::<_, i64>(0)?)
            })
        };
        let first = match query.since {
            None => None,
            Some(since) => match from(since.as_millis())? {
                None => return Ok(None),
                first => first,
            },
        };
        let mut end = query.after.map(|after| after.0);
        if let Some(until) = query.until.map(|until| until.as_millis())
            && let Some(later) = from(until)?
        {
            // Those after it are no earlier, but for the ones that a clock made so that was set back.
            let set_back = conn.row(
                "SELECT max(n) FROM decisions INDEXED BY decisions_set_back WHERE at < latest AND at < ?1",
                [until],
                |row| Ok(row.get::<_, Option<i64>>(0)?),
            )?;
            let last = set_back.flatten().map_or(later, |n| later.max(n.saturating_add(1)));
            end = Some(end.map_or(last, |end| end.min(last)));
        }
        Ok(Some(Self { first, end }))
    }
}
