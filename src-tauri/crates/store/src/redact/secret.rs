use serde::de::IgnoredAny;

use crate::StoreError;

/// What stands where something was erased.
pub const MARK: &str = "[redacted]";
/// Shorter texts are in too much that is no secret.
const SHORTEST: usize = 4;
/// JSON that holds JSON that holds JSON: a model's message has a call's arguments, which may have some of their own.
const DEPTH: usize = 3;

/// A text to erase, in every form that it may be written in: as it is, and as JSON writes it inside of texts.
#[derive(Clone)]
pub struct Secret {
    text: String,
    /// Longer ones first, so that none is found in a part of another.
    forms: Vec<String>,
}

impl Secret {
    /// A text with a line break at its end is meant without it. [`StoreError::Refused`] if it is too short.
    pub fn new(text: &str) -> Result<Self, StoreError> {
        let text = text.trim_end_matches(['\r', '\n']);
        if text.trim().chars().count() < SHORTEST {
            return Err(StoreError::Refused(format!(
                "The text to erase has fewer than {SHORTEST} characters: it would be found in much that is no secret. \
                 Nothing was changed. Give more of it."
            )));
        }
        let escapes: [fn(&str) -> String; 3] = [escaped, ascii, slashed];
        let mut forms = vec![text.to_owned()];
        for escape in escapes {
            let mut form = text.to_owned();
            for _ in 0..DEPTH {
                form = escape(&form);
                forms.push(form.clone());
            }
        }
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        forms.dedup();
        Ok(Self { text: text.to_owned(), forms })
    }

    /// Whether a text holds it.
    pub fn is_in(&self, text: &str) -> bool {
        self.forms.iter().any(|form| text.contains(form.as_str()))
            || (text.contains("\\u") && self.erased(text).is_some())
    }

    /// Whether bytes hold it as they are.
    pub(super) fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        self.forms.iter().any(|form| text.contains(form.as_str()))
    }

    /// The most bytes of a form.
    pub(super) fn longest(&self) -> usize {
        self.forms.first().map_or(0, String::len)
    }

    /// The text without it, with a mark in its place; none if it does not hold it. JSON stays JSON, and what it holds
    /// otherwise stays as it is, digit for digit.
    pub fn erased(&self, text: &str) -> Option<String> {
        let begins = text.trim_start().as_bytes().first();
        let is_json = begins.is_some_and(|first| b"{[\"".contains(first))
            && serde_json::from_str::<IgnoredAny>(text).is_ok();
        if is_json { self.erased_json(text) } else { self.erased_plain(text) }
    }

    fn erased_plain(&self, text: &str) -> Option<String> {
        let mut left = text.to_owned();
        for form in &self.forms {
            if left.contains(form.as_str()) {
                left = left.replace(form.as_str(), MARK);
            }
        }
        (left != text).then_some(left)
    }

    /// Goes from text to text and from number to number; what is between them is kept.
    fn erased_json(&self, json: &str) -> Option<String> {
        let mut left = String::with_capacity(json.len());
        let mut found = false;
        let mut rest = json;
        while let Some(begin) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
            let (between, from) = rest.split_at(begin);
            left.push_str(between);
            let is_text = from.starts_with('"');
            let end = if is_text { text_end(from) } else { number_end(from) };
            let (token, after) = from.split_at(end);
            let erased = if is_text { self.erased_token(token) } else { self.erased_number(token) };
            found |= erased.is_some();
            left.push_str(erased.as_deref().unwrap_or(token));
            rest = after;
        }
        left.push_str(rest);
        found.then_some(left)
    }

    fn erased_token(&self, token: &str) -> Option<String> {
        match serde_json::from_str::<String>(token) {
            Ok(text) => self.erased(&text).map(|left| quoted(&left)),
            // Half a pair of surrogates is JSON, but no text.
            Err(_) => self.erased_plain(token),
        }
    }

    fn erased_number(&self, token: &str) -> Option<String> {
        token.contains(self.text.as_str()).then(|| quoted(MARK))
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Where a JSON text ends that begins here.
fn text_end(from: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in from.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    from.len()
}

fn number_end(from: &str) -> usize {
    from.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(from.len())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// As it stands within a JSON text.
fn escaped(text: &str) -> String {
    let quoted = quoted(text);
    quoted[1..quoted.len() - 1].to_owned()
}

/// The same from writers that keep to ASCII.
fn ascii(text: &str) -> String {
    let mut form = String::new();
    for c in escaped(text).chars() {
        if c.is_ascii() {
            form.push(c);
        } else {
            let mut units = [0; 2];
            c.encode_utf16(&mut units).iter().for_each(|unit| form.push_str(&format!("\\u{unit:04x}")));
        }
    }
    form
}

/// The same from writers that escape slashes.
fn slashed(text: &str) -> String {
    escaped(text).replace('/', "\\/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secret: &str, text: &str, expected: &str) {
        let erased = Secret::new(secret).unwrap().erased(text);
        assert_eq!(erased.as_deref().unwrap_or(text), expected);
    }

    #[test]
    fn a_secret_is_erased_in_every_form_that_json_gives_it() {
        check("hunter22", "curl -u me:hunter22 x", "curl -u me:[redacted] x");
        check(r#"a"b\c"#, r#"say a"b\c"#, "say [redacted]");
        check(r#"a"b\c"#, r#"{"k":"say a\"b\\c","n":1.50}"#, r#"{"k":"say [redacted]","n":1.50}"#);
        check(r#"a"b\c"#, r#"{"k":"{\"x\":\"a\\\"b\\\\c\"}"}"#, r#"{"k":"{\"x\":\"[redacted]\"}"}"#);
        check("hunter22", r#"{"k":"\u0068unter22"}"#, r#"{"k":"[redacted]"}"#);
        check("pässwort", r#"out: {"k":"p\u00e4sswort"}"#, r#"out: {"k":"[redacted]"}"#);
        check("a/b/c", r#"out: "a\/b\/c""#, r#"out: "[redacted]""#);
        check("hunter22", r#"{"hunter22":[true]}"#, r#"{"[redacted]":[true]}"#);
    }

    #[test]
    fn numbers_keep_their_digits_and_a_secret_number_becomes_a_text() {
        check("4711", r#"{"pin":4711,"n":10.50,"e":1E5}"#, r#"{"pin":"[redacted]","n":10.50,"e":1E5}"#);
        check("nothing", r#"{"n":9007199254740993}"#, r#"{"n":9007199254740993}"#);
    }

    #[test]
    fn what_is_too_short_is_refused() {
        assert!(Secret::new("abc\n").is_err() && Secret::new("   a   ").is_err());
        assert!(Secret::new("abcd\n").unwrap().is_in("xabcdx"));
        assert_eq!(format!("{:?}", Secret::new("abcd").unwrap()), "Secret(..)");
    }
}
