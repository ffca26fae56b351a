//! The run state machine: `handle(event, now) -> Step`. Each tool call of the current turn has its own [`Slot`]; all of
//! them may wait at once and are answered in any order. The model is called again only when every call of the turn has
//! its result, so a transcript is always balanced.

mod event;
mod machine;
mod slot;
mod status;
mod step;

pub use event::{Event, Proposal, Verdict};
pub use machine::Run;
pub use slot::{Asked, CallState, RunMode, Slot, SlotId};
pub use status::{Limit, Status, Usage};
pub use step::{Effect, Message, Step};
