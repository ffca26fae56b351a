use super::super::super::RiskLevel::{High, Low, Medium};
use super::super::super::note::RiskCode::{HidesWhatItDoes, LeavesFolder, NotFullyRead, Pushes};
use super::super::super::place::Place;
use super::super::UNSEEN;
use super::super::judge::{Call, Does, Judge};
use super::super::word::join;

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    match call.program {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "mksh" | "ash" | "fish" | "rbash" | "tcsh" | "csh"
        | "xonsh" | "elvish" | "pwsh" | "powershell" => shell(judge, call, does),
        "eval" => {
            let text = join(call.words);
            if text.trim().is_empty() {
                return true;
            }
            let text_unseen = text.contains(UNSEEN);
            let why = if text_unseen {
                "Runs a text that is made up only when it runs."
            } else {
                "Runs a text as a command."
            };
            judge.note(HidesWhatItDoes, Medium, why, &call.part);
            does.add(&judge.inner(&text, &call.part));
            does.runs_unseen |= text_unseen;
        }
        "source" | "." => {
            if let Some(file) = call.words.first() {
                runs_file(judge, call, &file.text, does);
            }
        }
        "trap" => {
            if let Some(text) = call.words.first().filter(|word| !word.text.starts_with('-')) {
                does.add(&judge.inner(&text.text, &call.part));
            }
        }
        "alias" => {
            for word in call.words {
                if let Some((_, value)) = word.text.split_once('=') {
                    judge.inner(value, &call.part);
                }
            }
        }
        _ => return false,
    }
    true
}

fn shell(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    let (mut command, mut reads) = (false, false);
    let mut at = 0;
    while let Some(word) = call.words.get(at) {
        let text = word.text.as_str();
        at += 1;
        match text {
            "--" => break,
            "--rcfile" | "--init-file" => {
                if let Some(file) = call.words.get(at) {
                    runs_file(judge, call, &file.text, does);
                }
                at += 1;
            }
            "-" => reads = true,
            "--command" | "-Command" | "-EncodedCommand" | "-enc" | "-ec" | "-e"
                if call.program.contains("sh") && text.len() > 2 =>
            {
                command = true;
                if text.to_lowercase().starts_with("-enc") || text == "-ec" && call.program.starts_with('p') {
                    judge.note(HidesWhatItDoes, High, "Decodes a text and runs it.", &call.part);
                }
            }
            _ if text.starts_with("--") => {}
            _ if text.starts_with(['-', '+']) => {
                command |= text.starts_with('-') && text.contains('c');
                reads |= text.starts_with('-') && text.contains('s');
                if text.contains(['o', 'O']) {
                    at += 1;
                }
            }
            _ => {
                at -= 1;
                break;
            }
        }
    }
    let rest = call.words.get(at..).unwrap_or_default();
    match rest.first() {
        Some(text) if command => {
            if text.coded {
                judge.note(HidesWhatItDoes, High, "Writes letters as numbers and runs them.", &call.part);
            }
            does.add(&judge.inner(&text.text, &call.part));
            does.runs_unseen |= text.text.contains(UNSEEN) && starts_unseen(&text.text);
            // `sh -c 'cat | sh'` and `sh -c '"$@"' x rm`
            if text.text.contains("$@") || text.text.contains("$0") || text.text.contains("$1") {
                let skipped = usize::from(!text.text.contains("$0"));
                let inner = rest.get(1 + skipped..).unwrap_or_default();
                does.add(&judge.words(inner, &call.part, &[]));
            }
        }
        Some(file) if !reads => runs_file(judge, call, &file.text, does),
        Some(_) | None => {
            does.runs_input = true;
            for text in call.input {
                does.add(&judge.inner(text, &call.part));
                does.runs_unseen |= text.contains(UNSEEN) && starts_unseen(text);
            }
        }
    }
}

/// Whether the unseen stands where a program's name is.
fn starts_unseen(text: &str) -> bool {
    text.trim_start().starts_with(UNSEEN)
}

/// A file is run.
pub(super) fn runs_file(judge: &mut Judge<'_>, call: &Call<'_>, path: &str, does: &mut Does) {
    if path.starts_with(UNSEEN) || matches!(path, "/dev/stdin" | "/proc/self/fd/0" | "/dev/fd/0" | "-") {
        does.runs_unseen = true;
        does.runs_input = true;
        judge.note(HidesWhatItDoes, Medium, "Runs a text that is made up only when it runs.", &call.part);
        return;
    }
    ran(judge, path);
    judge.read_file(path, &call.part, does);
}

fn ran(judge: &mut Judge<'_>, path: &str) {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    judge.effects.ran.push(name.to_owned());
}

/// A program that we know nothing of.
pub(super) fn judge_unknown(judge: &mut Judge<'_>, call: &Call<'_>) {
    ran(judge, call.program);
    if call.program.contains(UNSEEN) {
        return;
    }
    let words: Vec<_> = call.program.split(['-', '_', '.', ':']).collect();
    if words.iter().any(|word| matches!(*word, "deploy" | "publish" | "release")) {
        judge.note(Pushes, Medium, "By its name, it publishes or deploys something.", &call.part);
    }
    if call.program.ends_with('}') || call.program.contains(['{', '"', '\'']) {
        judge.note(
            NotFullyRead,
            Medium,
            "Parts of it could not be read as a command: what they do is a guess.",
            &call.part,
        );
    }
    let grave = call
        .words
        .iter()
        .filter(|word| judge.folders.place(&word.text) >= Place::Outside && word.text.contains('/'));
    if grave.count() > 0 && !call.words.iter().any(|word| word.text.contains("://")) {
        judge.note(LeavesFolder, Low, "Names something outside the folder.", &call.part);
    }
}
