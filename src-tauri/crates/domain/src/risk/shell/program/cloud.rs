//! Publishing, deploying, clouds, databases, and what holds secrets.

use super::super::super::RiskLevel::{High, Low, Medium};
use super::super::super::note::RiskCode::{ActsOnSayso, Deletes, Installs, Pushes, ReadsSecrets, Sends};
use super::super::super::place::Place;
use super::super::judge::{Call, Does, Judge};
use super::super::word::join;

const PUBLISHES: &str = "Publishes something that others can fetch: it usually cannot be taken back.";
const DEPLOYS: &str = "Deploys something, or changes what runs elsewhere.";
const REMOTE: &str = "Deletes something on a server.";

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    let flags = call.flags();
    let part = &call.part;
    let operands = flags.operands("CpPFm", &["--prefix", "--cwd", "--dir", "--manifest-path", "--package"]);
    let word = |at: usize| operands.get(at).map(|word| word.text.as_str()).unwrap_or_default();
    let tries = flags.long("--dry-run") || flags.word("-n") || flags.word("--help");
    match call.program {
        "npm" | "pnpm" | "yarn" | "bun" | "cargo" | "gem" | "poetry" | "uv" | "hatch" | "flit" | "twine"
        | "mix" | "dart" | "flutter" | "pip" | "pip3" | "pipx" | "go" | "composer" | "nuget" | "dotnet"
        | "vsce" | "lerna" | "changeset" | "mvn" | "gradle" | "gradlew" | "mvnw" => {
            package(judge, call, word(0), word(1), tries, operands.len());
        }
        "make" | "just" | "task" | "rake" | "ninja" | "gmake" | "grunt" | "gulp" => {
            if operands.iter().any(|word| by_name(&word.text)) && !tries {
                judge.note(Pushes, Medium, "By its name, it publishes or deploys something.", part);
            }
        }
        "gh" | "glab" | "hub" => forge(judge, call, word(0), word(1), does),
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdk" | "sam" | "ansible-playbook" | "ansible"
        | "packer" => {
            let automatic = flags.long("--auto-approve")
                || flags.word("-auto-approve")
                || flags.word("--yes")
                || flags.word("-y");
            match word(0) {
                "destroy" | "down" => judge.note(Deletes, High, REMOTE, part),
                "apply" | "up" | "deploy" => {
                    judge.note(Pushes, if automatic { High } else { Medium }, DEPLOYS, part)
                }
                _ if call.program.starts_with("ansible") => judge.note(Pushes, Medium, DEPLOYS, part),
                _ => {}
            }
        }
        "vercel" | "netlify" | "fly" | "flyctl" | "heroku" | "firebase" | "wrangler" | "serverless"
        | "sls" | "railway" | "surge" | "eb" | "cap" | "kamal" | "dokku" => {
            let looks = matches!(
                word(0),
                "logs" | "status" | "list" | "ls" | "whoami" | "dev" | "info" | "env" | "login"
            );
            let deletes = operands.iter().any(|word| {
                matches!(word.text.split(':').next_back(), Some("destroy" | "delete" | "rm" | "remove"))
            });
            if deletes {
                judge.note(Deletes, High, REMOTE, part);
            } else if !looks {
                judge.note(Pushes, Medium, DEPLOYS, part);
            }
        }
        "aws" | "gcloud" | "az" | "gsutil" | "doctl" | "s3cmd" | "mc" | "ibmcloud" | "oci" => {
            clouds(judge, call, does)
        }
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "clickhouse-client" | "cockroach"
        | "duckdb" | "mongosh" | "mongo" | "redis-cli" | "cqlsh" => {
            database(judge, call);
        }
        "dropdb" | "dropuser" => judge.note(Deletes, High, "Deletes from a database.", part),
        "security" | "secret-tool" | "pass" | "gopass" | "op" | "bw" | "lpass" | "vault" | "keyring"
        | "kwallet-query" | "lastpass-cli" | "sops" | "age" | "ssh-add" | "ssh-keygen" => {
            let harmless = call.program == "ssh-keygen" && flags.short('l') || flags.word("--help");
            if !harmless {
                does.secret = !matches!(call.program, "ssh-add" | "ssh-keygen");
                judge.note(ReadsSecrets, Medium, "Works with stored keys or passwords.", part);
            }
        }
        "sayso" => {
            let looks =
                matches!(word(0), "list" | "show" | "history" | "runs" | "agents" | "" | "demo" | "ask");
            let level = if looks { Medium } else { High };
            judge.note(
                ActsOnSayso,
                level,
                "Works on Sayso itself: it could answer requests in your place.",
                part,
            );
        }
        _ => return false,
    }
    true
}

