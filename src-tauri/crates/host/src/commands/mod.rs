//! What each command does. They translate between the faces and the parts below; they decide nothing.

pub(crate) mod agents;
pub(crate) mod backups;
pub(crate) mod callbacks;
pub(crate) mod decide;
pub(crate) mod decide_many;
pub(crate) mod history;
pub(crate) mod inbox;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod put_off;
pub(crate) mod record;
pub(crate) mod runs;
pub(crate) mod senders;
pub(crate) mod status;
pub(crate) mod storage;

use sayso_domain::{RequestKey, RunId};
use sayso_store::StoreError;

use crate::{RpcError, code};

pub(crate) fn storage(error: StoreError) -> RpcError {
    let code = match error {
        // Our own rules: nothing is wrong with the disk.
        StoreError::Refused(_) => code::BAD_REQUEST,
        StoreError::Full
        | StoreError::Locked
        | StoreError::Damaged
        | StoreError::ReadOnly
        | StoreError::Io(_)
        | StoreError::Conflict
        | StoreError::Panicked
        | StoreError::Closed
        | StoreError::Sql(_) => code::STORAGE,
    };
    RpcError::new(code, error.to_string())
}

pub(crate) fn request_key(text: &str) -> Result<RequestKey, RpcError> {
    text.parse().map_err(|_| no_request(text))
}

pub(crate) fn run_id(text: &str) -> Result<RunId, RpcError> {
    text.parse().map_err(|_| no_run(text))
}

pub(crate) fn no_request(key: impl std::fmt::Display) -> RpcError {
    RpcError::new(code::NOT_FOUND, format!("There is no request {key}. `sayso list` shows what waits."))
}

pub(crate) fn no_run(run: impl std::fmt::Display) -> RpcError {
    RpcError::new(code::NOT_FOUND, format!("There is no run {run}. `sayso runs` shows all of them."))
}

pub(crate) fn no_agent(name: &str) -> RpcError {
    RpcError::new(
        code::NOT_FOUND,
        format!("There is no agent called {name}. `sayso agent list` shows all of them."),
    )
}
