//! References to environment variables in a server's entry. What they stand for is secret.

use std::fmt;

use crate::process::reaches_tools;

/// A value shorter than this is in too many texts to be hidden in them.
const SHORTEST: usize = 4;

/// Values that no text may show.
#[derive(Clone, Default)]
pub(super) struct Hidden(Vec<String>);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hidden({})", self.0.len())
    }
}

impl Hidden {
    fn add(&mut self, value: &str) {
        if value.len() >= SHORTEST && !self.0.iter().any(|known| known == value) {
            self.0.push(value.to_owned());
            // A value that holds another goes first.
            self.0.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// A text without the values.
    pub(super) fn from(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, value| text.replace(value, "[hidden]"))
    }
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

    pub(super) fn pairs(&mut self, pairs: &[(String, String)]) -> Result<Vec<(String, String)>, String> {
        pairs.iter().map(|(name, value)| Ok((name.clone(), self.text(value)?))).collect()
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
                    self.hidden.add(&value);
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
    fn a_reference_that_leads_nowhere_is_an_error_without_values() {
        for text in ["${ABSENT}", "${TOKEN", "${input:token}", "${}", "${TOKEN} ${ABSENT}"] {
            let error = expanded(text).0.unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
        assert!(expanded("${ABSENT}").0.unwrap_err().contains("ABSENT"));
    }
}
