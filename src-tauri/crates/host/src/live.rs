//! What models are writing right now. It is in memory only and never more than a screenful or two: a turn that is whole is
//! committed, and what broke off no longer counts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sayso_agent::{AgentEvent, Watch};
use sayso_domain::RunId;
use tokio::time::Instant;

use crate::dto::{LiveText, Topic};
use crate::host::Host;

/// How much of a text is kept, in bytes: its end, at least so much and at most twice.
const KEPT: usize = 16 * 1024;
/// The time between two announcements, however fast a model writes.
const PACE: Duration = Duration::from_millis(250);

/// The texts that are being written, by run.
#[derive(Clone, Default)]
pub(crate) struct LiveTexts(Arc<Mutex<HashMap<RunId, Writing>>>);

struct Writing {
    text: LiveText,
    announced: Option<Instant>,
    /// Whether an announcement is on its way.
    is_due: bool,
}

/// What to do about a change.
enum Announce {
    Now,
    /// Not before this; nothing else is on its way.
    At(Instant),
    /// One is on its way.
    Already,
}

/// Keeps the texts of the runs that an engine drives, and tells the faces.
pub(crate) fn watch(host: &Host) -> Watch {
    let host = host.clone();
    Watch::new(move |run, event| match event {
        AgentEvent::Text { turn, text } => {
            announce(&host, run, host.live().add(run, turn, &text, Instant::now()))
        }
        AgentEvent::Restarted { turn } => {
            announce(&host, run, host.live().restart(run, turn, Instant::now()))
        }
        // The turn is committed, or there will be none.
        AgentEvent::Usage { .. } | AgentEvent::Done(_) => host.live().end(run),
        AgentEvent::Call { .. } | AgentEvent::Pending { .. } | AgentEvent::Result { .. } => {}
    })
}

fn announce(host: &Host, run: RunId, when: Announce) {
    let tell = move |host: &Host| host.announce(Topic::Live, Some(run.to_string()));
    match when {
        Announce::Now => tell(host),
        Announce::Already => {}
        Announce::At(at) => {
            let later = host.clone();
            host.spawn(async move {
                tokio::select! {
                    () = later.stop_token().cancelled() => {}
                    () = tokio::time::sleep_until(at) => {
                        if later.live().is_still_due(run, Instant::now()) {
                            tell(&later);
                        }
                    }
                }
            });
        }
    }
}

impl LiveTexts {
    /// What is being written in a run.
    pub(crate) fn of(&self, run: RunId) -> Option<LiveText> {
        self.lock().get(&run).map(|writing| writing.text.clone())
    }

    /// Forgets what was being written.
    pub(crate) fn end(&self, run: RunId) {
        self.lock().remove(&run);
    }

    fn add(&self, run: RunId, turn: u32, piece: &str, now: Instant) -> Announce {
        let mut all = self.lock();
        let writing = of_turn(&mut all, run, turn);
        writing.text.text.push_str(piece);
        writing.keep_the_end();
        writing.announce(now)
    }

    fn restart(&self, run: RunId, turn: u32, now: Instant) -> Announce {
        let mut all = self.lock();
        let writing = of_turn(&mut all, run, turn);
        writing.text = LiveText { turn, text: String::new(), left_out: 0 };
        writing.announce(now)
    }

    fn is_still_due(&self, run: RunId, now: Instant) -> bool {
        let mut all = self.lock();
        let Some(writing) = all.get_mut(&run) else { return false };
        writing.announced = Some(now);
        std::mem::take(&mut writing.is_due)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Writing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn of_turn(all: &mut HashMap<RunId, Writing>, run: RunId, turn: u32) -> &mut Writing {
    let empty = LiveText { turn, text: String::new(), left_out: 0 };
    let writing =
        all.entry(run).or_insert_with(|| Writing { text: empty.clone(), announced: None, is_due: false });
    if writing.text.turn != turn {
        writing.text = empty;
    }
    writing
}

impl Writing {
    /// Rarely, so that a piece costs what it is long.
    fn keep_the_end(&mut self) {
        let LiveText { text, left_out, .. } = &mut self.text;
        if text.len() > 2 * KEPT {
            let goes =
                (text.len() - KEPT..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
            *left_out += text[..goes].chars().count();
            text.drain(..goes);
        }
    }

    fn announce(&mut self, now: Instant) -> Announce {
        match self.announced.map(|last| last + PACE) {
            _ if self.is_due => Announce::Already,
            Some(next) if next > now => {
                self.is_due = true;
                Announce::At(next)
            }
            Some(_) | None => {
                self.announced = Some(now);
                Announce::Now
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::host::new_run_id;

    #[test]
    fn a_fast_model_is_announced_a_few_times_a_second() {
        let (live, run, begun) = (LiveTexts::default(), new_run_id(), Instant::now());
        let (mut announced, mut due) = (0, None);
        for at in 0..10_000 {
            let now = begun + Duration::from_millis(at);
            if due.is_some_and(|due| due <= now) {
                assert!(live.is_still_due(run, now));
                (announced, due) = (announced + 1, None);
            }
            match live.add(run, 1, "piece ", now) {
                Announce::Now => announced += 1,
                Announce::At(at) => due = Some(at),
                Announce::Already => {}
            }
        }
        assert_eq!(announced, 40, "in ten seconds");
        assert!(due.is_some(), "and what came last is announced too");
    }

    #[test]
    fn of_a_long_text_the_end_is_kept_and_the_rest_counted() {
        let (live, run) = (LiveTexts::default(), new_run_id());
        for at in 0..30_000 {
            live.add(run, 1, &format!("{at} ä☃ "), Instant::now());
        }
        let kept = live.of(run).unwrap();
        assert!(kept.text.len() <= 2 * KEPT && kept.text.ends_with("29999 ä☃ "));
        let all: usize = (0..30_000).map(|at| format!("{at} ä☃ ").chars().count()).sum();
        assert_eq!(kept.left_out + kept.text.chars().count(), all);
    }

    #[test]
    fn what_broke_off_no_longer_counts_and_a_new_turn_begins_empty() {
        let (live, run) = (LiveTexts::default(), new_run_id());
        let text = || live.of(run).map(|live| (live.turn, live.text));
        let now = Instant::now();
        live.add(run, 1, "half an ans", now);
        live.restart(run, 1, now);
        assert_eq!(text(), Some((1, String::new())));
        live.add(run, 1, "an answer", now);
        live.add(run, 2, "next", now);
        assert_eq!(text(), Some((2, "next".to_owned())));
        live.end(run);
        assert_eq!(text(), None);
        assert!(!live.is_still_due(run, now));
    }
}
