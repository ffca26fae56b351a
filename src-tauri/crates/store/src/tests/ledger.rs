use std::collections::BTreeMap;
use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sayso_domain::risk::RiskLevel;
use sayso_domain::{Answer, DecidedBy, Settlement, sha256};
use serde_json::{Value, json};

use super::world::{Place, agent, at, cancelled, decided, key, no, request, run_end, yes};
use crate::ledger::{self, Entry, EntryType, Problem, Verification};
use crate::{Tx, requests, settings, settlements};

async fn filled() -> Place {
    let place = Place::new();
    place
        .store
        .write(|tx| {
            let source = agent(tx)?;
            decided(tx, source, 1, &yes(1))?;
            decided(tx, source, 2, &no(2, "over budget"))?;
            decided(tx, source, 3, &cancelled(3))?;
            run_end(tx)
        })
        .await
        .unwrap();
    place
}

async fn verify(place: &Place) -> Verification {
    place.store.read(|reader| ledger::verify(reader)).await.unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn an_empty_ledger_is_intact() {
    let place = Place::new();
    let expected = Verification { ok: true, entries: 0, head: None, entry: None, problem: None };
    assert_eq!(verify(&place).await, expected);
}

#[tokio::test]
async fn a_written_ledger_is_intact_and_its_head_is_the_last_hash() {
    let place = filled().await;
    let found = verify(&place).await;
    assert_eq!((found.ok, found.entries, found.problem), (true, 10, None));
    let last = place.store.write(|tx| {
        let entry = Entry { kind: EntryType::RunEnd, at: at(400), request: None, run: None, fields: vec![] };
        ledger::append(tx, &entry)
    });
    let last = last.await.unwrap();
    assert_eq!(last.seq, 11);
    assert_eq!(verify(&place).await.head, Some(last.hash));
}

/// Written from the module's page alone, with the JSON library's own maps, so that others can do the same.
#[tokio::test]
async fn the_format_is_what_its_page_says() {
    let place = filled().await;
    let raw = rusqlite::Connection::open(place.db()).unwrap();
    let mut prev = "0".repeat(64);
    for seq in 1..=10i64 {
        let mut fields = BTreeMap::new();
        let mut statement =
            raw.prepare("SELECT name, digest, salt, content FROM ledger_fields WHERE seq = ?1").unwrap();
        let mut rows = statement.query([seq]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let (digest, salt): (Vec<u8>, Vec<u8>) = (row.get(1).unwrap(), row.get(2).unwrap());
            let content: String = row.get(3).unwrap();
            assert_eq!(sha256(&[salt.as_slice(), content.as_bytes()].concat()), *digest);
            assert_eq!(salt.len(), 32);
            fields.insert(row.get::<_, String>(0).unwrap(), hex(&digest));
        }
        let (chain, at, kind, hash) = raw
            .query_row("SELECT chain_id, at, type, hash FROM ledger WHERE seq = ?1", [seq], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, i64>(1)?,
                    row.get::<_, String>(2)?,
                    row.get::<_, Vec<u8>>(3)?,
                ))
            })
            .unwrap();
        let object: BTreeMap<&str, Value> = BTreeMap::from([
            ("v", json!(1)),
            ("chain", json!(chain)),
            ("seq", json!(seq)),
            ("prev", json!(prev)),
            ("type", json!(kind)),
            ("at", json!(at)),
            ("fields", json!(fields)),
        ]);
        prev = hex(&hash);
        assert_eq!(hex(&sha256(serde_json::to_string(&object).unwrap().as_bytes())), prev, "entry {seq}");
    }
}

#[tokio::test]
async fn a_decisions_entry_holds_all_that_history_needs() {
    let place = filled().await;
    let entries = place.store.read(|reader| ledger::of_request(reader, key(2))).await.unwrap();
    let names: BTreeSet<_> = entries[0].fields.iter().map(|(name, _)| name.as_str()).collect();
    let expected = BTreeSet::from([
        "request",
        "request_id",
        "source",
        "source_kind",
        "run",
        "call",
        "purpose",
        "tool",
        "kind",
        "prompt",
        "data",
        "arguments",
        "folder",
        "notes",
        "digest",
        "received_at",
        "risk",
        "outcome",
        "answer",
        "reason",
        "decided_by",
        "surface",
    ]);
    assert_eq!(names, expected);
}

