//! Tools that we don't know: their names and arguments, by whole words.

use serde_json::Value;

use super::RiskLevel::{self, High, Medium};
use super::note::{Notes, RiskCode};
use super::sensitive;

/// How much of a tool's arguments is looked at: values, and levels of nesting.
const VALUES: usize = 2000;
const DEPTH: usize = 32;

/// Words of a tool's name, what they say, and how much it matters.
const WORDS: [(&[&str], RiskCode, RiskLevel, &str); 6] = [
    (
        &[
            "delete", "deletes", "remove", "erase", "destroy", "drop", "purge", "wipe", "truncate", "unlink",
            "rm", "trash",
        ],
        RiskCode::Deletes,
        Medium,
        "By its name, this tool deletes something.",
    ),
    (
        &[
            "pay",
            "pays",
            "payment",
            "payments",
            "payout",
            "refund",
            "charge",
            "purchase",
            "buy",
            "checkout",
            "transfer",
            "withdraw",
            "invoice",
            "donate",
            "subscribe",
            "order",
            "trade",
            "wire",
        ],
        RiskCode::Pays,
        High,
        "By its name, this tool moves money or orders something.",
    ),
    (
        &[
            "send", "sends", "email", "mail", "sms", "tweet", "reply", "notify", "message", "post",
            "comment", "share", "upload", "submit", "invite", "forward", "webhook", "call", "dial",
        ],
        RiskCode::Sends,
        Medium,
        "By its name, this tool sends something to others.",
    ),
    (
        &["push", "publish", "deploy", "release", "merge", "rollout", "promote"],
        RiskCode::Pushes,
        Medium,
        "By its name, this tool publishes or deploys something.",
    ),
    (
        &["grant", "chmod", "chown", "permission", "permissions", "revoke", "impersonate", "sudo"],
        RiskCode::ChangesPermissions,
        Medium,
        "By its name, this tool changes who may do what.",
    ),
    (
        &["overwrite", "replace", "reset", "restore", "rollback"],
        RiskCode::Overwrites,
        Medium,
        "By its name, this tool replaces something.",
    ),
];

/// Words before a name's verb that make it a question: `get_payments` pays nothing.
const READS: [&str; 14] = [
    "get", "list", "read", "search", "find", "show", "view", "fetch", "describe", "count", "query", "lookup",
    "check", "is",
];

/// What a tool's name and its arguments say.
pub(super) fn judge(tool: &str, arguments: &Value, notes: &mut Notes) {
    let words = words(tool);
    // The last part of `server__verb_noun` or `server.verb` begins with the verb.
    let asks = verb(tool).is_some_and(|verb| READS.contains(&verb.as_str()));
    for (named, code, level, text) in WORDS {
        if !asks && words.iter().any(|word| named.contains(&word.as_str())) {
            notes.add(code, level, text, None);
        }
    }
    let mut left = VALUES;
    judge_values(arguments, DEPTH, &mut left, notes);
}

fn verb(tool: &str) -> Option<String> {
    let last = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    let last = last.rsplit("__").next().unwrap_or(last);
    words(last).into_iter().next()
}

fn judge_values(value: &Value, depth: usize, left: &mut usize, notes: &mut Notes) {
    if depth == 0 || *left == 0 {
        notes.add(
            RiskCode::NotFullyRead,
            High,
            "Too long or too deep to be judged: not all of it was read.",
            None,
        );
        return;
    }
    *left -= 1;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => judge_text(text, notes),
        Value::Array(list) => list.iter().for_each(|value| judge_values(value, depth - 1, left, notes)),
        Value::Object(fields) => {
            for (name, value) in fields {
                if sensitive::is_secret_name(name) && value.as_str().is_some_and(|text| !text.is_empty()) {
                    notes.add(
                        RiskCode::ReadsSecrets,
                        Medium,
                        "Its arguments carry something named as a secret.",
                        None,
                    );
                }
                if name == "amount" && (value.is_number() || value.is_string()) {
                    notes.add(RiskCode::Pays, Medium, "Its arguments name an amount.", None);
                }
                judge_values(value, depth - 1, left, notes);
            }
        }
    }
}

fn judge_text(text: &str, notes: &mut Notes) {
    let one = text.len() < 300 && !text.contains(char::is_whitespace);
    if one
        && (text.contains('/') || text.starts_with('.'))
        && !text.contains("://")
        && sensitive::is_secret(text)
    {
        notes.add(RiskCode::ReadsSecrets, Medium, "Names a file that usually holds secrets.", None);
    }
    let statement = text.trim_start().get(..20).unwrap_or(text.trim_start()).to_lowercase();
    if ["drop ", "truncate ", "delete from "].iter().any(|start| statement.starts_with(start)) {
        notes.add(RiskCode::Deletes, High, "Deletes from a database.", None);
    }
}

/// The words of a name: `sendEmail`, `send-email` and `send_email` are the same two.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before: Option<char> = None;
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let lower_follows = rest.peek().is_some_and(|next| next.is_lowercase());
        let starts = before.is_some_and(|before| {
            c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && lower_follows))
        });
        if starts || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.retain(|word| !word.is_empty());
    words
}
