use std::fmt;
use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hmac::{Hmac, Mac as _};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;
use uuid::Uuid;

use crate::secrets::{Keyring, Secrets as _};

/// What a signing secret begins with in the form of Standard Webhooks.
const PREFIX: &str = "whsec_";
/// The folder of those that are kept in files, in the data folder.
const FOLDER: &str = "webhook-keys";

/// Where a signing secret is kept.
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
}

/// Where one signing secret is kept, as `keyring:NAME` or `file:NAME`. The database holds this and never the secret. Each
/// secret has a place of its own, so that the one in use stays until the next one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SigningKey {
    place: KeyPlace,
    name: String,
}

impl SigningKey {
    pub(super) fn new(place: KeyPlace) -> Self {
        Self { place, name: format!("webhook-{}", Uuid::now_v7()) }
    }

    /// As it is stored.
    pub(crate) fn to_text(&self) -> String {
        format!("{}:{}", self.place.as_str(), self.name)
    }

    /// From what is stored.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (place, name) = text.split_once(':')?;
        Some(Self { place: KeyPlace::from_name(place)?, name: name.to_owned() })
    }

    /// Where what is stored says that the secret lies.
    pub(crate) fn place_of(text: &str) -> &str {
        text.split_once(':').map_or(text, |(place, _)| place)
    }

    /// Keeps a secret there. Blocks: a keyring may have to be unlocked first.
    pub(super) fn keep(&self, data_dir: &Path, secret: &Secret) -> Result<(), String> {
        match self.place {
            KeyPlace::Keyring => Keyring.keep(&self.name, secret.0.expose_secret()),
            KeyPlace::File => write(&self.file(data_dir), secret.0.expose_secret()).map_err(|error| {
                format!(
                    "The signing secret cannot be written to {}: {error}. Nothing was changed. Make the data folder \
                     writable and try again.",
                    self.file(data_dir).display()
                )
            }),
        }
    }

    /// Reads it. Blocks.
    pub(super) fn read(&self, data_dir: &Path) -> Result<Secret, String> {
        match self.place {
            KeyPlace::Keyring => Keyring.read(&self.name).map(Secret),
            KeyPlace::File => std::fs::read_to_string(self.file(data_dir))
                .map(|text| Secret(SecretString::from(text.trim().to_owned())))
                .map_err(|error| {
                    format!(
                        "The signing secret in {} cannot be read: {error}. Set the callback again to make a new one.",
                        self.file(data_dir).display()
                    )
                }),
        }
    }

    /// Erases it; that it is not there is what was wanted. Blocks.
    pub(super) fn forget(&self, data_dir: &Path) {
        let erased = match self.place {
            KeyPlace::Keyring => Keyring.forget(&self.name),
            KeyPlace::File => match std::fs::remove_file(self.file(data_dir)) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error.to_string()),
                Ok(()) | Err(_) => Ok(()),
            },
        };
        if let Err(error) = erased {
            tracing::warn!(place = self.place.as_str(), %error, "a signing secret that is no longer used could not be erased");
        }
    }

    fn file(&self, data_dir: &Path) -> PathBuf {
        data_dir.join(FOLDER).join(format!("{}.key", self.name))
    }
}

fn write(path: &Path, secret: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    to.write_all(secret.as_bytes())?;
    to.sync_all()
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
        let key = SigningKey::new(KeyPlace::File);
        let secret = Secret::new().unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(..)");
        key.keep(dir.path(), &secret).unwrap();
        let kept = key.file(dir.path());
        assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(kept.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let stored = SigningKey::from_text(&key.to_text()).unwrap();
        assert_eq!(stored.read(dir.path()).unwrap().reveal(), secret.reveal());
        stored.forget(dir.path());
        let error = key.read(dir.path()).unwrap_err();
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
