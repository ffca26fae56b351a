//! Files beneath an agent's folder, by its handle.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
use sayso_domain::text::cut;
use sayso_domain::{Digest, ToolResult, sha256};
use similar::TextDiff;
use uuid::Uuid;

use crate::{Draft, Folder};

/// What a request shows as the hash of a file that is not there.
pub(super) const ABSENT: &str = "absent";
/// The largest diff that is shown, in characters; what is cut is marked, and the arguments show all of it.
const DIFF: usize = 256 * 1024;

/// One writer at a time in this process, so that nothing comes between a look at a file and its change.
static WRITES: Mutex<()> = Mutex::new(());

/// Where a path of a model leads, links followed, beneath the folder.
pub(super) struct Place {
    /// Relative to the folder, with no link in it.
    pub(super) real: PathBuf,
    /// As it is shown: the path, and where it really leads if that is elsewhere.
    pub(super) shown: String,
    /// Whether that is elsewhere.
    is_linked: bool,
}

pub(super) fn place(folder: &Folder, named: &str) -> Result<Place, ToolResult> {
    let relative = folder.relative(named)?;
    let real = resolve(folder, &relative)?;
    let is_linked = real != relative;
    let shown = match is_linked {
        false => relative.display().to_string(),
        true => format!("{} (a link to {})", relative.display(), real.display()),
    };
    Ok(Place { real, shown, is_linked })
}

/// Follows links beneath the folder; what does not exist yet is taken from its nearest parent that does.
fn resolve(folder: &Folder, path: &Path) -> Result<PathBuf, ToolResult> {
    if path == Path::new(".") {
        return Ok(path.to_owned());
    }
    match folder.dir().symlink_metadata(path) {
        Ok(found) => folder.dir().canonicalize(path).map_err(|error| {
            if found.is_symlink() && error.kind() == io::ErrorKind::NotFound {
                return ToolResult::error(format!(
                    "{} is a link to something that does not exist.",
                    path.display()
                ));
            }
            folder.failed(path, &error)
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(folder.failed(path, &error));
            };
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            let parent = resolve(folder, parent)?;
            Ok(if parent == Path::new(".") { PathBuf::from(name) } else { parent.join(name) })
        }
        Err(error) => Err(folder.failed(path, &error)),
    }
}

/// A file's bytes, or none if there is no file. Larger files than `limit` are refused, and so is what is no file.
pub(super) fn read(folder: &Folder, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ToolResult> {
    // Without waiting: a pipe that nobody writes to must not hang the call.
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(nonblocking);
    let opened = folder.dir().open_with(path, &options);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(folder.failed(path, &error)),
    };
    let metadata = file.metadata().map_err(|error| folder.failed(path, &error))?;
    if metadata.is_dir() {
        return Err(ToolResult::error(format!("{} is a folder, not a file.", path.display())));
    }
    if !metadata.is_file() {
        return Err(ToolResult::error(format!("{} is no ordinary file, so it is not read.", path.display())));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| folder.failed(path, &error))?;
    if bytes.len() as u64 > limit {
        return Err(ToolResult::error(format!(
            "{} is larger than {} MiB, which is more than file tools take. Nothing was read or changed.",
            path.display(),
            limit / (1024 * 1024)
        )));
    }
    Ok(Some(bytes))
}

/// A file's text, or a polite refusal of what is none.
pub(super) fn as_text(path: &Path, bytes: Vec<u8>) -> Result<String, ToolResult> {
    let refused = || {
        ToolResult::error(format!(
            "{} is not a text file (UTF-8), so it is not read or edited.",
            path.display()
        ))
    };
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        Ok(_) | Err(_) => Err(refused()),
    }
}

/// A change to one file, worked out but not made.
pub(super) struct Change {
    pub(super) place: Place,
    /// What is there now.
    pub(super) old: Option<Vec<u8>>,
    /// What will be there.
    pub(super) new: Vec<u8>,
}

impl Change {
    /// The SHA-256 of what is there now, or `absent`; and through a link, where that is: a link that leads elsewhere by
    /// now leads to another file, also if both hold the same.
    pub(super) fn hash(&self) -> String {
        let hash = match &self.old {
            Some(old) => Digest(sha256(old)).to_string(),
            None => ABSENT.to_owned(),
        };
        match self.place.is_linked {
            false => hash,
            true => format!("{hash} in {}", self.place.real.display()),
        }
    }

    /// Whether the file already is as it should be.
    pub(super) fn is_made(&self) -> bool {
        self.old.as_deref() == Some(self.new.as_slice())
    }

    /// What to ask before it is made.
    pub(super) fn draft(&self, verb: &str) -> Draft {
        Draft {
            file_hash: Some(self.hash()),
            diff: Some(self.diff()),
            ..Draft::approval(format!("{verb} {}?", self.place.shown))
        }
    }

    fn diff(&self) -> String {
        let path = self.place.real.display();
        let old = self.old.as_deref().map_or(Ok(""), str::from_utf8);
        let (Ok(old), Ok(new)) = (old, str::from_utf8(&self.new)) else {
            let size = self.old.as_ref().map_or(0, Vec::len);
            return format!("{path} holds {size} bytes that are no text; all of them are replaced.\n");
        };
        let from = if self.old.is_some() { format!("a/{path}") } else { "/dev/null".to_owned() };
        let diff = TextDiff::configure().timeout(Duration::from_secs(2)).diff_lines(old, new);
        cut(&diff.unified_diff().context_radius(3).header(&from, &format!("b/{path}")).to_string(), DIFF)
    }
}

/// What came of trying to make a change.
pub(super) enum Made {
    /// The file is as it should be.
    Yes(Change),
    /// It is no longer what was shown: this is what the change would be now, and nothing was done.
    Stale(Change),
}

/// Makes a change if the file is still what it was when it was shown; without a hash nobody was shown anything.
pub(super) fn make(
    folder: &Folder,
    shown: Option<&str>,
    work_out: impl Fn() -> Result<Change, ToolResult>,
) -> Result<Made, ToolResult> {
    let _alone = WRITES.lock().unwrap_or_else(PoisonError::into_inner);
    let change = work_out()?;
    if change.is_made() {
        return Ok(Made::Yes(change));
    }
    if shown.is_some_and(|shown| shown != change.hash()) {
        return Ok(Made::Stale(change));
    }
    replace(folder, &change.place.real, &change.new).map_err(|error| {
        let error = folder.failed(&change.place.real, &error);
        ToolResult::error(format!("{} The file is as it was.", error.output))
    })?;
    Ok(Made::Yes(change))
}

/// Puts a whole new file in the place of another, at once: whoever reads it sees the old or the new. It is on disk
/// when this returns.
fn replace(folder: &Folder, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    folder.dir().create_dir_all(parent)?;
    let parent = folder.dir().open_dir(parent)?;
    let permissions = match parent.symlink_metadata(name) {
        Ok(old) if old.is_file() => Some(old.permissions()),
        Ok(_) => return Err(io::Error::other("it is no ordinary file")),
        Err(_) => None,
    };
    let temporary = format!(".sayso-{}", Uuid::now_v7().simple());
    let write = || {
        let mut file = parent.open_with(&temporary, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(bytes)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        file.sync_all()?;
        parent.rename(&temporary, &parent, name)
    };
    let written = write();
    if written.is_err() {
        let _ = parent.remove_file(&temporary);
    }
    written?;
    // The new name too is on disk before anyone is told; not every file system can do that.
    let _ = parent.open(".").and_then(|folder| folder.sync_all());
    Ok(())
}
