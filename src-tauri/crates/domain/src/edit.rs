//! Approve with edits (contract 12): a person changes the arguments of a call and approves what they made of it.

use serde_json::{Map, Value};

use crate::{Answer, Kind, Misfit, Shown, check_fits};

const ARGUMENTS: &str = "arguments";

/// The arguments that a yes to `kind` brings along, if it does: `data.arguments`. Only a permission can bring any; with
/// other kinds the data is what the person typed, whatever its names.
pub(crate) fn brought<'a>(kind: &Kind, answer: &'a Answer) -> Option<&'a Value> {
    if kind.is_permission() { given(answer) } else { None }
}

/// `data.arguments` of a yes.
pub(crate) fn given(answer: &Answer) -> Option<&Value> {
    if answer.is_ok() { answer.data()?.get(ARGUMENTS) } else { None }
}

/// What `given` makes of a call whose arguments are `text`: the JSON text of other arguments on one line, or none where
/// they say the same. Numbers are the same only digit for digit.
pub fn changed_arguments(text: &str, given: &Value) -> Option<String> {
    (read(text).as_ref() != Some(given)).then(|| given.to_string())
}

/// The arguments that a model wrote, read as they are read when the tool runs.
fn read(text: &str) -> Option<Value> {
    if text.trim().is_empty() {
        return Some(Value::Object(Map::new()));
    }
    serde_json::from_str(text).ok()
}

/// Whether the arguments that a yes brings along fit the tool's schema. Without any, and where there is nothing to edit,
/// there is nothing to check: [`settle`](crate::settle) refuses an edit of what is not editable.
pub fn check_edit(shown: &Shown, answer: &Answer) -> Result<(), Misfit> {
    let (Some(schema), Some(given)) = (&shown.editable, brought(&shown.request.kind, answer)) else {
        return Ok(());
    };
    if !given.is_object() {
        return Err(Misfit::Data("`arguments` must be a JSON object".to_owned()));
    }
    check_fits(schema, given)
}

/// The arguments that a yes really changes, as JSON text on one line; none where it approves what was shown.
pub(crate) fn edited(shown: &Shown, answer: &Answer) -> Option<String> {
    let given = brought(&shown.request.kind, answer)?;
    changed_arguments(shown.arguments.as_deref().unwrap_or_default(), given)
}