fn by_name(word: &str) -> bool {
    word.split(['-', '_', ':', '.', '/'])
        .any(|word| matches!(word, "deploy" | "publish" | "release" | "push" | "ship" | "upload" | "rollout"))
}

fn package(judge: &mut Judge<'_>, call: &Call<'_>, verb: &str, second: &str, tries: bool, count: usize) {
    let flags = call.flags();
    let part = &call.part;
    let publishes = matches!(verb, "publish" | "upload" | "push") && call.program != "go"
        || (call.program == "mix" && verb == "hex.publish")
        || (matches!(call.program, "mvn" | "mvnw")
            && call.words.iter().any(|word| word.text.contains("deploy") || word.text.contains("release:")))
        || (call.program == "yarn" && verb == "npm" && second == "publish")
        || (matches!(call.program, "gradle" | "gradlew") && verb.starts_with("publish"));
    if publishes && !tries {
        judge.note(Pushes, High, PUBLISHES, part);
        return;
    }
    match verb {
        "unpublish" | "yank" | "deprecate" | "owner" | "dist-tag" | "token" | "adduser" | "access" => {
            judge.note(
                Pushes,
                if verb == "unpublish" { High } else { Medium },
                "Changes what is published, or who may publish.",
                part,
            );
        }
        "run" | "run-script" | "task" | "tasks" if by_name(second) => {
            judge.note(Pushes, Medium, "By its name, it publishes or deploys something.", part);
        }
        "install" | "add" | "i" | "get" | "tool" => {
            let global = flags.either('g', "--global")
                || flags.long("--user")
                || flags.long("--break-system-packages")
                || matches!(call.program, "cargo" | "pipx" | "gem" | "go")
                    && verb == "install"
                    && !flags.long("--path");
            let named = count > 1 && !flags.either('r', "--requirement") && !second.starts_with('.');
            if global {
                judge.note(
                    Installs,
                    Medium,
                    "Installs software for all of your work, from the network.",
                    part,
                );
            } else if named {
                judge.note(
                    Installs,
                    Low,
                    "Installs software from the network, which may run code of its own.",
                    part,
                );
            }
        }
        _ => {}
    }
    if flags
        .value('\u{1}', "--index-url")
        .or_else(|| flags.value('\u{1}', "--registry"))
        .or_else(|| flags.value('\u{1}', "--extra-index-url"))
        .is_some()
    {
        judge.note(Installs, Medium, "Installs software from a place of its own choice.", part);
    }
}

fn forge(judge: &mut Judge<'_>, call: &Call<'_>, group: &str, verb: &str, does: &mut Does) {
    let flags = call.flags();
    let part = &call.part;
    match (group, verb) {
        ("auth", "token") => {
            does.secret = true;
            judge.note(ReadsSecrets, Medium, "Gives out stored passwords.", part);
        }
        ("repo" | "release" | "secret" | "gist" | "run" | "cache" | "variable", "delete") => {
            judge.note(Deletes, High, REMOTE, part)
        }
        ("secret", "set") => judge.note(Pushes, Medium, "Changes secrets on a server.", part),
        ("gist", "create") => {
            does.uploads = true;
            does.sends = true;
            judge.note(Pushes, Medium, PUBLISHES, part);
        }
        ("release", "create" | "upload" | "edit") => judge.note(Pushes, Medium, PUBLISHES, part),
        ("pr" | "mr", "merge") => judge.note(Pushes, Medium, "Merges into a branch that others use.", part),
        ("pr" | "mr" | "issue", "create" | "comment" | "close" | "edit" | "review" | "reopen" | "ready") => {
            does.sends = true;
            judge.note(Sends, Medium, "Writes where others read it.", part);
        }
        ("repo", "create" | "edit" | "rename" | "fork" | "archive") => {
            judge.note(Pushes, Medium, "Changes a repository on a server.", part)
        }
        ("workflow", "run") => judge.note(Pushes, Medium, DEPLOYS, part),
        ("api", _) => {
            let method = flags.value('X', "--method").unwrap_or("GET");
            let sends =
                flags.either('f', "--raw-field") || flags.either('F', "--field") || flags.long("--input");
            if method.eq_ignore_ascii_case("delete") {
                judge.note(Deletes, High, REMOTE, part);
            } else if sends || !method.eq_ignore_ascii_case("get") {
                judge.note(Sends, Medium, "Sends data over the network.", part);
            }
        }
        _ => {}
    }
}

