use std::time::Duration;

use sayso_domain::Outcome;
use sayso_inbox::InboxError;
use sayso_store::StoreError;

/// Why an asker did not get what it wanted. What it wanted was not done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SenderError {
    /// No token that is known.
    #[error(
        "This token is not known. Nobody was asked. Use the token that `sayso sender add` showed, or make a new one."
    )]
    Unauthorized,
    /// The sender lost the right to ask.
    #[error(
        "This sender was revoked, and what it had open was cancelled. Nobody was asked. Let its owner add it again."
    )]
    Revoked,
    /// It has no request with this id.
    #[error("You have no request with this id.")]
    NotFound,
    /// The id stands for something else already.
    #[error(
        "You have asked something else under the same `id` before. Nobody was asked again. Choose another `id`."
    )]
    OtherContent,
    /// It has not ended.
    #[error("This request still waits: there is no answer to acknowledge.")]
    StillWaits,
    /// It ended before it could be withdrawn.
    #[error("This request was already {0}, so it could not be withdrawn. Its answer is what counts.")]
    AlreadyDecided(Outcome),
    /// A person is about to decide, or has and can still take it back.
    #[error(
        "A person is deciding on this request right now, so it could not be withdrawn. Nothing was changed. Try again in a \
         few seconds, or take the answer."
    )]
    BeingDecided,
    /// The answer was acknowledged.
    #[error("This answer was acknowledged before, and an answer is used once.")]
    Acknowledged,
    /// The id cannot stand in a path or on a line.
    #[error(
        "The request's `id` must be 1 to 200 characters with no control characters, and not `.` or `..`. Nobody was asked."
    )]
    Id,
    /// The kind is no name.
    #[error("The request's `kind` must be 1 to 64 characters with no control characters. Nobody was asked.")]
    Kind,
    /// There is nothing to read.
    #[error("The request's `prompt` is empty. Nobody was asked. Say what the person shall decide.")]
    Prompt,
    /// Its deadline has passed.
    #[error(
        "The request's `expiresAt` has passed already. Nobody was asked. Check your clock, or give the person more time."
    )]
    TooLate,
    /// The request is refused.
    #[error(transparent)]
    Refused(InboxError),
    /// Its requests may not be edited.
    #[error(
        "Your requests may not be edited, and this one says `editable`. Nobody was asked. Say \"if_allowed\" there if you \
         can do without, or let the person allow it for this sender."
    )]
    MayNotEdit,
    /// It may bring no choices.
    #[error(
        "You may not bring choices of your own, and this request has `data.choices`. Nobody was asked. Leave them out, or \
         let the person allow it for this sender."
    )]
    MayNotChoose,
    /// What shall be edited is not well made.
    #[error("The request cannot be edited: {0}. Nobody was asked.")]
    Edit(&'static str),
    /// Nothing can be held against the schema of what shall be edited.
    #[error("The request's `data.argumentsSchema` is refused: {0}. Nobody was asked.")]
    ArgumentsSchema(String),
    /// Its choices are not well made.
    #[error("The request's `data.choices` are refused: {0}. Nobody was asked.")]
    Choices(String),
    /// Too many of its requests wait.
    #[error(
        "{0} of your requests wait already, and no more may. Nobody was asked. Wait until some are decided, or withdraw some."
    )]
    TooManyOpen(u32),
    /// It asks too fast.
    #[error("You ask faster than {per_minute} times a minute. Nobody was asked. Try again later.")]
    TooFast {
        /// Its limit.
        per_minute: u32,
        /// When it may ask again.
        retry_after: Duration,
    },
    /// The database cannot be read or written right now.
    #[error(transparent)]
    Storage(StoreError),
}

impl SenderError {
    /// What a program branches on. All are in `docs/api.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::Revoked => "revoked",
            Self::NotFound => "not_found",
            Self::OtherContent => "id_in_use",
            Self::StillWaits => "still_waiting",
            Self::AlreadyDecided(_) => "already_decided",
            Self::BeingDecided => "being_decided",
            Self::Acknowledged => "acknowledged",
            Self::Id | Self::Refused(InboxError::Id) => "bad_id",
            Self::Kind | Self::Prompt => "bad_request",
            Self::Refused(InboxError::Url(_)) => "bad_url",
            Self::Refused(InboxError::Secret(_)) => "secret_field",
            Self::Refused(InboxError::Schema(_)) | Self::ArgumentsSchema(_) => "bad_schema",
            Self::MayNotEdit => "may_not_edit",
            Self::MayNotChoose => "may_not_choose",
            Self::Edit(_) => "bad_edit",
            Self::Choices(_) => "bad_choices",
            Self::TooLate | Self::Refused(InboxError::Expired) => "expired",
            Self::Refused(InboxError::Duplicate) => "id_in_use",
            Self::Refused(InboxError::Storage(_)) | Self::Storage(_) => "storage",
            Self::TooManyOpen(_) => "too_many_open",
            Self::TooFast { .. } => "too_fast",
        }
    }

    /// How long to wait before the next try, where waiting helps.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooFast { retry_after, .. } => Some(*retry_after),
            // A person has to decide first.
            Self::TooManyOpen(_) => Some(Duration::from_secs(30)),
            Self::Storage(_) => Some(Duration::from_secs(5)),
            Self::BeingDecided => Some(Duration::from_secs(1)),
            Self::Unauthorized
            | Self::Revoked
            | Self::NotFound
            | Self::OtherContent
            | Self::StillWaits
            | Self::AlreadyDecided(_)
            | Self::Acknowledged
            | Self::Id
            | Self::Kind
            | Self::Prompt
            | Self::TooLate
            | Self::Refused(_)
            | Self::MayNotEdit
            | Self::MayNotChoose
            | Self::Edit(_)
            | Self::ArgumentsSchema(_)
            | Self::Choices(_) => None,
        }
    }
}

impl From<StoreError> for SenderError {
    fn from(error: StoreError) -> Self {
        Self::Storage(error)
    }
}

impl From<InboxError> for SenderError {
    fn from(error: InboxError) -> Self {
        match error {
            InboxError::Storage(error) => Self::Storage(error),
            InboxError::Expired => Self::TooLate,
            InboxError::Duplicate => Self::OtherContent,
            InboxError::Id | InboxError::Url(_) | InboxError::Secret(_) | InboxError::Schema(_) => {
                Self::Refused(error)
            }
        }
    }
}
