//! Joins domain, store, inbox and agent into one running thing, with the one list of UI commands.