fn clouds(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    let part = &call.part;
    let words: Vec<_> =
        call.words.iter().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-')).collect();
    let has = |start: &[&str]| {
        words
            .iter()
            .any(|word| start.iter().any(|start| *word == *start || word.starts_with(&format!("{start}-"))))
    };
    if has(&["delete", "terminate", "remove", "rm", "rb", "destroy", "purge", "deregister"]) {
        judge.note(Deletes, High, REMOTE, part);
    } else if has(&["cp", "mv", "sync", "upload", "put", "rsync"]) {
        let out = words.last().is_some_and(|to| to.contains("://"));
        does.sends |= out;
        does.uploads |= out;
        does.fetches |= !out;
        judge.note(Sends, if out { Medium } else { Low }, "Sends data over the network.", part);
        if let Some(to) = words.last().filter(|_| !out) {
            judge.write_file(to, part);
        }
        if call.words.iter().any(|word| word.text == "--delete") {
            judge.note(Deletes, High, REMOTE, part);
        }
    } else if has(&[
        "deploy", "create", "update", "run", "put", "start", "stop", "apply", "set", "publish", "invoke",
        "modify", "attach", "add",
    ]) {
        judge.note(Pushes, Medium, DEPLOYS, part);
    }
    if has(&[
        "get-secret-value",
        "print-access-token",
        "get-access-token",
        "print-identity-token",
        "get-parameter",
        "export-credentials",
        "secrets",
        "get-session-token",
    ]) {
        does.secret = true;
        judge.note(ReadsSecrets, Medium, "Gives out secrets of a cloud account.", part);
    }
}

fn database(judge: &mut Judge<'_>, call: &Call<'_>) {
    let text = [join(call.words), call.input.join("\n")].join("\n").to_uppercase();
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let has = |words: &[&str]| words.iter().any(|word| flat.contains(word));
    if has(&[
        "DROP DATABASE",
        "DROP TABLE",
        "DROP SCHEMA",
        "TRUNCATE",
        "FLUSHALL",
        "FLUSHDB",
        "DROPDATABASE",
        ".DROP(",
        "DELETEMANY({})",
    ]) || (flat.contains("DELETE FROM") && !flat.contains("WHERE"))
    {
        judge.note(Deletes, High, "Deletes from a database.", &call.part);
    } else if has(&["DELETE FROM", "DROP ", "DELETEMANY", "DELETEONE", " DEL "]) {
        judge.note(Deletes, Medium, "Deletes from a database.", &call.part);
    } else if has(&["UPDATE ", "INSERT INTO", "ALTER TABLE", "GRANT "]) {
        judge.note(
            super::super::super::note::RiskCode::Overwrites,
            Medium,
            "Changes a database.",
            &call.part,
        );
    }
    if has(&["\\!", ".SHELL", ".SYSTEM", "COPY ", "INTO OUTFILE", "SYSTEM "])
        && (flat.contains("PROGRAM")
            || flat.contains("\\!")
            || flat.contains(".SHELL")
            || flat.contains("OUTFILE")
            || flat.contains(".SYSTEM"))
    {
        judge.note(
            super::super::super::note::RiskCode::HidesWhatItDoes,
            High,
            "Runs commands from within a database's client.",
            &call.part,
        );
    }
    for word in call.words.iter().filter(|word| word.text.starts_with('/')) {
        if judge.folders.place(&word.text) >= Place::Outside {
            judge.note(
                super::super::super::note::RiskCode::LeavesFolder,
                Low,
                "Reads outside the folder.",
                &call.part,
            );
        }
    }
}
