//! What Sayso keeps: one SQLite file, `sayso.db`, one module per table with its schema, its row and its queries, and the
//! [`ledger`] of decisions. It decides nothing: it keeps what it is told, and guards every transition in SQL, so that of
//! two that want to settle one request, one wins.
//!
//! Every write goes through one thread, which commits what waits in groups ([`Store::write`]); reads have connections of
//! their own ([`Store::read`]). What [`Store::write`] answered is on the disk: `synchronous` is `FULL`.

mod backup;
mod column;
mod compact;
mod conn;
mod copy;
mod error;
mod migrate;
mod new_file;
mod open;
mod progress;
mod readers;
mod restore;
mod store;
mod writer;

pub mod agents;
pub mod calls;
pub mod deliveries;
pub mod history;
pub mod ledger;
pub mod messages;
pub mod meta;
pub mod prune;
pub mod redact;
pub mod request_events;
pub mod requests;
pub mod runs;
pub mod senders;
pub mod settings;
pub mod settlements;
pub mod sources;
pub mod verdicts;
pub mod waiting;

#[cfg(test)]
mod tests;

pub use backup::check_backup;
pub use compact::StoreSize;
pub use conn::{Conn, Reader, Tx};
pub use copy::StoreCopy;
pub use error::{OpenError, StoreError};
pub use new_file::NewFile;
pub use progress::Progress;
pub use restore::{prepare as prepare_restore, restored, restored_is_seen_to};
pub use store::Store;
