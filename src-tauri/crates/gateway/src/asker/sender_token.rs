use std::fmt;
use std::path::{Path, PathBuf};

use axum::http::HeaderValue;

/// The most that a token's file may hold.
const LONGEST: u64 = 4096;

/// A sender's token. It is never shown: not by `Debug`, not in an error.
#[derive(Clone)]
pub struct SenderToken(HeaderValue);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Its file cannot be read.
    #[error("The token's file {} cannot be read: {error}. Nobody was asked.", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// It is empty, or holds what no token has.
    #[error(
        "The sender's token is not one: a token is one word of letters and digits, as `sayso sender add` printed it. \
         Nobody was asked."
    )]
    NotAToken,
}

impl SenderToken {
    /// From its text; white space around it is dropped.
    ///
    /// # Errors
    /// [`TokenError::NotAToken`].
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotAToken);
        }
        let mut value =
            HeaderValue::from_str(&format!("Bearer {text}")).map_err(|_| TokenError::NotAToken)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// From a file that holds nothing else.
    ///
    /// # Errors
    /// See [`TokenError`].
    pub fn read(path: &Path) -> Result<Self, TokenError> {
        use std::io::Read as _;
        let failed = |error| TokenError::File { path: path.to_owned(), error };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(failed)?;
        file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
        Self::new(&text)
    }

    /// For the `Authorization` header.
    pub(super) fn header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Debug for SenderToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SenderToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_is_never_shown() {
        let token = SenderToken::new(" abc123\n").unwrap();
        assert_eq!(token.header(), "Bearer abc123");
        assert!(!format!("{token:?}").contains("abc"), "{token:?}");
        for text in ["", " \n", "two words", "a\nb", "ä"] {
            let error = SenderToken::new(text).unwrap_err().to_string();
            assert!(text.trim().is_empty() || !error.contains(text), "{error}");
        }
    }
}
