use std::fmt;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, Mac as _};
use sayso_domain::SourceId;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

use crate::secrets::{Keyring, Secrets as _};

/// What a signing secret begins with in the form of Standard Webhooks.
const PREFIX: &str = "whsec_";
/// The folder of those that are kept in files, in the data folder.
const FOLDER: &str = "webhook-keys";

/// Where a sender's signing secret is kept. The database holds this and never the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    /// The OS keyring.
    Keyring,
    /// A file for the owner alone, because the person chose it.
    File,
}

impl KeyPlace {
    /// Its name in storage and for people.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Keyring => "keyring",
            Self::File => "file",
        }
    }

    /// From its name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::Keyring, Self::File].into_iter().find(|place| place.as_str() == name)
    }

    /// Keeps a secret there. Blocks: a keyring may have to be unlocked first.
    pub(super) fn keep(self, data_dir: &Path, sender: SourceId, secret: &Secret) -> Result<(), String> {
        match self {
            Self::Keyring => Keyring.keep(&entry(sender), secret.0.expose_secret()),
            Self::File => write(&file(data_dir, sender), secret.0.expose_secret()).map_err(|error| {
                format!(
                    "The signing secret cannot be written to {}: {error}. Nothing was changed. Make the data folder \
                     writable and try again.",
                    file(data_dir, sender).display()
                )
            }),
        }
    }

    /// Reads it. Blocks.
    pub(super) fn read(self, data_dir: &Path, sender: SourceId) -> Result<Secret, String> {
        match self {
            Self::Keyring => Keyring.read(&entry(sender)).map(Secret),
            Self::File => std::fs::read_to_string(file(data_dir, sender))
                .map(|text| Secret(SecretString::from(text.trim().to_owned())))
                .map_err(|error| {
                    format!(
                        "The signing secret in {} cannot be read: {error}. Set the callback again to make a new one.",
                        file(data_dir, sender).display()
                    )
                }),
        }
    }

    /// Erases it; that it is not there is what was wanted. Blocks.
    pub(super) fn forget(self, data_dir: &Path, sender: SourceId) {
        let erased = match self {
            Self::Keyring => Keyring.forget(&entry(sender)),
            Self::File => match std::fs::remove_file(file(data_dir, sender)) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error.to_string()),
                Ok(()) | Err(_) => Ok(()),
            },
        };
        if let Err(error) = erased {
            tracing::warn!(place = self.as_str(), %error, "a signing secret that is no longer used could not be erased");
        }
    }
}

fn entry(sender: SourceId) -> String {
    format!("webhook-{sender}")
}

fn file(data_dir: &Path, sender: SourceId) -> PathBuf {
    data_dir.join(FOLDER).join(format!("{sender}.key"))
}

/// Beside it first, so that a full disk leaves the old one.
fn write(path: &Path, secret: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let new = path.with_extension("new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    to.write_all(secret.as_bytes())?;
    to.sync_all()?;
    std::fs::rename(new, path)
}

/// What answers are signed with, as text: `whsec_` and 256 random bits in base64.
pub(super) struct Secret(SecretString);

impl Secret {
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Self(SecretString::from(format!("{PREFIX}{}", BASE64.encode(bytes)))))
    }

    /// The text, for the one time that it is shown.
    pub(super) fn reveal(&self) -> String {
        self.0.expose_secret().to_owned()
    }

    /// The signature of a message: `v1,` and the HMAC-SHA256 over its id, its time in seconds and its body, with points
    /// between them, in base64 (Standard Webhooks). None if the secret is none of ours.
    pub(super) fn sign(&self, id: &str, seconds: i64, body: &str) -> Option<String> {
        let encoded = self.0.expose_secret().strip_prefix(PREFIX)?;
        let mut mac = Hmac::<Sha256>::new_from_slice(&BASE64.decode(encoded).ok()?).ok()?;
        mac.update(format!("{id}.{seconds}.{body}").as_bytes());
        Some(format!("v1,{}", BASE64.encode(mac.finalize().into_bytes())))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_message_is_signed_as_standard_webhooks_says() {
        // The example that the specification gives.
        let secret = Secret(SecretString::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned()));
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature.as_deref(), Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="));
    }

    #[test]
    fn a_secret_in_a_file_is_the_owners_alone_and_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let sender = SourceId::new(uuid::Uuid::now_v7());
        let secret = Secret::new().unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        for _ in 0..2 {
            KeyPlace::File.keep(dir.path(), sender, &secret).unwrap();
        }
        let kept = file(dir.path(), sender);
        assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(kept.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(KeyPlace::File.read(dir.path(), sender).unwrap().reveal(), secret.reveal());
        KeyPlace::File.forget(dir.path(), sender);
        let error = KeyPlace::File.read(dir.path(), sender).unwrap_err();
        assert!(error.contains("Set the callback again"), "{error}");
    }

    #[test]
    fn what_is_no_secret_of_ours_signs_nothing() {
        for text in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_!!!"] {
            let secret = Secret(SecretString::from(text.to_owned()));
            let signed = secret.sign("id", 1, "{}");
            assert!(text == "whsec_" || signed.is_none(), "{text:?}");
        }
    }
}
