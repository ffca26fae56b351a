use async_trait::async_trait;
use ignore::Walk;
use sayso_domain::{Policy, ToolResult};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::walk::{LOOKED_AT, relative, walk};
use super::{blocking, done, folder, spec, text};
use crate::{Arguments, Folder, Limits, Ran, Tool, ToolContext, ToolSpec};

/// The most entries that one call lists.
const ENTRIES: usize = 1000;

/// Lists what is in the agent's folder.
pub(super) struct ListFiles {
    pub(super) limits: Limits,
}

#[async_trait]
impl Tool for ListFiles {
    fn spec(&self) -> ToolSpec {
        spec(
            "list_files",
            "List what is in the agent's folder or one beneath it. Folders end with a slash, files show their size in \
             bytes. What the folder's ignore files name is left out unless `include_ignored` is set.",
            json!({
                "path": { "type": "string", "description": "Relative to the agent's folder; the folder itself if absent." },
                "recursive": { "type": "boolean", "description": "Also what is in the folders beneath." },
                "include_ignored": { "type": "boolean" }
            }),
            &[],
        )
    }

    fn policy(&self, _: &Value) -> Policy {
        Policy::Allow
    }

    fn has_effects(&self) -> bool {
        false
    }

    fn is_editable(&self) -> bool {
        true
    }

    fn summary(&self, arguments: &Value) -> String {
        let path = text(arguments, "path");
        if path.is_empty() { ".".to_owned() } else { path.to_owned() }
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        let list = async {
            let folder = folder(context)?;
            let path = arguments.optional_text("path")?.unwrap_or(".").to_owned();
            let recursive = arguments.flag("recursive")?;
            let ignored_too = arguments.flag("include_ignored")?;
            let depth = if recursive { None } else { Some(1) };
            let (limit, stop) = (self.limits.output, context.stop.clone());
            blocking(move || list(&folder, walk(&folder, &path, ignored_too, depth)?, limit, &stop)).await?
        };
        done(list.await)
    }
}

fn list(
    folder: &Folder,
    entries: Walk,
    limit: usize,
    stop: &CancellationToken,
) -> Result<ToolResult, ToolResult> {
    let mut output = String::new();
    let (mut listed, mut more) = (0, 0_usize);
    for entry in entries.take(LOOKED_AT) {
        if stop.is_cancelled() {
            return Err(ToolResult::error("Stopped by the person."));
        }
        // What cannot be looked at is left out; the rest still helps.
        let Ok(entry) = entry else { continue };
        if entry.depth() == 0 && entry.file_type().is_some_and(|kind| kind.is_dir()) {
            continue;
        }
        let Some(relative) = relative(folder, entry.path()) else { continue };
        let line = match entry.file_type() {
            Some(kind) if kind.is_dir() => format!("{}/\n", relative.display()),
            Some(kind) if kind.is_symlink() => format!("{} (link)\n", relative.display()),
            Some(_) | None => {
                let size =
                    entry.metadata().map_or_else(|_| "?".to_owned(), |metadata| metadata.len().to_string());
                format!("{} ({size})\n", relative.display())
            }
        };
        if listed >= ENTRIES || output.len() + line.len() > limit {
            more += 1;
        } else {
            output.push_str(&line);
            listed += 1;
        }
    }
    if more > 0 {
        output.push_str(&format!("[{more} more entries are left out; name a folder in `path` to see them]"));
    }
    if output.is_empty() {
        output.push_str("[nothing is here]");
    }
    Ok(ToolResult::ok(output))
}
