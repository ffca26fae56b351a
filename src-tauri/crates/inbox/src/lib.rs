//! Where requests wait for a person. [`Inbox::ask`] stores one and then announces it; [`Inbox::decide`] settles it, once,
//! whoever is first; [`Inbox::expire_due`] settles what nobody decided in time, never as a yes; [`Inbox::cancel`] what
//! became pointless. Each settlement is one commit with its verdict, its ledger entry and its delivery, which waits in
//! the outbox until it is acknowledged.

mod check;
mod error;
mod event;
mod inbox;
mod outbox;
mod settle;

pub use error::{DecideError, Decided, InboxError};
pub use event::InboxEvent;
pub use inbox::Inbox;
pub use outbox::Delivery;
pub use settle::Verdict;
