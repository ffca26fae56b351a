use sayso_domain::run::Limit;
use sayso_domain::run::{CallState, Message, Run, RunMode, Slot, SlotId, Status, Usage};
use sayso_domain::{Answer, DecidedBy, Kind, Outcome, Request, RequestState, Shown, Surface, ToolResult};
use serde_json::{Value, json};

use super::world::{Place, agent, at, cancelled, key, no, request, run_id, source_id, yes};
use crate::agents::{self, AgentRow};
use crate::deliveries::{self, DeliveryState};
use crate::requests::{self, NewRequest, Purpose};
use crate::{StoreError, calls, messages, runs, settings, settlements, sources, verdicts, waiting};

fn slot(index: u32, state: CallState) -> Slot {
    Slot {
        id: SlotId { turn: 1, index },
        // Providers repeat theirs (contract 16).
        call_id: "call_1".to_owned(),
        name: "shell".to_owned(),
        arguments: r#"{"n":9007199254740993,"b":1,"a":2}"#.to_owned(),
        state,
    }
}

/// A call in every state, with digits and an answer in it.
fn slots() -> Vec<Slot> {
    let data: Value = serde_json::from_str(r#"{"z":1,"n":9007199254740993,"tiny":1.0e-400}"#).unwrap();
    let retry = RunMode::Retry {
        answer: Answer::ok_with("r1", data.clone()),
        prompt: "P\u{0}".to_owned(),
        edited: Some(r#"{"n":9007199254740995}"#.to_owned()),
    };
    let mut done = ToolResult::ok("9007199254740993");
    done.metadata.insert("exact".to_owned(), data);
    vec![
        slot(
            0,
            CallState::Waiting {
                request: key(1),
                prompt: "P".to_owned(),
                file_hash: Some("ab".to_owned()),
                editable: true,
                edited: None,
            },
        ),
        slot(1, CallState::Running(RunMode::Allowed)),
        slot(
            2,
            CallState::Running(RunMode::Approved {
                file_hash: Some("absent".to_owned()),
                edited: Some(r#"{"tiny":1.0e-400}"#.to_owned()),
            }),
        ),
        slot(3, CallState::Running(retry.clone())),
        slot(4, CallState::Suspended { request: key(2), prompt: "Q".to_owned(), edited: None }),
        slot(5, CallState::Unknown { request: key(3), mode: retry }),
        slot(6, CallState::Finished(done)),
    ]
}

/// States that were stored before calls could be edited.
#[test]
fn older_states_of_calls_are_read_as_not_edited() {
    for older in [
        r#"{"Waiting":{"request":"K","prompt":"P","file_hash":null}}"#,
        r#"{"Running":{"Approved":{"file_hash":"absent"}}}"#,
        r#"{"Suspended":{"request":"K","prompt":"P"}}"#,
        r#"{"Running":{"Retry":{"answer":{"id":"r","ok":true},"prompt":"P"}}}"#,
    ] {
        let state: CallState = crate::column::json(&older.replace('K', &key(1).to_string()), "").unwrap();
        assert_eq!(state.edited(), None);
        assert!(!matches!(state, CallState::Waiting { editable: true, .. }));
    }
}

#[tokio::test]
async fn a_run_comes_back_as_it_was_saved_digit_for_digit() {
    let place = Place::new();
    let mut run = Run::new(run_id(1), 10);
    run.status = Status::Pending;
    run.turn = 1;
    run.usage = Usage { input_tokens: 12, output_tokens: 34 };
    run.slots = slots();
    run.queued = vec!["and then?".to_owned()];
    let saved = run.clone();
    place
        .store
        .write(move |tx| {
            agent(tx)?;
            runs::save(tx, &saved, at(1))
        })
        .await
        .unwrap();
    let row = place.store.read(|reader| runs::get(reader, run_id(1))).await.unwrap().unwrap();
    assert_eq!(row.run, run);
    assert_eq!((row.updated_at, row.created_at), (at(1), at(0)));
    let calls = place.store.read(|reader| calls::of_run(reader, run_id(1))).await.unwrap();
    assert!(calls[3].slot.arguments.contains("9007199254740993"));
}

#[tokio::test]
async fn every_status_comes_back_and_only_running_and_pending_are_active() {
    let place = Place::new();
    place.store.write(|tx| agent(tx).map(|_| ())).await.unwrap();
    for (status, active) in [
        (Status::Running, true),
        (Status::Pending, true),
        (Status::Done, false),
        (Status::Incomplete(Limit::MaxTurns), false),
        (Status::Incomplete(Limit::Tokens), false),
        (Status::Interrupted, false),
        (Status::Error("The model is gone.".to_owned()), false),
    ] {
        let mut run = Run::new(run_id(1), 10);
        run.turn = 1;
        run.status = status.clone();
        place.store.write(move |tx| runs::save(tx, &run, at(1))).await.unwrap();
        let read = place.store.read(|reader| Ok((runs::get(reader, run_id(1))?, runs::active(reader)?)));
        let (row, ids) = read.await.unwrap();
        assert_eq!(row.unwrap().run.status, status);
        assert_eq!(ids == [run_id(1)], active, "{status:?}");
    }
}

#[tokio::test]
async fn a_finished_call_is_final_and_a_run_never_goes_back() {
    let place = Place::new();
    place.store.write(|tx| agent(tx).map(|_| ())).await.unwrap();
    let put = |state| {
        let slot = slot(0, state);
        place.store.write(move |tx| calls::put(tx, run_id(1), &slot, at(2)))
    };
    put(CallState::Running(RunMode::Allowed)).await.unwrap();
    let done = CallState::Finished(ToolResult::ok("done"));
    put(done.clone()).await.unwrap();
    put(done.clone()).await.unwrap();
    assert_eq!(put(CallState::Running(RunMode::Allowed)).await, Err(StoreError::Conflict));
    assert_eq!(put(CallState::Finished(ToolResult::ok("other"))).await, Err(StoreError::Conflict));
    let stored = place.store.read(|reader| calls::of_run(reader, run_id(1))).await.unwrap();
    assert_eq!((&stored[0].slot.state, stored[0].finished_at), (&done, Some(at(2))));

    let back = place.store.write(|tx| runs::save(tx, &Run::new(run_id(1), 10), at(3))).await;
    assert_eq!(back, Err(StoreError::Conflict));
    let nobody = place.store.write(|tx| runs::save(tx, &Run::new(run_id(9), 10), at(3))).await;
    assert_eq!(nobody, Err(StoreError::Conflict));
}

#[tokio::test]
async fn earlier_turns_stay_and_a_calls_request_stays_linked() {
    let place = Place::new();
    place
        .store
        .write(|tx| {
            let source = agent(tx)?;
            let mut run = Run::new(run_id(1), 10);
            run.turn = 1;
            run.slots = vec![slot(1, CallState::Finished(ToolResult::ok("done")))];
            runs::save(tx, &run, at(1))?;
            requests::insert(tx, &request(source, 1))?;
            settlements::settle(tx, key(1), &yes(1), DecidedBy::Person, None)?;
            run.turn = 2;
            run.slots = vec![Slot {
                id: SlotId { turn: 2, index: 0 },
                ..slot(0, CallState::Running(RunMode::Allowed))
            }];
            runs::save(tx, &run, at(2))
        })
        .await
        .unwrap();
    let read =
        place.store.read(|reader| Ok((calls::of_run(reader, run_id(1))?, runs::get(reader, run_id(1))?)));
    let (calls, run) = read.await.unwrap();
    let places: Vec<_> = calls.iter().map(|call| (call.slot.id.turn, call.request)).collect();
    assert_eq!(places, [(1, Some(key(1))), (2, None)]);
    assert_eq!(run.unwrap().run.slots.len(), 1);
}

#[tokio::test]
async fn contract_21_messages_come_back_as_they_came() {
    let place = Place::new();
    let text = r#"{"role":"assistant","thinking":[{"signature":"x"}],"z":1,"n":9007199254740993,"a":0.10}"#;
    let message: Value = serde_json::from_str(text).unwrap();
    place
        .store
        .write(move |tx| {
            agent(tx)?;
            messages::append(tx, run_id(1), &Message::User("Hello\u{202e}".to_owned()), at(1))?;
            messages::append(tx, run_id(1), &Message::Assistant { turn: 1, message }, at(2))
        })
        .await
        .unwrap();
    let rows = place.store.read(|reader| messages::of_run(reader, run_id(1))).await.unwrap();
    let rows: Vec<_> =
        rows.iter().map(|row| (row.seq, row.role.as_str(), row.turn, row.content.as_str())).collect();
    assert_eq!(rows, [(1, "user", None, "Hello\u{202e}"), (2, "assistant", Some(1), text)]);
}

#[tokio::test]
async fn what_waits_is_listed_expiring_soonest_first_then_oldest() {
    let place = Place::new();
    let deadlines = [None, Some(900), None, Some(300)];
    place
        .store
        .write(move |tx| {
            let source = agent(tx)?;
            for (n, deadline) in (0..).zip(deadlines) {
                let mut new = request(source, n);
                new.shown.request.expires_at = deadline.map(at);
                requests::insert(tx, &new)?;
            }
            Ok(())
        })
        .await
        .unwrap();
    let read = place.store.read(|reader| {
        let keys: Vec<_> = waiting::page(reader, None, 100)?.into_iter().map(|row| row.place.key).collect();
        let next = requests::next_deadline(reader)?;
        Ok((
            keys,
            next,
            requests::due(reader, at(299))?,
            requests::due(reader, at(300))?,
            requests::count_pending(reader)?,
        ))
    });
    let (keys, next, early, due, count) = read.await.unwrap();
    assert_eq!(keys, [key(3), key(1), key(0), key(2)]);
    assert_eq!((next, count), (Some(at(300)), 4));
    assert_eq!((early, due), (vec![], vec![key(3)]));
}

#[tokio::test]
async fn a_request_comes_back_with_the_bytes_that_its_digest_is_of() {
    let place = Place::new();
    let wire: Value = serde_json::from_str(
        r#"{"id":"r","kind":"deploy","prompt":"P","data":{"z":1,"n":9007199254740993},"expiresAt":"2026-01-31T12:00:00.5Z","x":[1.50]}"#,
    )
    .unwrap();
    let mut shown = Shown::new(Request::try_from(wire).unwrap(), "ci");
    shown.arguments = Some(r#"{"n":9007199254740993}"#.to_owned());
    shown.diff = Some("- a\n+ b".to_owned());
    let expected = shown.clone();
    place
        .store
        .write(move |tx| {
            let source = sources::ensure(tx, "sender", "ci", at(0), source_id(2))?;
            requests::insert(
                tx,
                &NewRequest {
                    key: key(1),
                    source,
                    run: None,
                    slot: None,
                    purpose: Purpose::Tool,
                    shown,
                    received_at: at(1),
                },
            )
        })
        .await
        .unwrap();
    let row = place.store.read(|reader| requests::get(reader, key(1))).await.unwrap().unwrap();
    assert_eq!(row.shown, expected);
    assert_eq!(row.shown_text, expected.to_text());
    assert_eq!(row.digest, sayso_domain::Digest::of(&row.shown_text));
    assert!(row.shown_text.contains("9007199254740993") && row.shown_text.contains("[1.50]"));
    assert_eq!((row.state, row.purpose, row.slot), (RequestState::Pending, Purpose::Tool, None));
}

#[tokio::test]
async fn a_senders_id_is_used_once_per_sender() {
    let place = Place::new();
    let ask = |source: &'static str, n: u64| {
        place.store.write(move |tx| {
            let source = sources::ensure(tx, "sender", source, at(0), source_id(n))?;
            let shown = Shown::new(Request::new("r1", Kind::Approval, "P"), "ci");
            let new = NewRequest {
                key: key(n),
                source,
                run: None,
                slot: None,
                purpose: Purpose::Tool,
                shown,
                received_at: at(1),
            };
            requests::insert(tx, &new)
        })
    };
    ask("ci", 1).await.unwrap();
    assert_eq!(ask("ci", 2).await, Err(StoreError::Conflict));
    ask("other", 3).await.unwrap();
}

#[tokio::test]
async fn of_two_settlements_the_first_wins() {
    let place = Place::new();
    let (first, second) = place
        .store
        .write(|tx| {
            let source = agent(tx)?;
            requests::insert(tx, &request(source, 1))?;
            let first = settlements::settle(
                tx,
                key(1),
                &no(1, "over budget"),
                DecidedBy::Person,
                Some(Surface::Cli),
            )?;
            let second = settlements::settle(tx, key(1), &yes(1), DecidedBy::Person, None)?;
            Ok((first, second))
        })
        .await
        .unwrap();
    assert_eq!((first, second), (true, false));
    let read =
        place.store.read(|reader| Ok((settlements::get(reader, key(1))?, requests::get(reader, key(1))?)));
    let (settled, request) = read.await.unwrap();
    let settled = settled.unwrap();
    assert_eq!(settled.settlement, no(1, "over budget"));
    assert_eq!((settled.by, settled.surface), (DecidedBy::Person, Some(Surface::Cli)));
    assert_eq!(settled.reason.as_deref(), Some("over budget"));
    assert_eq!(request.unwrap().state, RequestState::Settled(Outcome::Declined));
}

#[tokio::test]
async fn a_no_without_words_has_no_reason_and_its_answer_says_its_class() {
    let place = Place::new();
    let declined = || Answer::declined(key(1).to_string(), None);
    place
        .store
        .write(move |tx| {
            let source = agent(tx)?;
            for n in [1, 2] {
                requests::insert(tx, &request(source, n))?;
            }
            let plain = sayso_domain::Settlement { answer: declined(), ..no(1, "") };
            settlements::settle(tx, key(1), &plain, DecidedBy::Person, None)?;
            settlements::settle(tx, key(2), &cancelled(2), DecidedBy::Stop, None)?;
            Ok(())
        })
        .await
        .unwrap();
    let read =
        place.store.read(|reader| Ok((settlements::get(reader, key(1))?, settlements::get(reader, key(2))?)));
    let (plain, cancelled) = read.await.unwrap();
    let (plain, cancelled) = (plain.unwrap(), cancelled.unwrap());
    assert_eq!((plain.reason, plain.settlement.answer.reason()), (None, Some("declined")));
    assert_eq!((cancelled.reason, cancelled.settlement.answer.reason()), (None, Some("cancelled")));
}

#[tokio::test]
async fn contract_09_the_reason_is_in_no_delivery() {
    let place = Place::new();
    place
        .store
        .write(|tx| {
            let source = agent(tx)?;
            super::world::decided(tx, source, 1, &no(1, "over budget"))
        })
        .await
        .unwrap();
    let read = place.store.read(|reader| {
        let raw = reader.row("SELECT answer FROM deliveries", [], |row| Ok(row.get::<_, String>(0)?))?;
        Ok((raw.unwrap(), verdicts::of_request(reader, key(1))?))
    });
    let (raw, verdicts) = read.await.unwrap();
    assert_eq!(raw, json!({"id": key(1).to_string(), "ok": false, "reason": "declined"}).to_string());
    assert_eq!(verdicts[0].answer.reason(), Some("over budget"));
}

#[tokio::test]
async fn a_delivery_waits_is_tried_again_and_ends_once() {
    let place = Place::new();
    place
        .store
        .write(|tx| {
            let source = agent(tx)?;
            requests::insert(tx, &request(source, 1))?;
            settlements::settle(tx, key(1), &yes(1), DecidedBy::Person, None)?;
            deliveries::insert(tx, key(1), &yes(1).answer, at(10))
        })
        .await
        .unwrap();
    let due = |seconds| place.store.read(move |reader| deliveries::due(reader, at(seconds)));
    assert!(due(9).await.unwrap().is_empty());
    assert_eq!(due(10).await.unwrap()[0].run, Some(run_id(1)));
    assert!(place.store.write(|tx| deliveries::failed(tx, key(1), "no route", at(20))).await.unwrap());
    assert!(due(19).await.unwrap().is_empty());
    let again = due(20).await.unwrap().remove(0);
    assert_eq!((again.attempts, again.last_error.as_deref()), (1, Some("no route")));
    assert!(place.store.write(|tx| deliveries::delivered(tx, key(1), at(21))).await.unwrap());
    let once = place.store.write(|tx| {
        Ok([
            deliveries::delivered(tx, key(1), at(22))?,
            deliveries::undeliverable(tx, key(1), "gone", at(22))?,
            deliveries::failed(tx, key(1), "late", at(22))?,
        ])
    });
    assert_eq!(once.await.unwrap(), [false, false, false]);
    let row = place.store.read(|reader| deliveries::get(reader, key(1))).await.unwrap().unwrap();
    assert_eq!((row.state, row.ended_at), (DeliveryState::Delivered, Some(at(21))));
}

#[tokio::test]
async fn agents_sources_and_settings_come_back() {
    let place = Place::new();
    place
        .store
        .write(|tx| {
            let source = sources::ensure(tx, "agent", "a", at(0), source_id(1))?;
            assert_eq!(sources::ensure(tx, "agent", "a", at(5), source_id(2))?, source);
            let agent = |config: &str, seconds| AgentRow {
                name: "a".to_owned(),
                source,
                config: config.to_owned(),
                created_at: at(seconds),
                updated_at: at(seconds),
            };
            agents::put(tx, &agent("{}", 1))?;
            agents::put(tx, &agent(r#"{"model":"m"}"#, 2))?;
            assert!(matches!(agents::put(tx, &agent("{", 3)), Err(StoreError::Sql(_))));
            settings::put(tx, "theme", "dark")?;
            settings::put(tx, "theme", "light")
        })
        .await
        .unwrap();
    let read = place.store.read(|reader| {
        Ok((agents::list(reader)?, agents::get(reader, "b")?, settings::get(reader, "theme")?))
    });
    let (list, nobody, theme) = read.await.unwrap();
    assert_eq!((list.len(), nobody, theme.as_deref()), (1, None, Some("light")));
    assert_eq!(
        (list[0].config.as_str(), list[0].created_at, list[0].updated_at),
        (r#"{"model":"m"}"#, at(1), at(2))
    );
    let removed = place.store.write(|tx| Ok((agents::remove(tx, "a")?, agents::remove(tx, "a")?)));
    assert_eq!(removed.await.unwrap(), (true, false));
    let source = place.store.read(|reader| sources::get(reader, source_id(1))).await.unwrap();
    assert_eq!(source.map(|source| source.name).as_deref(), Some("a"));
}

#[tokio::test]
async fn what_is_as_deep_as_can_be_read_comes_back_though_it_is_kept_deeper() {
    let place = Place::new();
    let deep: Value = serde_json::from_str(&format!("{}1{}", "[".repeat(127), "]".repeat(127))).unwrap();
    let data = deep.clone();
    place
        .store
        .write(move |tx| {
            let source = agent(tx)?;
            let mut new = request(source, 1);
            new.shown.request.data = Some(data.clone());
            requests::insert(tx, &new)?;
            let mode =
                RunMode::Retry { answer: Answer::ok_with("r", data), prompt: "P".to_owned(), edited: None };
            calls::put(tx, run_id(1), &slot(0, CallState::Running(mode)), at(1))
        })
        .await
        .unwrap();
    let read = place.store.read(|reader| Ok((requests::get(reader, key(1))?, runs::get(reader, run_id(1))?)));
    let (pending, run) = read.await.unwrap();
    assert_eq!(pending.unwrap().shown.request.data, Some(deep));
    assert_eq!(run.unwrap().run.slots.len(), 1);
}
