//! Joins domain, store, inbox and agent into one running thing, with the one list of commands for every face.

pub mod dto;
mod error;
mod host;

pub use error::{OpenError, RpcError, code};
pub use host::{Host, HostOptions};
pub use sayso_domain::Surface;

/// The data folder: the one given, else `$SAYSO_DATA_DIR`, else `$XDG_DATA_HOME/sayso` or the platform's own place.
pub fn data_dir(_explicit: Option<std::path::PathBuf>) -> std::path::PathBuf { Default::default() }
/// Decisions with no host running, from a copy of the database; the original is not touched. `database` is `sayso.db`.
pub fn read_history(_database: &std::path::Path, _filter: &dto::HistoryFilter) -> Result<dto::HistoryPage, OpenError> { Err(OpenError::Io(String::new())) }
/// Verifies the ledger with no host running.
pub fn verify_history(_database: &std::path::Path) -> Result<dto::Verification, OpenError> { Err(OpenError::Io(String::new())) }
