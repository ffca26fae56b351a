use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Why a host cannot start. The message says what happened, what is safe and what to do.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another host has the folder.
    #[error("{0}")]
    InUse(String),
    /// The database cannot be used: newer, damaged, locked, on a full disk.
    #[error("{0}")]
    Storage(String),
    /// The folder or a file in it cannot be used.
    #[error("{0}")]
    Io(String),
}

impl OpenError {
    /// `in_use`, `storage` or `io`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::InUse(_) => "in_use",
            Self::Storage(_) => "storage",
            Self::Io(_) => "io",
        }
    }
}

/// What a face is told when a command fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[ts(export, export_to = "../../../../ui/src/bindings/")]
#[error("{message}")]
pub struct RpcError {
    /// One of [`code`]'s.
    pub code: String,
    /// What happened, what is safe and what to do.
    pub message: String,
}

/// The codes that a client branches on.
pub mod code {
    /// The parameters cannot be read.
    pub const BAD_REQUEST: &str = "bad_request";
    /// There is no such command.
    pub const UNKNOWN_COMMAND: &str = "unknown_command";
    /// The surface may not call this command.
    pub const FORBIDDEN_SURFACE: &str = "forbidden_surface";
    /// There is no such request, run or agent.
    pub const NOT_FOUND: &str = "not_found";
    /// Somebody was first.
    pub const ALREADY_DECIDED: &str = "already_decided";
    /// The decision is on its way, or its request's deadline has passed: it cannot be taken back.
    pub const TOO_LATE: &str = "too_late";
    /// The deadline has passed.
    pub const EXPIRED: &str = "expired";
    /// What was shown is not what is stored.
    pub const DIGEST_MISMATCH: &str = "digest_mismatch";
    /// The answer's data does not fit what was asked.
    pub const INVALID_DATA: &str = "invalid_data";
    /// The database cannot be read or written right now.
    pub const STORAGE: &str = "storage";
    /// The sender's set-up must be mended first.
    pub const SENDER_PROBLEM: &str = "sender_problem";
    /// The agent's set-up must be mended first.
    pub const AGENT_PROBLEM: &str = "agent_problem";
}

impl RpcError {
    /// An error with a code of [`code`].
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}
