use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The version of the format that the module's page describes.
pub(super) const VERSION: i64 = 1;
/// What the first entry of a chain follows.
pub(super) const START: [u8; 32] = [0; 32];
/// The bytes of a salt.
pub(super) const SALT: usize = 32;

/// All of an entry that its hash covers.
pub(super) struct Sealed<'a> {
    pub(super) v: i64,
    pub(super) chain: &'a str,
    pub(super) seq: i64,
    pub(super) prev: &'a [u8],
    pub(super) kind: &'a str,
    pub(super) at: i64,
    /// Names with digests, sorted by name.
    pub(super) fields: Vec<(&'a str, &'a [u8])>,
}

impl Sealed<'_> {
    pub(super) fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.canonical().as_bytes()).into()
    }

    /// RFC 8785. Its keys are in order as written here; field names are plain ASCII, whose bytes sort as its UTF-16 does;
    /// numbers are integers that a double holds; texts are escaped as the RFC says, which is how `serde_json` does it.
    pub(super) fn canonical(&self) -> String {
        let mut json = String::with_capacity(320 + self.fields.len() * 88);
        // Writing to a string cannot fail.
        let _ = write!(json, r#"{{"at":{},"chain":{},"fields":{{"#, self.at, text(self.chain));
        for (index, (name, digest)) in self.fields.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let _ = write!(json, r#"{comma}{}:""#, text(name));
            hex(&mut json, digest);
            json.push('"');
        }
        json.push_str(r#"},"prev":""#);
        hex(&mut json, self.prev);
        let _ = write!(json, r#"","seq":{},"type":{},"v":{}}}"#, self.seq, text(self.kind), self.v);
        json
    }
}

/// A field's digest.
pub(super) fn field_digest(salt: &[u8], content: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(salt).chain_update(content).finalize().into()
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn hex(json: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        json.push(char::from(DIGITS[usize::from(byte >> 4)]));
        json.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}
