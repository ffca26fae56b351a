use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a request asks for. The vocabulary is open (contract 6).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A yes or no to something that will be done.
    Approval,
    /// A form to fill in, described by `data.schema`, or one text.
    Input,
    /// Questions with options, in `data.questions`.
    Question,
    /// A page to sign in at, in `url`.
    Authorization,
    /// A call that somebody else runs.
    ToolCall,
    /// Anything else, by its own name.
    Other(String),
}

impl Kind {
    /// The name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Approval => "approval",
            Self::Input => "input",
            Self::Question => "question",
            Self::Authorization => "authorization",
            Self::ToolCall => "tool_call",
            Self::Other(name) => name,
        }
    }

    /// Whether an ok is a permission for a call. Only then can its arguments be edited, or a source bring choices of its own.
    pub fn is_permission(&self) -> bool {
        match self {
            Self::Approval | Self::ToolCall => true,
            Self::Input | Self::Question | Self::Authorization | Self::Other(_) => false,
        }
    }

    /// Whether an ok carries what the person typed or chose, rather than a permission.
    pub fn collects_data(&self) -> bool {
        matches!(self, Self::Input | Self::Question)
    }
}

impl From<&str> for Kind {
    fn from(name: &str) -> Self {
        match name {
            "approval" => Self::Approval,
            "input" => Self::Input,
            "question" => Self::Question,
            "authorization" => Self::Authorization,
            "tool_call" => Self::ToolCall,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::from(String::deserialize(from)?.as_str()))
    }
}
