use std::fmt::Write as _;

use sayso_domain::sha256;
use subtle::ConstantTimeEq as _;

/// A new random text that lets somebody in: `BYTES` bytes in hexadecimal.
pub(crate) fn new_secret<const BYTES: usize>() -> Result<String, getrandom::Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// The hash of a secret: all that is kept of it. Compared in constant time, so that no answer tells by its timing how
/// much of a guess was right.
#[derive(Clone, Copy)]
pub(crate) struct Hashed([u8; 32]);

impl Hashed {
    pub(crate) fn of(secret: &str) -> Self {
        Self(sha256(secret.as_bytes()))
    }

    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
