use std::path::Path;

use sayso_store::{Store, ledger};

use crate::commands::history::{page, query};
use crate::dto::{HistoryFilter, HistoryPage, Verification};
use crate::view::history::verification;
use crate::{OpenError, RpcError, code};

/// Decisions with no host running. `database` is a `sayso.db`; what is read is a temporary copy of it, so nothing is
/// written beside it and it may be in use.
pub fn read_history(database: &Path, filter: &HistoryFilter) -> Result<HistoryPage, RpcError> {
    let query = query(filter)?;
    let copy = Store::open_copy(database).map_err(open)?;
    copy.read(|reader| page(reader, &query)).map_err(crate::commands::storage)
}

/// Verifies the ledger of a `sayso.db` with no host running.
pub fn verify_history(database: &Path) -> Result<Verification, RpcError> {
    let copy = Store::open_copy(database).map_err(open)?;
    copy.read(|reader| ledger::verify(reader)).map(verification).map_err(crate::commands::storage)
}

fn open(error: sayso_store::OpenError) -> RpcError {
    RpcError::new(code::STORAGE, OpenError::Storage(error.to_string()).to_string())
}
