use std::fmt::{self, Write as _};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::{Choice, Request, RunId, sha256};

/// SHA-256 over the stored bytes of a request as shown. A decision is bound to it: an answer for another digest is
/// refused. Written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

/// A request with everything that the person saw beside it, in the order in which it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The request in its wire form.
    pub request: Request,
    /// The name of whoever asks, as the person set it.
    pub source: String,
    /// The run that waits.
    pub run: Option<RunId>,
    /// The tool that will run.
    pub tool: Option<String>,
    /// Its arguments: the JSON text as it came from the model, digit for digit.
    pub arguments: Option<String>,
    /// The folder in which it will run.
    pub folder: Option<String>,
    /// For a file edit, the SHA-256 of the file that it applies to, or `absent`.
    pub file_hash: Option<String>,
    /// For a file edit, what would change, as a unified diff.
    pub diff: Option<String>,
    /// Notes on the risk, in words.
    pub notes: Vec<String>,
    /// Where a person may change the arguments and approve what they made of them: the JSON schema that these must fit.
    /// Without it, nobody may (contract 12). It is left out when unset, so that older texts keep their digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub editable: Option<Value>,
    /// The source's own choices, of which a yes must choose one that approves. They are left out when there are none, so
    /// that older texts keep their digest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

impl Shown {
    /// A request that comes with nothing else.
    pub fn new(request: Request, source: impl Into<String>) -> Self {
        Self {
            request,
            source: source.into(),
            run: None,
            tool: None,
            arguments: None,
            folder: None,
            file_hash: None,
            diff: None,
            notes: Vec::new(),
            editable: None,
            choices: Vec::new(),
        }
    }

    /// Whether a person may change the arguments and approve what they made of them (contract 12).
    pub fn is_editable(&self) -> bool {
        self.editable.is_some() && self.request.kind.is_permission()
    }

    /// The bytes that are stored and hashed: JSON on one line, keys in the order above.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Digest {
    /// Of the stored text of a [`Shown`].
    pub fn of(shown_text: &str) -> Self {
        Self(sha256(shown_text.as_bytes()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        fmt::Display::fmt(self, f)?;
        f.write_char('"')
    }
}

/// The text is no SHA-256 digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits")]
pub struct ParseDigestError;

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, ParseDigestError> {
        let mut bytes = [0; 32];
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ParseDigestError);
        }
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let pair = str::from_utf8(pair).map_err(|_| ParseDigestError)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| ParseDigestError)?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}
