//! What the end-to-end tests stand on: real buses, displays, browsers, model servers and the built binaries.
//!
//! Nothing here imitates a type of ours. Each thing is started for one test, owned by it, and ended by its
//! own process id when the test is over. Everything here panics on failure, saying what was awaited.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a support function that fails has failed the test"
)]

pub mod asking;
pub mod bus;
pub mod decide;
pub mod decisions;
pub mod desktop;
pub mod display;
pub mod gate;
pub mod mcp_server;
pub mod model;
pub mod notifications;
pub mod process;
pub mod random;
pub mod rpc;
pub mod sayso;
pub mod screen_saver;
pub mod small_disk;
#[path = "../../src-tauri/crates/agent/tests/support/sse.rs"]
#[allow(unreachable_pub, reason = "shared with the tests of the agent")]
mod sse;
pub mod stage;
pub mod transcript;
pub mod tray;
pub mod wait;
pub mod webdriver;
pub mod window_stage;

pub use wait::{wait_until, wait_value};
