use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::wire::Fields;
use crate::{Class, WireError};

const DECLINED: &str = "declined";

/// What a suspended call resumes with (contract 2). On the wire: `id, ok, data, reason`, the last two left out when
/// unset. The fields are private, so that `ok: false` can only be made by [`Answer::declined`] (contract 3).
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    id: String,
    ok: bool,
    data: Option<Value>,
    reason: Option<String>,
    extra: Map<String, Value>,
}

impl Answer {
    /// A yes that carries nothing.
    pub fn ok(id: impl Into<String>) -> Self {
        Self { id: id.into(), ok: true, data: None, reason: None, extra: Map::new() }
    }

    /// A yes with what the person typed or chose.
    pub fn ok_with(id: impl Into<String>, data: Value) -> Self {
        Self { data: Some(data).filter(|data| !data.is_null()), ..Self::ok(id) }
    }

    /// A no: `ok` is false whatever the text, which defaults to `declined`, as does an empty one. Any text is accepted.
    /// It is advisory: for a log or a history, never for a branch and never for a model (contract 3, 7, 9).
    pub fn declined<'a>(id: impl Into<String>, reason: impl Into<Option<&'a str>>) -> Self {
        let reason = reason.into().filter(|text| !text.is_empty()).unwrap_or(DECLINED);
        Self { ok: false, reason: Some(reason.to_owned()), ..Self::ok(id) }
    }

    /// The same with what the person chose, which stays in History as their words do (contract 9).
    pub fn declined_with<'a>(id: impl Into<String>, reason: impl Into<Option<&'a str>>, data: Value) -> Self {
        Self { data: Some(data).filter(|data| !data.is_null()), ..Self::declined(id, reason) }
    }

    /// The request's id, echoed.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The one thing the loop branches on (contract 7).
    pub fn is_ok(&self) -> bool {
        self.ok
    }

    /// What the person typed or chose.
    pub fn data(&self) -> Option<&Value> {
        self.data.as_ref()
    }

    /// The advisory text.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The answer as it may leave the app (contract 9): of a no, only the class is left; of a yes, the reason is gone.
    #[must_use]
    pub fn for_outside(&self, class: Option<Class>) -> Self {
        match class {
            Some(class) => Self::declined(self.id.clone(), class.as_str()),
            None if self.ok => Self { reason: None, ..self.clone() },
            None => Self::declined(self.id.clone(), None),
        }
    }
}

impl TryFrom<Value> for Answer {
    type Error = WireError;

    fn try_from(value: Value) -> Result<Self, WireError> {
        let mut fields = Fields::of(value)?;
        let id = fields.id()?;
        let ok = fields.flag("ok")?;
        let data = fields.take("data");
        let reason = fields.text("reason")?;
        let extra = fields.rest();
        Ok(if ok {
            Self { id, ok, data, reason, extra }
        } else {
            Self { data, extra, ..Self::declined(id, reason.as_deref()) }
        })
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("ok", &self.ok)?;
        if let Some(data) = &self.data {
            map.serialize_entry("data", data)?;
        }
        if let Some(reason) = &self.reason {
            map.serialize_entry("reason", reason)?;
        }
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(from)?).map_err(D::Error::custom)
    }
}
