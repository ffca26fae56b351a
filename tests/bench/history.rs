use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use sayso_domain::{Answer, Kind, Request, RequestKey, Shown, SourceId, Surface};
use sayso_host::{Host, HostOptions};
use sayso_inbox::{Inbox, Verdict};
use sayso_store::requests::{NewRequest, Purpose};
use sayso_store::{Store, sources};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::table::{Aim, Table, median, ratio, shown, timed};
use crate::{decisions, disk};

const SEED: u64 = 11;
const WARM: usize = 5;
const SAMPLES: usize = 60;
const COMMITS: usize = 150;
const OPENINGS: usize = 7;

/// The columns of a page, from the tables that a decision is in.
const COLUMNS: &str = "r.key, r.kind, r.shown, r.received_at, s.outcome, s.answer, s.reason, s.edited_arguments, \
                       s.decided_by, s.surface, s.at, o.state";
const TABLES: &str = "JOIN requests AS r ON r.key = d.request JOIN settlements AS s ON s.request = d.request \
                      JOIN deliveries AS o ON o.request = d.request";

/// A history of many decisions: what a face waits for against bare SQL on the same file, and what a decision and a start
/// cost against those of an empty history.
pub(crate) async fn measure(table: &mut Table) {
    let count =
        std::env::var("SAYSO_BENCH_DECISIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
    let folder = disk::folder();
    let (many, empty) = (folder.path().join("many"), folder.path().join("empty"));
    for data in [&many, &empty] {
        std::fs::create_dir(data).unwrap();
    }
    let (took, ()) = timed(async {
        let store = Store::open(&many.join("sayso.db")).unwrap();
        decisions::write(&store, SEED, 0, count).await.unwrap();
        store.close().await.unwrap();
    })
    .await;
    Store::open(&empty.join("sayso.db")).unwrap().close().await.unwrap();
    let size = std::fs::metadata(many.join("sayso.db")).unwrap().len() / (1 << 20);
    table.note(format!(
        "History: {count} decisions, written in {:.0} s, are {size} MiB; a decision's and a start's floor is an empty history",
        took.as_secs_f64()
    ));
    reading(table, &many).await;
    deciding(table, &many, &empty).await;
    opening(table, &many, &empty).await;
}

async fn reading(table: &mut Table, data: &Path) {
    let host = Host::open(HostOptions { data_dir: data.to_owned() }).await.unwrap();
    let bare = Connection::open_with_flags(data.join("sayso.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let page = |from: &str| format!("SELECT {COLUMNS} FROM {from} LIMIT 100");
    let newest = "ORDER BY d.n DESC";
    for (what, filter, sql) in [
        ("the first screen", json!({}), page(&format!("decisions AS d {TABLES} {newest}"))),
        (
            "what was declined",
            json!({ "outcome": "declined" }),
            page(&format!("decisions AS d {TABLES} WHERE d.outcome = 'declined' {newest}")),
        ),
        (
            "high risk, by one agent, in the tray",
            json!({ "risk": "high", "source": "research", "surface": "tray" }),
            page(&format!(
                "decisions AS d INDEXED BY decisions_source {TABLES} \
                 WHERE d.source = 'research' AND d.surface = 'tray' AND d.risk = 'high' {newest}"
            )),
        ),
        (
            "a search for a word",
            json!({ "text": "juniper" }),
            page(&format!(
                "decision_words AS w JOIN decisions AS d ON d.n = w.rowid {TABLES} \
                 WHERE w.words MATCH '\"juniper\" *' ORDER BY w.rowid DESC"
            )),
        ),
        (
            "a search for an option and a word, declined",
            json!({ "text": "--force falcon", "outcome": "declined" }),
            page(&format!(
                "decision_words AS w JOIN decisions AS d ON d.n = w.rowid {TABLES} \
                 WHERE w.words MATCH '\"-- force\" * AND \"falcon\" *' AND d.outcome = 'declined' ORDER BY w.rowid DESC"
            )),
        ),
        (
            "a search for a Japanese word",
            json!({ "text": "見積もり" }),
            page(&format!(
                "decision_words AS w JOIN decisions AS d ON d.n = w.rowid {TABLES} \
                 WHERE w.words MATCH '\"見 積 も り\"' ORDER BY w.rowid DESC"
            )),
        ),
    ] {
        let (mut measured, mut floor) = (Vec::new(), Vec::new());
        for sample in 0..WARM + SAMPLES {
            let (time, found) = timed(host.call(Surface::Window, "history.list", filter.clone())).await;
            let started = Instant::now();
            let rows = read_all(&bare, &sql);
            let bare_time = started.elapsed();
            assert_eq!(found.unwrap()["items"].as_array().unwrap().len(), rows, "{what}");
            if sample >= WARM {
                measured.push(time);
                floor.push(bare_time);
            }
        }
        let (time, bare_time) = (median(&mut measured), median(&mut floor));
        let p95 = measured[measured.len() * 95 / 100];
        let times = format!("{} (95 %: {})", shown(time), shown(p95));
        table.row(
            &format!("history: {what}"),
            times,
            format!("{} in SQL", shown(bare_time)),
            ratio(time, bare_time),
            Aim::AtMost(1.5),
        );
    }
    for (what, command) in [("the counts", "history.counts"), ("the charts", "history.charts")] {
        let (time, found) = timed(host.call(Surface::Window, command, json!({}))).await;
        assert!(found.unwrap().is_object());
        table.note(format!("History: {what} of all decisions took {}", shown(time)));
    }
    host.shutdown().await;
}

/// Reads every column of every row; how many rows.
fn read_all(conn: &Connection, sql: &str) -> usize {
    let mut statement = conn.prepare_cached(sql).unwrap();
    let columns = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        for column in 0..columns {
            let _: rusqlite::types::Value = row.get(column).unwrap();
        }
        count += 1;
    }
    count
}

async fn deciding(table: &mut Table, many: &Path, empty: &Path) {
    let (many, empty) = (Desk::open(many).await, Desk::open(empty).await);
    let (mut measured, mut floor) = (Vec::new(), Vec::new());
    for sample in 0..WARM + COMMITS {
        let (time, bare) = (many.decide().await, empty.decide().await);
        if sample >= WARM {
            measured.push(time);
            floor.push(bare);
        }
    }
    many.store.close().await.unwrap();
    empty.store.close().await.unwrap();
    let (time, bare) = (median(&mut measured), median(&mut floor));
    table.row("history: a decision's commit", shown(time), shown(bare), ratio(time, bare), Aim::AtMost(1.2));
}

/// An inbox over a store.
struct Desk {
    store: Store,
    inbox: Inbox,
    source: SourceId,
}

impl Desk {
    async fn open(data: &Path) -> Self {
        let store = Store::open(&data.join("sayso.db")).unwrap();
        let inbox = Inbox::new(store.clone(), sayso_agent::system_time);
        let ensure = store.write(|tx| {
            let now = sayso_agent::system_time();
            sources::ensure(tx, "sender", "desk", now, SourceId::new(Uuid::now_v7()))
        });
        let source = ensure.await.unwrap();
        Self { store, inbox, source }
    }

    async fn decide(&self) -> Duration {
        let key = RequestKey::new(Uuid::now_v7());
        let prompt = "Refund 1,250.00 € to customer 20114 for order 88?";
        let mut wire = Request::new(key.to_string(), Kind::Approval, prompt);
        wire.data = Some(json!({ "tool": "shell", "arguments": { "command": "git push origin v2.4.0" } }));
        let new = NewRequest {
            key,
            source: self.source,
            run: None,
            slot: None,
            purpose: Purpose::Tool,
            shown: Shown::new(wire, "desk"),
            received_at: sayso_agent::system_time(),
        };
        self.inbox.ask(new).await.unwrap();
        let answer = Answer::ok(key.to_string());
        let verdict = Verdict { answer, digest: None, surface: Surface::Window, held_for: Duration::ZERO };
        let (time, decided) = timed(self.inbox.decide(key, verdict)).await;
        decided.unwrap();
        time
    }
}

async fn opening(table: &mut Table, many: &Path, empty: &Path) {
    let (mut measured, mut floor) = (Vec::new(), Vec::new());
    for sample in 0..=OPENINGS {
        let (time, bare) = (open_once(many).await, open_once(empty).await);
        if sample > 0 {
            measured.push(time);
            floor.push(bare);
        }
    }
    let (time, bare) = (median(&mut measured), median(&mut floor));
    table.row(
        "history: a start, to its first screen",
        shown(time),
        shown(bare),
        ratio(time, bare),
        Aim::AtMost(1.2),
    );
}

/// Opens the folder and asks for what the window shows first.
async fn open_once(data: &Path) -> Duration {
    let begun = Instant::now();
    let host = Host::open(HostOptions { data_dir: data.to_owned() }).await.unwrap();
    for command in ["status", "inbox.list"] {
        let _: Value = host.call(Surface::Window, command, json!({})).await.unwrap();
    }
    let time = begun.elapsed();
    host.shutdown().await;
    time
}
