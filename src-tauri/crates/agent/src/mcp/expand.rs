//! References to environment variables in a server's entry. What they stand for is secret.

use std::fmt;

use serde_json::Value;

use crate::process::reaches_tools;

/// A value shorter than this is in too many texts to be hidden in them.
const SHORTEST: usize = 4;

/// Values that no text may show.
#[derive(Clone, Default)]
pub(super) struct Hidden {
    /// In everything that a server gives: what references stand for, and what an entry calls a secret.
    secrets: Vec<String>,
    /// Only where a server, or what connects to it, speaks of itself: values of an entry that may be a secret, and may as
    /// well be a folder or a yes, which results are full of.
    values: Vec<String>,
    /// Addresses, which errors name.
    addresses: Vec<String>,
}

/// A variable, header or part of an address with one of these in its name holds a secret.
const SECRET_NAMES: [&str; 9] =
    ["key", "token", "secret", "pass", "pwd", "auth", "credential", "cookie", "sig"];

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hidden({})", self.secrets.len() + self.values.len())
    }
}

/// Whether what goes by this name is a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

impl Hidden {
    /// What an entry gives a variable or a header; also without a word before it, such as `Bearer`.
    pub(super) fn add_value(&mut self, name: &str, value: &str) {
        let is_secret = names_a_secret(name) && !reaches_tools(name);
        let to = if is_secret { &mut self.secrets } else { &mut self.values };
        add(to, value);
        if let Some((_, rest)) = value.trim().split_once(' ') {
            add(to, rest.trim());
        }
    }

    /// An address, as it is written and as errors name it, and what its query says.
    pub(super) fn add_address(&mut self, address: &url::Url, written: &str) {
        add(&mut self.addresses, written);
        add(&mut self.addresses, address.as_str());
        for (name, value) in address.query_pairs() {
            self.add_value(&name, &value);
        }
        // As it stands in the address, where that is another text.
        for (name, value) in
            address.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='))
        {
            self.add_value(name, value);
        }
    }

    /// What a server gave, without the secrets.
    pub(super) fn from(&self, text: &str) -> String {
        without(text, self.secrets.iter())
    }

    /// The same of JSON: in each of its texts, and in its names.
    pub(super) fn in_json(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.from(text)),
            Value::Array(items) => items.iter().map(|item| self.in_json(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (self.from(name), self.in_json(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// Whether a text holds a secret.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| text.contains(secret))
    }

    /// What a server says of itself, or is said of it, without any value of its entry and without its address.
    pub(super) fn in_words(&self, text: &str) -> String {
        let text = self.addresses.iter().fold(text.to_owned(), |text, address| {
            text.replace(&format!(" for url ({address})"), "").replace(address, "[hidden]")
        });
        let mut all: Vec<_> = self.secrets.iter().chain(&self.values).collect();
        all.sort_by_key(|value| std::cmp::Reverse(value.len()));
        without(&text, all.into_iter())
    }
}

fn add(to: &mut Vec<String>, value: &str) {
    if value.len() >= SHORTEST && !to.iter().any(|known| known == value) {
        to.push(value.to_owned());
        // A value that holds another goes first.
        to.sort_by_key(|value| std::cmp::Reverse(value.len()));
    }
}

fn without<'a>(text: &str, values: impl Iterator<Item = &'a String>) -> String {
    values.fold(text.to_owned(), |text, value| text.replace(value, "[hidden]"))
}

/// Follows `${NAME}`, `${env:NAME}` and `${NAME:-default}`.
pub(super) struct Expand<'a> {
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    pub(super) hidden: Hidden,
}

impl Expand<'_> {
    /// The text with what its references stand for. An error names the variable and no value.
    pub(super) fn text(&mut self, text: &str) -> Result<String, String> {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("${") {
            expanded.push_str(&rest[..start]);
            let after = &rest[start + 2..];
            let Some(end) = after.find('}') else {
                return Err("a reference `${…` is not closed with `}`.".to_owned());
            };
            expanded.push_str(&self.reference(&after[..end])?);
            rest = &after[end + 1..];
        }
        expanded.push_str(rest);
        Ok(expanded)
    }

