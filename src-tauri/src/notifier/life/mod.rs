//! The notifier at work: one call of the service at a time, and everything that may happen meanwhile.

mod raising;
mod requests;

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt as _;
use jiff::ZonedDateTime;
use sayso_domain::{RequestKey, Time};
use sayso_host::RpcError;
use sayso_host::dto::{Decision, Health, Settings, UiEvent};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::board::{Board, Raise, Shown};
use super::desktop::{Desktop, Signal, Skills};
use super::memory::Memory;
use super::said::Openness;
use super::{FAREWELL, HANGS, LIMIT, MISSING, NO_BUS, Notifier, REST};
use crate::pulse::Pulse;
use crate::quiet;
use crate::screen::{Locks, is_locked};
use raising::{Doing, Done, Outcome, under_way};

/// How long at most until the clock on the wall is looked at: it may be set, and machines sleep.
const LOOK: Duration = Duration::from_secs(20);
/// How many signals are kept that come while a notification is on its way, before its number is known.
const MOST_EARLY: usize = 16;

/// One thing that happened.
enum Heard {
    Stop,
    BusGone,
    Done(Done),
    Late,
    Signal(Option<Signal>),
    Owner(Option<String>),
    Changed(Result<UiEvent, RecvError>),
    Habits,
    Decided(RequestKey, Result<Decision, RpcError>),
    Time,
}

/// The notifier at work. It survives the bus.
pub(super) struct Life<'a> {
    notifier: &'a Notifier,
    events: Receiver<UiEvent>,
    pulse: watch::Receiver<Pulse>,
    locks: watch::Receiver<Locks>,
    board: Board,
    /// What the person put off, until when.
    asleep: BTreeMap<RequestKey, Time>,
    skills: Option<Skills>,
    /// The one call that is under way, and what it raises.
    doing: Option<Doing>,
    raising: Option<(Raise, Openness)>,
    /// What happened to what may be the notification that is under way.
    early: Vec<Signal>,
    /// Decisions that were clicked and are on their way.
    deciding: JoinSet<(RequestKey, Result<Decision, RpcError>)>,
    /// When it is too late for the call under way.
    late_at: Option<Instant>,
    /// Until when nothing is tried after a failure.
    rest_until: Option<Instant>,
    /// When to read the whole list again.
    list_at: Option<Instant>,
    /// Whether the board holds everything that waits.
    listed: bool,
    memory: Memory,
    /// Whether what an earlier run left with the service was looked at.
    recalled: bool,
    /// How much was said so far.
    openness: Openness,
    said: Option<Health>,
}

impl<'a> Life<'a> {
    pub(super) fn new(notifier: &'a Notifier) -> Self {
        Self {
            events: notifier.host.events(),
            pulse: notifier.pulse.clone(),
            locks: notifier.locks.clone(),
            openness: Openness::Open,
            notifier,
            board: Board::default(),
            asleep: BTreeMap::new(),
            skills: None,
            doing: None,
            raising: None,
            early: Vec::new(),
            deciding: JoinSet::new(),
            late_at: None,
            rest_until: None,
            list_at: Some(Instant::now()),
            listed: false,
            memory: Memory::new(notifier.session_dir.clone()),
            recalled: false,
            said: None,
        }
    }

    /// Keeps notifications and requests in step for as long as the bus lives.
    pub(super) async fn serve(&mut self, mut desktop: Desktop) {
        self.habits();
        loop {
            self.go_on(&mut desktop);
            match self.hear(&mut desktop).await {
                Heard::Stop => return self.say_goodbye(&mut desktop).await,
                Heard::BusGone => break,
                Heard::Done(done) => {
                    self.done(done, &mut desktop);
                    for signal in std::mem::take(&mut self.early) {
                        self.signal(signal, &mut desktop).await;
                    }
                }
                Heard::Late => {
                    self.late_at = None;
                    self.health(HANGS);
                }
                Heard::Signal(Some(signal)) => self.signal(signal, &mut desktop).await,
                Heard::Signal(None) => {}
                Heard::Owner(owner) => {
                    // One that was pushed aside may never answer what it was asked.
                    if desktop.owner.is_some() && owner.is_some() {
                        self.give_up();
                    }
                    desktop.owner = owner;
                    desktop.handles.forget_all();
                    self.another_service();
                }
                Heard::Changed(event) => self.changed(event).await,
                Heard::Habits => self.habits(),
                Heard::Decided(key, decided) => self.decided(key, decided).await,
                Heard::Time => self.time().await,
            }
        }
        self.give_up();
        self.another_service();
        self.health(NO_BUS);
    }

