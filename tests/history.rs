//! History over twenty thousand decisions: its pages, filters, searches, counts and charts against a plain look at all of
//! them, and what the terminal reads of a copy.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use sayso_domain::search::Query;
use sayso_domain::{DecidedBy, Outcome, Time};
use sayso_store::history::{self, Count, HistoryCursor, HistoryQuery, HistoryRow};
use sayso_store::{Store, StoreCopy};
use sayso_tests::decisions::{self, Made};
use sayso_tests::random::Random;
use sayso_tests::sayso::sayso_bin;
use serde_json::Value;

const COUNT: u64 = 20_000;
const SEED: u64 = 7;
const DAY: i64 = 24 * 60 * 60 * 1000;

/// The database with all of them, written once for the tests of this program.
fn database() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let own = fs::metadata(std::env::current_exe().unwrap()).unwrap().modified().unwrap();
    let own = own.duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let name = format!("decisions-{own}.db");
    let lock = File::create(folder.join("decisions.lock")).unwrap();
    lock.lock().unwrap();
    let file = folder.join(&name);
    if !file.exists() {
        for other in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let other_name = other.file_name().into_string().unwrap();
            if other_name.starts_with("decisions-") {
                fs::remove_file(other.path()).unwrap();
            }
        }
        let unfinished = folder.join("decisions-unfinished.db");
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let store = Store::open(&unfinished).unwrap();
            decisions::write(&store, SEED, 0, COUNT).await.unwrap();
            store.close().await.unwrap();
        });
        let _ = fs::remove_file(folder.join("decisions-unfinished.db-wal"));
        let _ = fs::remove_file(folder.join("decisions-unfinished.db-shm"));
        fs::rename(unfinished, &file).unwrap();
    }
    file
}

fn open() -> StoreCopy {
    Store::open_copy(&database()).unwrap()
}

/// All of them, newest first.
fn all() -> Vec<Made> {
    (0..COUNT).rev().map(|n| Made::of(SEED, n)).collect()
}

fn pages(store: &StoreCopy, query: &HistoryQuery, limit: u32) -> Vec<HistoryRow> {
    let mut rows: Vec<HistoryRow> = Vec::new();
    loop {
        let after: Option<HistoryCursor> = rows.last().map(|row| row.cursor);
        let query = HistoryQuery { after, limit: Some(limit), ..query.clone() };
        let page = store.read(|reader| history::list(reader, &query)).unwrap();
        let is_last = page.len() < limit as usize;
        rows.extend(page);
        if is_last {
            return rows;
        }
    }
}

fn keys(rows: &[HistoryRow]) -> Vec<String> {
    rows.iter().map(|row| row.request.key.to_string()).collect()
}

fn keys_of<'a>(made: impl Iterator<Item = &'a Made>) -> Vec<String> {
    made.map(|made| made.key().to_string()).collect()
}

#[test]
fn all_pages_of_twenty_thousand_decisions_hold_each_once_and_say_what_was_decided() {
    let (store, all) = (open(), all());
    let rows = pages(&store, &HistoryQuery::default(), 777);
    assert_eq!(keys(&rows), keys_of(all.iter()));
    for (row, made) in rows.iter().zip(&all) {
        assert_eq!(row.settled.settlement.outcome, made.outcome);
        assert_eq!((row.risk, row.settled.reason.as_deref()), (Some(made.risk), made.reason.as_deref()));
        assert_eq!(row.waited_ms, (made.at.as_millis() - made.received_at.as_millis()).unsigned_abs());
    }
    let text = HistoryQuery { text: Some("Run command".to_owned()), ..HistoryQuery::default() };
    let found = pages(&store, &text, 333);
    assert_eq!(keys(&found), keys_of(all.iter().filter(|made| made.command.is_some())));
    assert!(found.iter().all(|row| !row.snippet.as_ref().unwrap().marks.is_empty()));
}

/// A filter, and whether a decision fits it by a plain look.
type Fits = Box<dyn Fn(&Made) -> bool>;