    /// Variables or headers. All of them are hidden in what the server says of itself.
    pub(super) fn pairs(&mut self, pairs: &[(String, String)]) -> Result<Vec<(String, String)>, String> {
        let mut pair = |(name, value): &(String, String)| {
            let value = self.text(value)?;
            self.hidden.add_value(name, &value);
            Ok((name.clone(), value))
        };
        pairs.iter().map(&mut pair).collect()
    }

    fn reference(&mut self, reference: &str) -> Result<String, String> {
        let (name, default) = match reference.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (reference, None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !name.chars().all(is_part) || !name.starts_with(|c: char| is_part(c) && !c.is_ascii_digit()) {
            return Err("a reference must be ${NAME}, ${env:NAME} or ${NAME:-default}.".to_owned());
        }
        match ((self.variable)(name).filter(|value| !value.is_empty()), default) {
            (Some(value), _) => {
                // What every tool's process gets is no secret.
                if !reaches_tools(name) {
                    add(&mut self.hidden.secrets, &value);
                }
                Ok(value)
            }
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => Err(format!(
                "the environment variable {name} is not set where Sayso was started. Set it and start Sayso again."
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> (Result<String, String>, Hidden) {
        let variable = |name: &str| match name {
            "TOKEN" => Some("hunter2".to_owned()),
            "HOME" => Some("/home/you".to_owned()),
            _ => None,
        };
        let mut expand = Expand { variable: &variable, hidden: Hidden::default() };
        (expand.text(text), expand.hidden)
    }

    #[test]
    fn references_are_followed_and_what_they_stand_for_is_hidden() {
        for (text, wanted) in [
            ("Bearer ${TOKEN}", "Bearer hunter2"),
            ("${env:TOKEN}/${TOKEN}", "hunter2/hunter2"),
            ("${ABSENT:-a:-b}", "a:-b"),
            ("${HOME}/x", "/home/you/x"),
            ("$TOKEN {TOKEN}", "$TOKEN {TOKEN}"),
        ] {
            assert_eq!(expanded(text).0.as_deref(), Ok(wanted), "{text}");
        }
        let hidden = expanded("${TOKEN} ${HOME}").1;
        assert_eq!(hidden.from("hunter2 in /home/you"), "[hidden] in /home/you");
        assert!(!format!("{hidden:?}").contains("hunter2"));
    }

    #[test]
    fn what_an_entry_itself_says_is_hidden_in_words_and_its_secrets_in_results_too() {
        let mut hidden = Hidden::default();
        hidden.add_value("API_KEY", "literal-key");
        hidden.add_value("ROOT", "/home/you/code");
        hidden.add_value("DEBUG", "true");
        hidden.add_value("Authorization", "Bearer in-the-header");
        let address = url::Url::parse("https://example.org/mcp?api_key=in%20the%20query&v=1").unwrap();
        hidden.add_address(&address, address.as_str());
        let text = "literal-key in-the-header in the query in%20the%20query";
        assert_eq!(hidden.from(text), "[hidden] [hidden] [hidden] [hidden]");
        assert_eq!(hidden.in_words(text), hidden.from(text));
        assert_eq!(hidden.from("/home/you/code is true"), "/home/you/code is true");
        assert_eq!(hidden.in_words("/home/you/code is true"), "[hidden] is [hidden]");
        assert_eq!(hidden.in_words(&format!("no answer for url ({address})")), "no answer");
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_an_error_without_values() {
        for text in ["${ABSENT}", "${TOKEN", "${input:token}", "${}", "${TOKEN} ${ABSENT}"] {
            let error = expanded(text).0.unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(expanded("${ABSENT}").0.unwrap_err().contains("ABSENT"));
    }
}
