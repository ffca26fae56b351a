use super::super::super::RiskLevel::{High, Low, Medium};
use super::super::super::note::RiskCode::{Deletes, LeavesFolder, Pushes, ReadsSecrets, RunsAsRoot};
use super::super::super::place::Place;
use super::super::flags::Flags;
use super::super::judge::{Call, Does, Judge};
use super::super::word::Word;

/// Options of `docker run` and `exec` that take a value apart.
const VALUED: [&str; 38] = [
    "--name",
    "--volume",
    "--mount",
    "--env",
    "--env-file",
    "--publish",
    "--workdir",
    "--user",
    "--network",
    "--entrypoint",
    "--label",
    "--memory",
    "--cpus",
    "--platform",
    "--hostname",
    "--add-host",
    "--device",
    "--cap-add",
    "--cap-drop",
    "--security-opt",
    "--pid",
    "--ipc",
    "--userns",
    "--restart",
    "--gpus",
    "--shm-size",
    "--tmpfs",
    "--ulimit",
    "--dns",
    "--log-driver",
    "--pull",
    "--net",
    "--stop-signal",
    "--expose",
    "--runtime",
    "--cidfile",
    "--volumes-from",
    "--link",
];

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    let part = &call.part;
    match call.program {
        "docker" | "podman" | "nerdctl" => {
            let mut words = call.words;
            let skipped = Flags(words).first("Hcl", &["--host", "--context", "--config", "--log-level"]);
            words = words.get(skipped..).unwrap_or_default();
            if words.first().is_some_and(|word| {
                matches!(
                    word.text.as_str(),
                    "container" | "image" | "volume" | "network" | "system" | "builder" | "buildx"
                )
            }) {
                group(
                    judge,
                    call,
                    &words[0].text,
                    words.get(1).map(|word| word.text.as_str()).unwrap_or_default(),
                );
                words = &words[1..];
            }
            let Some((verb, rest)) = words.split_first() else { return true };
            docker(judge, call, &verb.text, rest, does);
        }
        "docker-compose" | "podman-compose" => compose(judge, call, call.words),
        "kubectl" | "oc" | "k" => kubectl(judge, call, does),
        "helm" => {
            let verb = call.words.first().map(|word| word.text.as_str()).unwrap_or_default();
            match verb {
                "install" | "upgrade" | "rollback" => {
                    judge.note(Pushes, Medium, "Changes what runs on a cluster.", part)
                }
                "uninstall" | "delete" => judge.note(Deletes, High, "Deletes what runs on a cluster.", part),
                _ => {}
            }
        }
        _ => return false,
    }
    true
}

fn group(judge: &mut Judge<'_>, call: &Call<'_>, group: &str, verb: &str) {
    if matches!(verb, "prune" | "rm" | "remove") {
        let level = if group == "volume" || group == "system" { High } else { Medium };
        judge.note(Deletes, level, "Deletes containers, images or the data that they keep.", &call.part);
    }
}

fn docker(judge: &mut Judge<'_>, call: &Call<'_>, verb: &str, rest: &[Word], does: &mut Does) {
    let flags = Flags(rest);
    let part = &call.part;
    match verb {
        "run" | "create" | "exec" => {
            let at = flags.first("veputwhlmca", &VALUED);
            let options = &rest[..at];
            mounts(judge, call, options);
            does.add(&judge.words(rest.get(at + 1..).unwrap_or_default(), part, call.input));
            if let Some(entry) = Flags(options).value('\u{1}', "--entrypoint") {
                let words: Vec<_> =
                    [Word::plain(entry)].into_iter().chain(rest.iter().skip(at + 1).cloned()).collect();
                judge.words(&words, part, &[]);
            }
        }
        "push" => judge.note(Pushes, Medium, "Publishes an image.", part),
        "rm" | "rmi" => judge.note(
            Deletes,
            if flags.short('v') { High } else { Medium },
            "Deletes containers, images or the data that they keep.",
            part,
        ),
        "cp" => {
            for word in rest.iter().filter(|word| !word.text.contains(':')).skip(1) {
                judge.write_file(&word.text, part);
            }
        }
        "compose" => compose(judge, call, rest),
        "kill" | "stop" => {
            judge.note(super::super::super::note::RiskCode::EndsProcesses, Low, "Ends processes.", part)
        }
        _ => {}
    }
}

