//! Exported lines prove themselves, and show what was done to them.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::world::{Place, agent, at, cancelled, decided, key, no, run_end, yes};
use crate::ledger::{self, Damage, FileVerification, Footer, Problem, Selection};
use crate::{Progress, StoreError};

async fn filled() -> Place {
    let place = Place::new();
    let write = place.store.write(|tx| {
        let source = agent(tx)?;
        decided(tx, source, 1, &yes(1))?;
        decided(tx, source, 2, &no(2, "over budget"))?;
        decided(tx, source, 3, &cancelled(3))?;
        run_end(tx)
    });
    write.await.unwrap();
    place
}

async fn exported(place: &Place, selection: Selection) -> Vec<u8> {
    let write = place.store.read(move |reader| {
        let mut out = Vec::new();
        let about = json!({"filter": {}});
        let progress = Progress::default();
        ledger::write_lines(reader, &about, &selection, Damage::Fails, &mut out, &progress, |_| {
            Footer::default()
        })?;
        Ok(out)
    });
    write.await.unwrap()
}

fn all() -> Selection {
    Selection { requests: None, reasons: true }
}

fn check(bytes: &[u8]) -> Result<FileVerification, StoreError> {
    ledger::verify_lines(&mut &*bytes, None, &Progress::default())
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[tokio::test]
async fn an_export_verifies_by_itself_and_holds_every_content() {
    let place = filled().await;
    let bytes = exported(&place, all()).await;
    let found = check(&bytes).unwrap();
    assert!(found.verification.ok && found.is_whole, "{found:?}");
    let stored = place.store.read(|reader| ledger::verify(reader)).await.unwrap();
    assert_eq!((found.verification.entries, found.verification.head), (stored.entries, stored.head));
    assert_eq!(found.exported.unwrap().decisions, 3);
    let second: Value = serde_json::from_slice(&lines(&bytes)[4]).unwrap();
    assert_eq!((&second["type"], &second["record"]["reason"]), (&json!("decision"), &json!("over budget")));
}

#[tokio::test]
async fn an_export_of_some_decisions_proves_them_up_to_the_head() {
    let place = filled().await;
    let two = Selection { requests: Some(HashSet::from([key(2)])), reasons: true };
    let bytes = exported(&place, two).await;
    let found = check(&bytes).unwrap();
    assert!(found.verification.ok && !found.is_whole, "{found:?}");
    assert_eq!(found.exported.unwrap().decisions, 1);
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains("make step2") && text.contains("step 2 is done"));
    assert!(!text.contains("make step1") && !text.contains("make step3"));
    let head = place.store.read(|reader| ledger::verify(reader)).await.unwrap().head;
    assert_eq!(found.verification.head, head);
    let noted = ledger::verify_lines(&mut &*bytes, head, &Progress::default()).unwrap();
    assert!(noted.verification.ok);
}

#[tokio::test]
async fn an_export_without_reasons_holds_none_and_still_verifies() {
    let place = filled().await;
    let bytes = exported(&place, Selection { requests: None, reasons: false }).await;
    assert!(!String::from_utf8(bytes.clone()).unwrap().contains("over budget"));
    assert!(check(&bytes).unwrap().verification.ok);
}

#[tokio::test]
async fn any_changed_byte_of_an_export_is_found() {
    let place = filled().await;
    let bytes = exported(&place, all()).await;
    assert!(check(&bytes).unwrap().verification.ok);
    let mut runner = TestRunner::new(Config { cases: 1500, failure_persistence: None, ..Config::default() });
    // The last line is what is compared with: its own spacing and signature are looked at by whoever signs.
    let last = lines(&bytes).last().unwrap().len();
    runner
        .run(&(0..bytes.len() - last, 0u32..8), |(place, bit)| {
            let mut changed = bytes.clone();
            changed[place] ^= 1 << bit;
            let found = check(&changed);
            prop_assert!(
                found.as_ref().map_or(true, |found| !found.verification.ok),
                "byte {} bit {}",
                place,
                bit
            );
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn what_was_removed_inserted_swapped_or_cut_off_of_an_export_is_found_and_named() {
    let place = filled().await;
    let bytes = exported(&place, all()).await;
    let whole = lines(&bytes);
    let found = |lines: Vec<Vec<u8>>| {
        let found = check(&lines.concat()).unwrap().verification;
        assert!(!found.ok);
        (found.problem.unwrap(), found.entry)
    };
    for at in 1..whole.len() - 1 {
        let mut removed = whole.clone();
        removed.remove(at);
        let expected = if at == whole.len() - 2 { Problem::Truncated } else { Problem::Removed };
        assert_eq!(found(removed), (expected, Some(at as u64)));
        let mut doubled = whole.clone();
        doubled.insert(at, whole[at].clone());
        assert_eq!(found(doubled).0, Problem::Inserted);
        let cut = whole[..at].to_vec();
        assert_eq!(found(cut), (Problem::Truncated, Some(at as u64)));
        if at + 1 < whole.len() - 1 {
            let mut swapped = whole.clone();
            swapped.swap(at, at + 1);
            assert!(found(swapped).1.is_some());
        }
    }
    let mut followed = whole.clone();
    followed.push(whole[1].clone());
    assert_eq!(found(followed).0, Problem::Inserted);
}

#[test]
fn what_is_no_export_is_refused_in_words() {
    for text in ["", "key,prompt\n", "{}\n", r#"{"sayso":"history","v":9}"#] {
        let error = check(text.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("This file"), "{error}");
    }
}

#[tokio::test]
async fn a_chain_that_was_cut_below_a_noted_head_is_found() {
    let place = filled().await;
    let noted = place.store.read(|reader| ledger::verify(reader)).await.unwrap().head;
    place
        .store
        .write(|tx| {
            ledger::append(
                tx,
                &ledger::Entry {
                    kind: ledger::EntryType::RunEnd,
                    at: at(400),
                    request: None,
                    run: None,
                    fields: vec![],
                },
            )
        })
        .await
        .unwrap();
    let verify = async || {
        place
            .store
            .read(move |reader| ledger::verify_up_to(reader, noted, &Progress::default()))
            .await
            .unwrap()
    };
    assert!(verify().await.ok);
    // Somebody who knows the format cuts two entries and moves the head.
    let raw = rusqlite::Connection::open(place.db()).unwrap();
    raw.execute_batch(
        "DELETE FROM ledger_fields WHERE seq > 9; DELETE FROM ledger WHERE seq > 9;
         UPDATE chains SET head_seq = 9, head_hash = (SELECT hash FROM ledger WHERE seq = 9)",
    )
    .unwrap();
    assert!(place.store.read(|reader| ledger::verify(reader)).await.unwrap().ok);
    let found = verify().await;
    assert_eq!((found.problem, found.entry), (Some(Problem::Truncated), Some(10)));
}

#[tokio::test]
async fn work_that_is_stopped_ends_at_its_next_step() {
    let place = filled().await;
    let progress = Progress::default();
    progress.stop();
    let stopped = place.store.read(move |reader| ledger::verify_up_to(reader, None, &progress)).await;
    assert!(matches!(stopped, Err(StoreError::Refused(_))));
}
