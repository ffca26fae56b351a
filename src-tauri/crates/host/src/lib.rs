//! Joins domain, store, inbox and agent into one running thing, with the one list of commands for every face: see
//! [`Host::call`] and [`dto`].

mod agent_config;
mod commands;
mod data_dir;
mod demo;
pub mod dto;
mod elicitation;
mod engine;
mod error;
mod host;
mod indexing;
mod journal;
mod live;
mod logs;
mod mcp;
mod offline;
mod outbox;
mod pause;
mod rpc;
mod runs;
mod secrets;
mod senders;
mod sweeper;
mod trust;
mod view;
mod webhooks;

pub use data_dir::data_dir;
pub use error::{OpenError, RpcError, code};
pub use host::{Host, HostOptions};
pub use logs::Logs;
pub use offline::HistoryCopy;
pub use sayso_domain::Surface;
pub use senders::{Asked, Asker, Held, Program, RequestEvent, RequestEvents, SenderError};