fn mounts(judge: &mut Judge<'_>, call: &Call<'_>, options: &[Word]) {
    let flags = Flags(options);
    let part = &call.part;
    let short =
        flags.values('v', "--volume").map(|value| value.split(':').next().unwrap_or_default().to_owned());
    let long = flags.values('\u{1}', "--mount").filter_map(|value| {
        value
            .split(',')
            .find_map(|field| field.strip_prefix("source=").or_else(|| field.strip_prefix("src=")))
            .map(str::to_owned)
    });
    for path in short.chain(long).filter(|path| path.contains(['/', '~', '.'])) {
        match judge.folders.place(&path) {
            Place::Vital | Place::Disk => {
                judge.note(
                    LeavesFolder,
                    High,
                    "Gives a container the system's or a whole home's files, as the superuser.",
                    part,
                );
            }
            Place::Outside => {
                judge.note(LeavesFolder, Medium, "Gives a container files outside the folder.", part)
            }
            Place::Nowhere
            | Place::Rebuilt
            | Place::Temporary
            | Place::Inside
            | Place::Whole
            | Place::Unseen => {}
        }
    }
    let grave = flags.long("--privileged")
        || ["--pid", "--ipc", "--userns", "--uts"]
            .iter()
            .any(|name| flags.value('\u{1}', name) == Some("host"))
        || flags.value('\u{1}', "--cap-add").is_some_and(|cap| cap.contains("SYS_") || cap == "ALL")
        || flags.long("--device");
    if grave {
        judge.note(RunsAsRoot, High, "Gives a container power over the whole machine.", part);
    }
}

fn compose(judge: &mut Judge<'_>, call: &Call<'_>, rest: &[Word]) {
    let flags = Flags(rest);
    if flags.word("down") && flags.either('v', "--volumes") {
        judge.note(Deletes, Medium, "Deletes containers, images or the data that they keep.", &call.part);
    }
    if flags.word("push") {
        judge.note(Pushes, Medium, "Publishes an image.", &call.part);
    }
    if let Some(at) = rest.iter().position(|word| matches!(word.text.as_str(), "exec" | "run")) {
        let rest = &rest[at + 1..];
        let first = Flags(rest).first("euw", &["--env", "--user", "--workdir", "--name"]);
        judge.words(rest.get(first + 1..).unwrap_or_default(), &call.part, &[]);
    }
}

fn kubectl(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    let flags = call.flags();
    let part = &call.part;
    let operands =
        flags.operands("nfcl", &["--namespace", "--context", "--filename", "--kubeconfig", "--selector"]);
    let word = |at: usize| operands.get(at).map(|word| word.text.as_str()).unwrap_or_default();
    match word(0) {
        "delete" | "drain" => judge.note(Deletes, High, "Deletes what runs on a cluster.", part),
        "apply" | "create" | "replace" | "patch" | "scale" | "rollout" | "set" | "edit" | "annotate"
        | "label" | "cordon" | "taint" | "run" | "expose"
            if (word(0) != "rollout" || !matches!(word(1), "status" | "history"))
                && !call.words.iter().any(|word| word.text.starts_with("--dry-run")) =>
        {
            judge.note(Pushes, Medium, "Changes what runs on a cluster.", part);
        }
        "get" | "describe" if word(1).starts_with("secret") => {
            does.secret = true;
            judge.note(ReadsSecrets, Medium, "Gives out secrets of a cluster.", part);
        }
        "exec" => {
            if let Some(at) = call.words.iter().position(|word| word.text == "--") {
                does.add(&judge.words(&call.words[at + 1..], part, &[]));
            }
        }
        "cp" => judge.note(
            super::super::super::note::RiskCode::Sends,
            Medium,
            "Sends data over the network.",
            part,
        ),
        _ => {}
    }
}
