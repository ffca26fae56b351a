use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// Why data is not what a JSON schema describes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// The schema itself cannot be read.
    #[error("what is asked for cannot be checked: {0}")]
    Schema(String),
    /// The data does not fit; says where and how, for a person.
    #[error("{0}")]
    Data(String),
}

/// Whether data fits a JSON schema (contract 12, 30). At most three problems are told. Nothing is fetched, and patterns
/// match in linear time.
pub fn check_fits(schema: &Value, data: &Value) -> Result<(), Misfit> {
    let validator = validator(schema).map_err(Misfit::Schema)?;
    let problems: Vec<_> = validator.iter_errors(data).take(3).map(|error| problem(&error)).collect();
    if problems.is_empty() { Ok(()) } else { Err(Misfit::Data(problems.join("; "))) }
}

/// Whether a JSON schema can be read. The error says why not.
pub fn check_schema(schema: &Value) -> Result<(), String> {
    validator(schema).map(drop)
}

fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .offline()
        .with_pattern_options(PatternOptions::regex().size_limit(1 << 20))
        .should_validate_formats(true)
        .build(schema)
        .map_err(|error| error.to_string())
}

fn problem(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    let field = path.trim_start_matches('/');
    if field.is_empty() {
        format!("The data does not fit: {error}")
    } else {
        format!("`{field}` does not fit: {error}")
    }
}
