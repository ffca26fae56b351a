//! The agent loop as a library: models over HTTP and the tools they may call.

mod arguments;
mod client;
mod cut;
mod engine;
mod folder;
mod journal;
mod model;
mod native_tool;
mod process;
mod tool;
mod toolkit;
mod tools;

pub use arguments::Arguments;
pub use client::{Client, RunResult, ToolCallRecord, WaitError};
pub use engine::{Clock, Engine, Incoming, system_time};
pub use folder::{Folder, FolderError};
pub use journal::{Journal, JournalError, MemoryJournal};
pub use model::{
    CallResult, Endpoint, Entry, Model, ModelCall, ModelError, ModelOptions, Reply, Retry, Said, Style, Wait,
    message_text,
};
pub use native_tool::NativeTool;
pub use process::kill_marked;
pub use tool::{Draft, Ran, Tool, ToolContext, ToolSpec};
pub use toolkit::{Limits, ToolSetup, Toolkit};
