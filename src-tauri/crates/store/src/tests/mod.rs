//! What the store promises, on real files.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod copy;
mod history;
mod keeping;
mod ledger;
mod lines;
mod open;
mod redact;
mod senders;
mod tables;
mod tamper;
mod waiting;
mod world;
mod writer;
