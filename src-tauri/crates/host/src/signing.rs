//! Signs the head of the record with a key that the OS keyring keeps for this chain, so that whoever has the public key
//! can tell a record of this machine from one that was made up. Without a keyring nothing is signed, and that is said.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use secrecy::ExposeSecret as _;

use crate::secrets::Keyring;

/// A chain's key.
pub(crate) struct Signer(Ed25519KeyPair);

/// A signature and the key that checks it, both in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) signature: String,
    pub(crate) public_key: String,
}

/// What is signed.
pub(crate) enum Statement<'a> {
    /// That a chain ends so.
    Head { chain: &'a str, seq: u64, hash: String },
    /// That an export is of a chain that ends so, with SHA-256 over its lines.
    Export { chain: &'a str, seq: u64, hash: String, digest: String },
}

impl Statement<'_> {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Head { chain, seq, hash } => format!("sayso head v1\n{chain}\n{seq}\n{hash}\n"),
            Self::Export { chain, seq, hash, digest } => {
                format!("sayso export v1\n{chain}\n{seq}\n{hash}\n{digest}\n")
            }
        }
        .into_bytes()
    }
}

impl Signer {
    /// The key of a chain of this machine; it is made where there is none. Blocks: a keyring may have to be unlocked.
    pub(crate) fn of_chain(chain: &str) -> Result<Self, String> {
        let name = format!("ledger-{chain}");
        if let Some(kept) = Keyring.find(&name)? {
            return Self::from_text(kept.expose_secret())
                .ok_or_else(|| format!("The key `{name}` in the keyring is no key of Sayso's."));
        }
        let (signer, text) = Self::new()?;
        Keyring.keep(&name, &text)?;
        Ok(signer)
    }

    /// The key of a chain, if this machine has one.
    pub(crate) fn known(chain: &str) -> Option<Self> {
        let kept = Keyring.find(&format!("ledger-{chain}")).ok().flatten()?;
        Self::from_text(kept.expose_secret())
    }

    fn new() -> Result<(Self, String), String> {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).ok();
        let made = made.map(|pkcs8| BASE64.encode(pkcs8.as_ref()));
        made.and_then(|text| Some((Self::from_text(&text)?, text)))
            .ok_or_else(|| "No key could be made: the system gave no random numbers.".to_owned())
    }

    fn from_text(text: &str) -> Option<Self> {
        let pkcs8 = BASE64.decode(text.trim()).ok()?;
        Ed25519KeyPair::from_pkcs8(&pkcs8).ok().map(Self)
    }

    pub(crate) fn sign(&self, statement: &Statement<'_>) -> Signature {
        Signature {
            signature: BASE64.encode(self.0.sign(&statement.bytes())),
            public_key: BASE64.encode(self.0.public_key()),
        }
    }
}

impl Signature {
    /// Whether the key signed just that.
    pub(crate) fn holds_for(&self, statement: &Statement<'_>) -> bool {
        let (Ok(key), Ok(signature)) = (BASE64.decode(&self.public_key), BASE64.decode(&self.signature))
        else {
            return false;
        };
        UnparsedPublicKey::new(&ED25519, key).verify(&statement.bytes(), &signature).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(seq: u64) -> Statement<'static> {
        Statement::Head { chain: "c", seq, hash: "00".to_owned() }
    }

    #[test]
    fn a_signature_holds_for_what_was_signed_alone() {
        let (signer, text) = Signer::new().unwrap();
        let signature = signer.sign(&head(7));
        assert!(signature.holds_for(&head(7)) && !signature.holds_for(&head(8)));
        let export = Statement::Export { chain: "c", seq: 7, hash: "00".to_owned(), digest: String::new() };
        assert!(!signature.holds_for(&export));
        let (other, _) = Signer::new().unwrap();
        let forged = Signature { public_key: other.sign(&head(7)).public_key, ..signature.clone() };
        assert!(!forged.holds_for(&head(7)));
        assert_eq!(Signer::from_text(&text).unwrap().sign(&head(7)), signature);
        assert!(Signer::from_text("no key").is_none());
    }
}
