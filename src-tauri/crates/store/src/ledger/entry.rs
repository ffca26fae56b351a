use sayso_domain::{Digest, RequestKey, RunId, Time};

/// The field that repeats the column of the request's key.
pub(super) const REQUEST: &str = "request";
/// The field that repeats the column of the run's id.
pub(super) const RUN: &str = "run";

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntryType {
    /// A request settled.
    Decision,
    /// Its answer arrived, or there was nobody left.
    Delivery,
    /// What the call that it let through gave back.
    Effect,
    /// A run ended.
    RunEnd,
    /// A decision was taken back before it was delivered.
    Revoked,
    /// Contents were erased.
    Redaction,
    /// Entries were removed, as the person's retention says.
    Prune,
}

/// An entry to append. `request` and `run` become fields of these names.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What it is about.
    pub kind: EntryType,
    /// When.
    pub at: Time,
    /// The request.
    pub request: Option<RequestKey>,
    /// The run.
    pub run: Option<RunId>,
    /// The other fields: names of `[a-z_]`, each once.
    pub fields: Vec<(&'static str, String)>,
}

/// An appended entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRef {
    /// Its chain's UUID.
    pub chain: String,
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// A stored entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryRow {
    /// Its chain's UUID.
    pub chain: String,
    /// Its number in the chain, from 1.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
    /// What it is about.
    pub kind: EntryType,
    /// When.
    pub at: Time,
    /// Its fields by name; none where the content was erased.
    pub fields: Vec<(String, Option<String>)>,
}

impl EntryType {
    const ALL: [Self; 7] = [
        Self::Decision,
        Self::Delivery,
        Self::Effect,
        Self::RunEnd,
        Self::Revoked,
        Self::Redaction,
        Self::Prune,
    ];

    /// Its name in storage and in the hash.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Delivery => "delivery",
            Self::Effect => "effect",
            Self::RunEnd => "run_end",
            Self::Revoked => "revoked",
            Self::Redaction => "redaction",
            Self::Prune => "prune",
        }
    }

    /// From its name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl EntryRow {
    /// A field's content.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known == name).and_then(|(_, content)| content.as_deref())
    }
}
