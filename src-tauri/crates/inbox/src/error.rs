use sayso_domain::{
    DecidedBy, Outcome, RequestKey, RequestUrlError, RunId, SecretField, Settlement, Surface, Time,
};
use sayso_store::StoreError;
use sayso_store::requests::RequestRow;
use sayso_store::settlements::SettlementRow;

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// The request.
    pub key: RequestKey,
    /// The run that waits for it.
    pub run: Option<RunId>,
    /// The outcome, the answer with the person's own reason, and when.
    pub settlement: Settlement,
    /// Who or what decided.
    pub by: DecidedBy,
    /// Where a person decided.
    pub surface: Option<Surface>,
    /// Until when it is held and can be taken back; none once nobody can.
    pub undo_until: Option<Time>,
}

/// Why a request was not accepted. It was not stored, and nobody was asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InboxError {
    /// Its id is empty or too long (contract 5).
    #[error("The request needs an `id` of 1 to 200 characters. Nobody was asked.")]
    Id,
    /// Its url is refused (contract 10).
    #[error("The request's link is refused: {0}. Nobody was asked.")]
    Url(#[from] RequestUrlError),
    /// It would collect a secret (contract 31).
    #[error("The request is refused: {0}. Nobody was asked.")]
    Secret(#[from] SecretField),
    /// Its `data.schema` describes no form that a person could fill in (contract 30).
    #[error("The request's `data.schema` is refused: {0}. Nobody was asked.")]
    Schema(String),
    /// Its deadline has passed.
    #[error("The request's `expiresAt` has passed already. Nobody was asked.")]
    Expired,
    /// This source has used the id before.
    #[error("This source has asked under the same `id` before. Nobody was asked again.")]
    Duplicate,
    /// It could not be stored.
    #[error(transparent)]
    Storage(StoreError),
}

/// Why a decision was not taken back.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum UndoError {
    /// No such request.
    #[error("There is no request {0}. Nothing was changed.")]
    NotFound(RequestKey),
    /// Nobody decided.
    #[error("There is nothing to take back: this request still waits.")]
    StillWaits,
    /// Its answer is on its way or arrived, or it was no person's.
    #[error(
        "It is too late to take this back: the answer is on its way or was delivered. Nothing was changed. If a run goes on \
         that should not, stop it."
    )]
    TooLate,
    /// Its deadline has passed: it could not wait again.
    #[error(
        "It is too late to take this back: the request's deadline has passed, and the decision was in time. It stands."
    )]
    Expired,
    /// It could not be stored.
    #[error(transparent)]
    Storage(StoreError),
}

/// Why a request was not put off.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SnoozeError {
    /// No such request.
    #[error("There is no request {0}. Nothing was changed.")]
    NotFound(RequestKey),
    /// It ended.
    #[error("This request waits no longer: it was {0}. Nothing was changed.")]
    Settled(Outcome),
    /// The moment has passed.
    #[error("{0} is not in the future. Nothing was changed. Choose a later time.")]
    Past(Time),
    /// The deadline comes first.
    #[error("This request expires at {0}, before that. Nothing was changed. Choose an earlier time.")]
    PastDeadline(Time),
    /// It is too far away.
    #[error("A request can be put off by 30 days at most. Nothing was changed. Choose an earlier time.")]
    TooFar,
    /// It could not be stored.
    #[error(transparent)]
    Storage(StoreError),
}

/// Why a decision changed nothing, but for [`DecideError::Late`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecideError {
    /// No such request.
    #[error("There is no request {0}. Nothing was changed.")]
    NotFound(RequestKey),
    /// Somebody was first.
    #[error("{} Nothing was changed.", first(.0))]
    AlreadyDecided(Box<Decided>),
    /// Its deadline has passed: it is settled as expired (contract 13).
    #[error(
        "The deadline of this request has passed, so it was declined as expired at {}. Nothing will run because of it. If \
         it is still needed, let it be asked again.",
        .0.settlement.at
    )]
    Late(Box<Decided>),
    /// What was shown to the person is not what is stored.
    #[error(
        "This decision is for something other than what is stored. Nothing was changed. Look at the request again."
    )]
    WrongDigest,
    /// The answer carries another request's id (contract 12).
    #[error("This answer is for another request. Nothing was changed.")]
    WrongId,
    /// It changes arguments that can only be approved as shown (contract 12).
    #[error(
        "The arguments of this call cannot be changed: approve or deny them as shown. Nothing was sent, and the request \
         still waits."
    )]
    NotEditable,
    /// It changes arguments without saying which were shown to the person (contract 12).
    #[error(
        "Changed arguments need the digest of what was shown. Nothing was changed. Look at the request again, and send its \
         digest along."
    )]
    EditWithoutDigest,
    /// The data is not what was asked for (contract 30), or edited arguments don't fit their tool (contract 12).
    #[error("{0} Nothing was sent, and the request still waits.")]
    InvalidData(String),
    /// It could not be stored.
    #[error(transparent)]
    Storage(StoreError),
}

impl Decided {
    pub(crate) fn of(request: &RequestRow, settled: SettlementRow, undo_until: Option<Time>) -> Self {
        Self {
            key: request.key,
            run: request.run,
            settlement: settled.settlement,
            by: settled.by,
            surface: settled.surface,
            undo_until,
        }
    }
}

impl InboxError {
    /// For a caller whose transaction it failed in.
    pub fn into_store(self) -> StoreError {
        match self {
            Self::Storage(error) => error,
            Self::Id | Self::Url(_) | Self::Secret(_) | Self::Schema(_) | Self::Expired | Self::Duplicate => {
                StoreError::Refused(self.to_string())
            }
        }
    }
}

impl From<StoreError> for InboxError {
    fn from(error: StoreError) -> Self {
        Self::Storage(error)
    }
}

impl From<InboxError> for StoreError {
    fn from(error: InboxError) -> Self {
        error.into_store()
    }
}

impl From<StoreError> for DecideError {
    fn from(error: StoreError) -> Self {
        Self::Storage(error)
    }
}

impl From<StoreError> for UndoError {
    fn from(error: StoreError) -> Self {
        Self::Storage(error)
    }
}

impl From<StoreError> for SnoozeError {
    fn from(error: StoreError) -> Self {
        Self::Storage(error)
    }
}

/// Who was first, where and when.
fn first(decided: &Decided) -> String {
    let outcome = decided.settlement.outcome;
    let at = decided.settlement.at;
    let place = match decided.surface {
        Some(Surface::Window) => " in the window",
        Some(Surface::Notification) => " from a notification",
        Some(Surface::Tray) => " from the tray",
        Some(Surface::Cli) => " on the command line",
        Some(Surface::Browser) => " in the browser",
        None => "",
    };
    let who = match decided.by {
        DecidedBy::Person => format!("by a person{place}"),
        DecidedBy::Rule => "by a rule".to_owned(),
        DecidedBy::Deadline => "by its deadline".to_owned(),
        DecidedBy::Source => "by whoever asked".to_owned(),
        DecidedBy::Stop => "because its run was stopped".to_owned(),
    };
    format!("This request was already {outcome} {who} at {at}.")
}
