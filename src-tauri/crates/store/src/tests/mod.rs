//! What the store promises, on real files.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod copy;
mod history;
mod ledger;
mod open;
mod senders;
mod tables;
mod tamper;
mod waiting;
mod world;
mod writer;
