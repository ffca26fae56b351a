use std::io;
use std::time::Duration;

/// Why asking came to nothing. None of these is an answer, least of all a yes.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// Nothing listens: no host runs, or one that died left its socket.
    #[error("Sayso does not run {at}. Nobody was asked. Start it with `sayso serve` or the desktop app.")]
    Down {
        /// Where it was looked for.
        at: String,
    },
    /// The door is not ours to use.
    #[error(
        "Sayso cannot be reached {at}: {error}. Nobody was asked. Check that it is yours, or start Sayso again."
    )]
    Closed {
        /// Where it was looked for.
        at: String,
        /// Why.
        error: io::Error,
    },
    /// It took the connection and said nothing in time.
    #[error(
        "Sayso gave no answer within {} seconds. What was asked may wait in the inbox; asking again with the same id asks \
         nothing twice.",
        .0.as_secs()
    )]
    Silent(Duration),
    /// The connection broke in the middle.
    #[error(
        "Sayso stopped answering in the middle: {0}. What was asked may wait in the inbox; asking again with the same id \
         asks nothing twice."
    )]
    Cut(String),
    /// Whatever answers there does not speak as Sayso does.
    #[error(
        "What answered is not Sayso, or another version of it: {0}. It was not taken for an answer. Start Sayso and this \
         command from the same version."
    )]
    Foreign(String),
    /// Sayso refused.
    #[error("{}", .0.detail)]
    Refused(Refusal),
}

/// A refusal, as the host's problem document tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// What a program branches on.
    pub code: String,
    /// What happened, what is safe and what to do.
    pub detail: String,
    /// When to try again, where the host said so.
    pub retry_after: Option<Duration>,
}

impl AskError {
    /// Whether the same again may well succeed later: the host restarts, is slow or has too much to do.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Down { .. } | Self::Silent(_) | Self::Cut(_) => true,
            Self::Refused(refusal) => matches!(refusal.status, 408 | 429 | 502 | 503 | 504),
            Self::Closed { .. } | Self::Foreign(_) => false,
        }
    }

    /// Whether the host cannot be talked to at all right now.
    pub fn is_no_host(&self) -> bool {
        match self {
            Self::Down { .. } | Self::Closed { .. } | Self::Silent(_) | Self::Cut(_) | Self::Foreign(_) => {
                true
            }
            Self::Refused(_) => false,
        }
    }

    pub(super) fn foreign(error: impl std::fmt::Display) -> Self {
        Self::Foreign(error.to_string())
    }

    /// How long the host asked to be left alone.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused(refusal) => refusal.retry_after,
            Self::Down { .. } | Self::Closed { .. } | Self::Silent(_) | Self::Cut(_) | Self::Foreign(_) => {
                None
            }
        }
    }
}
