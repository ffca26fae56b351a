use sayso_domain::Time;
use sayso_store::history::{self, Charts, Counts, Day, Waits};

use super::summary;
use crate::dto::{
    Asked, Count, DayTimes, HistoryCharts, HistoryCounts, HistoryDay, HistoryTimes, SourceTimes,
};

const DAY: i64 = 24 * 60 * 60 * 1000;

pub(crate) fn counts(found: Counts) -> HistoryCounts {
    let all = |counts: Vec<history::Count>| {
        counts.into_iter().map(|one| Count { value: one.value, count: one.count }).collect()
    };
    HistoryCounts {
        total: found.total,
        capped: found.is_capped,
        outcome: all(found.outcome),
        source: all(found.source),
        kind: all(found.kind),
        decided_by: all(found.decided_by),
        surface: all(found.surface),
        tool: all(found.tool),
        risk: all(found.risk),
    }
}

pub(crate) fn charts(found: Charts) -> HistoryCharts {
    let median = |waits: Option<Waits>| waits.map(|waits| waits.median_ms);
    let p95 = |waits: Option<Waits>| waits.map(|waits| waits.p95_ms);
    let by_day = found.days.iter().filter_map(|day| {
        let Waits { median_ms, p95_ms } = day.waits?;
        Some(DayTimes { day: name(day), median_ms, p95_ms })
    });
    HistoryCharts {
        times: HistoryTimes {
            median_ms: median(found.waits),
            p95_ms: p95(found.waits),
            by_day: by_day.collect(),
        },
        days: found.days.iter().map(day).collect(),
        sources: found
            .sources
            .into_iter()
            .map(|one| SourceTimes {
                source: one.source,
                count: one.count,
                median_ms: median(one.waits),
                p95_ms: p95(one.waits),
            })
            .collect(),
        most_asked: found.most_asked.iter().map(asked).collect(),
        most_denied: found.most_denied.iter().map(asked).collect(),
        expired: found.expired.iter().map(asked).collect(),
    }
}

fn day(day: &Day) -> HistoryDay {
    HistoryDay {
        day: name(day),
        approved: day.approved,
        answered: day.answered,
        declined: day.declined,
        cancelled: day.cancelled,
        expired: day.expired,
    }
}

/// Its date, as RFC 3339 writes it.
fn name(day: &Day) -> String {
    let begin = Time::from_millis(day.number.saturating_mul(DAY)).to_string();
    begin.split('T').next().unwrap_or_default().to_owned()
}

fn asked(asked: &history::Asked) -> Asked {
    let shown = &asked.request.shown;
    let summary = summary::of_shown(shown);
    let said = if summary.is_empty() { shown.request.prompt.as_str() } else { summary.as_str() };
    Asked {
        label: summary::title(said),
        tool: shown.tool.clone(),
        kind: shown.request.kind.to_string(),
        source: shown.source.clone(),
        count: asked.count,
    }
}
