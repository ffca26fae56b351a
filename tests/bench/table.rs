use std::fmt::Display;
use std::time::{Duration, Instant};

/// What `make bench` prints.
pub(crate) struct Table {
    notes: Vec<String>,
}

/// What a ratio should be.
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
}

impl Table {
    /// Rows are printed as they come, notes at the end.
    pub(crate) fn begin() -> Self {
        println!("| | measured | floor | ratio | aim | |\n|---|---|---|---|---|---|");
        Self { notes: Vec::new() }
    }

    /// A thing, its floor, and how many times the floor it is.
    pub(crate) fn row(&self, what: &str, measured: impl Display, floor: impl Display, ratio: f64, aim: Aim) {
        let (aim, is_met) = match aim {
            Aim::AtMost(most) => (format!("at most {most}"), ratio <= most),
            Aim::AtLeast(least) => (format!("at least {least}"), ratio >= least),
        };
        let met = if is_met { "met" } else { "**not met**" };
        println!("| {what} | {measured} | {floor} | {ratio:.2} | {aim} | {met} |");
    }

    /// A thing that is of use only beside the others.
    pub(crate) fn only(&self, what: &str, measured: impl Display, floor: impl Display, ratio: f64) {
        println!("| {what} | {measured} | {floor} | {ratio:.2} | | |");
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    pub(crate) fn end(self) {
        println!();
        self.notes.iter().for_each(|note| println!("- {note}"));
    }
}

pub(crate) fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn ratio(measured: Duration, floor: Duration) -> f64 {
    measured.as_secs_f64() / floor.as_secs_f64()
}

pub(crate) fn shown(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1000.0 { format!("{micros:.0} µs") } else { format!("{:.2} ms", micros / 1e3) }
}

pub(crate) async fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let started = Instant::now();
    let done = work.await;
    (started.elapsed(), done)
}
