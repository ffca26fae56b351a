//! From rows to what the faces show.

pub(crate) mod decision;
pub(crate) mod history;
pub(crate) mod request;
pub(crate) mod run;
pub(crate) mod sender;
pub(crate) mod summary;
pub(crate) mod trail;