    /// Waits no longer for the call that is under way.
    fn give_up(&mut self) {
        self.doing = None;
        self.late_at = None;
        if let Some((raise, _)) = self.raising.take() {
            self.board.failed(&raise);
        }
    }

    async fn hear(&mut self, desktop: &mut Desktop) -> Heard {
        let wake = self.wake_at();
        tokio::select! {
            biased;
            () = self.notifier.stop.cancelled() => Heard::Stop,
            message = desktop.signals.next() => match message {
                Some(Ok(message)) => Heard::Signal(desktop.signal(&message)),
                Some(Err(_)) | None => Heard::BusGone,
            },
            change = desktop.owners.next() => match change {
                Some(change) => Heard::Owner(change.args().ok().and_then(|args| args.new_owner().as_ref().map(ToString::to_string))),
                None => Heard::BusGone,
            },
            done = under_way(&mut self.doing) => Heard::Done(done),
            () = sleep_until(self.late_at.unwrap_or(wake)), if self.late_at.is_some() => Heard::Late,
            changed = self.pulse.changed() => if changed.is_ok() { Heard::Habits } else { Heard::Stop },
            // Whoever told it ends with the app.
            Ok(()) = self.locks.changed() => Heard::Habits,
            Some(Ok((key, decided))) = self.deciding.join_next() => Heard::Decided(key, decided),
            event = self.events.recv() => Heard::Changed(event),
            () = sleep_until(wake) => Heard::Time,
        }
    }

    /// When to look again, though nothing happens until then.
    fn wake_at(&self) -> Instant {
        let (now, clock) = (Instant::now(), quiet::time_of(&ZonedDateTime::now()));
        let until = |at: Time| {
            let left = at.as_millis() - clock.as_millis();
            now + Duration::from_millis(u64::try_from(left).unwrap_or_default()).min(LOOK)
        };
        let settings = self.settings();
        let held = quiet::held(&settings, &ZonedDateTime::now()).map(|held| held.until);
        let on_the_wall = held.into_iter().chain(self.asleep.values().min().copied());
        let reminder = self.board.next_reminder(settings.reminder_minutes);
        let can_raise = self.doing.is_none() && self.rest_until.is_none() && self.may_raise(&settings);
        let raising = self.board.wake_at().filter(|_| can_raise);
        let soon = self.rest_until.into_iter().chain(self.list_at).chain(raising);
        soon.chain(on_the_wall.chain(reminder).map(until)).fold(now + LOOK, Instant::min)
    }

    /// Begins the next call where none is under way: withdrawing comes first.
    fn go_on(&mut self, desktop: &mut Desktop) {
        if self.doing.is_some() || self.rest_until.is_some() {
            return;
        }
        self.remember(desktop);
        let settings = self.settings();
        let next: Doing = if let Some(id) = self.board.next_to_close() {
            let close = desktop.close(id);
            Box::pin(async move { Done::Closed(close.await) })
        } else if let Some(skills) = self.skills {
            if !self.may_raise(&settings) {
                self.board.hold();
                return;
            }
            if !self.listed {
                return;
            }
            let Some(raise) = self.board.next_to_raise(Instant::now()) else { return };
            self.raising = Some((raise, self.openness));
            self.raise(raise, skills, settings.sound, desktop)
        } else {
            let skills = desktop.skills();
            Box::pin(async move { Done::Asked(skills.await) })
        };
        self.doing = Some(next);
        self.late_at = Some(Instant::now() + LIMIT);
    }

    /// Keeps in mind what is shown; at first, finds out what an earlier run left.
    fn remember(&mut self, desktop: &Desktop) {
        let Some(service) = desktop.service() else { return };
        if !self.listed || self.skills.is_none() {
            return;
        }
        if !self.recalled {
            self.recalled = true;
            let (shown, summary) = self.memory.left_with(&service);
            self.board.left_over(shown, summary);
        }
        self.memory.keep(&service, self.board.shows(), self.board.shows_summary());
    }

    fn settings(&self) -> Settings {
        self.pulse.borrow().settings.clone()
    }

    fn is_locked(&self) -> bool {
        is_locked(&self.locks.borrow())
    }

