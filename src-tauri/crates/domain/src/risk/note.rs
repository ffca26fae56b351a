use std::ops::Range;

use serde::{Deserialize, Serialize};

/// How much care an answer needs. A help for reading, no promise (see the module's page).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RiskLevel {
    /// Nothing found that a mistake could not be mended.
    #[default]
    Low,
    /// Changes, sends or runs something that deserves a look.
    Medium,
    /// Cannot be taken back, reaches beyond the folder with force, or hides what it does.
    High,
}

impl RiskLevel {
    /// `low`, `medium` or `high`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
        /// What a note is about: stable names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum RiskCode {
            $($(#[$doc])* $name),+
        }

        impl RiskCode {
            /// The stable name, in snake case.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text),+
                }
            }
        }
    };
}

codes! {
    /// Could answer Sayso's own requests, or reads its data.
    ActsOnSayso = "acts_on_sayso",
    /// Writes over or empties a disk.
    ErasesDisk = "erases_disk",
    /// Deletes files, rows or things on a server.
    Deletes = "deletes",
    /// Sends a secret somewhere.
    SendsSecrets = "sends_secrets",
    /// Runs what it has just downloaded.
    PipesDownloadIntoShell = "pipes_download_into_shell",
    /// Encoded, oddly wrapped, or made up only when it runs.
    HidesWhatItDoes = "hides_what_it_does",
    /// Could not be read, or not to its end.
    NotFullyRead = "not_fully_read",
    /// Runs as the superuser or another user.
    RunsAsRoot = "runs_as_root",
    /// Moves money.
    Pays = "pays",
    /// Pushes, publishes or deploys.
    Pushes = "pushes",
    /// Starts again later, or with another program.
    Persists = "persists",
    /// Changes the system: its packages, services, users, network.
    ChangesSystem = "changes_system",
    /// Changes who may do what with files.
    ChangesPermissions = "changes_permissions",
    /// Ends processes.
    EndsProcesses = "ends_processes",
    /// Replaces what files hold.
    Overwrites = "overwrites",
    /// Reads keys, passwords or tokens.
    ReadsSecrets = "reads_secrets",
    /// Reaches outside the folder.
    LeavesFolder = "leaves_folder",
    /// Sends something over the network.
    Sends = "sends",
    /// The address could be taken for another.
    OddAddress = "odd_address",
    /// Installs software.
    Installs = "installs",
    /// Runs code that is inside the command and is not judged.
    RunsCode = "runs_code",
}

/// One thing worth knowing about a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RiskNote {
    /// What it is about.
    pub code: RiskCode,
    /// How much care it calls for.
    pub level: RiskLevel,
    /// One plain sentence. It holds nothing of what the agent wrote, so that no agent can word it.
    pub text: String,
    /// The part of the command that it is about, in bytes of the command's text.
    pub part: Option<Range<usize>>,
}

/// What was found in a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Risk {
    /// The highest of the notes'; low if there are none.
    pub level: RiskLevel,
    /// The gravest first; of one code only its gravest.
    pub notes: Vec<RiskNote>,
}

impl Risk {
    /// With what was found in another part of the same request, whose places are not those of its command.
    pub(super) fn with(self, other: Self) -> Self {
        let mut notes = Notes(self.notes);
        notes.take(Notes(other.notes), None);
        notes.into_risk()
    }
}

/// Collects notes. There are few texts, so that it stays small whatever is judged.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<RiskNote>);

impl Notes {
    pub(super) fn add(
        &mut self,
        code: RiskCode,
        level: RiskLevel,
        text: &'static str,
        part: Option<Range<usize>>,
    ) {
        match self.0.iter_mut().find(|note| note.code == code && note.text == text) {
            Some(note) => note.level = note.level.max(level),
            None => self.0.push(RiskNote { code, level, text: text.to_owned(), part }),
        }
    }

    /// From another text, such as that of a script inside a command, at its place here.
    pub(super) fn take(&mut self, inner: Notes, part: Option<Range<usize>>) {
        for note in inner.0 {
            match self.0.iter_mut().find(|own| own.code == note.code && own.text == note.text) {
                Some(own) => own.level = own.level.max(note.level),
                None => self.0.push(RiskNote { part: part.clone(), ..note }),
            }
        }
    }

    /// From the same text.
    pub(super) fn take_own(&mut self, other: Notes) {
        for note in other.0 {
            let part = note.part.clone();
            self.take(Notes(vec![note]), part);
        }
    }

    pub(super) fn level(&self) -> RiskLevel {
        self.0.iter().map(|note| note.level).max().unwrap_or_default()
    }

    pub(super) fn into_risk(self) -> Risk {
        let level = self.level();
        let all = self.0;
        let gravest =
            |note: &RiskNote| all.iter().all(|other| other.code != note.code || other.level <= note.level);
        let mut notes: Vec<_> = all.iter().filter(|note| gravest(note)).cloned().collect();
        notes.sort_by_key(|note| (std::cmp::Reverse(note.level), note.code));
        Risk { level, notes }
    }
}
