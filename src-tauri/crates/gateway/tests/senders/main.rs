//! Senders over real HTTP at both doors: what they get, and what they never do.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod asking;
mod attacks;
mod choices;
mod edits;
mod events;
mod limits;
mod local;
mod mcp;
mod mcp_attacks;
mod mcp_client;
mod mcp_permission;
mod openapi;
mod rights;
mod stage;
mod webhooks;
