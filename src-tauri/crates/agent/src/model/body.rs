use std::fmt;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{anthropic, openai};

/// Where the messages stand among the other fields.
pub(super) const MESSAGES: &str = "messages";

/// What a model is sent. The messages are most of it and are borrowed, so that a long transcript is written for each call
/// and copied for none.
pub(super) struct Body<'a> {
    /// All fields, in order, with a null for the messages.
    pub(super) head: Value,
    /// In order.
    pub(super) messages: Vec<Message<'a>>,
}

/// A message in the provider's own shape.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Message<'a> {
    OpenAi(openai::Message<'a>),
    Anthropic(anthropic::Message<'a>),
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.head.as_object().into_iter().flatten() {
            match name == MESSAGES {
                true => map.serialize_entry(name, &self.messages)?,
                false => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

impl fmt::Display for Body<'_> {
    /// As JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}
