use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

use sayso_domain::RequestKey;
use serde::{Deserialize, Serialize};

/// How many of the newest notifications are remembered.
const MOST: usize = 500;

/// Which notifications are shown, kept where it lasts as long as the desktop session: an app that was killed puts new ones
/// in their place instead of beside them. It holds keys and numbers, no text.
pub(super) struct Memory {
    file: Option<PathBuf>,
    kept: Kept,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// The bus and the service to which the numbers mean something.
    service: String,
    shown: BTreeMap<RequestKey, u32>,
    /// The one for many.
    #[serde(default)]
    summary: Option<u32>,
}

impl Memory {
    /// In this folder; none where the desktop offers no folder that goes with the session.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { file: folder.map(|folder| folder.join("notifications.json")), kept: Kept::default() }
    }

    /// What an earlier run of the app left with this very service.
    pub(super) fn left_with(&self, service: &str) -> (BTreeMap<RequestKey, u32>, Option<u32>) {
        let text = self.file.as_ref().and_then(|file| std::fs::read(file).ok());
        let kept: Option<Kept> = text.and_then(|text| serde_json::from_slice(&text).ok());
        kept.filter(|kept| kept.service == service).map(|kept| (kept.shown, kept.summary)).unwrap_or_default()
    }

    /// Keeps what this service shows now. Forgetting costs a notification that stays after a crash, no more.
    pub(super) fn keep(
        &mut self,
        service: &str,
        shown: impl IntoIterator<Item = (RequestKey, u32)>,
        summary: Option<u32>,
    ) {
        let mut shown: BTreeMap<_, _> = shown.into_iter().collect();
        while shown.len() > MOST {
            shown.pop_first();
        }
        let now = Kept { service: service.to_owned(), shown, summary };
        if now == self.kept {
            return;
        }
        if let Err(error) = self.write(&now) {
            tracing::info!("what is shown cannot be remembered: {error}");
        }
        self.kept = now;
    }

    fn write(&self, kept: &Kept) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if let Some(folder) = file.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let new = file.with_extension("new");
        let options =
            std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        serde_json::to_writer(io::BufWriter::new(options), kept)?;
        std::fs::rename(new, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: usize) -> RequestKey {
        format!("0198c0de-0000-7000-8000-{n:012x}").parse().unwrap()
    }

    #[test]
    fn what_was_shown_is_remembered_for_the_same_service_alone() {
        let folder = tempfile::tempdir().unwrap();
        let place = Some(folder.path().join("sayso-1"));
        let mut memory = Memory::new(place.clone());
        assert_eq!(memory.left_with(":1.5"), Default::default(), "nothing was kept");
        memory.keep(":1.5", (0..600).map(|n| (key(n), n as u32)), Some(9));
        let (left, summary) = Memory::new(place.clone()).left_with(":1.5");
        assert_eq!(summary, Some(9));
        assert_eq!((left.len(), left.get(&key(599)), left.get(&key(0))), (MOST, Some(&599), None));
        let other = Memory::new(place.clone()).left_with(":1.6");
        assert_eq!(other, Default::default(), "another service's numbers mean nothing");
        memory.keep(":1.5", [], None);
        assert_eq!(Memory::new(place).left_with(":1.5"), Default::default());
    }

    #[test]
    fn a_desktop_without_a_session_folder_remembers_nothing() {
        let mut memory = Memory::new(None);
        memory.keep(":1.5", [(key(1), 1)], None);
        assert_eq!(memory.left_with(":1.5"), Default::default());
    }
}
