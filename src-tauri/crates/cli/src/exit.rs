use std::process::ExitCode;

/// What the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done or ok.
    Done = 0,
    /// Refused or not ok.
    Refused = 1,
    /// The command line cannot be read.
    Usage = 2,
    /// No host runs, or the folder is in use.
    NoHost = 3,
    /// Something still waits for a person.
    Waiting = 4,
    /// Not found, already decided or expired.
    Gone = 5,
    /// The database or a file cannot be used.
    Storage = 6,
    /// Ctrl-C ended it, where something had to be taken back: as a shell tells it.
    Interrupted = 130,
    /// SIGTERM ended it, likewise.
    Terminated = 143,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
