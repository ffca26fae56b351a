use jsonschema::PatternOptions;
use sayso_domain::{Answer, Kind, Request};
use serde_json::{Map, Value};

/// Whether the data of a yes fits what was asked (contract 30). A no always does. The error says what does not fit.
pub(crate) fn check(request: &Request, answer: &Answer) -> Result<(), String> {
    let schema = match request.kind {
        Kind::Input | Kind::Question | Kind::Other(_) => request.schema().filter(|_| answer.is_ok()),
        Kind::Approval | Kind::Authorization | Kind::ToolCall => None,
    };
    let Some(schema) = schema else { return Ok(()) };
    // Patterns match in linear time, and nothing is fetched.
    let validator = jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .should_validate_formats(true)
        .build(schema)
        .map_err(|error| format!("what it asks for cannot be checked: {error}"))?;
    let nothing = Value::Object(Map::new());
    let problems: Vec<_> = validator
        .iter_errors(answer.data().unwrap_or(&nothing))
        .take(3)
        .map(|error| match error.instance_path().to_string().trim_start_matches('/') {
            "" => error.to_string(),
            field => format!("`{field}`: {error}"),
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

/// Whether a yes tries to change the arguments that were shown (contract 12): nothing here can be edited, and to run what
/// was shown instead would not be what the person sent.
pub(crate) fn edits(request: &Request, answer: &Answer) -> bool {
    let permits = matches!(request.kind, Kind::Approval | Kind::ToolCall);
    permits && answer.is_ok() && answer.data().is_some_and(|data| data.get("arguments").is_some())
}