fn random_filter(dice: &mut Random, all: &[Made]) -> (HistoryQuery, Vec<Fits>) {
    let mut query = HistoryQuery::default();
    let mut fits: Vec<Fits> = Vec::new();
    let like = all[dice.below(COUNT) as usize].clone();
    let (outcome, source, kind, by) = (like.outcome.as_str(), like.source_name(), like.kind.clone(), like.by);
    let (risk, at) = (like.risk, like.at);
    let mut maybe = |one_in: u64| dice.below(one_in) == 0;
    if maybe(3) {
        query.outcome = Some(outcome.to_owned());
        fits.push(Box::new(move |made| made.outcome.as_str() == outcome));
    }
    if maybe(3) {
        query.source = Some(source.to_owned());
        fits.push(Box::new(move |made| made.source_name() == source));
    }
    if maybe(5) {
        query.kind = Some(kind.to_string());
        fits.push(Box::new(move |made| made.kind == kind));
    }
    if maybe(5) {
        query.decided_by = Some(by.as_str().to_owned());
        fits.push(Box::new(move |made| made.by == by));
    }
    if let Some(surface) = like.surface.filter(|_| maybe(4)) {
        query.surface = Some(surface.as_str().to_owned());
        fits.push(Box::new(move |made| made.surface == Some(surface)));
    }
    if let Some(tool) = like.tool.filter(|_| maybe(5)) {
        query.tool = Some(tool.to_owned());
        fits.push(Box::new(move |made| made.tool == Some(tool)));
    }
    if maybe(4) {
        query.risk = Some(risk.as_str().to_owned());
        fits.push(Box::new(move |made| made.risk == risk));
    }
    if let Some(run) = like.run().filter(|_| maybe(12)) {
        query.run = Some(run);
        fits.push(Box::new(move |made| made.run() == Some(run)));
    }
    if maybe(4) {
        query.since = Some(at);
        fits.push(Box::new(move |made| made.at >= at));
    }
    if maybe(4) {
        let until = Time::from_millis(at.as_millis() + 3 * DAY);
        query.until = Some(until);
        fits.push(Box::new(move |made| made.at < until));
    }
    (query, fits)
}

#[test]
fn filters_find_what_a_plain_look_finds_and_combine() {
    let (store, all) = (open(), all());
    let mut dice = Random::seeded();
    println!("SAYSO_SEED={}", dice.seed);
    for _ in 0..60 {
        let (query, fits) = random_filter(&mut dice, &all);
        let expected = all.iter().filter(|made| fits.iter().all(|fits| fits(made)));
        let expected = keys_of(expected.take(1500));
        let first = HistoryQuery { limit: Some(1500), ..query.clone() };
        let found = store.read(|reader| history::list(reader, &first)).unwrap();
        assert_eq!(keys(&found), expected, "{query:?}");
    }
}

