//! What waits, live: `sayso watch`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use sayso_domain::text::{cut, visible_line};
use sayso_gateway::{Client, ClientError, Events};
use sayso_host::dto::{InboxPage, RequestDetail, RequestItem, Topic};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::signals::asked_to_end;
use crate::when::now;
use crate::wire;

/// The first pause before a host that went away is looked for again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long to wait for a change before looking anyway.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest prompt on a line.
const WIDEST: usize = 160;

/// Prints a line for each change until it is told to end. A host that was never there is an error; one that goes away is
/// waited for.
pub(crate) async fn watch(out: &Out, data_dir: &Path) -> Result<Exit, Failure> {
    let end = asked_to_end();
    let client = Client::connect(data_dir).await?;
    let mut watched = Watched { out, client, waiting: BTreeMap::new(), is_lost: false };
    tokio::select! {
        never = watched.for_ever() => never,
        () = end => Ok(Exit::Done),
    }
}

struct Watched<'a> {
    out: &'a Out,
    client: Client,
    /// What waits, as far as it was told.
    waiting: BTreeMap<String, RequestItem>,
    /// Whether it was told that the host went away.
    is_lost: bool,
}

impl Watched<'_> {
    async fn for_ever(&mut self) -> Result<Exit, Failure> {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.until_it_ends().await {
                Err(Stopped::Failed(failure)) => return Err(failure),
                Err(Stopped::HostGone) | Ok(()) => {}
            }
            if !self.is_lost {
                self.is_lost = true;
                pause = FIRST_PAUSE;
                self.note(
                    "lost",
                    "Sayso cannot be reached. What waits is kept; waiting for it to come back.",
                )?;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn until_it_ends(&mut self) -> Result<(), Stopped> {
        // Listened to before the first look, so that nothing falls between.
        let mut events = self.client.events().await?;
        if std::mem::take(&mut self.is_lost) {
            self.note("back", "Sayso is back.")?;
        }
        loop {
            self.look().await?;
            if !changed(&mut events).await {
                return Ok(());
            }
        }
    }

    /// Tells what came and what went since the last look.
    async fn look(&mut self) -> Result<(), Stopped> {
        let now = self.all().await?;
        let gone: Vec<RequestItem> = {
            let gone = self.waiting.values().filter(|item| !now.contains_key(&item.key));
            gone.cloned().collect()
        };
        for item in gone {
            self.tell_gone(&item).await?;
            self.waiting.remove(&item.key);
        }
        for (key, item) in now {
            if !self.waiting.contains_key(&key) {
                self.tell_waiting(&item)?;
                self.waiting.insert(key, item);
            }
        }
        Ok(())
    }

    async fn all(&self) -> Result<BTreeMap<String, RequestItem>, Stopped> {
        let mut all = BTreeMap::new();
        let mut after = Value::Null;
        loop {
            let params = json!({ "after": after, "limit": 1000, "whole": self.out.is_json() });
            let page: InboxPage = self.call("inbox.list", params).await?;
            all.extend(page.items.into_iter().map(|item| (item.key.clone(), item)));
            match page.next {
                Some(next) => after = Value::from(next),
                None => return Ok(all),
            }
        }
    }

    fn tell_waiting(&self, item: &RequestItem) -> Result<(), Failure> {
        if self.out.is_json() {
            self.out.value(&with_event("waiting", wire::request(item)))?;
            return Ok(());
        }
        let line = format!("waits      {}  {}: {}", item.key, item.source, item.prompt);
        Ok(self.out.line(&stamped(&line))?)
    }

    async fn tell_gone(&self, item: &RequestItem) -> Result<(), Stopped> {
        let shown: Result<RequestDetail, Stopped> = self.call("inbox.show", json!({ "key": item.key })).await;
        let decision = match shown {
            Ok(detail) => detail.decision,
            Err(Stopped::HostGone) => return Err(Stopped::HostGone),
            // It is decided, also where nobody can say how.
            Err(Stopped::Failed(_)) => None,
        };
        if self.out.is_json() {
            let value = decision.as_ref().map_or_else(|| json!({ "key": item.key }), wire::decision);
            self.out.value(&with_event("settled", value)).map_err(Failure::from)?;
            return Ok(());
        }
        let (outcome, by) = match &decision {
            Some(decision) => (decision.outcome.as_str(), format!(" by {}", decision.decided_by)),
            None => ("settled", String::new()),
        };
        let line = format!("{outcome:<10} {}  {}: {}{by}", item.key, item.source, short(&item.prompt));
        self.out.line(&stamped(&line)).map_err(Failure::from)?;
        Ok(())
    }

    fn note(&self, event: &str, line: &str) -> Result<(), Failure> {
        if self.out.is_json() {
            self.out.value(&json!({ "event": event }))?;
        }
        Ok(self.out.line(&stamped(line))?)
    }

    async fn call<T: serde::de::DeserializeOwned>(&self, command: &str, params: Value) -> Result<T, Stopped> {
        let result = self.client.call(command, params).await?;
        serde_json::from_value(result).map_err(|error| Stopped::Failed(crate::way::unreadable(error)))
    }
}

/// Whether the host is still there after the next change of what waits, or after a while without one.
async fn changed(events: &mut Events) -> bool {
    let about_the_inbox = async {
        loop {
            match events.next().await {
                Some(event) if event.topic == Topic::Inbox => return true,
                Some(_) => {}
                None => return false,
            }
        }
    };
    tokio::time::timeout(PATIENCE, about_the_inbox).await.unwrap_or(true)
}

/// Why watching stopped.
enum Stopped {
    /// The host ended: it may come back.
    HostGone,
    Failed(Failure),
}

impl From<ClientError> for Stopped {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::NoHost(_) | ClientError::Broken(_) => Self::HostGone,
            ClientError::Refused(_) | ClientError::Io { .. } => Self::Failed(error.into()),
        }
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

fn with_event(event: &str, value: Value) -> Value {
    let mut line = json!({ "event": event });
    if let (Some(line), Value::Object(fields)) = (line.as_object_mut(), value) {
        line.extend(fields);
    }
    line
}

fn short(text: &str) -> String {
    const SHORT: usize = 60;
    cut(text, SHORT)
}

/// With the moment before it; on one line, with nothing hidden.
fn stamped(line: &str) -> String {
    format!("{}  {}", now(), cut(&visible_line(line), WIDEST))
}
