//! What the inbox promises, on real files and with a clock that the test moves.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod asking;
mod deadlines;
mod deciding;
mod delivering;
mod editing;
mod racing;
mod snoozing;
mod undoing;
mod world;
