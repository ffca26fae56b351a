//! What programs do with the words that they get.

mod cloud;
mod code;
mod container;
mod delete;
pub(super) mod environment;
mod files;
mod find;
mod git;
mod network;
mod shells;
pub(super) mod system;

use super::UNSEEN;
use super::judge::{Call, Does, Judge};
use super::word::Word;

/// The name of a program, without the folders before it.
pub(super) fn name_of(word: &Word) -> String {
    let text = word.text.trim_end_matches('/');
    let name = text.rsplit('/').next().unwrap_or(text);
    name.strip_suffix(".exe").unwrap_or(name).to_owned()
}

/// Judges a program that runs no other.
pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    // What a program is told to delete, change or look at is no reading: `rm key.pem` shows no key.
    let reads = !matches!(
        call.program,
        "rm" | "rmdir"
            | "unlink"
            | "mv"
            | "chmod"
            | "chown"
            | "chgrp"
            | "touch"
            | "mkdir"
            | "ls"
            | "stat"
            | "cd"
            | "test"
            | "["
            | "echo"
            | "printf"
            | "alias"
            | "export"
            | "declare"
            | "find"
            | "du"
            | "df"
            | "which"
            | "type"
            | "pushd"
            | "tee"
            | "truncate"
            | "shred"
            | "dd"
            | "dirname"
            | "basename"
            | "realpath"
            | "readlink"
            | "file"
            | "ln"
    );
    if reads && !call.program.contains(UNSEEN) {
        judge.look_at_words(call, does);
    }
    let judges = [
        delete::judge,
        files::judge,
        find::judge,
        shells::judge,
        code::judge,
        git::judge,
        network::judge,
        container::judge,
        cloud::judge,
        system::judge,
        environment::judge_command,
    ];
    for one in judges {
        if one(judge, call, does) {
            return;
        }
    }
    shells::judge_unknown(judge, call);
}
