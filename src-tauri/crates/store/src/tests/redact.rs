//! What was erased is nowhere, and the record still verifies.

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sayso_domain::run::{CallState, Message, Run, Slot, SlotId, Status};
use sayso_domain::{Surface, ToolResult};
use serde_json::json;

use super::world::{Place, agent, at, decided, key, no, request, run_end, run_id, yes};
use crate::ledger::{self, EntryType};
use crate::open::wal_of;
use crate::redact::{self, Erasure, Secret, Tally};
use crate::{Progress, StoreError, calls, history, messages, requests, runs, settlements};

/// A run that has ended, with the secret in every place that a text from outside gets to.
async fn filled(secret: &str) -> Place {
    let place = Place::new();
    let secret = secret.to_owned();
    let write = place.store.write(move |tx| {
        let source = agent(tx)?;
        decided(tx, source, 1, &yes(1))?;
        messages::append(tx, run_id(1), &Message::User(format!("use {secret} please")), at(1))?;
        let arguments = json!({ "command": format!("login {secret}") }).to_string();
        let said = json!({ "tool_calls": [{ "function": { "arguments": arguments } }] });
        messages::append(tx, run_id(1), &Message::Assistant { turn: 1, message: said }, at(1))?;
        let mut asked = request(source, 2);
        asked.shown.request.prompt = format!("Run login {secret}?");
        asked.shown.request.data = Some(json!({ "tool": "shell", "arguments": { "command": &secret } }));
        asked.shown.arguments = Some(arguments.clone());
        asked.shown.diff = Some(format!("+token = {secret}"));
        requests::insert(tx, &asked)?;
        let mut settlement = no(2, &format!("never with {secret}"));
        settlement.edited = Some(json!({ "command": format!("logout {secret}") }).to_string());
        let by = sayso_domain::DecidedBy::Person;
        assert!(settlements::settle(tx, key(2), &settlement, by, Some(Surface::Window))?);
        crate::verdicts::insert(tx, key(2), by, Some(Surface::Window), &settlement.answer, settlement.at)?;
        crate::deliveries::insert(tx, key(2), &settlement.delivered(), settlement.at)?;
        ledger::append_decision(tx, key(2))?;
        assert!(crate::deliveries::delivered(tx, key(2), at(200))?);
        let fields = vec![("output", format!("hello {secret}"))];
        let (request, run) = (Some(key(2)), Some(run_id(1)));
        ledger::append(tx, &ledger::Entry { kind: EntryType::Effect, at: at(200), request, run, fields })?;
        let mut run = Run::new(run_id(1), 10);
        (run.turn, run.status) = (1, Status::Done);
        run.slots = vec![Slot {
            id: SlotId { turn: 1, index: 2 },
            call_id: "call".to_owned(),
            name: "shell".to_owned(),
            arguments,
            state: CallState::Finished(ToolResult::ok(format!("welcome {secret}"))),
        }];
        runs::save(tx, &run, at(250))?;
        run_end(tx)
    });
    write.await.unwrap();
    place
}

async fn erase(place: &Place, secret: &str) -> Result<Tally, StoreError> {
    let secret = Secret::new(secret)?;
    let looked = secret.clone();
    let found = place.store.read(move |reader| redact::find(reader, &looked, &Progress::default())).await?;
    let counted = found.clone();
    let tally = place.store.read(move |reader| redact::tally(reader, &counted)).await?;
    let erasure = Erasure { at: at(500), surface: Surface::Cli };
    let erased = place.store.write(move |tx| redact::erase(tx, &secret, &found, erasure)).await?;
    assert!(erased.requests == tally.requests && erased.running == tally.running);
    place.store.compact(Progress::default()).await?;
    Ok(erased)
}

fn bytes_hold(place: &Place, secret: &str) -> bool {
    let forms = [secret.to_owned(), serde_json::to_string(secret).unwrap().trim_matches('"').to_owned()];
    let mut shm = place.db().into_os_string();
    shm.push("-shm");
    [place.db(), wal_of(&place.db()), shm.into()].iter().any(|file| {
        let bytes = fs::read(file).unwrap_or_default();
        forms.iter().any(|form| bytes.windows(form.len()).any(|window| window == form.as_bytes()))
    })
}

