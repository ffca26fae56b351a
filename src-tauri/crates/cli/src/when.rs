use std::time::{SystemTime, UNIX_EPOCH};

use sayso_domain::Time;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Now, by this machine's clock.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A moment as a person says it: relative under a day, else the moment itself.
pub(crate) fn relative(text: &str, now: Time) -> String {
    let Ok(at) = text.parse::<Time>() else { return text.to_owned() };
    let seconds = (at.as_millis() - now.as_millis()) / 1000;
    let ahead = seconds > 0;
    let amount = match seconds.abs() {
        0..MINUTE if ahead => return "in under a minute".to_owned(),
        0..MINUTE => return "just now".to_owned(),
        seconds @ MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        seconds @ HOUR..DAY => format!("{} h", seconds / HOUR),
        _ => return text.to_owned(),
    };
    if ahead { format!("in {amount}") } else { format!("{amount} ago") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_relative_under_a_day() {
        let now: Time = "2026-01-31T12:00:00Z".parse().unwrap();
        let check = |text: &str, expected: &str| assert_eq!(relative(text, now), expected);
        check("2026-01-31T11:59:30.000Z", "just now");
        check("2026-01-31T11:55:00.000Z", "5 min ago");
        check("2026-01-31T09:00:00.000Z", "3 h ago");
        check("2026-01-31T12:00:20.000Z", "in under a minute");
        check("2026-01-31T12:10:00.000Z", "in 10 min");
        check("2026-01-29T12:00:00.000Z", "2026-01-29T12:00:00.000Z");
        check("never", "never");
    }
}
