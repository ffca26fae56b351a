//! The domain against the contract: tables for what it fixes, properties for what must hold for any input.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod answer;
mod digest;
mod elicitation;
mod hidden_ranges;
mod json;
mod policy;
mod question;
mod request;
mod request_url;
mod risk_properties;
mod risk_shell;
mod run_edits;
mod run_properties;
mod run_table;
mod script;
mod search;
mod secret_field;
mod settle;
mod text;
mod time;
mod tool_result;
mod world;
