use std::str::FromStr;

use secrecy::SecretString;

/// Where a model's key is kept: `env:NAME` or `keyring:NAME`. The key itself is never in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyRef {
    /// A variable of the host's own environment, which tools don't get.
    Env(String),
    /// An entry of the OS keyring: service `sayso`, user `NAME`.
    Keyring(String),
}

/// A place that holds keys.
pub(crate) trait Secrets: Send + Sync {
    /// The key with this name. Errors say what happened and what to do, and hold no key.
    fn read(&self, name: &str) -> Result<SecretString, String>;
}

/// The host's own environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Environment;

/// The OS keyring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyring;

impl FromStr for KeyRef {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            // No words of an error hold what may be the key itself.
            Some(("env", name)) if !is_variable(name) => {
                Err("`api_key` must name an environment variable after \
                 `env:`: letters, digits and underscores. It names a key, it does not hold one."
                    .to_owned())
            }
            Some(("env", name)) if sayso_agent::reaches_tools(name) => Err(format!(
                "`api_key` names the environment variable {name}, which the agent's commands get too, so that they would \
                 see the key. Put it into a variable of another name."
            )),
            Some(("env", name)) => Ok(Self::Env(name.to_owned())),
            Some(("keyring", name)) if !name.is_empty() => Ok(Self::Keyring(name.to_owned())),
            _ => Err("`api_key` names a key, it does not hold one: write env:NAME, keyring:NAME or null."
                .to_owned()),
        }
    }
}

fn is_variable(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.chars().all(is_part) && name.starts_with(|c: char| !c.is_ascii_digit())
}

impl KeyRef {
    /// Reads the key it names. Blocks: a keyring may have to be unlocked first.
    pub(crate) fn read(&self) -> Result<SecretString, String> {
        match self {
            Self::Env(name) => Environment.read(name),
            Self::Keyring(name) => Keyring.read(name),
        }
    }
}

impl Secrets for Environment {
    fn read(&self, name: &str) -> Result<SecretString, String> {
        match std::env::var(name) {
            Ok(key) if !key.trim().is_empty() => Ok(SecretString::from(key.trim().to_owned())),
            Ok(_) | Err(_) => Err(format!(
                "The key is missing: the environment variable {name} is not set where Sayso was started. Set it and \
                 start Sayso again, or put the key into the keyring and write keyring:{name}."
            )),
        }
    }
}

/// Talks to the keyring from a thread of its own: its library waits for the bus in a way that no thread of an async runtime
/// may.
fn apart<T: Send>(talk: impl FnOnce() -> Result<T, keyring::Error> + Send) -> Result<T, keyring::Error> {
    std::thread::scope(|scope| {
        scope.spawn(talk).join().unwrap_or_else(|_| {
            Err(keyring::Error::PlatformFailure("the keyring's library failed unexpectedly".into()))
        })
    })
}

impl Keyring {
    /// Keeps a secret of ours under a name; one that was there is replaced.
    pub(crate) fn keep(self, name: &str, secret: &str) -> Result<(), String> {
        let kept = apart(|| keyring::Entry::new("sayso", name)?.set_password(secret));
        kept.map_err(|error| {
            format!(
                "The secret cannot be kept in the keyring: {error}. Nothing was changed. Unlock the keyring and try again, \
                 or choose to keep the secret in a file for your eyes alone."
            )
        })
    }

    /// The secret with this name; none where there is no such entry.
    pub(crate) fn find(self, name: &str) -> Result<Option<SecretString>, String> {
        match apart(|| keyring::Entry::new("sayso", name)?.get_password()) {
            Ok(secret) => Ok(Some(SecretString::from(secret))),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(format!("The keyring cannot be read: {error}.")),
        }
    }

    /// Erases it; that it is not there is what was wanted.
    pub(crate) fn forget(self, name: &str) -> Result<(), String> {
        match apart(|| keyring::Entry::new("sayso", name)?.delete_credential()) {
            Ok(()) | Err(keyring::Error::NoEntry) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Secrets for Keyring {
    fn read(&self, name: &str) -> Result<SecretString, String> {
        let key = apart(|| keyring::Entry::new("sayso", name)?.get_password());
        key.map(SecretString::from).map_err(|error| {
            format!(
                "The key `{name}` cannot be read from the keyring: {error}. Unlock the keyring, or store the key with \
                 `secret-tool store --label=Sayso service sayso username {name}`."
            )
        })
    }
}
