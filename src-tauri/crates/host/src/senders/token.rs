use std::fmt::{self, Write as _};

use sayso_domain::sha256;
use subtle::ConstantTimeEq as _;

/// What every token begins with, so that a scanner for secrets knows one that was left somewhere.
const PREFIX: &str = "sayso_";

/// A sender's token: 256 random bits, shown to the person once. Only its hash is kept.
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes.iter().fold(PREFIX.to_owned(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })))
    }

    pub(crate) fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }

    /// The text, for the one time that it is shown.
    pub(crate) fn reveal(self) -> String {
        self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

pub(crate) fn hash(token: &str) -> [u8; 32] {
    sha256(token.as_bytes())
}

/// Whether two hashes are the same, in a time that does not tell how much of them is.
pub(crate) fn is_same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.ct_eq(other).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_256_bits_and_shows_itself_nowhere() {
        let token = Token::new().unwrap();
        assert_ne!(token.hash(), Token::new().unwrap().hash());
        assert_eq!(format!("{token:?}"), "Token(..)");
        assert!(is_same(&token.hash(), &token.hash()));
        let (hash_before, text) = (token.hash(), token.reveal());
        assert_eq!(text.strip_prefix(PREFIX).unwrap().len(), 64);
        assert_eq!(hash(&text), hash_before);
    }
}
