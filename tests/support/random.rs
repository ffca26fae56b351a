//! Numbers that differ from run to run and can be had again by `SAYSO_SEED`.

/// Random enough to find moments, and to be repeated.
#[derive(Debug)]
pub struct Random {
    /// What it began with.
    pub seed: u64,
    state: u64,
}

impl Random {
    /// From `$SAYSO_SEED`, else from the time.
    pub fn seeded() -> Self {
        let now = || {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            since.expect("a time after 1970").as_nanos() as u64
        };
        let seed = std::env::var("SAYSO_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(now);
        Self { seed, state: seed | 1 }
    }

    /// From 0 to below the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % limit
    }
}

/// Whether the long versions of the tests are asked for.
pub fn is_soak() -> bool {
    std::env::var_os("SAYSO_SOAK").is_some()
}
