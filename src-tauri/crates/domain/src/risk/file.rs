//! The file tools, whose effect is known from their arguments.

use serde_json::Value;

use super::RiskLevel::{High, Low, Medium};
use super::note::{Notes, RiskCode};
use super::place::{Folders, Place};
use super::sensitive;

/// Writing or editing a file. `hash` is the hash of the file that is there, or `absent`.
pub(super) fn judge_write(arguments: &Value, folder: Option<&str>, hash: Option<&str>, notes: &mut Notes) {
    let Some(path) = arguments.get("path").and_then(Value::as_str) else { return };
    if hash.is_some_and(|hash| hash != "absent") {
        notes.add(RiskCode::Overwrites, Low, "Changes a file that is there.", None);
    }
    note_place(path, folder, notes);
    sensitive::note_written(path, notes, None);
}

/// Reading or searching.
pub(super) fn judge_read(arguments: &Value, folder: Option<&str>, notes: &mut Notes) {
    let Some(path) = arguments.get("path").and_then(Value::as_str) else { return };
    if sensitive::is_secret(path) {
        notes.add(RiskCode::ReadsSecrets, Medium, "Reads a file that usually holds secrets.", None);
    }
    note_place(path, folder, notes);
}

fn note_place(path: &str, folder: Option<&str>, notes: &mut Notes) {
    match Folders::new(folder).place(path) {
        Place::Nowhere | Place::Rebuilt | Place::Temporary | Place::Inside | Place::Unseen => {}
        Place::Whole => notes.add(RiskCode::Overwrites, Medium, "Reaches into the folder's history.", None),
        Place::Outside => notes.add(RiskCode::LeavesFolder, Medium, "Reaches outside the folder.", None),
        Place::Vital | Place::Disk => {
            notes.add(RiskCode::LeavesFolder, High, "Reaches outside the folder.", None)
        }
    }
}
