//! Processes that tools start: what they get to see, and how they end.

mod command;
mod end;
mod hide;
mod server;

pub use command::reaches_tools;
pub(crate) use command::{Command, Ended};
pub use end::kill_marked;
pub use hide::hide_memory;
pub(crate) use server::{ServerCommand, ServerProcess, ServerStreams};

/// The variable that marks every process of a call. Children inherit it, so that those that left their process group are
/// found too.
const MARK: &str = "SAYSO_CALL";
