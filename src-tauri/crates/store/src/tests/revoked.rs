//! A decision that was taken back is in the ledger alone, and all that is done with the record knows it.

use std::collections::HashSet;
use std::fs;

use sayso_domain::risk::RiskLevel;
use sayso_domain::run::{Run, Status};
use sayso_domain::{DecidedBy, Settlement, SourceId, Surface, Time};
use serde_json::{Value, json};

use super::search::is_index_full;
use super::world::{Place, agent, at, key, no, request, run_id, yes};
use crate::history::{self, HistoryQuery};
use crate::ledger::{self, Damage, Entry, EntryType, Footer, Selection};
use crate::prune::{self, DAY};
use crate::redact::{self, Erasure, Secret};
use crate::{Progress, Store, StoreError, Tx, deliveries, requests, runs, settlements};

const HASTY: &str = "wisteria said so";

fn settle(tx: &Tx<'_>, n: u64, settlement: &Settlement, risk: RiskLevel) -> Result<(), StoreError> {
    assert!(settlements::settle(tx, key(n), settlement, DecidedBy::Person, Some(Surface::Window))?);
    deliveries::insert_held(tx, key(n), &settlement.delivered(), settlement.at.plus_millis(3000))?;
    ledger::append_decision(tx, key(n), risk).map(drop)
}

fn take_back(tx: &Tx<'_>, n: u64, at: Time) -> Result<(), StoreError> {
    let decision = ledger::decision_of(tx, key(n))?.unwrap();
    assert!(deliveries::revoke(tx, key(n))? && settlements::revoke(tx, key(n))?);
    let fields = vec![("decision", decision.to_string()), ("decided_by", "person".to_owned())];
    let run = Some(run_id(1));
    ledger::append(tx, &Entry { kind: EntryType::Revoked, at, request: Some(key(n)), run, fields })?;
    Ok(())
}

/// Denied and taken back.
fn hasty(tx: &Tx<'_>, source: SourceId, n: u64, first: Time, back: Time) -> Result<(), StoreError> {
    requests::insert(tx, &request(source, n))?;
    settle(tx, n, &Settlement { at: first, ..no(n, HASTY) }, RiskLevel::High)?;
    take_back(tx, n, back)
}

/// And then approved and delivered.
fn second(tx: &Tx<'_>, n: u64, at: Time) -> Result<(), StoreError> {
    settle(tx, n, &Settlement { at, ..yes(n) }, RiskLevel::Medium)?;
    assert!(deliveries::delivered(tx, key(n), at)?);
    Ok(())
}

fn ended(tx: &Tx<'_>, at: Time) -> Result<(), StoreError> {
    let mut run = Run::new(run_id(1), 10);
    (run.turn, run.status) = (1, Status::Done);
    runs::save(tx, &run, at)
}

/// The first was taken back and decided again, the second was taken back and waits.
async fn filled() -> Place {
    let place = Place::new();
    let write = place.store.write(|tx| {
        let source = agent(tx)?;
        hasty(tx, source, 1, at(10), at(11))?;
        second(tx, 1, at(20))?;
        hasty(tx, source, 2, at(30), at(31))
    });
    write.await.unwrap();
    place
}

async fn verified(place: &Place) -> ledger::Verification {
    place.store.read(|reader| ledger::verify(reader)).await.unwrap()
}

async fn found(place: &Place, text: &str) -> Vec<history::HistoryRow> {
    let query = HistoryQuery { text: Some(text.to_owned()), ..HistoryQuery::default() };
    place.store.read(move |reader| history::list(reader, &query)).await.unwrap()
}

#[tokio::test]
async fn a_decision_that_was_taken_back_is_not_in_history_and_the_one_after_it_is() {
    let place = filled().await;
    let rows = found(&place, "").await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].request.key, rows[0].settled.reason.clone()), (key(1), None));
    assert_eq!(rows[0].risk, Some(RiskLevel::Medium));
    assert!(found(&place, "wisteria").await.is_empty());
    assert_eq!(found(&place, "make").await.len(), 1);
    let read = place.store.read(|reader| {
        let counts = history::counts(reader, &HistoryQuery::default())?;
        Ok((history::get(reader, key(2))?, counts.total, is_index_full(reader)?))
    });
    assert_eq!(read.await.unwrap(), (None, 1, true));
    assert!(verified(&place).await.ok);
}

