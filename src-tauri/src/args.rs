use std::ffi::OsString;
use std::path::PathBuf;

use sayso_domain::RequestKey;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
The desktop approval inbox for AI agents.

Usage: sayso-desktop [--data-dir DIR] [--background] [--open KEY | sayso://request/KEY]

  --data-dir DIR  the data folder; else $SAYSO_DATA_DIR, else the platform's own place
  --background    start in the tray, without a window
  --open KEY      show the request with this key; a link sayso://request/KEY does the same
  --help          print this
  --version       print the version
";

/// How the app was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Args {
    /// The data folder, where one was named.
    pub(crate) data_dir: Option<PathBuf>,
    /// Whether to start without a window.
    pub(crate) background: bool,
    /// The request to show.
    pub(crate) open: Option<RequestKey>,
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// To run the app.
    Run(Args),
    /// To print how it is used.
    Help,
    /// To print its version.
    Version,
}

/// A command line that cannot be read, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArgsError {
    #[error("{0} needs a value: try sayso-desktop --help")]
    NoValue(&'static str),
    #[error("--open takes the key of a request, as `sayso list` prints it; `{0}` is none")]
    NotAKey(String),
    #[error("links to Sayso look like sayso://request/KEY; this one leads nowhere, and nothing was opened")]
    NoSuchLink,
    #[error("{0} means nothing here: try sayso-desktop --help")]
    Unknown(String),
}

impl Asked {
    /// Reads the arguments that follow the program's name.
    pub(crate) fn read(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, ArgsError> {
        let mut arguments = arguments.into_iter();
        let mut args = Args::default();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            let (name, inline) = match text.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(OsString::from(value))),
                Some(_) | None => (text.as_str(), None),
            };
            let mut value = |name: &'static str| {
                inline.clone().or_else(|| arguments.next()).ok_or(ArgsError::NoValue(name))
            };
            match name {
                "--help" | "-h" => return Ok(Self::Help),
                "--version" | "-V" => return Ok(Self::Version),
                "--background" => args.background = true,
                "--data-dir" => args.data_dir = Some(PathBuf::from(value("--data-dir")?)),
                "--open" => {
                    let key = value("--open")?.to_string_lossy().into_owned();
                    args.open = Some(key.parse().map_err(|_| ArgsError::NotAKey(key))?);
                }
                _ if text.starts_with("sayso:") => {
                    args.open = Some(linked(&text).ok_or(ArgsError::NoSuchLink)?)
                }
                _ => return Err(ArgsError::Unknown(text)),
            }
        }
        Ok(Self::Run(args))
    }
}

/// The request that a link leads to. Links come from anywhere: they are this, and can say no more.
fn linked(link: &str) -> Option<RequestKey> {
    let key = link.strip_prefix("sayso://request/")?;
    let key: RequestKey = key.strip_suffix('/').unwrap_or(key).parse().ok()?;
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "0198c0de-0000-7000-8000-000000000001";

    fn read(line: &str) -> Result<Asked, ArgsError> {
        Asked::read(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn a_command_line_is_read() {
        let key: RequestKey = KEY.parse().unwrap();
        let cases = [
            ("", Args::default()),
            ("--background", Args { background: true, ..Args::default() }),
            ("--data-dir /tmp/a", Args { data_dir: Some("/tmp/a".into()), ..Args::default() }),
            ("--data-dir=/tmp/a", Args { data_dir: Some("/tmp/a".into()), ..Args::default() }),
            (&format!("--open {KEY}"), Args { open: Some(key), ..Args::default() }),
            (
                &format!("--background --open={KEY} --data-dir b"),
                Args { background: true, open: Some(key), data_dir: Some("b".into()) },
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(read(line), Ok(Asked::Run(expected)), "{line}");
        }
        assert_eq!(
            read(&format!("sayso://request/{KEY}")),
            Ok(Asked::Run(Args { open: Some(key), ..Args::default() }))
        );
        assert_eq!(read(&format!("sayso://request/{KEY}/")), read(&format!("--open {KEY}")));
        assert_eq!(read("--background --help"), Ok(Asked::Help));
        assert_eq!(read("-V"), Ok(Asked::Version));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        assert_eq!(read("--open"), Err(ArgsError::NoValue("--open")));
        assert_eq!(read("--open 7"), Err(ArgsError::NotAKey("7".to_owned())));
        assert_eq!(read("--opne 7"), Err(ArgsError::Unknown("--opne".to_owned())));
        for link in [
            "sayso:",
            "sayso://request/",
            "sayso://request/7",
            "sayso://approve/0198c0de-0000-7000-8000-000000000001",
            "sayso://request/0198c0de-0000-7000-8000-000000000001?ok=true",
            "sayso://request/0198c0de-0000-7000-8000-000000000001#approve",
            "sayso://request/0198c0de-0000-7000-8000-000000000001/approve",
            "sayso://request/../0198c0de-0000-7000-8000-000000000001",
            "sayso://request/%27;alert(1);%27",
            "sayso://user@request/0198c0de-0000-7000-8000-000000000001",
        ] {
            assert_eq!(read(link), Err(ArgsError::NoSuchLink), "{link}");
        }
        assert_eq!(read("file.txt"), Err(ArgsError::Unknown("file.txt".to_owned())));
    }
}
