//! Whole runs through a real host: what a model writes is seen while it writes, several calls wait at once and are answered
//! in any order and across `kill -9`, hostile callers get nothing run, and long conversations stay within their limits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod hostile;
mod long;
mod several;
mod streaming;
