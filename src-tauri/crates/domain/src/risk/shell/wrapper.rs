//! Programs that run another: what they run.

use super::UNSEEN;
use super::flags::Flags;
use super::word::{Word, join};

/// What a wrapper runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// The words from here on, as a command.
    Words(Vec<Word>),
    /// A text, as a shell's.
    Text(String),
    /// Nothing.
    Nothing,
}

/// Options that take a value in a word of its own, and words between the options and the command.
struct Plain {
    names: &'static [&'static str],
    valued: &'static str,
    long: &'static [&'static str],
    between: usize,
}

const PLAIN: [Plain; 17] = [
    Plain {
        names: &[
            "nohup",
            "builtin",
            "setsid",
            "coproc",
            "busybox",
            "toybox",
            "fakeroot",
            "caffeinate",
            "unbuffer",
            "then",
            "do",
            "else",
            "if",
            "while",
            "until",
            "elif",
            "!",
        ],
        valued: "",
        long: &[],
        between: 0,
    },
    Plain { names: &["nice"], valued: "n", long: &["--adjustment"], between: 0 },
    Plain { names: &["ionice"], valued: "cnpPu", long: &["--class", "--classdata"], between: 0 },
    Plain { names: &["time", "gtime"], valued: "fo", long: &["--format", "--output"], between: 0 },
    Plain { names: &["timeout", "gtimeout"], valued: "sk", long: &["--signal", "--kill-after"], between: 1 },
    Plain { names: &["stdbuf"], valued: "ioe", long: &["--input", "--output", "--error"], between: 0 },
    Plain { names: &["exec"], valued: "a", long: &[], between: 0 },
    Plain { names: &["taskset", "chrt", "setarch", "cpulimit"], valued: "", long: &[], between: 1 },
    Plain { names: &["strace", "ltrace"], valued: "oepuasEIPSX", long: &["--output", "--trace"], between: 0 },
    Plain { names: &["chroot"], valued: "", long: &["--userspec", "--groups"], between: 1 },
    Plain {
        names: &["unshare", "nsenter", "firejail", "systemd-run", "prlimit"],
        valued: "tpu",
        long: &["--unit", "--target"],
        between: 0,
    },
    Plain {
        names: &[
            "systemd-inhibit",
            "dbus-run-session",
            "xvfb-run",
            "ssh-agent",
            "catchsegv",
            "tsocks",
            "torsocks",
            "proxychains",
            "proxychains4",
        ],
        valued: "nsf",
        long: &["--what", "--who", "--why"],
        between: 0,
    },
    Plain { names: &["pkexec"], valued: "", long: &["--user"], between: 0 },
    Plain {
        names: &["sudo"],
        valued: "ugpChrtTUDR",
        long: &[
            "--user",
            "--group",
            "--prompt",
            "--close-from",
            "--host",
            "--role",
            "--type",
            "--command-timeout",
            "--other-user",
            "--chdir",
            "--chroot",
        ],
        between: 0,
    },
    Plain { names: &["doas"], valued: "uC", long: &[], between: 0 },
    Plain { names: &["runuser"], valued: "ugG", long: &["--user", "--group"], between: 0 },
    Plain {
        names: &["dotenv", "aws-vault", "chamber", "gosu", "su-exec"],
        valued: "f",
        long: &[],
        between: 0,
    },
];