    fn may_raise(&self, settings: &Settings) -> bool {
        settings.notifications && quiet::held(settings, &ZonedDateTime::now()).is_none()
    }

    /// Settings or the lock have changed.
    fn habits(&mut self) {
        self.pulse.borrow_and_update();
        self.locks.borrow_and_update();
        let settings = self.settings();
        if !settings.notifications {
            self.board.withdraw_all();
        }
        let openness = if settings.private || self.is_locked() { Openness::Private } else { Openness::Open };
        if openness != self.openness {
            self.openness = openness;
            self.board.say_anew();
        }
    }

    fn done(&mut self, done: Done, desktop: &mut Desktop) {
        self.doing = None;
        self.late_at = None;
        let openness = self.raising.take().map_or(self.openness, |(_, openness)| openness);
        let result = match done {
            Done::Asked(Ok(skills)) => {
                self.skills = Some(skills);
                Ok(())
            }
            Done::Raised(raise, Ok(Outcome::Shown { shown, raised })) => {
                if raised.service.is_some() && desktop.owner == raised.service {
                    desktop.handles.keep(shown.id, raised.handle);
                    self.raised(&raise, shown, openness);
                } else {
                    // Its number means nothing to the service that is there now.
                    self.board.failed(&raise);
                }
                Ok(())
            }
            Done::Raised(raise, Ok(Outcome::Settled)) => {
                self.board.failed(&raise);
                if let Raise::Request { key, .. } = raise {
                    self.board.settled(key);
                }
                Ok(())
            }
            Done::Raised(raise, Ok(Outcome::Unread)) => {
                self.board.failed(&raise);
                self.rest_until = Some(Instant::now() + LIMIT);
                return;
            }
            Done::Raised(raise, Err(error)) => {
                self.board.failed(&raise);
                Err(error)
            }
            Done::Closed(Ok(())) => Ok(()),
            Done::Asked(Err(error)) | Done::Closed(Err(error)) => Err(error),
        };
        match result {
            Ok(()) => self.health(Health { ok: true, message: String::new() }),
            Err(error) => {
                tracing::info!("the notification service did not take a call: {error}");
                self.skills = None;
                self.rest_until = Some(Instant::now() + REST);
                self.health(MISSING);
            }
        }
    }

    fn raised(&mut self, raise: &Raise, shown: Shown, openness: Openness) {
        match raise {
            Raise::Request { key, .. } => {
                self.board.shown(*key, shown, quiet::time_of(&ZonedDateTime::now()))
            }
            Raise::Summary { .. } => self.board.summary_shown(shown.id),
        }
        if openness != self.openness {
            self.board.say_anew();
        }
        if !self.pulse.borrow().settings.notifications {
            self.board.withdraw_all();
        }
    }

    async fn signal(&mut self, signal: Signal, desktop: &mut Desktop) {
        let id = match &signal {
            Signal::Clicked { id, .. } | Signal::Closed { id } => *id,
        };
        if self.raising.is_some() && !self.board.knows(id) {
            if self.early.len() < MOST_EARLY {
                self.early.push(signal);
            }
            return;
        }
        match signal {
            Signal::Clicked { id, action } => self.clicked(id, &action).await,
            Signal::Closed { id } => {
                desktop.handles.forget(id);
                self.board.closed(id);
            }
        }
    }

    fn another_service(&mut self) {
        self.board.forget_shown();
        self.early.clear();
        self.skills = None;
        self.rest_until = None;
        self.recalled = true;
    }

    /// An app that has ended answers no click, so its notifications go with it.
    async fn say_goodbye(&mut self, desktop: &mut Desktop) {
        let _ = timeout(FAREWELL, async {
            if let Some(doing) = self.doing.take() {
                let done = doing.await;
                self.done(done, desktop);
            }
            self.board.withdraw_all();
            while let Some(id) = self.board.next_to_close() {
                let _ = desktop.close(id).await;
            }
            self.remember(desktop);
        })
        .await;
    }

    pub(super) fn no_bus(&mut self, error: &str) {
        tracing::info!("no session bus: {error}");
        self.health(NO_BUS);
    }

    fn health(&mut self, health: impl Into<Health>) {
        let health = health.into();
        if self.said.as_ref() != Some(&health) {
            self.said = Some(health.clone());
            self.notifier.host.set_notifications(health);
        }
    }
}
