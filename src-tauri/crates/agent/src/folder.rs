use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt as _};
use sayso_domain::ToolResult;

/// The longest path that a model may name, in bytes: what systems take.
const LONGEST: usize = 4096;
/// How many folders a path may name one beneath another. Following them takes stack, which a model must not use up.
const DEEPEST: usize = 200;

/// An agent's folder: a handle on the directory itself. Whatever is named through it stays beneath it: neither `..` nor
/// a link leads out.
pub struct Folder {
    path: PathBuf,
    dir: Dir,
}

/// The folder cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("The agent's folder {} cannot be opened ({error}). Nothing was run. Make the folder again, or name another in the agent's set-up.", path.display())]
pub struct FolderError {
    /// Which.
    pub path: PathBuf,
    /// What the system said.
    #[source]
    pub error: io::Error,
}

/// A path as people write it: `~/` is the home folder, where that is known.
pub fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => PathBuf::from(home).join(rest),
        (Some(_), None) | (None, _) => PathBuf::from(path),
    }
}

impl Folder {
    /// Opens a folder.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        let open = || {
            let path = path.canonicalize()?;
            let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
            Ok(Self { path, dir })
        };
        open().map_err(|error| FolderError { path: path.to_owned(), error })
    }

    /// Where it is, with links resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// An error for the model if the folder is no longer where it was opened: moved away, deleted or replaced.
    pub(crate) fn is_there(&self) -> Result<(), ToolResult> {
        use std::os::unix::fs::MetadataExt as _;
        let same = || -> io::Result<bool> {
            let (at_path, held) = (std::fs::metadata(&self.path)?, self.dir.dir_metadata()?);
            Ok((at_path.dev(), at_path.ino()) == (held.dev(), held.ino()))
        };
        match same() {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(ToolResult::error(format!(
                "The agent's folder {} is no longer there. Nothing was run. Only the person can bring it back.",
                self.path.display()
            ))),
        }
    }

    /// A path as a model names it, relative to the folder: models also name whole paths.
    pub(crate) fn relative(&self, named: &str) -> Result<PathBuf, ToolResult> {
        if named.contains('\0') {
            return Err(ToolResult::error("The path holds a NUL character. Nothing was run."));
        }
        if named.len() > LONGEST || named.split('/').count() > DEEPEST {
            return Err(ToolResult::error(format!(
                "The path is longer than {LONGEST} bytes or names more than {DEEPEST} folders. Nothing was read or changed."
            )));
        }
        let named = Path::new(if named.is_empty() { "." } else { named });
        let inside = if named.is_absolute() {
            named.strip_prefix(&self.path).map_err(|_| self.outside(named))?
        } else {
            named
        };
        // `a/../b` without looking at `a`; what climbs above the folder is refused here, links are by the handle.
        let mut path = PathBuf::new();
        for component in inside.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) => path.push(name),
                Component::ParentDir if path.pop() => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(self.outside(named));
                }
            }
        }
        Ok(if path.as_os_str().is_empty() { PathBuf::from(".") } else { path })
    }

    /// What a model is told when a path leads out.
    pub(crate) fn outside(&self, named: &Path) -> ToolResult {
        ToolResult::error(format!(
            "{} leads out of the agent's folder {}, beneath which file tools stay. Nothing was read or changed.",
            named.display(),
            self.path.display()
        ))
    }

    /// A failed look at a path, in words.
    pub(crate) fn failed(&self, named: &Path, error: &io::Error) -> ToolResult {
        // What the handle answers for a way out carries no number; the system's own refusals do.
        let is_way_out = match error.raw_os_error() {
            None => error.kind() == io::ErrorKind::PermissionDenied,
            Some(number) => number == rustix::io::Errno::XDEV.raw_os_error(),
        };
        if is_way_out {
            self.outside(named)
        } else if error.kind() == io::ErrorKind::NotFound {
            ToolResult::error(format!("{} does not exist.", named.display()))
        } else {
            ToolResult::error(format!("{} cannot be used: {error}.", named.display()))
        }
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Folder").field(&self.path).finish()
    }
}
