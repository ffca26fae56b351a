use super::super::super::RiskLevel::{High, Low, Medium};
use super::super::super::note::RiskCode::{
    ChangesSystem, Deletes, HidesWhatItDoes, LeavesFolder, NotFullyRead, Overwrites, Persists, Pushes,
    ReadsSecrets,
};
use super::super::super::place::Place;
use super::super::super::{address, sensitive};
use super::super::flags::Flags;
use super::super::judge::{Call, Does, Judge};
use super::super::word::{Word, join};

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    if call.program != "git" {
        return false;
    }
    let mut at = 0;
    while let Some(word) = call.words.get(at).filter(|word| word.text.starts_with('-')) {
        let value = call.words.get(at + 1).map(|word| word.text.as_str()).unwrap_or_default();
        let text = word.text.as_str();
        match text {
            "-c" | "--config-env" => setting(judge, call, value),
            "-C" | "--git-dir" | "--work-tree" => folder(judge, call, value),
            _ if text.starts_with("-c") && text.len() > 2 && !text.starts_with("--") => {
                setting(judge, call, &text[2..])
            }
            _ => {}
        }
        if let Some((option, value)) = text.split_once('=') {
            match option {
                "--git-dir" | "--work-tree" => folder(judge, call, value),
                "--exec-path" => {
                    judge.note(HidesWhatItDoes, High, "Runs git's parts from another place.", &call.part)
                }
                "--config-env" => setting(judge, call, value),
                _ => {}
            }
        }
        at += if matches!(text, "-c" | "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--config-env") {
            2
        } else {
            1
        };
    }
    let Some((verb, rest)) = call.words.get(at..).unwrap_or_default().split_first() else { return true };
    if verb.coded || verb.broken || verb.is_unseen() {
        judge.note(NotFullyRead, Medium, "What git is told to do cannot be seen.", &call.part);
    }
    verb_of(judge, call, &verb.text, rest, does);
    true
}

fn folder(judge: &mut Judge<'_>, call: &Call<'_>, path: &str) {
    if judge.folders.place(path) >= Place::Outside {
        judge.note(LeavesFolder, Medium, "Works in another folder.", &call.part);
    }
    judge.folders.may_change_to(path);
}

/// `-c name=value`: some settings are commands.
fn setting(judge: &mut Judge<'_>, call: &Call<'_>, setting: &str) {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    if let Some(command) = command_in(&name.to_lowercase(), value) {
        judge.note(HidesWhatItDoes, High, "Runs another command through one of git's settings.", &call.part);
        judge.inner(command, &call.part);
    }
}

/// The command in a setting, if it is one of those that hold any.
fn command_in<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    if name.starts_with("alias.") {
        return value.trim_start().strip_prefix('!');
    }
    let runs = matches!(
        name,
        "core.sshcommand"
            | "core.pager"
            | "core.editor"
            | "core.fsmonitor"
            | "core.hookspath"
            | "core.askpass"
            | "core.gitproxy"
            | "sequence.editor"
            | "diff.external"
            | "gpg.program"
            | "gpg.ssh.program"
            | "credential.helper"
            | "uploadpack.packobjectshook"
            | "init.templatedir"
            | "interactive.difffilter"
    ) || [
        "difftool.",
        "mergetool.",
        "pager.",
        "filter.",
        "diff.",
        "merge.",
        "man.",
        "browser.",
        "trailer.",
        "credential.",
    ]
    .iter()
    .any(|start| name.starts_with(start))
        && [".cmd", ".clean", ".smudge", ".process", ".textconv", ".command", ".driver", ".helper", ".path"]
            .iter()
            .any(|end| name.ends_with(end))
        || name.starts_with("pager.");
    let plain = matches!(
        value,
        "" | "true" | "false" | "cat" | "less" | "store" | "cache" | "osxkeychain" | "libsecret" | "manager"
    );
    (runs && !plain).then(|| value.trim_start_matches('!'))
}

