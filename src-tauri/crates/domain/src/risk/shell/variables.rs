use std::collections::HashMap;

/// How many values of one variable are kept, and how many combinations of them are tried for one command.
const VALUES: usize = 6;
const COMBINATIONS: usize = 24;
/// The longest value that is followed, in bytes.
const LONGEST: usize = 4096;

/// What variables may hold, as far as the text says so. Where it was assigned does not count: a loop or a function can
/// come back to it.
#[derive(Debug, Default)]
pub(super) struct Variables {
    values: HashMap<String, Vec<String>>,
}

/// One of the combinations of what they may hold.
#[derive(Debug, Default)]
pub(super) struct Picked<'a>(HashMap<&'a str, &'a str>);

impl Variables {
    /// One more value that it may hold.
    pub(super) fn may_hold(&mut self, name: &str, value: String) {
        let unseen = super::UNSEEN.to_string();
        let values = self.values.entry(name.to_owned()).or_default();
        let value = if value.len() > LONGEST || values.len() >= VALUES { unseen } else { value };
        if !values.contains(&value) {
            values.push(value);
        }
    }

    /// The combinations of values of the variables that a text uses. Too many are one in which nothing is known.
    pub(super) fn combinations(&self, text: &str) -> Vec<Picked<'_>> {
        let used: Vec<_> = if text.contains('$') {
            self.values.iter().filter(|(name, _)| uses(text, name)).collect()
        } else {
            Vec::new()
        };
        let count = used.iter().try_fold(1_usize, |count, (_, values)| count.checked_mul(values.len()));
        match count.filter(|count| *count <= COMBINATIONS) {
            None => vec![Picked::default()],
            Some(count) => (0..count)
                .map(|mut at| {
                    let mut picked = HashMap::new();
                    for (name, values) in &used {
                        picked.insert(name.as_str(), values[at % values.len()].as_str());
                        at /= values.len();
                    }
                    Picked(picked)
                })
                .collect(),
        }
    }
}

impl Picked<'_> {
    /// What it holds here; none if that cannot be known.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        match name {
            "HOME" => Some("~"),
            "PWD" | "OLDPWD" => Some("."),
            "TMPDIR" => Some("/tmp"),
            "IFS" => Some(" "),
            _ => self.0.get(name).copied(),
        }
    }
}

fn uses(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].trim_end_matches(['{', '!', '#']);
        let after = text[at + name.len()..].chars().next();
        before.ends_with('$') && !after.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
