use super::super::super::RiskLevel::{High, Low, Medium};
use super::super::super::note::RiskCode::{
    ChangesPermissions, Deletes, HidesWhatItDoes, LeavesFolder, Overwrites, ReadsSecrets,
};
use super::super::super::place::Place;
use super::super::super::sensitive;
use super::super::judge::{Call, Does, Judge};
use super::super::said;
use super::delete::{self, Reach};

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    let flags = call.flags();
    match call.program {
        "echo" | "printf" => {
            does.says = Some(said::spoken(call.program, call.words));
            let names = call.words.iter().any(|word| word.coded);
            if names {
                judge.note(HidesWhatItDoes, Medium, "Writes letters as numbers.", &call.part);
            }
        }
        "cat" | "tac" => {
            does.says = call.input.first().cloned().filter(|_| call.words.is_empty());
        }
        "tee" | "sponge" | "touch" | "mkdir" => {
            for path in flags.operands("m", &["--mode"]) {
                if matches!(call.program, "touch" | "mkdir") {
                    made(judge, call, &path.text);
                } else {
                    judge.write_file(&path.text, &call.part);
                }
            }
        }
        "cp" | "gcp" | "install" | "ln" | "mv" | "gmv" => moved(judge, call),
        "dd" => {
            for word in call.words {
                if let Some(path) = word.text.strip_prefix("of=") {
                    judge.write_file(path, &call.part);
                } else if let Some(path) = word.text.strip_prefix("if=") {
                    judge.read_file(path, &call.part, does);
                    does.secret |= judge.folders.place(path) == Place::Disk;
                }
            }
        }
        "truncate" => {
            for path in flags.operands("sr", &["--size", "--reference"]) {
                judge.write_file(&path.text, &call.part);
            }
        }
        "sed" | "gsed" => sed(judge, call),
        "sort" | "jq" | "yq" => {
            if let Some(path) = flags.value('o', "--output").filter(|_| call.program == "sort") {
                judge.write_file(path, &call.part);
            }
        }
        "patch" => judge.note(Overwrites, Low, "Writes files; what they held before is gone.", &call.part),
        "tar" | "bsdtar" | "gtar" | "unzip" | "7z" | "zip" => archive(judge, call),
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "setcap" => permissions(judge, call),
        "base64" | "base32" | "gbase64" => {
            does.decodes |= flags.short('d') || flags.short('D') || flags.long("--decode")
        }
        "xxd" => does.decodes |= flags.short('r'),
        "openssl" if flags.word("enc") || flags.word("base64") => {
            does.decodes |= flags.word("-d") || flags.word("-a")
        }
        "gpg" | "gpg2" => {
            does.decodes |= flags.either('d', "--decrypt");
            if flags.long("--export-secret-keys") || flags.long("--export-secret-subkeys") {
                does.secret = true;
                judge.note(ReadsSecrets, High, "Gives out private keys.", &call.part);
            }
        }
        "gunzip" | "zcat" | "uudecode" | "rev" | "tr" | "xz" | "unxz" | "gzip" | "bzip2" | "zstd"
        | "basenc" | "od" => {
            does.decodes |= !matches!(call.program, "gzip" | "xz" | "bzip2" | "zstd" | "basenc" | "od")
                || flags.either('d', "--decompress");
        }
        _ => return false,
    }
    true
}

/// A new file or folder, which replaces nothing.
fn made(judge: &mut Judge<'_>, call: &Call<'_>, path: &str) {
    match judge.folders.place(path) {
        Place::Nowhere | Place::Rebuilt | Place::Temporary | Place::Inside | Place::Whole | Place::Unseen => {
        }
        Place::Outside => judge.note(LeavesFolder, Low, "Makes something outside the folder.", &call.part),
        Place::Vital | Place::Disk => {
            judge.note(LeavesFolder, Medium, "Makes something outside the folder.", &call.part)
        }
    }
}

fn moved(judge: &mut Judge<'_>, call: &Call<'_>) {
    let flags = call.flags();
    let valued = ["--target-directory", "--suffix", "--mode", "--owner", "--group"];
    let mut paths: Vec<_> =
        flags.operands("tSmog", &valued).into_iter().map(|word| word.text.as_str()).collect();
    let to = flags.value('t', "--target-directory").or_else(|| paths.pop());
    if let Some(to) = to.filter(|to| call.program != "ln" || !paths.is_empty() || *to != ".") {
        judge.write_file(to, &call.part);
    }
    for from in paths {
        let place = judge.folders.place(from);
        let moves = matches!(call.program, "mv" | "gmv");
        if place >= Place::Outside && (moves || !matches!(call.program, "ln")) {
            if moves {
                judge.note(LeavesFolder, Medium, "Takes something away from outside the folder.", &call.part);
            } else {
                judge.note(LeavesFolder, Low, "Reads outside the folder.", &call.part);
            }
        }
        if moves && place >= Place::Vital {
            delete::deletes(judge, call, from, Reach::Folders);
        }
        if sensitive::is_secret(from) {
            judge.note(
                ReadsSecrets,
                Medium,
                "Copies or moves a file that usually holds secrets.",
                &call.part,
            );
        }
    }
}

