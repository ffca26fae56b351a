use sayso_host::SenderError;

use crate::AskError;

/// Why asking came to no answer. It is never a yes.
#[derive(Clone, Debug)]
pub(super) struct Failed {
    /// What happened, what is safe and what to do.
    pub(super) text: String,
    pub(super) why: Why,
    /// Whether what was asked may wait in the inbox all the same.
    pub(super) may_wait: bool,
}

/// What can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Something else was asked under this id.
    OtherContent,
    /// The answer was used before.
    Acknowledged,
    /// Nothing was asked under this id.
    NotFound,
    /// It ended before it could be taken back.
    AlreadyDecided,
    /// A person is deciding, and whoever asked learns of it in a few seconds.
    BeingDecided,
    /// The same may succeed in a moment.
    Passing,
    /// Nothing, from here.
    Final,
}

impl Failed {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), why: Why::Final, may_wait: false }
    }

    /// The host ends while somebody waits.
    pub(super) fn host_ends() -> Self {
        Self::new("Sayso is being ended. Nobody approved anything. Ask again once it runs.")
    }

    /// Its deadline passed, and the host did not say how it ended.
    pub(super) fn no_answer() -> Self {
        Self::new("The deadline passed without an answer. It is no yes.")
    }

    fn of(code: &str, text: String, is_passing: bool) -> Self {
        let why = match code {
            "id_in_use" => Why::OtherContent,
            "acknowledged" => Why::Acknowledged,
            "not_found" => Why::NotFound,
            "already_decided" => Why::AlreadyDecided,
            "being_decided" => Why::BeingDecided,
            _ if is_passing => Why::Passing,
            _ => Why::Final,
        };
        Self { text, why, may_wait: false }
    }
}

impl From<AskError> for Failed {
    fn from(error: AskError) -> Self {
        let code = match &error {
            AskError::Refused(refusal) => refusal.code.as_str(),
            AskError::Down { .. }
            | AskError::Closed { .. }
            | AskError::Silent(_)
            | AskError::Cut(_)
            | AskError::Foreign(_) => "",
        };
        let may_wait = matches!(error, AskError::Silent(_) | AskError::Cut(_) | AskError::Foreign(_));
        Self { may_wait, ..Self::of(code, error.to_string(), error.is_passing()) }
    }
}

impl From<SenderError> for Failed {
    fn from(error: SenderError) -> Self {
        Self::of(error.code(), error.to_string(), error.retry_after().is_some())
    }
}
