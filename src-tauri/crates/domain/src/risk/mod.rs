//! Notes on the risk of a request, in words: what it deletes, sends, publishes, where it leads, what it hides. They are
//! worked out from the request's text alone, on this machine, and are a help for reading: no sandbox, and no promise that
//! what has no note is harmless. They never replace or hide the text itself.
//!
//! A level is high where a mistake cannot be taken back or where reading is not enough to know what happens: deleting
//! whole folders (but for those that can be built again, inside the folder), or anything outside it; disks; secrets that
//! leave; a download that is run; another user; encodings and wrappers that hide; publishing under a name that is never
//! free again; what starts by itself later; and what is too long or too deep to be judged. It is medium where something
//! changes or leaves that others see or that is gone, and low for the rest.

mod address;
mod file;
mod named;
mod note;
mod place;
mod sensitive;
mod shell;

pub use note::{Risk, RiskCode, RiskLevel, RiskNote};

use note::Notes;
use serde_json::Value;

use crate::{Kind, Shown};

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct Action<'a> {
    /// What is asked.
    pub kind: &'a Kind,
    /// The tool that would run.
    pub tool: Option<&'a str>,
    /// Its arguments.
    pub arguments: Option<&'a Value>,
    /// The folder in which it would run, as an absolute path.
    pub folder: Option<&'a str>,
    /// The page to go to.
    pub url: Option<&'a str>,
    /// For a file edit: the hash of the file that is there, or `absent`.
    pub file_hash: Option<&'a str>,
}

/// Names of arguments that hold a text for a shell.
const COMMANDS: [&str; 5] = ["command", "cmd", "shell_command", "script", "bash"];

/// Judges an action. Works on any text in bounded time and depth; what it cannot read whole it says so.
pub fn judge(action: &Action<'_>) -> Risk {
    let mut notes = Notes::default();
    if let Some(url) = action.url {
        address::judge(url, address::Purpose::SignIn, &mut notes, None);
    }
    let nothing = Value::Null;
    let arguments = action.arguments.unwrap_or(&nothing);
    // What is asked of a person is no action, and a name in a sender's data is no promise of what the tool does.
    let is_action = action.tool.is_some() || !action.kind.collects_data();
    match action.tool {
        Some("write_file" | "edit_file") => {
            file::judge_write(arguments, action.folder, action.file_hash, &mut notes)
        }
        Some("read_file" | "list_files" | "search_files") => {
            file::judge_read(arguments, action.folder, &mut notes)
        }
        Some("web_fetch") => {
            if let Some(url) = arguments.get("url").and_then(Value::as_str) {
                address::judge(url, address::Purpose::Fetched, &mut notes, None);
            }
        }
        Some("shell" | "question") => {}
        Some(tool) => named::judge(tool, arguments, &mut notes),
        None if is_action => named::judge("", arguments, &mut notes),
        None => {}
    }
    if is_action {
        judge_command(arguments, action.folder, &mut notes);
        note_unread(action.tool, arguments, &mut notes);
    }
    notes.into_risk()
}

/// Judges a request as it is shown: by its tool and arguments, or by those that its sender put in its data.
pub fn of_shown(shown: &Shown) -> Risk {
    let request = &shown.request;
    let parsed =
        shown.arguments.as_deref().map(|text| serde_json::from_str(text).unwrap_or_else(|_| text.into()));
    let data = request.data.as_ref();
    let in_data = |name| data.and_then(|data| data.get(name));
    let tool = shown.tool.as_deref().or_else(|| in_data("tool").and_then(Value::as_str));
    let arguments = parsed.as_ref().or_else(|| in_data("arguments")).or(data);
    let action = Action {
        kind: &request.kind,
        tool,
        arguments,
        folder: shown.folder.as_deref(),
        url: request.url.as_deref(),
        file_hash: shown.file_hash.as_deref(),
    };
    let found = judge(&action);
    // What a sender says beside its arguments may be what it does.
    match data.filter(|_| shown.tool.is_none() && in_data("arguments").is_some()) {
        Some(data) => found.with(judge(&Action { tool: None, arguments: Some(data), url: None, ..action })),
        None => found,
    }
}

fn judge_command(arguments: &Value, folder: Option<&str>, notes: &mut Notes) {
    match arguments {
        Value::Object(_) => COMMANDS
            .iter()
            .filter_map(|name| arguments.get(name))
            .for_each(|command| judge_text(command, folder, notes)),
        // Bare words, with no name that says what they are.
        Value::String(_) | Value::Array(_) => judge_text(arguments, folder, notes),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn judge_text(command: &Value, folder: Option<&str>, notes: &mut Notes) {
    match command {
        Value::String(text) => shell::judge(text, folder, notes),
        // Words that no shell splits again.
        Value::Array(words) => {
            let quote = |word: &str| match is_plain(word) {
                true => word.to_owned(),
                false => format!("'{}'", word.replace('\'', r"'\''")),
            };
            let quoted: Vec<_> = words.iter().filter_map(Value::as_str).map(quote).collect();
            shell::judge(&quoted.join(" "), folder, notes);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {}
    }
}

/// What is to run and could not be read is never low.
fn note_unread(tool: Option<&str>, arguments: &Value, notes: &mut Notes) {
    let is_command = |value: &Value| value.is_string() || value.is_array();
    let is_read = match arguments {
        Value::Object(_) if tool == Some("shell") => {
            COMMANDS.iter().filter_map(|name| arguments.get(name)).any(is_command)
        }
        Value::Object(fields) => COMMANDS
            .iter()
            .filter_map(|name| fields.get(*name))
            .all(|command| is_command(command) || command.is_null()),
        Value::Null => tool != Some("shell"),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    };
    if !is_read {
        notes.add(
            RiskCode::NotFullyRead,
            RiskLevel::Medium,
            "The arguments could not be read as those of a call.",
            None,
        );
    }
}

fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:@%+,".contains(&byte))
}
