//! What Sayso decides, and nothing it does: [`Request`], [`Answer`] and [`ToolResult`], the request and run state
//! machines, per-tool policy, what a decision is bound to, and safe text. There is no IO, no async and no clock in
//! here: time and ids are arguments.

mod ambiguous;
mod answer;
mod choice;
mod digest;
mod edit;
mod elicitation;
mod hash;
mod id;
mod kind;
mod lookalike;
mod outcome;
mod policy;
mod question;
mod request;
mod request_url;
pub mod risk;
pub mod run;
mod schema;
mod secret_field;
mod settlement;
pub mod text;
mod time;
mod tool_result;
mod wire;

pub use ambiguous::{AmbiguousName, ambiguous_name};
pub use answer::Answer;
pub use choice::{Choice, Effect, check_choice};
pub use digest::{Digest, Shown};
pub use edit::{changed_arguments, check_edit};
pub use elicitation::ElicitAction;
pub use hash::sha256;
pub use id::{ParseIdError, RequestKey, RunId, SourceId};
pub use kind::Kind;
pub use outcome::{Cause, Class, Outcome};
pub use policy::Policy;
pub use question::question_prompt;
pub use request::Request;
pub use request_url::{RequestUrlError, check_request_url};
pub use schema::{Misfit, check_fits, check_schema};
pub use secret_field::{SecretField, find_secret_field};
pub use settlement::{Act, DecidedBy, Refused, RequestState, Settlement, Surface, settle};
pub use time::{ParseTimeError, Time};
pub use tool_result::ToolResult;
pub use wire::WireError;
