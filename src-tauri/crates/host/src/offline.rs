use std::path::Path;

use sayso_store::{Store, StoreCopy, ledger};

use crate::commands::history::{Asked, detail, page};
use crate::commands::{no_request, request_key, storage};
use crate::dto::{HistoryDetail, HistoryFilter, HistoryPage, Verification};
use crate::view::history::verification;
use crate::{OpenError, RpcError, code};

/// Decisions with no host running: what a database held when this was opened. What is read is a temporary copy of it, so
/// nothing is written beside it, and it may be in use, read-only, or of an older version.
pub struct HistoryCopy(StoreCopy);

impl HistoryCopy {
    /// Of a `sayso.db`, or of a copy of one.
    pub fn open(database: &Path) -> Result<Self, RpcError> {
        let failed = |error: sayso_store::OpenError| {
            RpcError::new(code::STORAGE, OpenError::Storage(error.to_string()).to_string())
        };
        Store::open_copy(database).map(Self).map_err(failed)
    }

    /// A page of decisions, as `history.list` gives it.
    pub fn page(&self, filter: &HistoryFilter) -> Result<HistoryPage, RpcError> {
        let asked = Asked::of(filter)?;
        self.0.read(|reader| page(reader, &asked)).map_err(storage)
    }

    /// A decision, as `history.show` gives it.
    pub fn show(&self, key: &str) -> Result<HistoryDetail, RpcError> {
        let found = request_key(key)?;
        self.0.read(|reader| detail(reader, found)).map_err(storage)?.ok_or_else(|| no_request(key))
    }

    /// Verifies the ledger.
    pub fn verify(&self) -> Result<Verification, RpcError> {
        self.0.read(|reader| ledger::verify(reader)).map(verification).map_err(storage)
    }
}
