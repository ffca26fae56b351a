//! What the store promises, on real files.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod copy;
mod history;
mod ledger;
mod open;
mod search;
mod senders;
mod tables;
mod tamper;
mod world;
mod writer;
