use std::collections::HashSet;
use std::fmt;

/// A name by which two readers of one JSON text could take it differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AmbiguousName {
    /// An object has it twice.
    Twice(String),
    /// The parser keeps it for itself, and would read another value than the text shows.
    Reserved(String),
}

impl fmt::Display for AmbiguousName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Twice(name) => write!(f, "`{name}` twice"),
            Self::Reserved(name) => write!(f, "the name `{name}`, which is not allowed"),
        }
    }
}

/// What the JSON parser takes for an instruction to itself when it is an object's first name: it would read another value
/// than the text shows.
const PARSERS_OWN: &str = "$serde_json::private::";

/// Finds a name that an object has twice, at any depth, or one that the parser keeps for itself. The text must be valid
/// JSON.
pub fn ambiguous_name(text: &str) -> Option<AmbiguousName> {
    let mut objects: Vec<HashSet<String>> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '"']) {
        let found = rest.as_bytes()[at];
        rest = &rest[at + 1..];
        match found {
            b'{' => objects.push(HashSet::new()),
            b'}' => drop(objects.pop()),
            _ => {
                let end = end_of_string(rest);
                let quoted = &rest[..end];
                rest = rest.get(end + 1..).unwrap_or_default();
                if !rest.trim_start().starts_with(':') {
                    continue;
                }
                let name: String = serde_json::from_str(&format!("\"{quoted}\"")).unwrap_or_default();
                if name.starts_with(PARSERS_OWN) {
                    return Some(AmbiguousName::Reserved(name));
                }
                if let Some(names) = objects.last_mut()
                    && !names.insert(name.clone())
                {
                    return Some(AmbiguousName::Twice(name));
                }
            }
        }
    }
    None
}

/// Where a string ends: at the first quote that is not escaped.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    let is_end = |byte: u8| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    };
    text.bytes().position(is_end).unwrap_or(text.len())
}
