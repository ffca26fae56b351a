//! What the loop costs beside what it cannot do without, as ratios to a floor that is measured in turn with it, on the
//! same machine, disk and server. `make bench` prints the table.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark that fails has no result")]

mod burst;
#[path = "../support/decisions.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests, which look at more of it")]
mod decisions;
mod disk;
mod durable;
mod history;
mod inline;
mod load;
mod long;
mod memory;
mod model;
mod office;
mod table;

use table::Table;
use tokio::task::JoinSet;

/// Every measured thing runs as a task, as it would in an app: what the main thread waits for costs it a wake-up more.
#[tokio::main]
async fn main() {
    let wanted: Vec<_> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let mut tasks = JoinSet::new();
    if wanted.first().is_some_and(|word| word == memory::CHILD) {
        tasks.spawn(memory::child());
    } else {
        tasks.spawn(all(wanted));
    }
    tasks.join_all().await;
}

/// Measures what was asked for by name, or everything.
async fn all(wanted: Vec<String>) {
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let mut table = Table::begin();
    if is_wanted("inline") {
        inline::measure(&mut table).await;
    }
    if is_wanted("durable") {
        durable::measure(&mut table).await;
    }
    if is_wanted("burst") {
        burst::measure(&mut table).await;
    }
    if is_wanted("memory") {
        memory::measure(&mut table);
    }
    if is_wanted("long") {
        long::measure(&mut table).await;
    }
    if is_wanted("load") {
        load::measure(&mut table).await;
    }
    if is_wanted("history") {
        history::measure(&mut table).await;
    }
    table.end();
}
