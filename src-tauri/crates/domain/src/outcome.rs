use std::fmt;

/// How a request ended. It ends at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Ok to something that will be done.
    Approved,
    /// Ok with what the person typed or chose.
    Answered,
    /// A person said no.
    Declined,
    /// The deadline passed.
    Expired,
    /// Nobody decided: it became pointless.
    Cancelled(Cause),
}

/// Why a request was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The person put it aside without an answer.
    Dismissed,
    /// Whoever asked is no longer there, or took it back.
    CallerGone,
    /// It was answered at another place.
    AnsweredElsewhere,
    /// Its run was stopped.
    RunStopped,
    /// Its source lost the right to ask.
    Revoked,
}

/// What leaves of a no: to a model's host, a sender, an MCP server (contract 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// A person said no.
    Declined,
    /// Dismissed, withdrawn, run stopped.
    Cancelled,
    /// The deadline passed.
    Expired,
}

impl Outcome {
    /// The class for the wire, or none when ok.
    pub fn class(self) -> Option<Class> {
        match self {
            Self::Approved | Self::Answered => None,
            Self::Declined => Some(Class::Declined),
            Self::Expired => Some(Class::Expired),
            Self::Cancelled(_) => Some(Class::Cancelled),
        }
    }

    /// `approved`, `answered`, `declined`, `expired` or `cancelled`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Answered => "answered",
            Self::Declined => "declined",
            Self::Expired => "expired",
            Self::Cancelled(_) => "cancelled",
        }
    }

    /// The cause of a cancellation.
    pub fn cause(self) -> Option<Cause> {
        match self {
            Self::Cancelled(cause) => Some(cause),
            Self::Approved | Self::Answered | Self::Declined | Self::Expired => None,
        }
    }

    /// From its two stored names; none if they don't fit together.
    pub fn from_names(outcome: &str, cause: Option<&str>) -> Option<Self> {
        match (outcome, cause) {
            ("approved", None) => Some(Self::Approved),
            ("answered", None) => Some(Self::Answered),
            ("declined", None) => Some(Self::Declined),
            ("expired", None) => Some(Self::Expired),
            ("cancelled", Some(cause)) => Cause::from_name(cause).map(Self::Cancelled),
            _ => None,
        }
    }
}

impl Cause {
    /// Its name in storage and on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dismissed => "dismissed",
            Self::CallerGone => "caller_gone",
            Self::AnsweredElsewhere => "answered_elsewhere",
            Self::RunStopped => "run_stopped",
            Self::Revoked => "revoked",
        }
    }

    /// From its name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Dismissed, Self::CallerGone, Self::AnsweredElsewhere, Self::RunStopped, Self::Revoked]
            .into_iter()
            .find(|cause| cause.as_str() == name)
    }
}

impl Class {
    /// `declined`, `cancelled` or `expired`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
