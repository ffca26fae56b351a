use std::process::Command;
use std::time::Duration;

use crate::model::{self, Model};
use crate::office::Office;
use crate::table::{Aim, Table};

/// How this process calls itself, so that nothing but the runs is in the numbers.
pub(crate) const CHILD: &str = "memory-child";

const RUNS: u32 = 1000;
/// Before the first look, so that connections, threads and caches are there.
const WARM: u32 = 200;
const AIM: f64 = 5.0;

/// What a thousand runs hold that wait for a person.
pub(crate) fn measure(table: &mut Table) {
    let child = Command::new(std::env::current_exe().unwrap()).arg(CHILD).output().unwrap();
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
    let told = String::from_utf8(child.stdout).unwrap();
    let numbers: Vec<f64> = told.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [before, after] = numbers[..] else { panic!("two numbers, not {told}") };
    let grown = (after - before).max(0.0);
    let what = format!("memory that {RUNS} suspended runs add / {AIM} MB");
    table.row(&what, format!("{grown:.2} MB"), format!("{AIM} MB"), grown / AIM, Aim::AtMost(1.0));
    table.note(format!(
        "The host's private memory, as the system counts it, with {WARM} suspended runs: {before:.1} MB; with {} of them: \
         {after:.1} MB.",
        WARM + RUNS
    ));
}

/// Prints the private megabytes before and after.
pub(crate) async fn child() {
    let model = Model::start(|_, _| model::calls("call_1", "list_files", "{}")).await;
    let office = Office::open(&model.base_url, "ask", 10).await;
    suspend(&office, WARM).await;
    let before = private_megabytes();
    suspend(&office, RUNS).await;
    println!("{before} {}", private_megabytes());
    office.host.shutdown().await;
}

/// Starts runs, a few at a time, and waits until all wait for a person.
async fn suspend(office: &Office, runs: u32) {
    let already = office.waiting();
    for run in 1..=runs {
        office.start().await;
        while run % 8 == 0 && office.waiting() < already + run {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
    while office.waiting() < already + runs {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // Their drivers have let go of them.
    tokio::time::sleep(Duration::from_millis(500)).await;
}

fn private_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    let kilobytes: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes / 1000.0
}