#[tokio::test]
async fn a_secret_is_erased_from_a_decision_that_was_taken_back_and_no_more_than_that() {
    for (text, places) in [("wisteria", ["reason"].as_slice()), ("make step1", &["arguments", "data"])] {
        let place = filled().await;
        place.store.write(|tx| ended(tx, at(60))).await.unwrap();
        let secret = Secret::new(text).unwrap();
        let looked = secret.clone();
        let find = place.store.read(move |reader| redact::find(reader, &looked, &Progress::default()));
        let looked_up = find.await.unwrap();
        let erasure = Erasure { at: at(500), surface: Surface::Cli };
        let erase = place.store.write(move |tx| redact::erase(tx, &secret, &looked_up, erasure));
        let tally = erase.await.unwrap();
        // The second still waits.
        assert_eq!((tally.requests, tally.running), (1, u64::from(text == "wisteria")), "{tally:?}");
        let entries = place.store.read(|reader| ledger::of_request(reader, key(1))).await.unwrap();
        let decisions: Vec<_> = entries.iter().filter(|entry| entry.kind == EntryType::Decision).collect();
        assert_eq!(decisions.len(), 2);
        for name in places {
            let first = decisions[0].fields.iter().find(|(known, _)| known == name).unwrap();
            assert_eq!(first.1, None, "{name}");
        }
        assert_eq!(decisions[0].field("outcome"), Some("declined"));
        assert_eq!(decisions[0].field("risk"), Some("high"));
        assert_eq!(decisions[0].field("prompt"), Some("Run command 1?"));
        assert_eq!(decisions[1].field("outcome"), Some("approved"));
        let left = decisions.iter().flat_map(|entry| &entry.fields).filter_map(|(_, text)| text.as_deref());
        assert!(left.into_iter().all(|left| !left.contains(text)));
        let found = verified(&place).await;
        assert!(found.ok, "{found:?}");
        assert!(place.store.read(|reader| is_index_full(reader)).await.unwrap());
    }
}

#[tokio::test]
async fn a_prune_between_a_decision_and_its_taking_back_leaves_both_and_one_after_it_takes_both() {
    let place = Place::new();
    let day = |n: i64| prune::midnight(at(0)).plus_millis(n * DAY);
    let write = place.store.write(move |tx| {
        let source = agent(tx)?;
        // Decided in the last second of the first day, taken back and decided again in the first of the second.
        hasty(tx, source, 1, day(1).plus_millis(-500), day(1).plus_millis(500))?;
        second(tx, 1, day(1).plus_millis(900))?;
        // Taken back in the first day, decided in the second.
        hasty(tx, source, 2, day(1).plus_millis(-900), day(1).plus_millis(-800))?;
        second(tx, 2, day(1).plus_millis(950))?;
        // By a clock that was set back, decided again before it was taken back.
        hasty(tx, source, 3, day(1).plus_millis(-900), day(1).plus_millis(100))?;
        second(tx, 3, day(1).plus_millis(-700))?;
        ended(tx, day(1).plus_millis(-1000))
    });
    write.await.unwrap();
    let before = verified(&place).await;
    assert_eq!((before.ok, before.entries), (true, 9));
    let first = place.store.write(move |tx| prune::prune(tx, day(1), day(1))).await.unwrap();
    assert_eq!(first, prune::Pruned::default());
    assert_eq!(verified(&place).await, before);
    let second = place.store.write(move |tx| prune::prune(tx, day(2), day(2))).await.unwrap();
    assert_eq!((second.decisions, second.entries), (3, 9));
    let after = verified(&place).await;
    assert_eq!((after.ok, after.entries), (true, 1), "{after:?}");
    assert!(found(&place, "").await.is_empty() && found(&place, "make").await.is_empty());
    // What the record says of them counts each once, as it was decided in the end.
    let summary = place.store.read(|reader| {
        let conn: &crate::Conn = reader;
        conn.row("SELECT content FROM ledger_fields WHERE name = 'summary'", [], |row| {
            Ok(row.get::<_, String>(0)?)
        })
    });
    let summary: Value = serde_json::from_str(&summary.await.unwrap().unwrap()).unwrap();
    assert_eq!((&summary["decisions"], &summary["outcomes"]), (&json!(3), &json!({"approved": 3})));
}

