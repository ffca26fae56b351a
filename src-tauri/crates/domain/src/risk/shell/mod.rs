//! Shell text, part by part.

mod brackets;
mod flags;
mod flow;
mod judge;
mod program;
mod said;
mod script;
mod split;
mod touched;
mod variables;
mod word;
mod wrapper;

use super::note::Notes;
use super::place::{Folders, UNSEEN};

/// Judges a command for a shell that starts in the folder.
pub(super) fn judge(text: &str, folder: Option<&str>, notes: &mut Notes) {
    let mut left = judge::COMMANDS;
    let mut judge = judge::Judge::new(Folders::new(folder), &mut left);
    judge.text(text);
    notes.take_own(judge.into_notes());
}
