use std::time::Duration;

use jiff::ZonedDateTime;
use jiff::civil::{Date, time};
use sayso_domain::Time;
use sayso_host::Host;
use sayso_host::dto::{QuietHours, Settings};
use tokio::sync::watch;

use crate::pulse::Pulse;

/// How long at most until it is looked whether notifications are held back: clocks are set, and machines sleep.
const LOOK: Duration = Duration::from_secs(20);

/// Why and until when notifications are held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) until: Time,
    /// `paused until …` or `quiet hours until …`.
    pub(crate) why: String,
}

/// Whether the person wants no notifications at this moment. The later end counts where there are two.
pub(crate) fn held(settings: &Settings, now: &ZonedDateTime) -> Option<Held> {
    let paused = settings.paused_until.as_deref().and_then(|until| until.parse::<Time>().ok());
    let paused = paused.filter(|until| *until > time_of(now)).map(|until| ("paused", until));
    let quiet = settings.quiet_hours.as_ref().and_then(|hours| quiet_until(hours, now));
    let (what, until) =
        paused.into_iter().chain(quiet.map(|until| ("quiet hours", until))).max_by_key(|(_, at)| *at)?;
    Some(Held { until, why: format!("{what} until {}", words(until, now)) })
}

fn quiet_until(hours: &QuietHours, now: &ZonedDateTime) -> Option<Time> {
    let (from, to) = hours.minutes()?;
    let minute = u16::try_from(i32::from(now.hour()) * 60 + i32::from(now.minute())).ok()?;
    let within = if from < to { (from..to).contains(&minute) } else { minute >= from || minute < to };
    if !within {
        return None;
    }
    let day = if minute < to { now.date() } else { now.date().tomorrow().ok()? };
    at(day, to, now)
}

/// In an hour.
pub(crate) fn in_an_hour(now: &ZonedDateTime) -> Time {
    time_of(now).plus_millis(60 * 60 * 1000)
}

/// Tomorrow, when a day begins for people.
pub(crate) fn tomorrow(now: &ZonedDateTime) -> Time {
    const MORNING: u16 = 8 * 60;
    let morning = now.date().tomorrow().ok().and_then(|day| at(day, MORNING, now));
    morning.unwrap_or_else(|| time_of(now).plus_millis(24 * 60 * 60 * 1000))
}

fn at(day: Date, minute: u16, now: &ZonedDateTime) -> Option<Time> {
    let (hour, minute) = (i8::try_from(minute / 60).ok()?, i8::try_from(minute % 60).ok()?);
    let at = day.to_datetime(time(hour, minute, 0, 0)).to_zoned_datetime(now.time_zone().clone()).ok()?;
    Some(time_of(&at))
}

/// A moment of the host's.
pub(crate) fn time_of(at: &ZonedDateTime) -> Time {
    Time::from_millis(at.timestamp().as_millisecond())
}

/// Today the time of day alone.
fn words(until: Time, now: &ZonedDateTime) -> String {
    let Ok(until) = jiff::Timestamp::from_millisecond(until.as_millis()) else { return String::new() };
    let until = until.to_zoned_datetime(now.time_zone().clone());
    let days = now.date().until(until.date()).map_or(i32::MAX, |span| span.get_days());
    match days {
        0 => until.strftime("%H:%M").to_string(),
        1 => until.strftime("tomorrow %H:%M").to_string(),
        _ => until.strftime("%Y-%m-%d %H:%M").to_string(),
    }
}

/// Keeps `told`, and the faces, informed of whether notifications are held back.
pub(crate) async fn follow(host: Host, mut pulse: watch::Receiver<Pulse>, told: watch::Sender<Option<Held>>) {
    loop {
        let now = ZonedDateTime::now();
        let held = held(&pulse.borrow_and_update().settings, &now);
        let left = held.as_ref().map_or(LOOK, |held| {
            let left = held.until.as_millis() - time_of(&now).as_millis();
            Duration::from_millis(u64::try_from(left).unwrap_or_default()).min(LOOK)
        });
        let changed = told.send_if_modified(|told| {
            let changed = *told != held;
            told.clone_from(&held);
            changed
        });
        if changed {
            host.set_quiet(held.map(|held| held.why));
        }
        tokio::select! {
            changed = pulse.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(left) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(text: &str) -> ZonedDateTime {
        text.parse().unwrap()
    }

    fn check(settings: &Settings, at: &str, expected: Option<&str>) {
        assert_eq!(held(settings, &now(at)).map(|held| held.why).as_deref(), expected, "{at}");
    }

    #[test]
    fn quiet_hours_are_by_the_wall_clock_and_pass_midnight() {
        let hours = QuietHours { from: "22:00".to_owned(), to: "07:30".to_owned() };
        let night = Settings { quiet_hours: Some(hours), ..Settings::default() };
        check(&night, "2026-12-01T21:59:59+01:00[Europe/Berlin]", None);
        check(&night, "2026-12-01T22:00:00+01:00[Europe/Berlin]", Some("quiet hours until tomorrow 07:30"));
        check(&night, "2026-12-02T07:29:59+01:00[Europe/Berlin]", Some("quiet hours until 07:30"));
        check(&night, "2026-12-02T07:30:00+01:00[Europe/Berlin]", None);
        let hours = QuietHours { from: "12:00".to_owned(), to: "13:00".to_owned() };
        let noon = Settings { quiet_hours: Some(hours), ..Settings::default() };
        check(&noon, "2026-12-01T12:59:00-05:00[America/New_York]", Some("quiet hours until 13:00"));
        check(&noon, "2026-12-01T11:59:00-05:00[America/New_York]", None);
    }

    #[test]
    fn a_pause_ends_by_itself_and_the_later_end_counts() {
        let hours = QuietHours { from: "22:00".to_owned(), to: "07:00".to_owned() };
        let both = Settings {
            paused_until: Some("2026-12-01T21:30:00.000Z".to_owned()),
            quiet_hours: Some(hours),
            ..Settings::default()
        };
        check(&both, "2026-12-01T20:00:00+00:00[UTC]", Some("paused until 21:30"));
        check(&both, "2026-12-01T21:30:00+00:00[UTC]", None);
        let long = Settings { paused_until: Some("2026-12-05T08:00:00.000Z".to_owned()), ..both };
        check(&long, "2026-12-01T23:00:00+00:00[UTC]", Some("paused until 2026-12-05 08:00"));
    }

    #[test]
    fn tomorrow_is_its_morning_also_where_clocks_change() {
        let evening = now("2026-03-28T23:00:00+01:00[Europe/Berlin]");
        assert_eq!(tomorrow(&evening).to_string(), "2026-03-29T06:00:00.000Z");
        assert_eq!(in_an_hour(&evening).to_string(), "2026-03-28T23:00:00.000Z");
    }
}
