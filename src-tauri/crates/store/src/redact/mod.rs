//! Redaction: a text that should not have been recorded is erased wherever it is, and the record still verifies. In rows
//! that people see a mark stands in its place; in the ledger content and salt are erased and the digest stays. What was
//! erased is named in `redaction` entries. Nothing is touched that still waits, is on its way, or belongs to a run that
//! has not ended.

mod elsewhere;
mod erase;
mod places;
mod secret;

pub use elsewhere::is_in_file;
pub use erase::{Erasure, Tally, erase, tally};
pub use places::{Found, find};
pub use secret::{MARK, Secret};
