use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment, in whole milliseconds since 1970 UTC. On the wire it is RFC 3339 with milliseconds:
/// `2026-01-31T12:00:00.000Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// The text is no RFC 3339 time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an RFC 3339 time such as 2026-01-31T12:00:00Z")]
pub struct ParseTimeError(String);

impl Time {
    /// From milliseconds since 1970 UTC, held within the years that RFC 3339 can name.
    pub fn from_millis(millis: i64) -> Self {
        const FIRST: i64 = -62_135_596_800_000;
        const LAST: i64 = 253_402_207_200_000;
        Self(millis.clamp(FIRST, LAST))
    }

    /// Milliseconds since 1970 UTC.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// This moment and `millis` later, or earlier where `millis` is negative.
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self::from_millis(self.0.saturating_add(millis))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "1970-01-01T00:00:00.000Z"),
        }
    }
}

impl FromStr for Time {
    type Err = ParseTimeError;

    /// Parts of a millisecond are dropped, so that a deadline never moves later. The last day of the year 9999, which
    /// some write for "never", is read as the last moment there is.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse::<jiff::Timestamp>() {
            Ok(at) => Ok(Self::from_millis(at.as_nanosecond().div_euclid(1_000_000) as i64)),
            Err(_) if is_last_day(text) => Ok(Self::from_millis(i64::MAX)),
            Err(_) => Err(ParseTimeError(text.to_owned())),
        }
    }
}

fn is_last_day(text: &str) -> bool {
    jiff::fmt::temporal::Pieces::parse(text).is_ok_and(|pieces| {
        let date = pieces.date();
        let complete = pieces.time().is_some() && pieces.offset().is_some();
        complete && date.year() == 9999 && date.month() == 12 && date.day() >= 30
    })
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}
