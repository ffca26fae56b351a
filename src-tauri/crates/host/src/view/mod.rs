//! From rows to what the faces show.

pub(crate) mod agent;
pub(crate) mod charts;
pub(crate) mod decision;
pub(crate) mod edits;
pub(crate) mod history;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod sender;
pub(crate) mod summary;
pub(crate) mod trail;