#[tokio::test]
async fn salts_differ_so_that_equal_contents_have_different_digests() {
    let place = filled().await;
    let counts = place.store.read(|reader| {
        let sql = "SELECT count(*), count(DISTINCT salt), count(DISTINCT digest) FROM ledger_fields";
        reader.row(sql, [], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?, row.get::<_, u32>(2)?)))
    });
    let (all, salts, digests) = counts.await.unwrap().unwrap();
    assert_eq!((all, all), (salts, digests));
}

#[tokio::test]
async fn what_was_erased_verifies_once_a_redaction_names_it() {
    let place = filled().await;
    let erase = |names: &'static [&'static str]| {
        place.store.write(move |tx| {
            for name in names {
                tx.run(
                    "UPDATE ledger_fields SET salt = NULL, content = NULL WHERE seq = 4 AND name = ?1",
                    [name],
                )?;
            }
            Ok(())
        })
    };
    erase(&["prompt", "reason", "digest"]).await.unwrap();
    let found = verify(&place).await;
    assert_eq!((found.problem, found.entry), (Some(Problem::Changed), Some(4)));
    let redaction = |names: &'static [&'static str]| {
        place.store.write(move |tx| {
            let erased: Vec<_> = names.iter().map(|name| json!({"seq": 4, "field": name})).collect();
            let fields = vec![("erased", Value::from(erased).to_string())];
            ledger::append(
                tx,
                &Entry { kind: EntryType::Redaction, at: at(500), request: None, run: None, fields },
            )
        })
    };
    redaction(&["prompt", "digest"]).await.unwrap();
    assert_eq!(verify(&place).await.problem, Some(Problem::Changed));
    redaction(&["reason"]).await.unwrap();
    let found = verify(&place).await;
    assert!(found.ok, "{found:?}");
    // The keys that entries are found by are no secret and are never erased.
    erase(&["request"]).await.unwrap();
    redaction(&["request"]).await.unwrap();
    assert_eq!(verify(&place).await.problem, Some(Problem::Changed));
}

fn any_json() -> impl Strategy<Value = Value> {
    let number = "-?(0|[1-9][0-9]{0,30})([.][0-9]{1,20})?([eE][+-]?[0-9]{1,4})?";
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        number.prop_map(|number| serde_json::from_str(&number).unwrap()),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[test]
fn whatever_was_asked_and_answered_verifies_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let conn = crate::open::writer(&folder.path().join("sayso.db")).unwrap();
    let tx = Tx::new(&conn);
    conn.batch("BEGIN").unwrap();
    let source = agent(&tx).unwrap();
    conn.batch("SAVEPOINT once").unwrap();
    let texts = (any::<String>(), any::<String>(), any::<Option<String>>(), any::<bool>());
    let mut runner = TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
    let done =
        runner.run(&(texts, any_json(), any_json()), |((prompt, folder, reason, ok), data, answered)| {
            conn.batch("ROLLBACK TO once").unwrap();
            let mut new = request(source, 1);
            new.shown.request.prompt = prompt;
            new.shown.request.data = Some(data.clone()).filter(|data| !data.is_null());
            if !answered.is_null() {
                new.shown.request.extra.insert("more".to_owned(), answered.clone());
            }
            new.shown.folder = Some(folder);
            requests::insert(&tx, &new).unwrap();
            let answer = match ok {
                true => Answer::ok_with(key(1).to_string(), answered),
                false => Answer::declined(key(1).to_string(), reason.as_deref()),
            };
            let edited = ok.then(|| data.to_string());
            let settlement = Settlement { answer, edited, ..if ok { yes(1) } else { no(1, "") } };
            settlements::settle(&tx, key(1), &settlement, DecidedBy::Person, None).unwrap();
            ledger::append_decision(&tx, key(1), RiskLevel::High).unwrap();
            let stored = requests::get(&tx, key(1)).unwrap().unwrap();
            prop_assert_eq!(&stored.shown, &new.shown);
            prop_assert_eq!(settlements::get(&tx, key(1)).unwrap().unwrap().settlement, settlement);
            let found = ledger::verify(&conn).unwrap();
            prop_assert!(found.ok, "{found:?}");
            Ok(())
        });
    done.unwrap();
}

#[tokio::test]
async fn an_entry_that_is_rolled_back_leaves_no_gap() {
    let place = filled().await;
    let failed = place.store.write(|tx| {
        run_end(tx)?;
        settings::put(tx, "x", "y")?;
        Err::<(), _>(crate::StoreError::Conflict)
    });
    assert!(failed.await.is_err());
    place.store.write(run_end).await.unwrap();
    let found = verify(&place).await;
    assert_eq!((found.ok, found.entries), (true, 11));
}
