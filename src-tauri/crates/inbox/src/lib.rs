//! Where requests wait for a person. [`Inbox::ask`] stores one and then announces it; [`Inbox::decide`] settles it, once,
//! whoever is first; [`Inbox::expire_due`] settles what nobody decided in time, never as a yes; [`Inbox::cancel`] what
//! became pointless. Each settlement is one commit with its verdict, its ledger entry and its delivery, which waits in
//! the outbox until it is acknowledged. [`Inbox::undo`] takes a person's decision back while its delivery is held;
//! [`Inbox::snooze`] puts a request off.

mod check;
mod error;
mod event;
mod inbox;
mod outbox;
mod settle;
mod snooze;
mod undo;

pub use error::{DecideError, Decided, InboxError, SnoozeError, UndoError};
pub use event::InboxEvent;
pub use inbox::Inbox;
pub use outbox::Delivery;
pub use settle::Verdict;
