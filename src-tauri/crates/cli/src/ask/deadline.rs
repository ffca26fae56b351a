use std::str::FromStr;
use std::time::Duration;

use sayso_domain::Time;

/// The longest time that can be named: a hundred years, which every clock here can add.
const LONGEST: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

/// When something ends: some time from now, or at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    In(Duration),
    At(Time),
}

impl Deadline {
    pub(crate) fn at(self, now: Time) -> Time {
        match self {
            Self::In(length) => now.plus_millis(i64::try_from(length.as_millis()).unwrap_or(i64::MAX)),
            Self::At(at) => at,
        }
    }
}

impl FromStr for Deadline {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(length) = length(text) {
            return Ok(Self::In(length));
        }
        text.parse().map(Self::At).map_err(|_| {
            "write a time such as 30s, 10m, 2h or 1d, or a moment such as 2026-01-31T12:00:00Z".to_owned()
        })
    }
}

/// A length of time: a whole number and `s`, `m`, `h` or `d`, or several of them, as in `1h30m`.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    let unreadable = || "write a time such as 30s, 10m, 2h, 1d or 1h30m".to_owned();
    let (mut total, mut number) = (0_u64, None);
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            let so_far: u64 = number.unwrap_or(0);
            number = so_far.checked_mul(10).and_then(|so_far| so_far.checked_add(u64::from(digit)));
            if number.is_none() {
                return Err(unreadable());
            }
            continue;
        }
        let unit = match c {
            's' => 1,
            'm' => 60,
            'h' => 60 * 60,
            'd' => 24 * 60 * 60,
            _ => return Err(unreadable()),
        };
        let part = number.take().and_then(|number| number.checked_mul(unit)).ok_or_else(unreadable)?;
        total = total.checked_add(part).ok_or_else(unreadable)?;
    }
    let length = Duration::from_secs(total);
    if number.is_some() || length.is_zero() || length > LONGEST { Err(unreadable()) } else { Ok(length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_length_or_a_moment() {
        let now: Time = "2026-01-31T12:00:00Z".parse().unwrap();
        let check = |text: &str, expected: &str| {
            let read = text.parse::<Deadline>().map(|deadline| deadline.at(now).to_string());
            assert_eq!(read.unwrap_or_default(), expected, "{text:?}");
        };
        check("30s", "2026-01-31T12:00:30.000Z");
        check("10m", "2026-01-31T12:10:00.000Z");
        check("2h", "2026-01-31T14:00:00.000Z");
        check("1d", "2026-02-01T12:00:00.000Z");
        check("1h30m", "2026-01-31T13:30:00.000Z");
        check("2026-02-01T00:00:00+01:00", "2026-01-31T23:00:00.000Z");
        for text in
            ["", "0s", "10", "m", "-5m", "1.5h", "10 m", "10M", "soon", "99999999999999999999d", "40000d"]
        {
            check(text, "");
        }
    }
}