fn sed(judge: &mut Judge<'_>, call: &Call<'_>) {
    let flags = call.flags();
    let operands = flags.operands("efl", &["--expression", "--file"]);
    let script = flags.value('e', "--expression").or_else(|| operands.first().map(|word| word.text.as_str()));
    if script.is_some_and(runs_in_sed) {
        judge.note(HidesWhatItDoes, High, "Runs commands from within an editing script.", &call.part);
    }
    let in_place = call.words.iter().any(|word| {
        word.text.starts_with("-i")
            || word.text.starts_with("--in-place")
            || (word.text.starts_with('-') && word.text.ends_with('i') && !word.text.starts_with("--"))
    });
    if in_place {
        let skipped = usize::from(flags.value('e', "--expression").is_none());
        for path in operands.iter().skip(skipped) {
            judge.write_file(&path.text, &call.part);
        }
    }
}

/// GNU sed's `e` runs a command: `1e id`, `e id`, `s/x/id/e`.
fn runs_in_sed(script: &str) -> bool {
    let script = script.trim();
    let start = script.trim_start_matches(|c: char| c.is_ascii_digit() || c == '$' || c == ',');
    let ends = script.starts_with('s')
        && script.rsplit(['/', '|', '#', ',']).next().is_some_and(|flags| {
            flags.contains('e')
                && flags
                    .chars()
                    .all(|c| matches!(c, 'e' | 'g' | 'i' | 'I' | 'p' | 'm' | 'M') || c.is_ascii_digit())
        });
    start.starts_with("e ") || start == "e" || ends
}

fn archive(judge: &mut Judge<'_>, call: &Call<'_>) {
    let flags = call.flags();
    for word in call.words {
        let inner = [
            "--checkpoint-action=exec=",
            "--to-command=",
            "--use-compress-program=",
            "--rsh-command=",
            "--new-volume-script=",
        ]
        .iter()
        .find_map(|option| word.text.strip_prefix(option));
        if let Some(inner) = inner {
            judge.note(HidesWhatItDoes, High, "Runs another command through an option.", &call.part);
            judge.inner(inner, &call.part);
        }
    }
    if call.program == "zip"
        && flags.value('T', "--unzip-command").is_some()
        && call.words.iter().any(|word| word.text.starts_with("-TT"))
    {
        judge.note(HidesWhatItDoes, High, "Runs another command through an option.", &call.part);
    }
    let old = call.words.first().is_some_and(|word| {
        call.program.ends_with("tar") && word.text.contains('x') && !word.text.starts_with("--")
    });
    let extracts = old
        || flags.long("--extract")
        || call.program == "unzip"
        || (call.program == "7z" && flags.word("x"));
    if extracts {
        let to = flags.value('C', "--directory").or_else(|| flags.value('d', "")).unwrap_or("unpacked");
        let to = if call.program.ends_with("tar") {
            flags.value('C', "--directory").unwrap_or("unpacked")
        } else {
            to
        };
        judge.write_file(to, &call.part);
        if flags.either('P', "--absolute-names") {
            judge.note(LeavesFolder, Medium, "Writes outside the folder.", &call.part);
        }
    }
    if flags.long("--remove-files") {
        judge.note(Deletes, Medium, "Deletes what it packs.", &call.part);
    }
}

fn permissions(judge: &mut Judge<'_>, call: &Call<'_>) {
    let flags = call.flags();
    // `chmod -x file`: what looks like an option is the mode.
    let words: Vec<_> = call.words.iter().filter(|word| !is_option(&word.text)).collect();
    let Some((mode, paths)) = words.split_first() else { return };
    let recursive = flags.either('R', "--recursive");
    let mode = mode.text.as_str();
    let text = "Changes who may do what with files.";
    let level = match call.program {
        "chmod" if is_setuid(mode) => High,
        "chmod"
            if mode.ends_with("777")
                || mode.contains("o+w")
                || mode.contains("a+w")
                || mode.contains("o+rw") =>
        {
            Medium
        }
        "chmod" if recursive => Medium,
        "chmod" => Low,
        "setcap" => High,
        _ => Medium,
    };
    judge.note(ChangesPermissions, level, text, &call.part);
    for path in paths {
        let place = judge.folders.place(&path.text);
        if place >= Place::Outside {
            let level = if place >= Place::Vital || recursive { High } else { Medium };
            judge.note(ChangesPermissions, level, text, &call.part);
            judge.note(LeavesFolder, level, "Reaches outside the folder.", &call.part);
        }
        if sensitive::is_secret(&path.text)
            && (mode.ends_with(['4', '5', '6', '7']) || mode.contains("o+") || mode.contains("a+"))
        {
            judge.note(
                ReadsSecrets,
                Medium,
                "Lets others read a file that usually holds secrets.",
                &call.part,
            );
        }
    }
}

fn is_option(text: &str) -> bool {
    text.starts_with("--")
        || (text.len() > 1
            && text.starts_with('-')
            && text[1..].chars().all(|c| matches!(c, 'R' | 'v' | 'f' | 'c' | 'h' | 'H' | 'L' | 'P' | 'n')))
}

fn is_setuid(mode: &str) -> bool {
    let digits = mode.len() >= 4 && mode.bytes().all(|byte| byte.is_ascii_digit());
    let digit = mode.len().checked_sub(4).and_then(|at| mode.as_bytes().get(at)).copied().unwrap_or(b'0');
    let adds = mode.contains("+s") || mode.contains("=s") || mode.contains("+ts") || mode.contains("+xs");
    adds || (digits && matches!(digit, b'2'..=b'7'))
}
