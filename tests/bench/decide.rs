//! How fast a request is asked and decided, durably: every commit is on disk before the next line runs.
//! `make bench` prints a table.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that fails has no result")]

use sayso_domain::{Answer, Kind, Request, RequestKey, Shown, SourceId, Surface, Time};
use sayso_inbox::{Inbox, Verdict};
use sayso_store::Store;
use sayso_store::requests::{NewRequest, Purpose};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;
use uuid::Uuid;

const ALONE: usize = 300;
const TOGETHER: usize = 50;
const ROUNDS: usize = 20;

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("sayso.db")).unwrap();
    let inbox = Inbox::new(store.clone(), now);
    let source = store
        .write(|tx| sayso_store::sources::ensure(tx, "sender", "bench", now(), SourceId::new(Uuid::now_v7())))
        .await
        .unwrap();

    let (mut asking, mut deciding) = (Vec::new(), Vec::new());
    for _ in 0..ALONE {
        let new = request(source);
        let (key, id) = (new.key, new.shown.request.id.clone());
        asking.push(timed(inbox.ask(new)).await);
        deciding.push(timed(inbox.decide(key, approve(&id))).await);
    }
    println!("| one after another | median | 95 % within | a second |\n|---|---|---|---|");
    row("ask", &mut asking);
    row("decide", &mut deciding);

    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let mut tasks = JoinSet::new();
        let started = Instant::now();
        for _ in 0..TOGETHER {
            let (inbox, new) = (inbox.clone(), request(source));
            tasks.spawn(async move {
                let (key, id) = (new.key, new.shown.request.id.clone());
                inbox.ask(new).await.unwrap();
                inbox.decide(key, approve(&id)).await.unwrap();
            });
        }
        tasks.join_all().await;
        rounds.push(started.elapsed() / u32::try_from(TOGETHER).unwrap());
    }
    println!(
        "\n| {TOGETHER} at once, a request's share | median | 95 % within | a second |\n|---|---|---|---|"
    );
    row("ask and decide", &mut rounds);
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Time::from_millis(i64::try_from(since.as_millis()).unwrap())
}

fn request(source: SourceId) -> NewRequest {
    let key = RequestKey::new(Uuid::now_v7());
    let mut wire = Request::new(key.to_string(), Kind::Approval, "Push release tag to origin?");
    wire.data =
        Some(serde_json::json!({ "tool": "shell", "arguments": { "command": "git push origin v2.4.0" } }));
    NewRequest {
        key,
        source,
        run: None,
        slot: None,
        purpose: Purpose::Tool,
        shown: Shown::new(wire, "bench"),
        received_at: now(),
    }
}

fn approve(id: &str) -> Verdict {
    Verdict { answer: Answer::ok(id), digest: None, surface: Surface::Cli, held_for: Duration::ZERO }
}

async fn timed<T, E: std::fmt::Debug>(work: impl Future<Output = Result<T, E>>) -> Duration {
    let started = Instant::now();
    work.await.unwrap();
    started.elapsed()
}

fn row(name: &str, times: &mut [Duration]) {
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let mean = times.iter().sum::<Duration>().as_secs_f64() / times.len() as f64;
    let milliseconds = |time: Duration| format!("{:.2} ms", time.as_secs_f64() * 1e3);
    println!("| {name} | {} | {} | {:.0} |", milliseconds(at(0.5)), milliseconds(at(0.95)), 1.0 / mean);
}
