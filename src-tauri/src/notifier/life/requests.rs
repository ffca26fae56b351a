//! What the host says of the requests, and what the person clicks.

use std::collections::BTreeSet;

use jiff::ZonedDateTime;
use sayso_domain::{RequestKey, Time};
use sayso_host::dto::{Decide, Decision, InboxOutline, RequestDetail, RequestRef, Topic, UiEvent, Waiting};
use sayso_host::{Host, RpcError, Surface, code};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use super::super::LIMIT;
use super::super::board::Click;
use super::Life;
use crate::call::call;
use crate::quiet;
use crate::window::Page;

impl Life<'_> {
    pub(super) async fn clicked(&mut self, id: u32, action: &str) {
        match self.board.clicked(id, action, Instant::now()) {
            Some(Click::Inbox) => (self.notifier.open)(Page::Inbox),
            Some(Click::Open(key) | Click::Settled(key)) => self.open(key).await,
            // Whoever stands before a locked screen is not known.
            Some(Click::Decide { key, .. }) if self.is_locked() => self.board.show_anew(key),
            Some(Click::Decide { key, ok, digest }) => {
                let host = self.notifier.host.clone();
                let params =
                    Decide { key: key.to_string(), ok, data: None, reason: None, digest: Some(digest) };
                self.deciding.spawn(async move {
                    (key, call(&host, Surface::Notification, "inbox.decide", params).await)
                });
            }
            None => {}
        }
    }

    /// What a click came to. A decision that was taken shows by itself: the request is gone everywhere.
    pub(super) async fn decided(&mut self, key: RequestKey, decided: Result<Decision, RpcError>) {
        if let Err(error) = decided {
            tracing::info!("a click on a notification decided nothing: {}", error.message);
            self.open(key).await;
        }
    }

    /// Opens a request: where it waits, or where History says who decided it.
    async fn open(&self, key: RequestKey) {
        let page = match detail(&self.notifier.host, key).await {
            Ok(None) => Page::History(key),
            Ok(Some(_)) | Err(_) => Page::Request(key),
        };
        (self.notifier.open)(page);
    }

    pub(super) async fn changed(&mut self, event: Result<UiEvent, RecvError>) {
        match event {
            Ok(UiEvent { topic: Topic::Inbox, id: Some(id) }) => match id.parse() {
                Ok(key) => self.look_at(key).await,
                Err(_) => self.list_at = Some(Instant::now()),
            },
            Ok(UiEvent { topic: Topic::Inbox, id: None }) | Err(RecvError::Lagged(_)) => {
                self.list_at = Some(Instant::now());
            }
            Ok(UiEvent {
                topic:
                    Topic::Runs
                    | Topic::Live
                    | Topic::Agents
                    | Topic::Senders
                    | Topic::History
                    | Topic::Jobs
                    | Topic::Status,
                ..
            }) => {}
            // The host has ended, and the app ends too.
            Err(RecvError::Closed) => self.notifier.stop.cancelled().await,
        }
    }

    async fn look_at(&mut self, key: RequestKey) {
        match detail(&self.notifier.host, key).await {
            Ok(Some(RequestDetail { item, .. })) => {
                self.waits(key, time(item.expires_at.as_deref()), time(item.snoozed_until.as_deref()));
            }
            Ok(None) => {
                self.asleep.remove(&key);
                self.board.settled(key);
            }
            Err(_) => self.list_at = Some(Instant::now() + LIMIT),
        }
    }

    /// It waits, unless the person put it off until later.
    fn waits(&mut self, key: RequestKey, expires_at: Option<Time>, snoozed_until: Option<Time>) {
        let now = quiet::time_of(&ZonedDateTime::now());
        if let Some(until) = snoozed_until.filter(|until| *until > now) {
            self.asleep.insert(key, until);
            self.board.settled(key);
        } else {
            self.asleep.remove(&key);
            self.board.waits(key, expires_at);
        }
    }

    /// Time has passed.
    pub(super) async fn time(&mut self) {
        let (now, clock) = (Instant::now(), quiet::time_of(&ZonedDateTime::now()));
        if self.rest_until.is_some_and(|until| until <= now) {
            self.rest_until = None;
        }
        if self.list_at.is_some_and(|at| at <= now) {
            self.list_at = None;
            let all =
                call(&self.notifier.host, Surface::Window, "inbox.outline", InboxOutline::default()).await;
            match all {
                Ok(all) => {
                    self.are_exactly(all);
                    self.listed = true;
                }
                Err(_) => self.list_at = Some(Instant::now() + LIMIT),
            }
        }
        let awake: Vec<_> =
            self.asleep.iter().filter(|(_, until)| **until <= clock).map(|(key, _)| *key).collect();
        for key in awake {
            // What cannot be read now is in the list that is read later.
            self.asleep.remove(&key);
            self.look_at(key).await;
        }
        let minutes = self.pulse.borrow().settings.reminder_minutes;
        self.board.remind(clock, minutes);
    }

    fn are_exactly(&mut self, all: Vec<Waiting>) {
        let mut keys = BTreeSet::new();
        for Waiting { key, expires_at, snoozed_until } in all {
            let Ok(key) = key.parse::<RequestKey>() else { continue };
            keys.insert(key);
            self.waits(key, time(expires_at.as_deref()), time(snoozed_until.as_deref()));
        }
        self.asleep.retain(|key, _| keys.contains(key));
        self.board.only(&keys);
    }
}

/// A request that waits; none where it does no longer.
pub(super) async fn detail(host: &Host, key: RequestKey) -> Result<Option<RequestDetail>, RpcError> {
    let detail =
        call::<RequestDetail>(host, Surface::Window, "inbox.show", RequestRef { key: key.to_string() }).await;
    match detail {
        Ok(detail) if detail.item.state == "pending" => Ok(Some(detail)),
        Ok(_) => Ok(None),
        Err(error) if error.code == code::NOT_FOUND => Ok(None),
        Err(error) => Err(error),
    }
}

fn time(text: Option<&str>) -> Option<Time> {
    text.and_then(|text| text.parse().ok())
}
