//! Web addresses: where they lead and what they carry.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use url::{Host, Url};

use super::RiskLevel::{High, Low, Medium};
use super::note::{Notes, RiskCode};
use super::place::UNSEEN;
use super::sensitive;
use crate::text::is_hidden;

/// A query or path longer than this could carry what somebody gathered, in characters.
const LONG: usize = 200;

/// What a request does with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A tool fetches it.
    Fetched,
    /// A person is to sign in there.
    SignIn,
    /// It is in a command.
    InCommand,
}

/// What an address says.
pub(super) fn judge(text: &str, purpose: Purpose, notes: &mut Notes, part: Option<Range<usize>>) {
    let text = &text.replace(UNSEEN, "0");
    let mut note = |code, level, text| notes.add(code, level, text, part.clone());
    if text.chars().any(|c| is_hidden(c) || c == '\\') {
        note(RiskCode::HidesWhatItDoes, High, "The address holds characters that hide where it leads.");
    }
    let Ok(url) = Url::parse(text.trim()) else {
        if purpose != Purpose::InCommand {
            note(RiskCode::OddAddress, Medium, "The address cannot be read.");
        }
        return;
    };
    if !url.username().is_empty() || url.password().is_some() {
        note(
            RiskCode::OddAddress,
            High,
            "The address has a name before its host, which can look like another host.",
        );
    }
    if url.scheme() == "http" && !is_here(&url) {
        let level = if purpose == Purpose::SignIn { High } else { Medium };
        note(
            RiskCode::OddAddress,
            level,
            "The address is not encrypted: others on the way can read and change it.",
        );
    }
    match url.host() {
        Some(Host::Domain(name)) if name.split('.').any(|label| label.starts_with("xn--")) => {
            note(
                RiskCode::OddAddress,
                High,
                "The host's name uses letters of other scripts, which can look like another's.",
            );
        }
        Some(Host::Domain(name)) if purpose == Purpose::SignIn && poses(name) => {
            note(RiskCode::OddAddress, High, "The host's name looks like a well-known one, and is another.");
        }
        Some(Host::Domain(name))
            if ["local", "internal", "lan", "home"].iter().any(|end| name.ends_with(&format!(".{end}"))) =>
        {
            note(RiskCode::OddAddress, Medium, "The address is in a private network.");
        }
        Some(Host::Domain(_)) | None => {}
        Some(Host::Ipv4(ip)) if ip.is_loopback() => {}
        Some(Host::Ipv6(ip)) if ip.is_loopback() => {}
        Some(Host::Ipv4(ip)) if ip == Ipv4Addr::new(169, 254, 169, 254) => {
            note(RiskCode::ReadsSecrets, High, "The address is that of a cloud machine's own keys.");
        }
        Some(Host::Ipv4(ip)) if ip.is_private() || ip.is_link_local() || ip.is_unspecified() => {
            note(RiskCode::OddAddress, Medium, "The address is in a private network.");
        }
        Some(Host::Ipv6(ip)) if is_private(ip) => {
            note(RiskCode::OddAddress, Medium, "The address is in a private network.");
        }
        Some(Host::Ipv4(_) | Host::Ipv6(_)) => {
            let level = if purpose == Purpose::SignIn { High } else { Medium };
            note(RiskCode::OddAddress, level, "The address is a bare number: nothing says whose it is.");
        }
    }
    note_carried(&url, purpose, &mut note);
}

fn note_carried(
    url: &Url,
    purpose: Purpose,
    note: &mut impl FnMut(RiskCode, super::RiskLevel, &'static str),
) {
    if purpose == Purpose::SignIn {
        return;
    }
    let secret = url.query_pairs().any(|(name, value)| sensitive::is_secret_name(&name) && !value.is_empty());
    let long = url.query().map_or(0, str::len) > LONG
        || url.path_segments().is_some_and(|mut parts| parts.any(|part| part.len() > LONG));
    if secret {
        note(RiskCode::SendsSecrets, High, "The address carries something named as a secret.");
    } else if long {
        note(RiskCode::Sends, Medium, "The address carries much data to the server.");
    } else if purpose == Purpose::Fetched {
        match url.query() {
            Some(_) => note(RiskCode::Sends, Low, "The address carries data to the server."),
            None => note(RiskCode::Sends, Low, "Asks a server on the network."),
        }
    }
}

fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

fn is_private(ip: Ipv6Addr) -> bool {
    ip.is_unique_local()
        || ip.is_unicast_link_local()
        || ip.is_unspecified()
        || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_private() || ip.is_loopback() || ip.is_link_local())
}

/// Hosts at which people sign in, with the names by which they go.
const KNOWN: [(&str, &[&str]); 12] = [
    ("google", &["google.com", "googleapis.com", "google.dev", "withgoogle.com"]),
    ("github", &["github.com", "github.io", "githubusercontent.com", "github.dev"]),
    ("gitlab", &["gitlab.com", "gitlab.io"]),
    ("microsoft", &["microsoft.com", "microsoftonline.com"]),
    ("apple", &["apple.com", "icloud.com"]),
    ("paypal", &["paypal.com"]),
    ("amazon", &["amazon.com", "amazonaws.com", "amazon.de", "amazon.co.uk"]),
    ("slack", &["slack.com"]),
    ("dropbox", &["dropbox.com"]),
    ("facebook", &["facebook.com"]),
    ("openai", &["openai.com"]),
    ("anthropic", &["anthropic.com"]),
];

/// Whether a host goes by a well-known name, or one drawn like it, and is not at home there.
fn poses(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_lowercase();
    let drawn = host
        .replace('0', "o")
        .replace('1', "l")
        .replace('3', "e")
        .replace('5', "s")
        .replace("rn", "m")
        .replace("vv", "w");
    KNOWN.iter().any(|(name, homes)| {
        let home = homes.iter().any(|home| host == *home || host.ends_with(&format!(".{home}")));
        !home && drawn.split(['.', '-']).any(|label| label == *name)
    })
}
