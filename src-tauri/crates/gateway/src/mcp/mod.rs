//! Sayso as an MCP server: tools that ask a person and wait for the answer. No tool here can answer.
//!
//! There are two doors to the same [`tools::Tools`]. [`McpServer`] serves one client over a pair of streams, as `sayso mcp`
//! does over stdio, and asks a host through its API. [`http::HttpDoor`] serves `/mcp` within the host. It keeps no sessions:
//! every message shows its token and stands for itself, so that clients go on where a host was started again.

mod arguments;
mod asking;
mod call;
mod catalogue;
mod failed;
mod gone;
mod http;
mod outcome;
mod permission;
mod server;
mod tools;
mod waiters;
mod way;

pub(crate) use http::{HttpDoor, PATH, mcp};
pub use server::{McpError, McpServer};
