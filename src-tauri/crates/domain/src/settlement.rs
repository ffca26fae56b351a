use crate::edit::{brought, edited};
use crate::{Answer, Cause, Digest, Kind, Outcome, Shown, Time};

/// Where a request stands. It settles at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// It waits.
    Pending,
    /// It ended.
    Settled(Outcome),
}

/// What somebody wants to do to a request.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "made once for each decision and passed by reference")]
pub enum Act {
    /// A person's answer, for the digest of what they were shown.
    Answer {
        /// The answer.
        answer: Answer,
        /// Of what was shown; none where the surface shows nothing but the stored request itself.
        digest: Option<Digest>,
    },
    /// It became pointless.
    Cancel(Cause),
    /// The deadline may have passed.
    Expire,
}

/// Who or what decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// A person.
    Person,
    /// A rule that a person made.
    Rule,
    /// The deadline.
    Deadline,
    /// Whoever asked.
    Source,
    /// A person stopped the run.
    Stop,
}

/// Where a person decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// The desktop window.
    Window,
    /// A desktop notification.
    Notification,
    /// The tray.
    Tray,
    /// The command line.
    Cli,
    /// The browser.
    Browser,
}

/// How a request settles.
#[derive(Clone, Debug, PartialEq)]
pub struct Settlement {
    /// The outcome.
    pub outcome: Outcome,
    /// The answer with the person's own reason, for History alone; [`Settlement::delivered`] is what leaves.
    pub answer: Answer,
    /// Where a person changed the arguments: what they made of them, as JSON text on one line.
    pub edited: Option<String>,
    /// When.
    pub at: Time,
}

impl Settlement {
    /// What the asker gets: without the person's words (contract 9).
    pub fn delivered(&self) -> Answer {
        self.answer.for_outside(self.outcome.class())
    }
}

/// Why an act changes nothing (contract 12, 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Somebody was first.
    #[error("the request was already settled: {0}")]
    AlreadySettled(Outcome),
    /// The deadline has passed; the request settles as expired instead.
    #[error("the deadline has passed")]
    TooLate,
    /// The answer is for another request.
    #[error("the answer carries another request's id")]
    WrongId,
    /// The answer is for something other than what is stored.
    #[error("the answer is for something other than what is stored")]
    WrongDigest,
    /// It would change the arguments of a call that can only be approved as shown.
    #[error("the arguments of this call cannot be changed")]
    NotEditable,
    /// The deadline has not come, or there is none.
    #[error("the deadline has not passed")]
    NotDue,
}

/// Decides what an act does to a request: pure, so that every surface gets the same verdict. Whether edited arguments fit
/// is [`check_edit`](crate::check_edit)'s to say; here an edit of what is not editable is refused (contract 12).
pub fn settle(
    shown: &Shown,
    state: RequestState,
    stored: &Digest,
    act: &Act,
    now: Time,
) -> Result<Settlement, Refused> {
    let request = &shown.request;
    if let RequestState::Settled(outcome) = state {
        return Err(Refused::AlreadySettled(outcome));
    }
    let no = |outcome: Outcome| Settlement {
        answer: Answer::declined(&request.id, outcome.class().map(crate::Class::as_str)),
        outcome,
        edited: None,
        at: now,
    };
    match act {
        Act::Expire if request.is_expired(now) => Ok(no(Outcome::Expired)),
        Act::Expire => Err(Refused::NotDue),
        Act::Cancel(cause) => Ok(no(Outcome::Cancelled(*cause))),
        Act::Answer { answer, digest } => {
            if answer.id() != request.id {
                return Err(Refused::WrongId);
            }
            if request.is_expired(now) {
                return Err(Refused::TooLate);
            }
            if digest.is_some_and(|digest| digest != *stored) {
                return Err(Refused::WrongDigest);
            }
            if !shown.is_editable() && brought(&request.kind, answer).is_some() {
                return Err(Refused::NotEditable);
            }
            let outcome = if answer.is_ok() { ok_outcome(&request.kind) } else { Outcome::Declined };
            Ok(Settlement { outcome, answer: answer.clone(), edited: edited(shown, answer), at: now })
        }
    }
}

fn ok_outcome(kind: &Kind) -> Outcome {
    if kind.collects_data() { Outcome::Answered } else { Outcome::Approved }
}

macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $type {
            /// Its name in storage and on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// From its name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

names!(DecidedBy { Person = "person", Rule = "rule", Deadline = "deadline", Source = "source", Stop = "stop" });
names!(Surface {
    Window = "window",
    Notification = "notification",
    Tray = "tray",
    Cli = "cli",
    Browser = "browser",
});
