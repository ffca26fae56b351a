use sayso_domain::{Answer, Misfit, Shown, check_edit, check_fits};
use serde_json::{Map, Value};

/// Whether the data of a yes fits what was asked (contract 30), and edited arguments their tool's schema (contract 12). A no
/// always does.
pub(crate) fn check(shown: &Shown, answer: &Answer) -> Result<(), Misfit> {
    if !answer.is_ok() {
        return Ok(());
    }
    check_edit(shown, answer)?;
    let Some(schema) = shown.request.form() else { return Ok(()) };
    let nothing = Value::Object(Map::new());
    check_fits(schema, answer.data().unwrap_or(&nothing))
}
