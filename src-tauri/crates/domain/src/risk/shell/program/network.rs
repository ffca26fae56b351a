use super::super::super::RiskLevel::{High, Low, Medium};
use super::super::super::note::RiskCode::{
    HidesWhatItDoes, LeavesFolder, OddAddress, Pays, ReadsSecrets, Sends, SendsSecrets,
};
use super::super::super::place::Place;
use super::super::super::sensitive;
use super::super::judge::{Call, Does, Judge};
use super::super::word::join;

const CALLS: &str = "Asks a server on the network.";
const SENDS: &str = "Sends data over the network.";

pub(super) fn judge(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) -> bool {
    let flags = call.flags();
    let part = &call.part;
    match call.program {
        "curl" | "wget" | "wget2" | "http" | "https" | "xh" | "aria2c" | "axel" | "lwp-request" | "GET"
        | "POST" => web(judge, call, does),
        "nc" | "ncat" | "netcat" | "socat" | "telnet" => {
            does.sends = true;
            does.uploads = true;
            does.fetches = true;
            let runs = flags.short('e')
                || flags.short('c')
                || flags.long("--exec")
                || flags.long("--sh-exec")
                || call.words.iter().any(|word| {
                    word.text.to_lowercase().starts_with("exec:")
                        || word.text.to_lowercase().starts_with("system:")
                });
            let only_looks = flags.short('z');
            if runs {
                judge.note(HidesWhatItDoes, High, "Lets another machine run commands here.", part);
            }
            judge.note(
                Sends,
                if only_looks { Low } else { Medium },
                "Opens a bare connection to another machine.",
                part,
            );
        }
        "scp" | "sftp" | "rsync" | "rclone" | "croc" | "wormhole" | "magic-wormhole" | "ftp" | "lftp"
        | "tftp" => copies(judge, call, does),
        "ssh" | "mosh" | "autossh" => ssh(judge, call, does),
        "mail" | "mailx" | "sendmail" | "mutt" | "msmtp" | "swaks" | "s-nail" | "telegram-send" | "slack"
        | "ntfy" => {
            does.sends = true;
            does.uploads = true;
            judge.note(Sends, Medium, "Sends a message to others.", part);
        }
        "dig" | "nslookup" | "host" | "drill" | "ping" | "traceroute" | "whois" | "resolvectl" => {
            // A name that is asked for can carry data.
            let unseen = call.words.iter().any(|word| word.is_unseen());
            does.sends = unseen;
            judge.note(Sends, if unseen { Medium } else { Low }, CALLS, part);
        }
        "openssl" if flags.word("s_client") => {
            does.sends = true;
            does.uploads = true;
            judge.note(Sends, Medium, "Opens a bare connection to another machine.", part);
        }
        "ngrok" | "cloudflared" | "localtunnel" | "lt" | "bore" | "tailscale" | "serve" | "http-server"
        | "transfer" => {
            judge.note(Sends, Medium, "Offers something of this machine to the network.", part);
        }
        "tcpdump" | "tshark" | "dumpcap" | "nmap" | "masscan" => {
            judge.note(Sends, Medium, "Looks at the network or scans machines.", part);
        }
        "stripe" | "paypal" | "bitcoin-cli" | "lncli" | "solana" | "cast" | "geth" | "monero-wallet-cli"
        | "cleos" => {
            let asks = flags.word("list")
                || flags.word("get")
                || flags.word("balance")
                || flags.word("--help")
                || flags.word("retrieve");
            judge.note(Pays, if asks { Low } else { High }, "Works with money: it may pay or refund.", part);
        }
        _ => return false,
    }
    true
}

