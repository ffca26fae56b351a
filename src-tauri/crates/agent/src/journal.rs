use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use sayso_domain::RequestKey;
use sayso_domain::run::{Message, Run, Slot, Step};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallResult, Entry};

/// Why a step could not be kept, or a transcript not be read.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct JournalError(Box<dyn std::error::Error + Send + Sync>);

impl JournalError {
    /// From whatever the journal's owner says.
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// What the journal's owner said.
    pub fn into_inner(self) -> Box<dyn std::error::Error + Send + Sync> {
        self.0
    }
}

/// Where a run is kept. Each step is committed before any of its effects is performed; if that fails, none is.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Keeps a step: the run as it is now, the step's messages, the calls it touched and the requests it raises, in one
    /// commit. `delivered` is the request whose answer this step acts on; it is acknowledged in the same commit.
    async fn commit(&self, run: &Run, step: &Step, delivered: Option<RequestKey>)
    -> Result<(), JournalError>;

    /// All that was said, with one result for every call. Asked only when no call is unfinished, so what it gave once only
    /// grows: a journal that keeps it adds what is new.
    async fn transcript(&self) -> Result<Arc<Vec<Entry>>, JournalError>;
}

/// A journal that ends with the process.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    said: Mutex<Said>,
}

#[derive(Debug, Default)]
struct Said {
    kept: Vec<Kept>,
    /// As many of them as a model was told of, as it was told: they don't change any more.
    told: Arc<Vec<Entry>>,
}

/// What was said, with the calls of each turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Kept {
    User(String),
    Assistant { turn: u32, message: Value, slots: Vec<Slot> },
}

impl MemoryJournal {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn from_kept(kept: Vec<Kept>) -> Self {
        Self { said: Mutex::new(Said { kept, told: Arc::default() }) }
    }

    pub(crate) fn kept(&self) -> Vec<Kept> {
        self.said().kept.clone()
    }

    /// Every call so far, in order.
    pub fn calls(&self) -> Vec<Slot> {
        let slots = |kept: &Kept| match kept {
            Kept::User(_) => Vec::new(),
            Kept::Assistant { slots, .. } => slots.clone(),
        };
        self.said().kept.iter().flat_map(slots).collect()
    }

    /// The model's last message.
    pub fn last_message(&self) -> Option<Value> {
        self.said().kept.iter().rev().find_map(|kept| match kept {
            Kept::User(_) => None,
            Kept::Assistant { message, .. } => Some(message.clone()),
        })
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn commit(&self, run: &Run, step: &Step, _: Option<RequestKey>) -> Result<(), JournalError> {
        let entries = &mut self.said().kept;
        // An assistant's message comes with its calls, and a person's words after the results of the calls before them.
        for message in &step.messages {
            entries.push(match message {
                Message::User(text) => Kept::User(text.clone()),
                Message::Assistant { turn, message } => {
                    Kept::Assistant { turn: *turn, message: message.clone(), slots: Vec::new() }
                }
            });
        }
        for slot in step.touched.iter().filter_map(|id| run.slot(*id)) {
            let of_turn = entries.iter_mut().rev().find_map(|kept| match kept {
                Kept::Assistant { turn, slots, .. } if *turn == slot.id.turn => Some(slots),
                Kept::User(_) | Kept::Assistant { .. } => None,
            });
            let Some(slots) = of_turn else { continue };
            match slots.iter_mut().find(|kept| kept.id == slot.id) {
                Some(kept) => *kept = slot.clone(),
                None => slots.push(slot.clone()),
            }
        }
        Ok(())
    }

    async fn transcript(&self) -> Result<Arc<Vec<Entry>>, JournalError> {
        let Said { kept, told } = &mut *self.said();
        let new = &kept[told.len()..];
        Arc::make_mut(told).extend(new.iter().map(Kept::entry));
        Ok(Arc::clone(told))
    }
}

impl Kept {
    fn entry(&self) -> Entry {
        match self {
            Self::User(text) => Entry::User(text.clone()),
            Self::Assistant { message, slots, .. } => Entry::Assistant {
                message: message.clone(),
                results: slots.iter().filter_map(CallResult::of).collect(),
            },
        }
    }
}