#[test]
fn a_search_finds_what_a_plain_look_finds_also_with_filters() {
    let (store, all) = (open(), all());
    let mut dice = Random::seeded();
    println!("SAYSO_SEED={}", dice.seed);
    // Words that are in a decision where these texts are.
    let has = |made: &Made, part: &str| made.texts().iter().any(|text| text.contains(part));
    for (typed, parts) in [
        ("refund", &["Refund", "refund"][..]),
        ("cafe noel", &["Café Noël"]),
        ("東京", &["東京"]),
        ("退款", &["退款"]),
        ("환불", &["환불"]),
        ("予算", &["予算"]),
        ("müller", &["Müller"]),
        ("--force", &["--force"]),
        ("--dry-run", &["--dry-run"]),
        ("-rf", &["-rf"]),
        ("src/main", &["src/main"]),
        ("\"not on a friday\"", &["not on a Friday"]),
        ("lines were added", &["lines were added"]),
        ("/srv/zephyr", &["/srv/zephyr"]),
        ("deploy-bot", &["deploy-bot"]),
    ] {
        let query = HistoryQuery { text: Some(typed.to_owned()), ..HistoryQuery::default() };
        let found = keys(&pages(&store, &query, 400));
        let expected = keys_of(all.iter().filter(|made| parts.iter().any(|part| has(made, part))));
        assert!(!expected.is_empty(), "{typed}");
        assert_eq!(found, expected, "{typed}");
    }
    // Parts of texts, with filters, against reading every text.
    for _ in 0..30 {
        let texts = all[dice.below(COUNT) as usize].texts();
        let text = &texts[dice.below(texts.len() as u64) as usize];
        let words: Vec<_> = text.split_whitespace().collect();
        let at = dice.below(words.len() as u64) as usize;
        let typed = words[at..(at + 2).min(words.len())].join(" ");
        let wanted = Query::parse(&typed);
        let (query, fits) = random_filter(&mut dice, &all);
        let query = HistoryQuery { text: Some(typed.clone()), limit: Some(500), ..query };
        let found = store.read(|reader| history::list(reader, &query)).unwrap();
        let matches = |made: &&Made| {
            let texts = made.texts();
            wanted.matches(&texts.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let expected = all.iter().filter(|made| fits.iter().all(|fits| fits(made))).filter(matches).take(500);
        assert_eq!(keys(&found), keys_of(expected), "{query:?}");
    }
}

/// How many have each value, most first.
fn tally(values: impl Iterator<Item = String>) -> Vec<Count> {
    let mut counts = BTreeMap::<String, u32>::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().map(|(value, count)| Count { value, count }).collect();
    counts.sort_by(|a, b| b.count.cmp(&a.count).then(a.value.cmp(&b.value)));
    counts
}

#[test]
fn counts_are_what_a_plain_count_gives_and_stop_at_ten_thousand() {
    let (store, all) = (open(), all());
    let count = |query: HistoryQuery| store.read(|reader| history::counts(reader, &query)).unwrap();
    let found = count(HistoryQuery::default());
    assert_eq!((found.total, found.is_capped), (10_000, true));
    let newest = || all.iter().take(10_000);
    assert_eq!(found.source, tally(newest().map(|made| made.source_name().to_owned())));
    assert_eq!(found.surface, tally(newest().filter_map(|made| Some(made.surface?.as_str().to_owned()))));

    let late = Time::from_millis(all[6000].at.as_millis());
    let query = HistoryQuery {
        since: Some(late),
        outcome: Some("declined".to_owned()),
        source: Some("release-bot".to_owned()),
        ..HistoryQuery::default()
    };
    let found = count(query.clone());
    let declined = |made: &&Made| made.outcome == Outcome::Declined;
    let of_bot = |made: &&Made| made.source_name() == "release-bot";
    let recent = || all.iter().filter(|made| made.at >= late);
    let both = || recent().filter(declined).filter(of_bot);
    assert_eq!((found.total as usize, found.is_capped), (both().count(), false));
    assert_eq!(found.outcome, tally(recent().filter(of_bot).map(|made| made.outcome.as_str().to_owned())));
    assert_eq!(found.source, tally(recent().filter(declined).map(|made| made.source_name().to_owned())));
    assert_eq!(found.risk, tally(both().map(|made| made.risk.as_str().to_owned())));
    assert_eq!(found.kind, tally(both().map(|made| made.kind.to_string())));
    assert_eq!(found.decided_by, tally(both().map(|made| made.by.as_str().to_owned())));

    let text = HistoryQuery { text: Some("friday".to_owned()), ..query };
    let has = |made: &&Made| made.texts().iter().any(|text| text.contains("Friday"));
    let found = count(text);
    assert_eq!(found.total as usize, both().filter(has).count());
    assert_eq!(
        found.source,
        tally(recent().filter(declined).filter(has).map(|made| made.source_name().to_owned()))
    );
}

#[test]
fn charts_are_what_a_plain_count_gives() {
    let (store, all) = (open(), all());
    let offset = -300;
    let query = HistoryQuery { kind: Some("tool_call".to_owned()), ..HistoryQuery::default() };
    let found = store.read(|reader| history::charts(reader, &query, offset)).unwrap();
    let calls = || all.iter().filter(|made| made.command.is_some());
    let day = |made: &Made| (made.at.as_millis() + i64::from(offset) * 60_000).div_euclid(DAY);
    let days: BTreeSet<_> = calls().map(day).collect();
    assert_eq!(found.days.iter().map(|day| day.number).collect::<BTreeSet<_>>(), days);
    let waited = |made: &Made| (made.at.as_millis() - made.received_at.as_millis()).unsigned_abs();
    let rank = |waits: &mut Vec<u64>, of: f64| {
        waits.sort_unstable();
        waits[(waits.len() as f64 * of).ceil() as usize - 1]
    };
    for one in &found.days {
        let of_day = || calls().filter(|made| day(made) == one.number);
        let with = |outcome: &str| of_day().filter(|made| made.outcome.as_str() == outcome).count() as u32;
        let counts = [one.approved, one.declined, one.cancelled, one.expired];
        assert_eq!(counts, ["approved", "declined", "cancelled", "expired"].map(with));
        let mut waits: Vec<_> = of_day().filter(|made| made.by == DecidedBy::Person).map(waited).collect();
        let found = one.waits.unwrap();
        assert_eq!((found.median_ms, found.p95_ms), (rank(&mut waits, 0.5), rank(&mut waits, 0.95)));
    }
    let sources = tally(calls().map(|made| made.source_name().to_owned()));
    assert_eq!(
        found.sources.iter().map(|one| (&one.source, one.count)).collect::<Vec<_>>(),
        sources.iter().map(|one| (&one.value, one.count)).collect::<Vec<_>>()
    );
    let most = |made: &mut dyn Iterator<Item = &Made>| {
        let mut counts = HashMap::<_, u32>::new();
        made.for_each(|made| *counts.entry((made.source, made.command.clone())).or_default() += 1);
        let mut counts: Vec<_> = counts.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts.truncate(10);
        counts
    };
    let counts = |asked: &[history::Asked]| asked.iter().map(|asked| asked.count).collect::<Vec<_>>();
    assert_eq!(counts(&found.most_asked), most(&mut calls()));
    assert_eq!(
        counts(&found.most_denied),
        most(&mut calls().filter(|made| made.outcome == Outcome::Declined))
    );
    assert_eq!(counts(&found.expired), most(&mut calls().filter(|made| made.outcome == Outcome::Expired)));
}

#[test]
fn the_terminal_reads_a_copy_and_leaves_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("from another machine.db");
    fs::copy(database(), &copy).unwrap();
    let before = fs::metadata(&copy).unwrap().modified().unwrap();
    let run = |words: &[&str]| {
        let elsewhere = folder.path().join("no data");
        let output = Command::new(sayso_bin())
            .args([
                "--data-dir",
                elsewhere.to_str().unwrap(),
                "--json",
                "history",
                "--db",
                copy.to_str().unwrap(),
            ])
            .args(words)
            .output()
            .unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let values: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (output.status.code().unwrap(), values)
    };
    let all = all();
    let wanted = all.iter().filter(|made| {
        made.texts().iter().any(|text| text.contains("--force")) && made.outcome == Outcome::Declined
    });
    let wanted: Vec<_> = wanted.take(3).collect();
    let (code, found) = run(&[
        "--text",
        "--force",
        "--outcome",
        "declined",
        "--risk",
        "high",
        "--tool",
        "shell",
        "--limit",
        "3",
    ]);
    assert_eq!(code, 0);
    assert_eq!(
        found.iter().map(|one| one["key"].as_str().unwrap().to_owned()).collect::<Vec<_>>(),
        keys_of(wanted.iter().copied())
    );
    assert_eq!(found[0]["request"]["prompt"], wanted[0].prompt.as_str());
    let key = wanted[0].key().to_string();
    let (code, shown) = run(&["show", &key]);
    assert_eq!((code, &shown[0]["risk"], &shown[0]["delivery"]), (0, &"high".into(), &"delivered".into()));
    assert_eq!(shown[0]["delivered_at"], wanted[0].at.to_string());
    assert_eq!(shown[0]["arguments"]["command"], wanted[0].command.clone().unwrap());
    assert_eq!(run(&["show", "0198c0de-0000-7000-8000-000000000000"]).0, 5);
    assert_eq!(run(&["--risk", "high", "show", &key]).0, 2);
    assert_eq!(run(&["verify"]).0, 0);
    assert_eq!(fs::metadata(&copy).unwrap().modified().unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
