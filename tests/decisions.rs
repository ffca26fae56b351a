//! Fills a database with made-up decisions: `cargo run -p sayso-tests --bin decisions -- --count 1000000 FILE`.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for developers: what fails ends it")]

use std::path::PathBuf;
use std::time::Instant;

use sayso_store::Store;
use sayso_tests::decisions;

#[tokio::main]
async fn main() {
    let (mut count, mut seed, mut file) = (20_000, 1, None);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().and_then(|word| word.parse().ok());
        match word.as_str() {
            "--count" => count = number().expect("--count N"),
            "--seed" => seed = number().expect("--seed N"),
            _ => file = Some(PathBuf::from(word)),
        }
    }
    let file = file.expect("usage: decisions [--count N] [--seed N] FILE");
    assert!(!file.exists(), "{} is there already", file.display());
    let begun = Instant::now();
    let store = Store::open(&file).expect("a new database");
    decisions::write(&store, seed, 0, count).await.expect("decisions are written");
    store.close().await.expect("the database is closed");
    println!("{count} decisions of seed {seed} in {:.1} s", begun.elapsed().as_secs_f64());
}