/// What a command runs, if it is one that runs another.
pub(super) fn unwrap(program: &str, words: &[Word]) -> Option<Inner> {
    let flags = Flags(words);
    if let Some(text) = text_option(program, flags) {
        return Some(Inner::Text(text));
    }
    match program {
        "env" => return env(words),
        "command" if flags.short('v') || flags.short('V') => return Some(Inner::Nothing),
        "command" => return Some(from(words, flags.first("", &[]))),
        "xargs" | "gxargs" => return Some(xargs(words)),
        "parallel" => {
            let at = flags.first("jaN", &["--jobs", "--arg-file"]);
            let text = join(&words[at..]).replace(":::", " ");
            return Some(Inner::Text(if text.trim().is_empty() {
                UNSEEN.to_string()
            } else {
                format!("{text} {UNSEEN}")
            }));
        }
        "watch" | "entr" => {
            let at = flags.first("n", &["--interval"]);
            return Some(Inner::Text(join(&words[at..])));
        }
        "flock" => return Some(from(words, flags.first("wE", &["--timeout"]) + 1)),
        "npx" | "bunx" | "pnpx" => return Some(from(words, flags.first("p", &["--package"]))),
        "poetry" | "uv" | "pipenv" | "hatch" | "pdm" | "rye" | "op" | "doppler" | "infisical"
            if words.first().is_some_and(|word| word.text == "run") =>
        {
            let at = flags_after(words, 1);
            return Some(from(words, at));
        }
        "bundle" | "npm" | "pnpm" | "yarn" | "mise" | "rbenv" | "pyenv" | "asdf" | "conda" | "opam"
            if words.first().is_some_and(|word| matches!(word.text.as_str(), "exec" | "x" | "dlx")) =>
        {
            return Some(from(words, flags_after(words, 1)));
        }
        "direnv" if words.first().is_some_and(|word| word.text == "exec") => return Some(from(words, 2)),
        _ => {}
    }
    let plain = PLAIN.iter().find(|plain| plain.names.contains(&program))?;
    let at = flags.first(plain.valued, plain.long) + plain.between;
    let rest = words.get(at..).unwrap_or_default();
    // `sudo NAME=value command`
    let set = rest.iter().take_while(|word| is_assignment(&word.text)).count();
    Some(from(rest, set))
}

fn from(words: &[Word], at: usize) -> Inner {
    match words.get(at..).unwrap_or_default() {
        [] => Inner::Nothing,
        rest => Inner::Words(rest.to_vec()),
    }
}

fn flags_after(words: &[Word], at: usize) -> usize {
    at + Flags(words.get(at..).unwrap_or_default()).first("p", &["--package", "--env", "--with", "--project"])
}

/// Wrappers with an option that holds a text for a shell.
fn text_option(program: &str, flags: Flags<'_>) -> Option<String> {
    let (letter, long) = match program {
        "su" | "runuser" => ('c', "--command"),
        "script" => ('c', "--command"),
        "flock" => ('c', "--command"),
        "nix-shell" => ('\u{1}', "--run"),
        "sg" => ('c', "--command"),
        _ => return None,
    };
    flags.value(letter, long).map(str::to_owned)
}

fn env(words: &[Word]) -> Option<Inner> {
    let flags = Flags(words);
    if let Some(text) = flags.value('S', "--split-string") {
        let at = words.iter().position(|word| word.text.contains(text)).unwrap_or(words.len() - 1);
        return Some(Inner::Text(format!("{text} {}", join(words.get(at + 1..).unwrap_or_default()))));
    }
    let at = flags.first("uCS", &["--unset", "--chdir"]);
    let rest = words.get(at..).unwrap_or_default();
    let set = rest.iter().take_while(|word| is_assignment(&word.text)).count();
    // Without a command it prints the environment: that is judged as such.
    rest.get(set).map(|_| from(rest, set))
}

fn xargs(words: &[Word]) -> Inner {
    let flags = Flags(words);
    let long = [
        "--replace",
        "--max-args",
        "--max-procs",
        "--max-lines",
        "--delimiter",
        "--arg-file",
        "--max-chars",
        "--eof",
    ];
    let at = flags.first("InPLdasE", &long);
    let replaced = flags.value('I', "--replace").map(str::to_owned);
    let mut rest = words.get(at..).unwrap_or_default().to_vec();
    if rest.is_empty() {
        return Inner::Nothing;
    }
    match replaced.filter(|mark| !mark.is_empty()) {
        Some(mark) => {
            for word in &mut rest {
                word.text = word.text.replace(&mark, &UNSEEN.to_string());
            }
        }
        None => rest.push(Word::plain(UNSEEN)),
    }
    Inner::Words(rest)
}

/// Whether a word is `NAME=value`.
pub(super) fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
