use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::wire::Fields;
use crate::{Kind, Time, WireError};

/// What a suspended call asks of a person (contract 1). On the wire: `id, kind, prompt, url, data, expiresAt` in this
/// order, the last three left out when unset; unknown keys are kept and follow.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The source's own id, up to 200 characters; an answer must echo it.
    pub id: String,
    /// What is asked for.
    pub kind: Kind,
    /// The question, as text for a person.
    pub prompt: String,
    /// Where to go, for kinds that need a page. See [`crate::check_request_url`].
    pub url: Option<String>,
    /// What the kind needs: arguments, a schema, questions.
    pub data: Option<Value>,
    /// At or after this moment nothing can be approved (contract 13).
    pub expires_at: Option<Time>,
    /// Keys that we don't know, kept as they came (contract 4).
    pub extra: Map<String, Value>,
}

impl Request {
    /// A request with nothing but the required parts.
    pub fn new(id: impl Into<String>, kind: Kind, prompt: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            kind,
            prompt: prompt.into(),
            url: None,
            data: None,
            expires_at: None,
            extra: Map::new(),
        }
    }

    /// Whether the deadline has come: at it, it has passed.
    pub fn is_expired(&self, now: Time) -> bool {
        self.expires_at.is_some_and(|deadline| now >= deadline)
    }

    /// `data.schema`, which describes `answer.data` (contract 30).
    pub fn schema(&self) -> Option<&Value> {
        self.data.as_ref().and_then(|data| data.get("schema"))
    }

    /// The schema that the data of a yes must fit (contract 30); none where it need fit none.
    pub fn form(&self) -> Option<&Value> {
        match self.kind {
            Kind::Input | Kind::Question | Kind::Other(_) => self.schema(),
            Kind::Approval | Kind::Authorization | Kind::ToolCall => None,
        }
    }
}

impl TryFrom<Value> for Request {
    type Error = WireError;

    fn try_from(value: Value) -> Result<Self, WireError> {
        let mut fields = Fields::of(value)?;
        let expires_at = match fields.text("expiresAt")? {
            None => None,
            Some(text) => Some(
                text.parse()
                    .map_err(|_| WireError::WrongType { key: "expiresAt", expected: "an RFC 3339 time" })?,
            ),
        };
        Ok(Self {
            id: fields.id()?,
            kind: Kind::from(fields.text("kind")?.ok_or(WireError::Missing("kind"))?.as_str()),
            prompt: fields.text("prompt")?.ok_or(WireError::Missing("prompt"))?,
            url: fields.text("url")?,
            data: fields.take("data"),
            expires_at,
            extra: fields.rest(),
        })
    }
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("prompt", &self.prompt)?;
        if let Some(url) = &self.url {
            map.serialize_entry("url", url)?;
        }
        if let Some(data) = self.data.as_ref().filter(|data| !data.is_null()) {
            map.serialize_entry("data", data)?;
        }
        if let Some(expires_at) = &self.expires_at {
            map.serialize_entry("expiresAt", expires_at)?;
        }
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(from)?).map_err(D::Error::custom)
    }
}