#[tokio::test]
async fn what_was_erased_is_in_no_byte_of_the_files_and_the_record_verifies() {
    for secret in ["hunter2-hunter2", r#"pa"ss\w/örd"#, "two\nlines of it"] {
        let place = filled(secret).await;
        assert!(bytes_hold(&place, secret));
        let erased = erase(&place, secret).await.unwrap();
        assert!(erased.fields >= 7 && erased.running == 0, "{erased:?}");
        assert!(!bytes_hold(&place, secret), "{secret}");
        let read = place.store.read(|reader| {
            let entries = ledger::of_request(reader, key(2))?;
            Ok((
                ledger::verify(reader)?,
                history::get(reader, key(2))?,
                entries,
                calls::from_turn(reader, run_id(1), 0)?,
            ))
        });
        let (verified, row, entries, calls) = read.await.unwrap();
        assert!(verified.ok, "{verified:?}");
        let row = row.unwrap();
        assert_eq!(row.request.shown.request.prompt, "Run login [redacted]?");
        assert_eq!(row.settled.reason.as_deref(), Some("never with [redacted]"));
        assert_eq!(row.request.shown.arguments.as_deref(), Some(r#"{"command":"login [redacted]"}"#));
        assert!(
            matches!(&calls[0].state, CallState::Finished(result) if result.output == "welcome [redacted]")
        );
        let redaction = entries.iter().find(|entry| entry.kind == EntryType::Redaction).unwrap();
        for field in ["prompt", "arguments", "data", "diff", "reason", "edited_arguments", "digest", "output"]
        {
            assert!(redaction.field("erased").unwrap().contains(&format!("\"{field}\"")), "{field}");
        }
    }
}

/// Whatever it is made of.
#[test]
fn any_secret_is_gone_and_only_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    runner
        .run(&r#"[a-z"\\/\n<é語\u{1f600}]{8,20}"#, |secret| {
            prop_assume!(secret.trim_end_matches('\n') == secret);
            runtime.block_on(async {
                let place = filled(&secret).await;
                erase(&place, &secret).await.unwrap();
                assert!(!bytes_hold(&place, &secret), "{secret:?}");
                let verified = place.store.read(|reader| ledger::verify(reader)).await.unwrap();
                assert!(verified.ok, "{secret:?}: {verified:?}");
                let first = place.store.read(|reader| history::get(reader, key(1))).await.unwrap().unwrap();
                assert_eq!(first.request.shown, request(super::world::source_id(1), 1).shown);
            });
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn what_has_not_ended_is_left_alone_and_counted() {
    let place = Place::new();
    let write = place.store.write(|tx| {
        let source = agent(tx)?;
        let mut asked = request(source, 1);
        asked.shown.request.prompt = "Use hunter2-hunter2?".to_owned();
        requests::insert(tx, &asked)
    });
    write.await.unwrap();
    let erased = erase(&place, "hunter2-hunter2").await.unwrap();
    assert_eq!(erased, Tally { running: 1, ..Tally::default() });
    let left = place.store.read(|reader| requests::get(reader, key(1))).await.unwrap().unwrap();
    assert_eq!(left.shown.request.prompt, "Use hunter2-hunter2?");
}

#[tokio::test]
async fn a_text_that_the_app_itself_writes_is_refused_and_nothing_changes() {
    let place = filled("hunter2-hunter2").await;
    let before = place.store.read(|reader| history::get(reader, key(2))).await.unwrap();
    for text in ["output", "abc"] {
        let refused = erase(&place, text).await.unwrap_err();
        assert!(
            matches!(&refused, StoreError::Refused(why) if why.contains("Nothing was changed")),
            "{refused}"
        );
    }
    assert_eq!(place.store.read(|reader| history::get(reader, key(2))).await.unwrap(), before);
}

#[tokio::test]
async fn a_file_that_still_holds_a_secret_is_known() {
    let place = filled("hunter2-hunter2").await;
    let backup = place.folder.path().join("backups/old.db");
    place.store.back_up(&backup, Progress::default()).await.unwrap();
    let secret = Secret::new("hunter2-hunter2").unwrap();
    assert!(redact::is_in_file(&backup, &secret).unwrap());
    erase(&place, "hunter2-hunter2").await.unwrap();
    let after = place.folder.path().join("backups/new.db");
    place.store.back_up(&after, Progress::default()).await.unwrap();
    assert!(!redact::is_in_file(&after, &secret).unwrap());
    let text = place.folder.path().join("export.csv");
    fs::write(&text, "x,hunter2-hunter2\n").unwrap();
    assert!(redact::is_in_file(&text, &secret).unwrap());
    let files: Vec<_> = fs::read_dir(backup.parent().unwrap()).unwrap().collect();
    assert_eq!(files.len(), 2, "{files:?}");
}
