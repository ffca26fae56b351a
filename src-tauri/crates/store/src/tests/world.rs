//! A small world to write into a store.

use std::path::PathBuf;

use sayso_domain::run::{Run, SlotId, Status};
use sayso_domain::{
    Answer, Cause, DecidedBy, Kind, Outcome, Request, RequestKey, RunId, Settlement, Shown, SourceId,
    Surface, Time,
};
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use crate::ledger::{self, Entry, EntryType};
use crate::requests::{self, NewRequest, Purpose};
use crate::runs::{self, RunRow};
use crate::{Store, StoreError, Tx, deliveries, settlements, sources, verdicts};

pub(super) const NOON: i64 = 1_767_268_800_000;

pub(super) fn at(seconds: i64) -> Time {
    Time::from_millis(NOON + seconds * 1000)
}

pub(super) fn key(n: u64) -> RequestKey {
    RequestKey::new(Uuid::from_u64_pair(0x0198_c0de_0000_7000, 0x8000_0000_0000_0000 + n))
}

pub(super) fn run_id(n: u64) -> RunId {
    RunId::new(Uuid::from_u64_pair(0x0198_c0de_0000_7001, 0x8000_0000_0000_0000 + n))
}

pub(super) fn source_id(n: u64) -> SourceId {
    SourceId::new(Uuid::from_u64_pair(0x0198_c0de_0000_7002, 0x8000_0000_0000_0000 + n))
}

/// A data folder with its database.
pub(super) struct Place {
    pub(super) folder: TempDir,
    pub(super) store: Store,
}

impl Place {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("sayso.db")).unwrap();
        Self { folder, store }
    }

    pub(super) fn db(&self) -> PathBuf {
        self.folder.path().join("sayso.db")
    }

    /// The names of the files in the folder.
    pub(super) fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// An agent with a run.
pub(super) fn agent(tx: &Tx<'_>) -> Result<SourceId, StoreError> {
    let source = sources::ensure(tx, "agent", "deploy-bot", at(0), source_id(1))?;
    let mut run = Run::new(run_id(1), 10);
    run.status = Status::Running;
    run.turn = 1;
    runs::insert(
        tx,
        &RunRow {
            id: run.id,
            source,
            agent: "deploy-bot".to_owned(),
            task: "Put the release out".to_owned(),
            config: "{}".to_owned(),
            run,
            created_at: at(0),
            updated_at: at(0),
        },
    )?;
    Ok(source)
}

/// A request to run a command.
pub(super) fn request(source: SourceId, n: u64) -> NewRequest {
    let mut wire = Request::new(key(n).to_string(), Kind::Approval, format!("Run command {n}?"));
    wire.data = Some(json!({"tool": "shell", "arguments": {"command": format!("make step{n}")}}));
    let mut shown = Shown::new(wire, "deploy-bot");
    shown.run = Some(run_id(1));
    shown.tool = Some("shell".to_owned());
    shown.arguments = Some(format!(r#"{{"command":"make step{n}"}}"#));
    shown.folder = Some("/home/me/project".to_owned());
    shown.notes = vec!["It runs a command.".to_owned()];
    NewRequest {
        key: key(n),
        source,
        run: shown.run,
        slot: Some(SlotId { turn: 1, index: n as u32 }),
        purpose: Purpose::Gate,
        shown,
        received_at: at(n as i64),
    }
}

pub(super) fn no(n: u64, reason: &str) -> Settlement {
    Settlement {
        outcome: Outcome::Declined,
        answer: Answer::declined(key(n).to_string(), reason),
        edited: None,
        at: at(100 + n as i64),
    }
}

pub(super) fn yes(n: u64) -> Settlement {
    Settlement {
        outcome: Outcome::Approved,
        answer: Answer::ok(key(n).to_string()),
        edited: None,
        at: at(100 + n as i64),
    }
}

pub(super) fn cancelled(n: u64) -> Settlement {
    Settlement {
        outcome: Outcome::Cancelled(Cause::RunStopped),
        answer: Answer::declined(key(n).to_string(), "cancelled"),
        edited: None,
        at: at(100 + n as i64),
    }
}

/// A request with its whole way: asked, settled, delivered, its effect.
pub(super) fn decided(
    tx: &Tx<'_>,
    source: SourceId,
    n: u64,
    settlement: &Settlement,
) -> Result<(), StoreError> {
    requests::insert(tx, &request(source, n))?;
    let (by, surface) = match settlement.outcome {
        Outcome::Cancelled(_) => (DecidedBy::Stop, None),
        Outcome::Expired => (DecidedBy::Deadline, None),
        Outcome::Approved | Outcome::Answered | Outcome::Declined => {
            (DecidedBy::Person, Some(Surface::Window))
        }
    };
    assert!(settlements::settle(tx, key(n), settlement, by, surface)?);
    verdicts::insert(tx, key(n), by, surface, &settlement.answer, settlement.at)?;
    deliveries::insert(tx, key(n), &settlement.delivered(), settlement.at)?;
    ledger::append_decision(tx, key(n))?;
    assert!(deliveries::delivered(tx, key(n), at(200))?);
    let decision = ledger::decision_of(tx, key(n))?.unwrap();
    let about =
        |kind, fields| Entry { kind, at: at(200), request: Some(key(n)), run: Some(run_id(1)), fields };
    let delivery = vec![("decision", decision.to_string()), ("state", "delivered".to_owned())];
    ledger::append(tx, &about(EntryType::Delivery, delivery))?;
    let effect = vec![("decision", decision.to_string()), ("output", format!("step {n} is done"))];
    ledger::append(tx, &about(EntryType::Effect, effect))?;
    Ok(())
}

/// How the run ended.
pub(super) fn run_end(tx: &Tx<'_>) -> Result<(), StoreError> {
    let fields = vec![("status", "done".to_owned())];
    let entry = Entry { kind: EntryType::RunEnd, at: at(300), request: None, run: Some(run_id(1)), fields };
    ledger::append(tx, &entry).map(|_| ())
}

/// A request that is decided at a time of its own, and delivered right then or not at all.
pub(super) fn decided_at(
    tx: &Tx<'_>,
    source: SourceId,
    n: u64,
    settlement: &Settlement,
    is_delivered: bool,
) -> Result<(), StoreError> {
    requests::insert(tx, &request(source, n))?;
    assert!(settlements::settle(tx, key(n), settlement, DecidedBy::Person, Some(Surface::Cli))?);
    deliveries::insert(tx, key(n), &settlement.delivered(), settlement.at)?;
    ledger::append_decision(tx, key(n))?;
    if is_delivered {
        assert!(deliveries::delivered(tx, key(n), settlement.at)?);
    }
    Ok(())
}
