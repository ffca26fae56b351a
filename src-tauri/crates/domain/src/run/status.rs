use serde::{Deserialize, Serialize};

/// Where a run stands (contract 28).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// The model or a tool is at work.
    Running,
    /// Everything that is left waits for a person.
    Pending,
    /// The model said its last word.
    Done,
    /// A limit was reached before the model was done (contract 22).
    Incomplete(Limit),
    /// A person stopped it.
    Interrupted,
    /// It cannot go on; says why, for a person.
    Error(String),
}

/// Which limit ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Limit {
    /// `max_turns` model calls since the person's last message.
    MaxTurns,
    /// The tokens that the run may use in all.
    Tokens,
}

impl Limit {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MaxTurns => "maxTurns",
            Self::Tokens => "maxTokens",
        }
    }

    /// From its name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::MaxTurns, Self::Tokens].into_iter().find(|limit| limit.as_str() == name)
    }
}

impl Status {
    /// `running`, `pending`, `done`, `incomplete`, `interrupted` or `error`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Pending => "pending",
            Self::Done => "done",
            Self::Incomplete(_) => "incomplete",
            Self::Interrupted => "interrupted",
            Self::Error(_) => "error",
        }
    }

    /// Whether it goes on only if a person says something new.
    pub fn is_ended(&self) -> bool {
        match self {
            Self::Running | Self::Pending => false,
            Self::Done | Self::Incomplete(_) | Self::Interrupted | Self::Error(_) => true,
        }
    }
}

/// Tokens, as the models counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read by the model.
    pub input_tokens: u64,
    /// Written by the model.
    pub output_tokens: u64,
}

impl Usage {
    /// Read and written together.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
    }
}
