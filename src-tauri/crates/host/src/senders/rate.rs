use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use sayso_domain::SourceId;

const MINUTE: Duration = Duration::from_secs(60);

/// How fast each source asks. A limit of N a minute lets N through at once, and then one more each Nth of a minute.
#[derive(Default)]
pub(super) struct Rates(Mutex<HashMap<SourceId, Bucket>>);

struct Bucket {
    /// How much of a minute's allowance is left, as the time that it took to grow.
    left: Duration,
    at: Instant,
}

impl Rates {
    /// Takes one; where there is none left, how long to wait for it.
    pub(super) fn take(&self, source: SourceId, per_minute: u32, now: Instant) -> Result<(), Duration> {
        let price = MINUTE / per_minute.max(1);
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry(source).or_insert(Bucket { left: MINUTE, at: now });
        bucket.left = (bucket.left + now.saturating_duration_since(bucket.at)).min(MINUTE);
        bucket.at = now;
        match bucket.left.checked_sub(price) {
            Some(left) => {
                bucket.left = left;
                Ok(())
            }
            None => Err(price - bucket.left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_minute_lets_so_many_through_and_says_when_the_next_may() {
        let (rates, now) = (Rates::default(), Instant::now());
        let (bot, other) = (SourceId::new(Uuid::from_u128(1)), SourceId::new(Uuid::from_u128(2)));
        for _ in 0..3 {
            assert_eq!(rates.take(bot, 3, now), Ok(()));
        }
        assert_eq!(rates.take(bot, 3, now), Err(Duration::from_secs(20)));
        assert_eq!(rates.take(other, 3, now), Ok(()));
        let later = now + Duration::from_secs(15);
        assert_eq!(rates.take(bot, 3, later), Err(Duration::from_secs(5)));
        let later = later + Duration::from_secs(5);
        assert_eq!(rates.take(bot, 3, later), Ok(()));
        assert!(rates.take(bot, 3, later).is_err());
    }
}