async fn exported(place: &Place, requests: Option<HashSet<sayso_domain::RequestKey>>) -> Vec<u8> {
    let selection = Selection { requests, reasons: true };
    let write = place.store.read(move |reader| {
        let (mut out, about) = (Vec::new(), json!({"filter": {}}));
        let progress = Progress::default();
        ledger::write_lines(reader, &about, &selection, Damage::Fails, &mut out, &progress, |_| {
            Footer::default()
        })?;
        Ok(out)
    });
    write.await.unwrap()
}

#[tokio::test]
async fn an_export_proves_what_was_taken_back_and_counts_what_stands() {
    let place = filled().await;
    let some = Some(HashSet::from([key(1)]));
    for (requests, is_whole) in [(None, true), (some.clone(), false)] {
        let bytes = exported(&place, requests).await;
        let proof = ledger::verify_lines(&mut &*bytes, None, &Progress::default()).unwrap();
        assert!(proof.verification.ok && proof.is_whole == is_whole, "{proof:?}");
        assert_eq!(proof.exported.unwrap().decisions, 1);
        assert!(String::from_utf8(bytes).unwrap().contains(HASTY));
    }
    // As rows, there is what History has.
    for requests in [None, some] {
        let selection = Selection { requests, reasons: true };
        let read = place.store.read(move |reader| {
            let mut outcomes = Vec::new();
            ledger::records(reader, &selection, Damage::Fails, &Progress::default(), |record| {
                outcomes.push(record.decision.field("outcome").map(str::to_owned));
                Ok(())
            })?;
            Ok(outcomes)
        });
        assert_eq!(read.await.unwrap(), [Some("approved".to_owned())]);
    }
}

#[tokio::test]
async fn an_imported_record_is_listed_searched_and_whole_also_where_decisions_were_taken_back() {
    let place = filled().await;
    let effect = place.store.write(|tx| {
        let fields = vec![("output", "twelve objects".to_owned())];
        let (request, run) = (Some(key(1)), Some(run_id(1)));
        ledger::append(tx, &Entry { kind: EntryType::Effect, at: at(70), request, run, fields })
    });
    effect.await.unwrap();
    let bytes = exported(&place, None).await;
    let into = place.folder.path().join("imported.db");
    let count = ledger::import_lines(&mut &*bytes, &into, &Progress::default()).unwrap();
    assert_eq!(count, 1);
    assert!(!crate::open::wal_of(&into).exists() && fs::metadata(&into).unwrap().len() > 0);
    let copy = Store::open_copy(&into).unwrap();
    let list = |text: &str| {
        let query = HistoryQuery { text: Some(text.to_owned()), ..HistoryQuery::default() };
        copy.read(|reader| history::list(reader, &query)).unwrap()
    };
    let rows = list("");
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].request.key, rows[0].risk), (key(1), Some(RiskLevel::Medium)));
    assert_eq!(rows[0].waited_ms, 19_000);
    assert_eq!((list("objects").len(), list("step1").len(), list("wisteria").len()), (1, 1, 0));
    let (is_full, found) = copy.read(|reader| Ok((is_index_full(reader)?, ledger::verify(reader)?))).unwrap();
    assert!(is_full && found.ok, "{found:?}");
    assert_eq!(found.head, verified(&place).await.head);
}
