//! Files and addresses that a command touches.

use std::ops::Range;

use super::super::note::RiskCode;
use super::super::place::Place;
use super::super::{RiskLevel, address, sensitive};
use super::judge::{Call, Does, Judge};
use super::word::expand;
use RiskLevel::{High, Low, Medium};

impl Judge<'_> {
    /// A file that something is read from.
    pub(super) fn read_file(&mut self, path: &str, part: &Range<usize>, does: &mut Does) {
        if sensitive::is_secret(path) {
            self.note(RiskCode::ReadsSecrets, Medium, "Reads a file that usually holds secrets.", part);
            does.secret = true;
        }
        if self.folders.place(path) >= Place::Outside {
            self.note(RiskCode::LeavesFolder, Low, "Reads outside the folder.", part);
        }
    }

    /// A file that is written or replaced.
    pub(super) fn write_file(&mut self, path: &str, part: &Range<usize>) {
        sensitive::note_written(path, &mut self.notes, Some(part.clone()));
        match self.folders.place(path) {
            Place::Nowhere | Place::Temporary => {}
            Place::Rebuilt | Place::Inside | Place::Unseen => {
                self.note(RiskCode::Overwrites, Low, "Writes files; what they held before is gone.", part);
            }
            Place::Whole => {
                self.note(RiskCode::Overwrites, Medium, "Writes over the folder or its history.", part)
            }
            Place::Outside => self.note(RiskCode::LeavesFolder, Medium, "Writes outside the folder.", part),
            Place::Vital => self.note(
                RiskCode::LeavesFolder,
                High,
                "Writes to the system's or a whole home's files.",
                part,
            ),
            Place::Disk => {
                self.note(RiskCode::ErasesDisk, High, "Writes straight to a disk or a device.", part)
            }
        }
    }

    /// The target of a redirection.
    pub(super) fn written(&mut self, text: &str, name: &Range<usize>) {
        let source = text.get(name.clone()).unwrap_or_default();
        let variables = std::mem::take(&mut self.variables);
        for picked in variables.combinations(source) {
            for word in expand(source, &picked) {
                if word.text.starts_with("/dev/tcp/") || word.text.starts_with("/dev/udp/") {
                    self.note(RiskCode::Sends, High, "Opens a bare connection to another machine.", name);
                    self.effects.does.uploads = true;
                } else if !word.text.bytes().all(|byte| byte.is_ascii_digit()) {
                    self.write_file(&word.text, name);
                }
            }
        }
        self.variables = variables;
    }

    /// Addresses and secrets' names among the words of any command.
    pub(super) fn look_at_words(&mut self, call: &Call<'_>, does: &mut Does) {
        for word in call.words {
            let text = word.text.trim_start_matches(['@', '<']);
            let value = text.split_once('=').map_or(text, |(_, value)| value);
            if text.contains("://") {
                address::judge(text, address::Purpose::InCommand, &mut self.notes, Some(call.part.clone()));
                continue;
            }
            let value = value.trim_start_matches('@');
            if is_path(value) || sensitive::is_secret(value) && !value.contains(char::is_whitespace) {
                self.read_file(value, &call.part, does);
            }
        }
    }
}

fn is_path(text: &str) -> bool {
    (text.starts_with('/') && text.len() > 1
        || text.starts_with("~/")
        || text.starts_with("../")
        || text == "..")
        && !text.contains(char::is_whitespace)
}
