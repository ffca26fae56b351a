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
mod export;
mod host;
mod jobs;
mod journal;
mod keeping;
mod listed;
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
mod settings;
mod signing;
mod sweeper;
mod trust;
mod view;
mod webhooks;

pub use data_dir::data_dir;
pub use error::{OpenError, RpcError, code};
pub use host::{Host, HostOptions};
pub use logs::Logs;
pub use offline::{
    FileProof, Offline, back_up_file, export_history, import_history, list_backups, read_history,
    restore_file, verify_export, verify_history,
};
pub use sayso_domain::Surface;
pub use sayso_store::{NewFile, StoreError as FileError};
pub use senders::{Asked, Asker, Held, Program, RequestEvent, RequestEvents, SenderError};
