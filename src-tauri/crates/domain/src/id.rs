use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The text is no UUID.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id of ours: expected a UUID such as 0198c0de-0000-7000-8000-000000000000")]
pub struct ParseIdError(String);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// From a UUID; ours are version 7, so that they sort by the time they were made.
            pub fn new(id: Uuid) -> Self {
                Self(id)
            }

            /// The UUID itself.
            pub fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::try_parse(text).map(Self).map_err(|_| ParseIdError(text.to_owned()))
            }
        }
    };
}

id!(
    /// What the CLI, links and foreign keys call a request. Its wire id is the source's own text.
    RequestKey
);
id!(
    /// One run of an agent.
    RunId
);
id!(
    /// Whoever can ask: an agent, a sender.
    SourceId
);
