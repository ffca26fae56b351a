use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use sayso_domain::run::{Run, SlotId, Status};
use sayso_domain::{Answer, Kind, Request, RequestKey, RequestState, RunId, Shown, SourceId, Surface, Time};
use sayso_inbox::{Inbox, InboxEvent, Verdict};
use sayso_store::ledger::{self, EntryRow};
use sayso_store::requests::{self, NewRequest, Purpose};
use sayso_store::runs::{self, RunRow};
use sayso_store::{Store, sources};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::broadcast;
use uuid::Uuid;

const NOON: i64 = 1_767_268_800_000;

pub(crate) fn at(seconds: i64) -> Time {
    Time::from_millis(NOON + seconds * 1000)
}

pub(crate) struct World {
    pub(crate) store: Store,
    pub(crate) inbox: Inbox,
    pub(crate) events: broadcast::Receiver<InboxEvent>,
    pub(crate) run: RunId,
    agent: SourceId,
    sender: SourceId,
    clock: Arc<AtomicI64>,
    folder: TempDir,
}

impl World {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("sayso.db")).unwrap();
        let clock = Arc::new(AtomicI64::new(NOON));
        let hand = clock.clone();
        let inbox = Inbox::new(store.clone(), move || Time::from_millis(hand.load(Ordering::SeqCst)));
        let run = RunId::new(Uuid::now_v7());
        let filled = store.write(move |tx| {
            let id = || SourceId::new(Uuid::now_v7());
            let agent = sources::ensure(tx, "agent", "deploy-bot", at(0), id())?;
            let sender = sources::ensure(tx, "sender", "ci", at(0), id())?;
            let mut state = Run::new(run, 10);
            state.status = Status::Running;
            let row = RunRow {
                id: run,
                source: agent,
                agent: "deploy-bot".to_owned(),
                task: "Put the release out".to_owned(),
                config: "{}".to_owned(),
                run: state,
                created_at: at(0),
                updated_at: at(0),
            };
            runs::insert(tx, &row)?;
            Ok((agent, sender))
        });
        let (agent, sender) = filled.await.unwrap();
        let events = inbox.events();
        Self { store, inbox, events, run, agent, sender, clock, folder }
    }

    pub(crate) fn wait_until(&self, seconds: i64) {
        self.clock.store(NOON + seconds * 1000, Ordering::SeqCst);
    }

    /// A request from a sender.
    pub(crate) fn new_request(&self, request: Request) -> NewRequest {
        NewRequest {
            key: RequestKey::new(Uuid::now_v7()),
            source: self.sender,
            run: None,
            slot: None,
            purpose: Purpose::Tool,
            shown: Shown::new(request, "ci"),
            received_at: at(0),
        }
    }

    /// A request of a run's call.
    pub(crate) fn new_gate(&self, index: u32) -> NewRequest {
        let key = RequestKey::new(Uuid::now_v7());
        let mut shown = Shown::new(Request::new(key.to_string(), Kind::Approval, "Run make?"), "deploy-bot");
        shown.run = Some(self.run);
        shown.tool = Some("shell".to_owned());
        shown.arguments = Some(r#"{"command":"make"}"#.to_owned());
        NewRequest {
            key,
            source: self.agent,
            run: Some(self.run),
            slot: Some(SlotId { turn: 1, index }),
            purpose: Purpose::Gate,
            shown,
            received_at: at(0),
        }
    }

    /// A gate whose arguments may be edited.
    pub(crate) async fn ask_editable(&mut self, index: u32) -> RequestKey {
        let mut new = self.new_gate(index);
        new.shown.editable = Some(json!({
            "type": "object",
            "properties": { "command": { "type": "string" }, "jobs": { "type": "integer" } },
            "required": ["command"]
        }));
        self.ask_new(new).await
    }

    /// A yes with these arguments, as JSON text, for what was shown.
    pub(crate) async fn edited(&self, key: RequestKey, arguments: &str) -> Verdict {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let digest = self.store.read(move |reader| requests::get(reader, key)).await.unwrap().unwrap().digest;
        Verdict { digest: Some(digest), ..self.yes(key, Some(json!({ "arguments": arguments }))).await }
    }

    /// Changes the file behind the app's back.
    pub(crate) fn change(&self, sql: &str) {
        let raw = rusqlite::Connection::open(self.folder.path().join("sayso.db")).unwrap();
        assert_eq!(raw.execute(sql, []).unwrap(), 1, "{sql}");
    }

    pub(crate) async fn ask(&mut self, request: Request) -> RequestKey {
        let new = self.new_request(request);
        let key = new.key;
        self.inbox.ask(new).await.unwrap();
        assert_eq!(self.event(), Some(InboxEvent::Asked(key)));
        key
    }

    pub(crate) async fn ask_gate(&mut self, index: u32) -> RequestKey {
        let new = self.new_gate(index);
        self.ask_new(new).await
    }

    async fn ask_new(&mut self, new: NewRequest) -> RequestKey {
        let key = new.key;
        let inbox = self.inbox.clone();
        self.store.try_write(move |tx| inbox.ask_in(tx, &new)).await.unwrap();
        self.inbox.announce_asked(&[key]);
        assert_eq!(self.event(), Some(InboxEvent::Asked(key)));
        key
    }

    pub(crate) fn event(&mut self) -> Option<InboxEvent> {
        self.events.try_recv().ok()
    }

    pub(crate) async fn state(&self, key: RequestKey) -> RequestState {
        self.store.read(move |reader| requests::get(reader, key)).await.unwrap().unwrap().state
    }

    /// The wire id of a request.
    pub(crate) async fn id(&self, key: RequestKey) -> String {
        self.store.read(move |reader| requests::get(reader, key)).await.unwrap().unwrap().shown.request.id
    }

    pub(crate) async fn yes(&self, key: RequestKey, data: Option<Value>) -> Verdict {
        let id = self.id(key).await;
        verdict(data.map_or_else(|| Answer::ok(&id), |data| Answer::ok_with(&id, data)))
    }

    /// A yes that can be taken back for 3 seconds.
    pub(crate) async fn held_yes(&self, key: RequestKey) -> Verdict {
        Verdict { held_for: Duration::from_secs(3), ..self.yes(key, None).await }
    }

    pub(crate) async fn no(&self, key: RequestKey, reason: &str) -> Verdict {
        verdict(Answer::declined(self.id(key).await, reason))
    }

    /// The ledger's entries about a request, after it was verified.
    pub(crate) async fn entries(&self, key: RequestKey) -> Vec<EntryRow> {
        let read = self.store.read(move |reader| {
            let found = ledger::verify(reader)?;
            assert!(found.ok, "{found:?}");
            ledger::of_request(reader, key)
        });
        read.await.unwrap()
    }

    /// Whether the ledger is intact, and how many entries it holds.
    pub(crate) async fn entry_count(&self) -> u64 {
        let found = self.store.read(|reader| ledger::verify(reader)).await.unwrap();
        assert!(found.ok, "{found:?}");
        found.entries
    }
}

pub(crate) fn verdict(answer: Answer) -> Verdict {
    Verdict { answer, digest: None, surface: Surface::Window, held_for: Duration::ZERO }
}

pub(crate) fn approval(id: &str) -> Request {
    Request::new(id, Kind::Approval, "Approve purchase of gpu?")
}

pub(crate) fn until(mut request: Request, seconds: i64) -> Request {
    request.expires_at = Some(at(seconds));
    request
}

pub(crate) fn with_data(id: &str, kind: Kind, data: Value) -> Request {
    Request { data: Some(data), ..Request::new(id, kind, "P") }
}
