//! Programs that run code of another language. It is not judged; a few words in it are looked for.

use super::super::super::RiskLevel::{High, Medium};
use super::super::super::note::RiskCode::{Deletes, HidesWhatItDoes, ReadsSecrets, RunsCode, Sends};
use super::super::super::sensitive;
use super::super::judge::{Call, Does, Judge};
use super::shells::runs_file;

const UNJUDGED: &str = "Runs program code that is written in the command: it is not judged, read it.";

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    let flags = call.flags();
    let version = |name: &str| {
        call.program
            .strip_prefix(name)
            .is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
    };
    let (letters, long): (&str, &[&str]) = match call.program {
        _ if version("python") || version("pypy") || call.program == "ipython" => ("c", &[]),
        "node" | "nodejs" | "bun" => ("ep", &["--eval", "--print"]),
        "deno" => ("", &["eval"]),
        _ if version("perl") => ("eE", &[]),
        _ if version("ruby") || version("lua") || call.program == "luajit" => ("e", &[]),
        _ if version("php") => ("rB", &["--run"]),
        "Rscript" | "julia" | "elixir" | "groovy" | "scala" | "guile" | "racket" => ("e", &["--eval"]),
        "osascript" => ("e", &[]),
        "vim" | "vi" | "nvim" | "ex" | "emacs" | "gdb" | "lldb" => {
            let runs = call.words.iter().any(|word| {
                word.text.contains('!')
                    || word.text.contains("system(")
                    || word.text.contains("shell")
                    || word.text.contains("--eval")
            });
            if runs {
                judge.note(RunsCode, Medium, UNJUDGED, &call.part);
                hints(judge, call, &super::super::word::join(call.words), does);
            }
            return true;
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            for word in call.words {
                let text = &word.text;
                let runs = text.contains("system(")
                    || text.contains("system (")
                    || text.contains("| getline")
                    || text.contains("|getline")
                    || (text.contains("print") && text.contains("| \""))
                    || text.contains("|\"")
                    || text.contains("/inet/");
                if runs {
                    judge.note(
                        HidesWhatItDoes,
                        High,
                        "Runs commands from within an editing script.",
                        &call.part,
                    );
                }
            }
            return true;
        }
        _ => return false,
    };
    let mut code: Vec<&str> = Vec::new();
    for letter in letters.chars() {
        code.extend(flags.values(letter, ""));
    }
    for name in long {
        code.extend(flags.values('\u{1}', name));
    }
    let operands = flags.operands(letters, long);
    let module = call.words.iter().any(|word| word.text == "-m");
    if code.is_empty() && !module {
        match operands.first() {
            Some(file) if file.text != "-" => {
                runs_file(judge, call, &file.text, does);
                return true;
            }
            Some(_) | None => {
                let asks = call
                    .words
                    .iter()
                    .any(|word| matches!(word.text.as_str(), "-V" | "-v" | "--version" | "--help" | "-h"));
                does.runs_input = !asks;
                code.extend(call.input.iter().map(String::as_str));
            }
        }
    }
    if module && call.words.iter().any(|word| word.text == "http.server" || word.text == "SimpleHTTPServer") {
        judge.note(Sends, Medium, "Offers files to the network.", &call.part);
    }
    for text in code {
        judge.note(RunsCode, Medium, UNJUDGED, &call.part);
        hints(judge, call, text, does);
    }
    true
}

/// Words in code that say what it may do.
fn hints(judge: &mut Judge<'_>, call: &Call<'_>, code: &str, does: &mut Does) {
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let part = &call.part;
    if has(&[
        "rmtree",
        "rmSync",
        "rmdirSync",
        "rm_rf",
        "rm_r",
        "remove_tree",
        "rimraf",
        "fs.rm(",
        "deltree",
        "FileUtils.rm",
    ]) {
        judge.note(Deletes, High, "Its code deletes whole folders.", part);
    } else if has(&["os.remove", "unlink", "os.rmdir", "File.delete", "Path.rmdir", "truncate("]) {
        judge.note(Deletes, Medium, "Its code deletes files.", part);
    }
    let runs = has(&[
        "os.system",
        "subprocess",
        "popen",
        "child_process",
        "execSync",
        "spawn",
        "system(",
        "system \"",
        "system '",
        "exec(",
        "exec \"",
        "exec '",
        "pty.",
        "Kernel.",
        "shell_exec",
        "passthru",
        "do shell script",
    ]);
    if runs {
        judge.note(RunsCode, High, "Its code runs other programs, which are not judged.", part);
    }
    let decodes = has(&[
        "b64decode",
        "base64",
        "fromhex",
        "unhexlify",
        "atob",
        "unpack(",
        "decode64",
        "fromCharCode",
        "decode('hex",
        "rot13",
        "zlib.decompress",
        "marshal.loads",
        "chr(",
    ]);
    if decodes && (runs || has(&["exec", "eval", "compile("])) {
        judge.note(HidesWhatItDoes, High, "Decodes a text and runs it.", part);
    }
    let network = has(&[
        "urllib",
        "requests.",
        "http.client",
        "socket",
        "fetch(",
        "https.request",
        "http.request",
        "Net::HTTP",
        "LWP",
        "IO::Socket",
        "urlopen",
        "axios",
        "file_get_contents('http",
        "smtplib",
    ]);
    if network {
        does.sends = true;
        does.uploads = true;
        judge.note(Sends, Medium, "Its code uses the network.", part);
        if has(&["exec(", "eval("]) {
            judge.note(HidesWhatItDoes, High, "Its code runs what it gets from the network.", part);
        }
    }
    let secret = code
        .split(|c: char| c.is_whitespace() || "\"'`(),;".contains(c))
        .any(|word| word.len() > 3 && sensitive::is_secret(word))
        || has(&["os.environ", "process.env)", "ENV.to_h"]) && network;
    if secret {
        does.secret = true;
        judge.note(ReadsSecrets, Medium, "Its code reads what usually holds secrets.", part);
    }
}
