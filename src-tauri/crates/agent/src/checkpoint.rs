use std::fmt;

use sayso_domain::run::{Asked, CallState, Run, Slot, Status};
use sayso_domain::{Answer, Digest, Request, Shown};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::journal::Kept;
use crate::{MemoryJournal, ResumeError, Style};

/// The form in which checkpoints are written.
const VERSION: u32 = 1;

/// Names one checkpoint; every halt makes a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CheckpointId(Uuid);

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A run as it was given back: all that another process needs to go on with it, beside the endpoint and the tools
/// (contract 25). It serialises with serde; there is no key in it.
///
/// It holds what was said and what will run, and is not signed: keep it where nobody else can write, as whoever can change
/// it decides what runs. What is only half changed, so that a request no longer shows its call, is refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    version: u32,
    id: CheckpointId,
    style: Style,
    run: Run,
    transcript: Vec<Kept>,
    requests: Vec<Asked>,
}

/// An answer to one of a checkpoint's requests.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The answer; its id names the request.
    pub answer: Answer,
    /// The digest of what was shown. Where it is there, an answer to anything else is refused (contract 12).
    pub digest: Option<Digest>,
}

impl From<Answer> for Decision {
    fn from(answer: Answer) -> Self {
        Self { answer, digest: None }
    }
}

impl Checkpoint {
    pub(crate) fn of(style: Style, run: Run, journal: &MemoryJournal, asked: &[Asked]) -> Self {
        let requests = run.requests().filter_map(|key| asked.iter().find(|asked| asked.key == key));
        Self {
            version: VERSION,
            id: CheckpointId(Uuid::now_v7()),
            style,
            requests: requests.cloned().collect(),
            transcript: journal.kept(),
            run,
        }
    }

    /// Its name.
    pub fn id(&self) -> CheckpointId {
        self.id
    }

    /// Where the run stands.
    pub fn status(&self) -> &Status {
        &self.run.status
    }

    /// What waits for a person, in call order, each with the digest of all that is to be shown with it: the request, the
    /// tool and its arguments.
    pub fn requests(&self) -> impl Iterator<Item = (&Request, Digest)> {
        self.requests.iter().map(|asked| (&asked.shown.request, Digest::of(&asked.shown.to_text())))
    }

    /// All that is to be shown of each request that waits, in call order: also the tool, its arguments, and whether these may be
    /// edited (contract 12).
    pub fn shown(&self) -> impl Iterator<Item = &Shown> {
        self.requests.iter().map(|asked| &asked.shown)
    }

    /// Takes it apart, if it is whole.
    pub(crate) fn open(self, style: Style) -> Result<(Run, MemoryJournal, Vec<Asked>), ResumeError> {
        if self.version != VERSION {
            return Err(ResumeError::Damaged("it was written by another version"));
        }
        if self.style != style {
            return Err(ResumeError::OtherStyle);
        }
        for slot in &self.run.slots {
            let Some(key) = slot.state.request() else { continue };
            let shown = self.requests.iter().find(|asked| asked.key == key && shows(asked, &self.run, slot));
            if shown.is_none() {
                return Err(ResumeError::Damaged("a request does not show the call that it is for"));
            }
        }
        if self.run.slots.iter().any(|slot| matches!(slot.state, CallState::Running(_))) {
            return Err(ResumeError::Damaged("a call in it is at work"));
        }
        Ok((self.run, MemoryJournal::from_kept(self.transcript), self.requests))
    }
}

/// Whether a request shows just what a yes would run.
fn shows(asked: &Asked, run: &Run, slot: &Slot) -> bool {
    let shown = &asked.shown;
    let mut may_edit = false;
    let (prompt, file_hash) = match &slot.state {
        CallState::Waiting { prompt, file_hash, editable, .. } => {
            may_edit = *editable;
            (Some(prompt), file_hash.as_ref())
        }
        CallState::Suspended { prompt, .. } => (Some(prompt), None),
        CallState::Unknown { .. } | CallState::Running(_) | CallState::Finished(_) => (None, None),
    };
    shown.run == Some(run.id)
        && shown.tool.as_ref() == Some(&slot.name)
        && shown.arguments.as_deref() == Some(slot.effective_arguments())
        && shown.is_editable() == may_edit
        && shown.file_hash.as_ref() == file_hash
        && prompt.is_none_or(|prompt| *prompt == shown.request.prompt)
}
