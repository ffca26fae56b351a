//! Choices that a source brings along, to be chosen from in place of a plain yes and no.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::visible_line;
use crate::{Answer, Misfit, Shown};

const CHOICE: &str = "choice";
const FEWEST: usize = 2;
const MOST: usize = 6;
const LONGEST_ID: usize = 64;
const LONGEST_LABEL: usize = 40;

/// One of a request's own choices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
// What else it said would be seen by nobody.
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The source's own name for it, unique within the request.
    pub id: String,
    /// What the person reads on its button, unique within the request.
    pub label: String,
    /// What choosing it does.
    pub effect: Effect,
}

/// What choosing does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It is a yes; the asker gets `data: {"choice": id}`.
    Approve,
    /// It is a no like any other: the asker gets nothing but the class (contract 9).
    Deny,
}

impl Effect {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
        }
    }
}

impl Choice {
    /// Reads `data.choices`: two to six, told apart by id and by label, with at least one that denies. The error says for
    /// whoever asks what is wrong.
    pub fn read_all(choices: &Value) -> Result<Vec<Self>, String> {
        let choices = Vec::<Self>::deserialize(choices).map_err(|error| error.to_string())?;
        if !(FEWEST..=MOST).contains(&choices.len()) {
            return Err(format!("there must be {FEWEST} to {MOST} of them"));
        }
        for Self { id, label, .. } in &choices {
            if !is_line_within(id, LONGEST_ID) {
                return Err(format!("an `id` must be 1 to {LONGEST_ID} visible characters"));
            }
            if !is_line_within(label, LONGEST_LABEL) {
                return Err(format!(
                    "a `label` must be 1 to {LONGEST_LABEL} visible characters on one line, with no space around them"
                ));
            }
        }
        let (mut ids, mut labels) = (HashSet::new(), HashSet::new());
        for choice in &choices {
            if !ids.insert(&choice.id) || !labels.insert(choice.label.to_lowercase()) {
                return Err("no two may have the same `id` or the same `label`".to_owned());
            }
        }
        if choices.iter().any(|choice| choice.effect == Effect::Deny) {
            Ok(choices)
        } else {
            Err("at least one must have the effect `deny`".to_owned())
        }
    }
}

/// Whether all of a text shows on one line, and is no longer than that.
fn is_line_within(text: &str, longest: usize) -> bool {
    let count = text.chars().count();
    (1..=longest).contains(&count) && text.trim() == text && visible_line(text) == text
}

/// Whether an answer chooses one of the choices that were shown, with the effect that it says. A no need not choose: it is
/// one whatever was offered. Where there are none, there is nothing to check.
pub fn check_choice(shown: &Shown, answer: &Answer) -> Result<(), Misfit> {
    if shown.choices.is_empty() {
        return Ok(());
    }
    let wanted = if answer.is_ok() { Effect::Approve } else { Effect::Deny };
    let chosen = answer.data().and_then(|data| data.get(CHOICE));
    let fits = match chosen {
        Some(id) => shown.choices.iter().any(|choice| choice.effect == wanted && *id == *choice.id),
        None => !answer.is_ok() && answer.data().is_none(),
    };
    if fits {
        return Ok(());
    }
    let ids = shown.choices.iter().filter(|choice| choice.effect == wanted);
    let ids: Vec<_> = ids.map(|choice| format!("`{}`", choice.id)).collect();
    Err(Misfit::Data(match wanted {
        Effect::Approve if ids.is_empty() => "This request can only be declined".to_owned(),
        Effect::Approve => {
            format!("A yes to this request must choose one of {} as its `choice`", ids.join(", "))
        }
        Effect::Deny => format!("A no to this request may choose nothing but one of {}", ids.join(", ")),
    }))
}
