//! What is in a folder: links are shown and not followed, what the folder's ignore files name is left out.

use std::path::{Path, PathBuf};

use ignore::{Walk, WalkBuilder};
use sayso_domain::ToolResult;

use super::file;
use crate::Folder;

/// The most that is looked at, however much is kept.
pub(super) const LOOKED_AT: usize = 200_000;

/// A walk over what is beneath a path, to a depth if one is given.
pub(super) fn walk(
    folder: &Folder,
    named: &str,
    ignored_too: bool,
    depth: Option<usize>,
) -> Result<Walk, ToolResult> {
    let place = file::place(folder, named)?;
    let top = folder.path().join(&place.real);
    if folder.dir().symlink_metadata(&place.real).is_err() {
        return Err(ToolResult::error(format!("{} does not exist.", place.shown)));
    }
    let walk = WalkBuilder::new(top)
        .max_depth(depth)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .ignore(!ignored_too)
        .git_ignore(!ignored_too)
        .git_exclude(!ignored_too)
        .follow_links(false)
        .sort_by_file_name(|a, b| a.cmp(b))
        .filter_entry(|entry| entry.file_name() != ".git" || entry.depth() == 0)
        .build();
    Ok(walk)
}

/// A path of the walk, relative to the folder.
pub(super) fn relative(folder: &Folder, path: &Path) -> Option<PathBuf> {
    path.strip_prefix(folder.path()).ok().map(Path::to_owned)
}