fn verb_of(judge: &mut Judge<'_>, call: &Call<'_>, verb: &str, rest: &[Word], does: &mut Does) {
    let flags = Flags(rest);
    let part = &call.part;
    match verb {
        "push" => push(judge, call, flags),
        "send-email" | "request-pull" | "svn" | "p4"
            if verb == "send-email" || flags.word("dcommit") || flags.word("submit") =>
        {
            judge.note(Pushes, Medium, "Sends commits to others.", part);
        }
        "clean" if !flags.either('n', "--dry-run") => {
            let level =
                if flags.short('d') || flags.either('x', "--") || flags.short('X') { High } else { Medium };
            judge.note(
                Deletes,
                level,
                "Deletes files that git does not keep: they cannot be brought back.",
                part,
            );
        }
        "reset" if flags.long("--hard") || flags.long("--merge") => {
            judge.note(Deletes, Medium, "Throws away changes that were not committed.", part);
        }
        "checkout" | "restore" | "switch" => {
            let all = flags.word(".")
                || flags.word("--")
                || flags.either('f', "--force")
                || flags.long("--discard-changes");
            if (verb == "restore" && !flags.long("--staged")) || all {
                judge.note(Overwrites, Medium, "Throws away changes that were not committed.", part);
            }
        }
        "rm" => judge.note(
            Deletes,
            if flags.short('r') { Medium } else { Low },
            "Deletes files that git keeps.",
            part,
        ),
        "branch" | "tag" if flags.short('D') || flags.either('d', "--delete") => {
            judge.note(Deletes, Medium, "Deletes a branch or a tag.", part);
        }
        "stash" if flags.word("drop") || flags.word("clear") => {
            judge.note(Deletes, Medium, "Throws away changes that were put aside.", part);
        }
        "filter-branch" | "filter-repo" | "reflog" | "gc" | "prune" | "update-ref" => {
            let grave = verb.starts_with("filter")
                || flags.word("expire")
                || flags.word("delete")
                || flags.short('d')
                || flags.long("--prune=now")
                || rest.iter().any(|word| word.text == "--prune=now");
            if grave {
                judge.note(
                    Deletes,
                    High,
                    "Rewrites or throws away history: it cannot be brought back.",
                    part,
                );
            }
        }
        "worktree" if flags.word("remove") => judge.note(Deletes, Medium, "Deletes a working folder.", part),
        "config" => config(judge, call, flags),
        "remote" if flags.word("add") || flags.word("set-url") => {
            judge.note(Pushes, Low, "Changes where commits are sent.", part);
        }
        "credential" | "credential-store" | "credential-cache" => {
            does.secret = true;
            judge.note(ReadsSecrets, Medium, "Gives out stored passwords.", part);
        }
        "daemon" | "instaweb" => judge.note(Pushes, Medium, "Offers the repository to the network.", part),
        "add" | "commit" if rest.iter().any(|word| sensitive::is_secret(&word.text)) => {
            judge.note(
                ReadsSecrets,
                Medium,
                "Puts a file that usually holds secrets into the repository.",
                part,
            );
        }
        _ => {}
    }
    inner(judge, call, verb, rest, does);
    for word in rest {
        if word.text.starts_with("ext::") || word.text.contains("=ext::") {
            judge.note(HidesWhatItDoes, High, "Runs another command through an address.", part);
            judge.inner(word.text.trim_start_matches("ext::"), part);
        } else if word.text.contains("://") {
            address::judge(&word.text, address::Purpose::InCommand, &mut judge.notes, Some(part.clone()));
        }
    }
    if verb == "clone"
        && flags
            .operands("bcjou", &["--branch", "--depth", "--config"])
            .get(1)
            .is_some_and(|to| judge.folders.place(&to.text) >= Place::Outside)
    {
        judge.note(LeavesFolder, Medium, "Writes outside the folder.", part);
    }
}

fn push(judge: &mut Judge<'_>, call: &Call<'_>, flags: Flags<'_>) {
    let part = &call.part;
    if flags.either('n', "--dry-run") {
        return;
    }
    judge.note(Pushes, Medium, "Cannot be undone here: pushes commits to where others read them.", part);
    let forced = flags.either('f', "--force")
        || flags.long("--force-with-lease")
        || flags.long("--mirror")
        || flags.long("--prune");
    let removed = flags.either('d', "--delete");
    let operands = flags.operands("o", &["--push-option", "--receive-pack", "--exec"]);
    let by_name = operands.iter().skip(1).any(|word| word.text.starts_with(['+', ':']));
    if forced || removed || by_name {
        judge.note(Pushes, High, "Replaces or deletes what others may have fetched.", part);
    }
}

fn config(judge: &mut Judge<'_>, call: &Call<'_>, flags: Flags<'_>) {
    let operands = flags.operands("f", &["--file", "--type", "--default"]);
    let operands: Vec<_> = operands
        .iter()
        .map(|word| word.text.as_str())
        .filter(|text| !matches!(*text, "set" | "get" | "unset" | "list"))
        .collect();
    let asks = flags.long("--get")
        || flags.long("--list")
        || flags.short('l')
        || flags.word("get")
        || flags.word("list")
        || operands.len() < 2;
    if asks {
        return;
    }
    let command = command_in(&operands[0].to_lowercase(), operands[1]).map(str::to_owned);
    if let Some(command) = command {
        judge.note(
            Persists,
            High,
            "Changes what git runs by itself later, without asking again.",
            &call.part,
        );
        judge.inner(&command, &call.part);
    }
    if flags.long("--global") || flags.long("--system") {
        judge.note(ChangesSystem, Medium, "Changes settings for every repository.", &call.part);
    }
}

/// Verbs that run a command of their own.
fn inner(judge: &mut Judge<'_>, call: &Call<'_>, verb: &str, rest: &[Word], does: &mut Does) {
    let flags = Flags(rest);
    let text = match verb {
        "bisect" if flags.word("run") => Some(join(rest.get(1..).unwrap_or_default())),
        "submodule" if flags.word("foreach") => Some(join(
            &rest
                .iter()
                .skip_while(|word| word.text != "foreach")
                .skip(1)
                .filter(|word| word.text != "--recursive")
                .cloned()
                .collect::<Vec<_>>(),
        )),
        "rebase" => flags.value('x', "--exec").map(str::to_owned),
        "filter-branch" => {
            ["--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter"]
                .iter()
                .find_map(|name| flags.value('\u{1}', name))
                .map(str::to_owned)
        }
        "difftool" => flags.value('x', "--extcmd").map(str::to_owned),
        "clone" | "fetch" | "pull" | "ls-remote" => {
            let other = flags
                .value('u', "--upload-pack")
                .filter(|_| verb != "pull" && verb != "fetch" || flags.long("--upload-pack"));
            if other.is_some() {
                judge.note(HidesWhatItDoes, High, "Runs another command through an option.", &call.part);
            }
            for setting_of in flags.values('c', "--config").filter(|_| verb == "clone") {
                setting(judge, call, setting_of);
            }
            other.map(str::to_owned)
        }
        _ => None,
    };
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        does.add(&judge.inner(&text, &call.part));
    }
}
