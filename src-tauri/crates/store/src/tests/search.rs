use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sayso_domain::risk::RiskLevel;
use sayso_domain::{Answer, DecidedBy, Outcome, Settlement, Surface, Time};
use serde_json::json;

use super::world::{Place, agent, at, decided, key, no, request, run_id, source_id, yes};
use crate::conn::Tx;
use crate::history::{self, HistoryQuery, HistoryRow};
use crate::ledger::{self, Entry, EntryType};
use crate::migrate::MIGRATIONS;
use crate::open::{writer, writer_at};
use crate::{Store, StoreError, deliveries, requests, search, settlements, sources};

fn text(text: &str) -> HistoryQuery {
    HistoryQuery { text: Some(text.to_owned()), ..HistoryQuery::default() }
}

async fn find(place: &Place, query: HistoryQuery) -> Vec<HistoryRow> {
    place.store.read(move |reader| history::list(reader, &query)).await.unwrap()
}

async fn keys(place: &Place, query: HistoryQuery) -> Vec<u64> {
    find(place, query).await.iter().map(number).collect()
}

fn number(row: &HistoryRow) -> u64 {
    row.request.key.uuid().as_u64_pair().1 & 0xffff
}

/// A decision with a text of its own in every place.
fn told(tx: &Tx<'_>, source: sayso_domain::SourceId) -> Result<(), StoreError> {
    let mut new = request(source, 1);
    new.shown.request.prompt = "Refund the Café in 東京都?".to_owned();
    new.shown.arguments =
        Some(r#"{"command":"git push --force\nnow \u00e9t\u00e9","path":"/home/a/src/main.rs"}"#.to_owned());
    new.shown.tool = Some("shell".to_owned());
    new.shown.folder = Some("/srv/projects/orchard".to_owned());
    requests::insert(tx, &new)?;
    let edited = json!({"arguments": {"command": "git push gently"}});
    let settlement = Settlement {
        outcome: Outcome::Approved,
        answer: Answer::ok_with(key(1).to_string(), edited),
        edited: Some(r#"{"command":"git push gently"}"#.to_owned()),
        at: at(50),
    };
    settle(tx, 1, &settlement)?;
    effect(tx, 1, "12 objects were written")
}

fn settle(tx: &Tx<'_>, n: u64, settlement: &Settlement) -> Result<(), StoreError> {
    assert!(settlements::settle(tx, key(n), settlement, DecidedBy::Person, Some(Surface::Window))?);
    deliveries::insert(tx, key(n), &settlement.delivered(), settlement.at)?;
    ledger::append_decision(tx, key(n), RiskLevel::High).map(drop)
}

fn effect(tx: &Tx<'_>, n: u64, output: &str) -> Result<(), StoreError> {
    let fields = vec![("output", output.to_owned()), ("is_error", "false".to_owned())];
    let entry =
        Entry { kind: EntryType::Effect, at: at(60), request: Some(key(n)), run: Some(run_id(1)), fields };
    ledger::append(tx, &entry).map(drop)
}

#[tokio::test]
async fn every_text_of_a_decision_is_found_and_marked_where_it_is() {
    let place = Place::new();
    let fill = place.store.write(|tx| {
        let source = agent(tx)?;
        told(tx, source)?;
        decided(tx, source, 2, &no(2, "far too expensive"))?;
        decided(tx, source, 3, &yes(3))
    });
    fill.await.unwrap();
    for (query, n, field, marked) in [
        ("cafe", 1, "prompt", "Café"),
        ("東京", 1, "prompt", "東京"),
        ("都", 1, "prompt", "都"),
        ("--force", 1, "arguments", "--force"),
        ("now", 1, "arguments", "now"),
        ("ete", 1, "arguments", "été"),
        ("src/main", 1, "arguments", "src/main"),
        ("gently", 1, "edited_arguments", "gently"),
        ("objects", 1, "output", "objects"),
        ("orchard", 1, "names", "orchard"),
        ("\"too expensive\"", 2, "reason", "too expensive"),
        ("expen", 2, "reason", "expensive"),
        ("expensive -step3", 2, "reason", "expensive"),
        ("step3 -\"too expensive\"", 3, "arguments", "step3"),
    ] {
        let rows = find(&place, text(query)).await;
        assert_eq!(rows.iter().map(number).collect::<Vec<_>>(), [n], "{query}");
        let snippet = rows[0].snippet.clone().unwrap();
        let units: Vec<u16> = snippet.text.encode_utf16().collect();
        let marks = snippet.marks.iter().map(|(start, end)| &units[*start as usize..*end as usize]);
        let marks: Vec<_> = marks.map(|mark| String::from_utf16(mark).unwrap()).collect();
        assert_eq!(
            (snippet.field, marks.contains(&marked.to_owned())),
            (field, true),
            "{query}: {snippet:?}"
        );
    }
    for query in ["-rf", "--gently", "expensive refund", "京東", "ush", "step3 -command"] {
        assert!(keys(&place, text(query)).await.is_empty(), "{query}");
    }
    assert_eq!(keys(&place, text("deploy-bot")).await, [3, 2, 1]);
    let both = HistoryQuery { outcome: Some("declined".to_owned()), limit: Some(1), ..text("deploy-bot") };
    assert_eq!(keys(&place, both).await, [2]);
    let of_run = HistoryQuery { run: Some(run_id(1)), ..text("step") };
    assert_eq!(keys(&place, of_run).await, [3, 2]);
}

#[tokio::test]
async fn what_is_forgotten_and_purged_is_on_no_page_of_the_index_and_the_decision_is_found_by_what_is_left() {
    let place = Place::new();
    let fill = place.store.write(|tx| {
        let source = agent(tx)?;
        told(tx, source)?;
        (2..200).try_for_each(|n| decided(tx, source, n, &yes(n)))
    });
    fill.await.unwrap();
    let pages = || {
        let conn = rusqlite::Connection::open(place.db()).unwrap();
        let mut pages = conn.prepare("SELECT block FROM decision_words_data").unwrap();
        let pages = pages.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        pages.map(Result::unwrap).collect::<Vec<_>>().concat()
    };
    // The beginning of a term may be shared with the one before it.
    let has = |word: &str| pages().windows(word.len() - 2).any(|part| part == &word.as_bytes()[2..]);
    assert!(has("orchard") && has("objects"));
    place.store.write(|tx| search::forget(tx, key(1))).await.unwrap();
    assert_eq!(keys(&place, text("orchard")).await, [1], "it is read");
    place.store.write(search::purge).await.unwrap();
    assert!(!has("orchard") && !has("objects"));
    assert_eq!(keys(&place, text("orchard")).await, [1]);
    let erase = place.store.write(|tx| {
        tx.run(
            "UPDATE requests SET shown = replace(shown, 'orchard', '[redacted]') WHERE key = ?1",
            [key(1).to_string()],
        )?;
        tx.run(
            "UPDATE ledger_fields SET salt = NULL, content = NULL WHERE name = 'folder' AND content LIKE '%orchard%'",
            [],
        )?;
        search::reindex(tx, key(1))?;
        search::purge(tx)
    });
    erase.await.unwrap();
    assert!(!has("orchard") && has("objects"));
    assert!(keys(&place, text("orchard")).await.is_empty());
    let rows = find(&place, text("projects redacted")).await;
    assert_eq!((number(&rows[0]), rows[0].is_redacted), (1, true));
    let again = place.store.write(|tx| search::reindex(tx, key(1))).await;
    assert!(again.is_err(), "what is in the index is forgotten first");
    let remove = place.store.write(|tx| {
        search::remove(tx, key(1))?;
        search::remove(tx, key(999))?;
        search::purge(tx)
    });
    remove.await.unwrap();
    assert!(keys(&place, text("objects")).await.is_empty() && !has("objects"));
    assert_eq!(keys(&place, HistoryQuery::default()).await.len(), 198);
}

#[tokio::test]
async fn moments_hold_also_where_a_clock_was_set_back() {
    let place = Place::new();
    let times = [10, 20, 90, 30, 40, 90, 95, 5, 100];
    let fill = place.store.write(move |tx| {
        let source = agent(tx)?;
        for (n, seconds) in (1..).zip(times) {
            requests::insert(tx, &request(source, n))?;
            settle(tx, n, &Settlement { at: at(seconds), ..yes(n) })?;
        }
        Ok(())
    });
    fill.await.unwrap();
    for since in (0..110).step_by(5) {
        for until in (0..110).step_by(5) {
            let query =
                HistoryQuery { since: Some(at(since)), until: Some(at(until)), ..HistoryQuery::default() };
            let fitting = (1..).zip(times).filter(|(_, at)| (since..until).contains(at));
            let mut expected: Vec<u64> = fitting.map(|(n, _)| n).collect();
            expected.reverse();
            assert_eq!(keys(&place, query.clone()).await, expected, "{since} {until}");
            let text = HistoryQuery { text: Some("make".to_owned()), ..query };
            assert_eq!(keys(&place, text).await, expected, "{since} {until}");
        }
    }
}

/// As a version of the format before the list and the index wrote it.
fn older(path: &std::path::Path, version: usize) {
    let conn = writer_at(path, &MIGRATIONS[..version]).unwrap();
    conn.batch("BEGIN").unwrap();
    let tx = Tx::new(&conn);
    let source = sources::ensure(&tx, "agent", "deploy-bot", at(0), source_id(1)).unwrap();
    for n in 1..=50 {
        let new = request(source, n);
        let shown = new.shown.to_text();
        tx.run(
            "INSERT INTO requests (key, source, id, purpose, kind, tool, shown, digest, state, received_at)
             VALUES (?1, ?2, ?3, 'tool', 'approval', 'shell', ?4, ?5, 'declined', ?6)",
            rusqlite::params![
                key(n).to_string(),
                source.to_string(),
                new.shown.request.id,
                shown,
                sayso_domain::Digest::of(&shown).0,
                at(0).as_millis()
            ],
        )
        .unwrap();
        tx.run(
            "INSERT INTO settlements (request, outcome, answer, reason, decided_by, surface, at)
             VALUES (?1, 'declined', ?2, ?3, 'person', 'cli', ?4)",
            rusqlite::params![
                key(n).to_string(),
                format!(r#"{{"id":"{}","ok":false}}"#, key(n)),
                if n == 7 { "not on a friday" } else { "no" },
                at(n as i64).as_millis()
            ],
        )
        .unwrap();
        tx.run(
            "INSERT INTO deliveries (request, answer, state, deliver_after, next_at, ended_at)
             VALUES (?1, '{}', 'delivered', 0, 0, 0)",
            [key(n).to_string()],
        )
        .unwrap();
    }
    conn.batch("COMMIT").unwrap();
}

#[tokio::test]
async fn decisions_of_an_older_file_are_listed_at_once_and_found_before_and_after_they_are_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sayso.db");
    older(&path, 2);
    let copy = Store::open_copy(&path).unwrap();
    let found = copy.read(|reader| history::list(reader, &text("friday"))).unwrap();
    assert_eq!((number(&found[0]), found[0].snippet.as_ref().unwrap().field), (7, "reason"));
    drop(copy);

    let place = Place { store: Store::open(&path).unwrap(), folder };
    let friday = || HistoryQuery { surface: Some("cli".to_owned()), ..text("friday step7") };
    let all = || HistoryQuery { tool: Some("shell".to_owned()), limit: Some(60), ..text("make") };
    let mut left = 50u32;
    loop {
        assert_eq!(keys(&place, friday()).await, [7]);
        assert_eq!(keys(&place, all()).await, (1..=50).rev().collect::<Vec<_>>());
        assert_eq!(keys(&place, HistoryQuery { limit: Some(3), ..all() }).await, [50, 49, 48]);
        let is_missing_some = place.store.read(|reader| search::is_missing_some(reader)).await.unwrap();
        assert_eq!(is_missing_some, left > 0);
        if left == 0 {
            break;
        }
        assert_eq!(place.store.write(|tx| search::index_more(tx, 20)).await.unwrap(), left >= 20);
        left = left.saturating_sub(20);
    }
    let rows = find(&place, friday()).await;
    assert_eq!((rows[0].risk, rows[0].waited_ms), (None, 7000));
}

/// Each decision with its words in the index, and no words without a decision.
pub(super) fn is_index_full(conn: &crate::Conn) -> Result<bool, StoreError> {
    let read = |sql: &str| conn.rows(sql, [], |row| Ok(row.get::<_, i64>(0)?));
    let listed = read("SELECT n FROM decisions WHERE indexed = 1 ORDER BY n")?;
    let all = read("SELECT n FROM decisions ORDER BY n")?;
    // Each of these decisions names its source.
    let found = read("SELECT rowid FROM decision_words WHERE words MATCH 'deploy' ORDER BY rowid")?;
    Ok(listed == all && found == all)
}

#[tokio::test]
async fn a_restored_backup_of_any_older_version_is_searched_and_indexed() {
    for version in [2, 3] {
        let place = Place::new();
        let backup = place.folder.path().join("old.db");
        older(&backup, version);
        let log = crate::open::wal_of(&backup);
        rusqlite::Connection::open(&backup).unwrap().pragma_update(None, "journal_mode", "DELETE").unwrap();
        assert!(!log.exists());
        crate::prepare_restore(&backup, &place.db()).unwrap();
        place.store.clone().close().await.unwrap();
        let place = Place { store: Store::open(&place.db()).unwrap(), ..place };
        assert_eq!(keys(&place, text("friday")).await, [7]);
        while place.store.write(|tx| search::index_more(tx, 20)).await.unwrap() {}
        assert!(place.store.read(|reader| is_index_full(reader)).await.unwrap());
        assert_eq!(keys(&place, text("friday")).await, [7]);
    }
}

#[test]
fn a_hostile_query_never_errors() {
    let folder = tempfile::tempdir().unwrap();
    let conn = writer(&folder.path().join("sayso.db")).unwrap();
    conn.batch("BEGIN").unwrap();
    let tx = Tx::new(&conn);
    let source = agent(&tx).unwrap();
    told(&tx, source).unwrap();
    for query in [
        "\"",
        "*",
        "-",
        "--",
        "\0",
        "a\0b",
        "NEAR(a b)",
        "words:x",
        "^a",
        "{a}:b",
        "a AND",
        "NOT",
        "-\"\"",
        "(",
        "'",
    ] {
        history::list(&conn, &text(query)).unwrap();
    }
    history::list(&conn, &text(&"\"a* -b東\0".repeat(12_500))).unwrap();
    let mut runner = TestRunner::new(Config { cases: 400, failure_persistence: None, ..Config::default() });
    let anything = "\\PC{0,80}|[\"*\\- \0()a^:é東+{}']{0,60}|(\"?-{0,3}[a-z]{0,5}\"?\\*? ){0,40}";
    runner
        .run(&anything, |query| {
            let found = history::list(&conn, &text(&query)).unwrap();
            history::counts(&conn, &text(&query)).unwrap();
            // What the index says is what reading says.
            search::forget(&tx, key(1)).unwrap();
            let read = history::list(&conn, &text(&query)).unwrap();
            search::reindex(&tx, key(1)).unwrap();
            prop_assert_eq!(found, read);
            Ok(())
        })
        .unwrap();
}

#[tokio::test]
async fn counts_and_charts_say_what_is_there() {
    let place = Place::new();
    let fill = place.store.write(|tx| {
        let source = agent(tx)?;
        for n in 1..=20 {
            let mut new = request(source, n);
            new.shown.arguments = Some(format!(r#"{{"command":"make step{}"}}"#, n % 3));
            new.received_at = Time::from_millis(at(0).as_millis() - n as i64 * 1000);
            requests::insert(tx, &new)?;
            // From noon, in steps of two hours.
            let settlement =
                Settlement { at: at(n as i64 * 7200), ..if n % 4 == 0 { no(n, "no") } else { yes(n) } };
            settle(tx, n, &settlement)?;
        }
        Ok(())
    });
    fill.await.unwrap();
    let declined = HistoryQuery { outcome: Some("declined".to_owned()), ..HistoryQuery::default() };
    let counts = place.store.read(move |reader| history::counts(reader, &declined)).await.unwrap();
    let of = |counts: &[history::Count]| -> Vec<(String, u32)> {
        counts.iter().map(|count| (count.value.clone(), count.count)).collect()
    };
    assert_eq!((counts.total, counts.is_capped), (5, false));
    assert_eq!(of(&counts.outcome), [("approved".to_owned(), 15), ("declined".to_owned(), 5)]);
    assert_eq!(of(&counts.risk), [("high".to_owned(), 5)]);
    assert_eq!(of(&counts.surface), [("window".to_owned(), 5)]);

    let charts = |offset| {
        let read = place.store.read(move |reader| history::charts(reader, &HistoryQuery::default(), offset));
        async move { read.await.unwrap() }
    };
    let utc = charts(0).await;
    let days: Vec<_> = utc.days.iter().map(|day| (day.approved, day.declined)).collect();
    // Noon of the first day: 14 to 22 o'clock, twelve, and three.
    assert_eq!(days, [(4, 1), (9, 3), (2, 1)]);
    assert_eq!(utc.days[0].number, at(0).as_millis() / 86_400_000);
    let east = charts(120).await;
    assert_eq!(
        east.days.iter().map(|day| (day.approved, day.declined)).collect::<Vec<_>>(),
        [(3, 1), (9, 3), (3, 1)]
    );
    let waits = utc.waits.unwrap();
    assert_eq!((waits.median_ms, waits.p95_ms), (10 * 7_201_000, 19 * 7_201_000));
    assert_eq!(utc.sources[0].source, "deploy-bot");
    let asked: Vec<_> = utc
        .most_asked
        .iter()
        .map(|asked| (asked.request.shown.arguments.clone().unwrap(), asked.count))
        .collect();
    assert_eq!(asked[0], (r#"{"command":"make step2"}"#.to_owned(), 7));
    assert_eq!(asked.len(), 3);
    assert_eq!(utc.most_denied.iter().map(|asked| asked.count).sum::<u32>(), 5);
    assert!(utc.expired.is_empty());
}
