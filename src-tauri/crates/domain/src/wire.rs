use serde_json::{Map, Value};

/// Why a wire object could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Not a JSON object at all.
    #[error("expected a JSON object")]
    NotAnObject,
    /// A required key is absent or null.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A key holds another type than it must.
    #[error("`{key}` must be {expected}")]
    WrongType {
        /// The key.
        key: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// An id longer than 200 characters (contract 5).
    #[error("`id` is longer than 200 characters")]
    IdTooLong,
}

/// Takes a wire object apart. Null means absent (contract 4); what is not taken is kept as unknown keys.
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    pub(crate) fn of(value: Value) -> Result<Self, WireError> {
        match value {
            Value::Object(map) => Ok(Self(map)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(WireError::NotAnObject)
            }
        }
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.0.shift_remove(key).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<String>, WireError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(WireError::WrongType { key, expected: "a string" }),
        }
    }

    pub(crate) fn id(&mut self) -> Result<String, WireError> {
        let id = self.text("id")?.ok_or(WireError::Missing("id"))?;
        if id.chars().count() > 200 { Err(WireError::IdTooLong) } else { Ok(id) }
    }

    pub(crate) fn flag(&mut self, key: &'static str) -> Result<bool, WireError> {
        match self.take(key) {
            None => Err(WireError::Missing(key)),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(WireError::WrongType { key, expected: "true or false" }),
        }
    }

    pub(crate) fn rest(mut self) -> Map<String, Value> {
        self.0.retain(|_, value| !value.is_null());
        self.0
    }
}
