//! The loop against a scripted model over real HTTP, in both styles.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod contract;
#[path = "contract.rs"]
#[expect(clippy::duplicate_mod, reason = "once more, with answers that come in pieces")]
mod contract_streamed;
mod edits;
mod engine;
mod events;
mod files;
mod hooks;
mod hostile;
mod limits;
mod mcp;
mod mcp_http;
#[path = "../../../../../tests/support/mcp_server.rs"]
#[allow(unreachable_pub, reason = "shared with the end-to-end tests")]
mod mcp_server;
mod models;
mod resume;
mod shell;
mod streams;
mod typed;