fn web(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    let flags = call.flags();
    let part = &call.part;
    if call.words.iter().all(|word| matches!(word.text.as_str(), "--version" | "-V" | "--help" | "-h"))
        && !call.words.is_empty()
    {
        return;
    }
    does.fetches = true;
    does.sends = true;
    let curl = call.program == "curl";
    let data: Vec<&str> = if curl {
        [
            "--data",
            "--data-binary",
            "--data-raw",
            "--data-ascii",
            "--data-urlencode",
            "--json",
            "--form",
            "--form-string",
            "--upload-file",
            "--url-query",
        ]
        .iter()
        .flat_map(|name| flags.values('\u{1}', name).collect::<Vec<_>>())
        .chain(['d', 'F', 'T'].iter().flat_map(|letter| flags.values(*letter, "")))
        .collect()
    } else {
        ["--post-data", "--post-file", "--body-data", "--body-file"]
            .iter()
            .flat_map(|name| flags.values('\u{1}', name).collect::<Vec<_>>())
            .collect()
    };
    let method = flags.value('X', "--request").or_else(|| flags.value('\u{1}', "--method")).unwrap_or("GET");
    let httpie = matches!(call.program, "http" | "https" | "xh")
        && call.words.iter().any(|word| {
            matches!(word.text.as_str(), "POST" | "PUT" | "PATCH" | "DELETE")
                || word.text.contains('@')
                || (word.text.contains('=') && !word.text.contains("://") && !word.text.starts_with('-'))
        });
    let changes = !matches!(method.to_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
        || httpie
        || call.program == "POST";
    if !data.is_empty() || changes {
        does.uploads = true;
        judge.note(Sends, Medium, SENDS, part);
    } else {
        judge.note(Sends, Low, CALLS, part);
    }
    let files = data.iter().filter_map(|data| {
        data.split_once('@')
            .map(|(_, file)| file.split(';').next().unwrap_or(file))
            .or_else(|| flags.values('T', "--upload-file").find(|file| file == data))
    });
    let mut files: Vec<_> = files.collect();
    files.extend(["--post-file", "--body-file"].iter().filter_map(|name| flags.value('\u{1}', name)));
    for file in files {
        if sensitive::is_secret(file) {
            judge.note(SendsSecrets, High, "Sends secrets over the network.", part);
        } else if judge.folders.place(file) >= Place::Outside {
            judge.note(LeavesFolder, Medium, "Sends a file from outside the folder.", part);
        }
    }
    paid(judge, call, changes || !data.is_empty());
    if curl && flags.either('k', "--insecure") || flags.long("--no-check-certificate") {
        judge.note(
            OddAddress,
            Medium,
            "Does not check who answers: others on the way can read and change it.",
            part,
        );
    }
    if curl && flags.either('K', "--config") {
        judge.note(HidesWhatItDoes, Medium, "Takes its options from a file that is not shown.", part);
    }
    outputs(judge, call);
}

fn paid(judge: &mut Judge<'_>, call: &Call<'_>, changes: bool) {
    let words = join(call.words).to_lowercase();
    let host = [
        "api.stripe.com",
        "api.paypal.com",
        "api-m.paypal.com",
        "api.adyen.com",
        "api.wise.com",
        "api.coinbase.com",
        "squareup.com",
    ];
    let path = [
        "/charges",
        "/payments",
        "/payment_intents",
        "/refunds",
        "/payouts",
        "/transfers",
        "/checkout",
        "/withdrawals",
    ];
    if changes
        && (host.iter().any(|host| words.contains(host)) || path.iter().any(|path| words.contains(path)))
    {
        judge.note(Pays, High, "By its address, it pays or moves money.", &call.part);
    }
}

/// The files that a download becomes.
fn outputs(judge: &mut Judge<'_>, call: &Call<'_>) {
    let flags = call.flags();
    let curl = call.program == "curl";
    let to = if curl { flags.value('o', "--output") } else { flags.value('O', "--output-document") };
    let last = |text: &str| {
        text.split(['?', '#']).next().unwrap_or(text).rsplit('/').next().unwrap_or(text).to_owned()
    };
    match to {
        Some("-") => {}
        Some(path) => {
            judge.write_file(path, &call.part);
            judge.effects.made.push((last(path), None));
        }
        None if !curl || flags.either('O', "--remote-name") => {
            for word in
                call.words.iter().filter(|word| word.text.contains('/') && !word.text.starts_with('-'))
            {
                judge.effects.made.push((last(&word.text), None));
            }
        }
        None => {}
    }
}

fn copies(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    let flags = call.flags();
    let part = &call.part;
    let operands = flags.operands(
        "FPeilcoSJD",
        &["--rsh", "--exclude", "--include", "--files-from", "--password-file", "--port"],
    );
    let remote =
        |text: &str| text.split_once(':').is_some_and(|(host, _)| !host.is_empty() && !host.contains('/'));
    let text = |at: usize| operands.get(at).map(|word| word.text.as_str()).unwrap_or_default();
    let rclone = call.program == "rclone";
    let last = text(operands.len().saturating_sub(1)).to_owned();
    let out = remote(&last)
        || matches!(call.program, "sftp" | "ftp" | "lftp" | "tftp" | "croc" | "wormhole" | "magic-wormhole");
    if out || operands.iter().any(|word| remote(&word.text)) {
        does.sends |= out;
        does.uploads |= out;
        does.fetches |= !out;
        judge.note(Sends, if out { Medium } else { Low }, if out { SENDS } else { CALLS }, part);
    }
    let from = &operands[..operands.len().saturating_sub(1)];
    if out && from.iter().any(|word| sensitive::is_secret(&word.text)) {
        judge.note(SendsSecrets, High, "Sends secrets over the network.", part);
    }
    if !out && operands.len() > 1 && !rclone {
        judge.write_file(&last, part);
    }
    if call.words.iter().any(|word| word.text.starts_with("--delete"))
        || (rclone && matches!(text(0), "sync" | "delete" | "purge" | "move"))
    {
        let place = if out { Place::Outside } else { judge.folders.place(&last) };
        let level = if place >= Place::Outside { High } else { Medium };
        judge.note(
            super::super::super::note::RiskCode::Deletes,
            level,
            "Deletes what is not in the source.",
            part,
        );
    }
    for option in
        [flags.value('e', "--rsh"), flags.value('\u{1}', "--rsync-path"), flags.value('S', "--program")]
            .into_iter()
            .flatten()
    {
        let plain = option.starts_with("ssh") && !option.contains("ProxyCommand");
        if !plain && call.program != "lftp" {
            judge.note(HidesWhatItDoes, High, "Runs another command through an option.", part);
            judge.inner(option, part);
        }
    }
}

fn ssh(judge: &mut Judge<'_>, call: &Call<'_>, does: &mut Does) {
    let flags = call.flags();
    let part = &call.part;
    for option in flags.values('o', "") {
        let lower = option.to_lowercase();
        if lower.starts_with("proxycommand")
            || lower.starts_with("localcommand")
            || lower.starts_with("knownhostscommand")
        {
            judge.note(HidesWhatItDoes, High, "Runs another command through an option.", part);
            judge.inner(option.split_once(['=', ' ']).map_or("", |(_, command)| command), part);
        } else if lower.starts_with("stricthostkeychecking=no") {
            judge.note(
                OddAddress,
                Medium,
                "Does not check who answers: others on the way can read and change it.",
                part,
            );
        }
    }
    if flags.short('R') || flags.short('L') || flags.short('D') {
        judge.note(Sends, Medium, "Opens a way for connections through this machine.", part);
    }
    does.sends = true;
    does.uploads = true;
    judge.note(Sends, Medium, "Works on another machine.", part);
    let at = flags.first("BbcDEeFIiJLlmOopQRSWw", &[]);
    let text = join(call.words.get(at + 1..).unwrap_or_default());
    if text.trim().is_empty() {
        for text in call.input {
            judge.inner(text, part);
        }
    } else {
        let inner = judge.inner(&text, part);
        does.fetches |= inner.fetches;
        does.runs_input |= inner.runs_input;
        if inner.secret {
            judge.note(ReadsSecrets, Medium, "Reads a file that usually holds secrets.", part);
        }
    }
}
