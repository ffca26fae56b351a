//! Variables that change what other programs do.

use std::ops::Range;

use super::super::super::RiskLevel::{High, Medium};
use super::super::super::note::RiskCode::HidesWhatItDoes;
use super::super::judge::{Call, Does, Judge};

/// A variable is set, for one command or for all that follow.
pub(in crate::risk::shell) fn judge(judge: &mut Judge<'_>, name: &str, value: &str, part: &Range<usize>) {
    match name {
        "LD_PRELOAD"
        | "LD_AUDIT"
        | "DYLD_INSERT_LIBRARIES"
        | "BASH_ENV"
        | "ENV"
        | "PROMPT_COMMAND"
        | "PS4"
        | "PERL5OPT"
        | "RUBYOPT"
        | "PYTHONSTARTUP"
        | "JAVA_TOOL_OPTIONS"
        | "GIT_EXEC_PATH"
        | "GIT_TEMPLATE_DIR"
        | "GCONV_PATH"
            if !value.is_empty() && (name != "ENV" || !value.chars().all(|c| c.is_ascii_alphanumeric())) =>
        {
            judge.note(
                HidesWhatItDoes,
                High,
                "Sets a variable that makes other programs run something else.",
                part,
            );
        }
        "LD_LIBRARY_PATH" | "PYTHONPATH" | "PERL5LIB" | "NODE_PATH" | "NODE_OPTIONS"
            if value.contains("/tmp") || value.contains("--require") || value.contains("--import") =>
        {
            judge.note(
                HidesWhatItDoes,
                Medium,
                "Sets a variable that makes other programs run something else.",
                part,
            );
        }
        "PATH" if value.starts_with("/tmp") || value.starts_with("/dev/shm") => {
            judge.note(
                HidesWhatItDoes,
                Medium,
                "Sets a variable that makes other programs run something else.",
                part,
            );
        }
        "GIT_SSH_COMMAND"
        | "GIT_SSH"
        | "GIT_EXTERNAL_DIFF"
        | "GIT_PAGER"
        | "GIT_EDITOR"
        | "GIT_SEQUENCE_EDITOR"
        | "GIT_ASKPASS"
        | "SSH_ASKPASS"
        | "PAGER"
        | "EDITOR"
        | "VISUAL"
        | "MANPAGER"
        | "BROWSER"
        | "SUDO_ASKPASS"
        | "LESSOPEN" => {
            let plain =
                value.is_empty() || value.split_whitespace().count() == 1 || value.starts_with("ssh ");
            if !plain || name == "LESSOPEN" {
                judge.note(
                    HidesWhatItDoes,
                    Medium,
                    "Sets a variable that makes other programs run something else.",
                    part,
                );
            }
            judge.inner(value.trim_start_matches('|'), part);
        }
        _ => {}
    }
}

/// `export NAME=value` and the like.
pub(super) fn judge_command(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    match call.program {
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            for word in call.words {
                if let Some((name, value)) = word.text.split_once('=') {
                    self::judge(judge, name, value, &call.part);
                }
            }
            let shows =
                call.words.is_empty() || call.words.iter().all(|word| word.text == "-p" || word.text == "-x");
            does.secret |= shows && matches!(call.program, "export" | "declare" | "typeset");
        }
        _ => return false,
    }
    true
}
