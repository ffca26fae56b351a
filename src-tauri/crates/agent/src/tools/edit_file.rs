use std::sync::Arc;

use async_trait::async_trait;
use sayso_domain::ToolResult;
use serde_json::{Value, json};

use super::file::{self, Change, Made};
use super::{blocking, folder, spec, text};
use crate::{Arguments, Draft, Folder, Limits, Ran, Tool, ToolContext, ToolSpec};

/// Replaces a piece of a file in the agent's folder.
pub(super) struct EditFile {
    pub(super) limits: Limits,
}

#[async_trait]
impl Tool for EditFile {
    fn spec(&self) -> ToolSpec {
        spec(
            "edit_file",
            "Replace a piece of a text file in the agent's folder. `old_text` must occur exactly once, spaces and line \
             breaks included, unless `replace_all` is set.",
            json!({
                "path": { "type": "string", "description": "Relative to the agent's folder." },
                "old_text": { "type": "string", "description": "What is there now." },
                "new_text": { "type": "string", "description": "What shall be there instead." },
                "replace_all": { "type": "boolean", "description": "Replace every occurrence." }
            }),
            &["path", "old_text", "new_text"],
        )
    }

    fn is_editable(&self) -> bool {
        true
    }

    fn summary(&self, arguments: &Value) -> String {
        text(arguments, "path").to_owned()
    }

    async fn draft(&self, arguments: &Arguments, context: &ToolContext) -> Result<Draft, ToolResult> {
        let edit = self.edit(arguments, context)?;
        let change = blocking(move || edit.work_out()).await??;
        Ok(change.draft("Edit"))
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        let shown = context.file_hash.clone();
        let made = async {
            let edit = self.edit(arguments, context)?;
            blocking(move || file::make(&edit.folder, shown.as_deref(), || edit.work_out())).await?
        };
        match made.await {
            Ok(Made::Yes(change)) => Ran::Done(ToolResult::ok(format!("{} is edited.", change.place.shown))),
            Ok(Made::Stale(change)) => Ran::Stale(change.draft("Edit")),
            Err(error) => Ran::Done(error),
        }
    }
}

/// An edit as it was asked for.
struct Edit {
    folder: Arc<Folder>,
    path: String,
    old: String,
    new: String,
    all: bool,
    limit: u64,
}

impl EditFile {
    fn edit(&self, arguments: &Arguments, context: &ToolContext) -> Result<Edit, ToolResult> {
        let edit = Edit {
            folder: folder(context)?,
            path: arguments.text_of("path")?.to_owned(),
            old: arguments.text_of("old_text")?.to_owned(),
            new: arguments.text_of("new_text")?.to_owned(),
            all: arguments.flag("replace_all")?,
            limit: self.limits.file,
        };
        if edit.old.is_empty() {
            return Err(ToolResult::error(
                "`old_text` is empty. Nothing was changed. Use write_file for a whole file.",
            ));
        }
        if edit.old == edit.new {
            return Err(ToolResult::error("`old_text` and `new_text` are the same. Nothing was changed."));
        }
        Ok(edit)
    }
}

impl Edit {
    fn work_out(&self) -> Result<Change, ToolResult> {
        let place = file::place(&self.folder, &self.path)?;
        let Some(bytes) = file::read(&self.folder, &place.real, self.limit)? else {
            return Err(ToolResult::error(format!(
                "{} does not exist. Nothing was changed. Use write_file for a new file.",
                place.shown
            )));
        };
        let content = file::as_text(&place.real, bytes.clone())?;
        let (old, new) = self.with_endings_of(&content);
        let new = match content.matches(&old).count() {
            0 => {
                return Err(ToolResult::error(format!(
                    "`old_text` does not occur in {}. Nothing was changed. Read the file again: spaces and line breaks \
                     must be the same.",
                    place.shown
                )));
            }
            count @ 2.. if !self.all => {
                return Err(ToolResult::error(format!(
                    "`old_text` occurs {count} times in {}. Nothing was changed. Take more of the text around it, or set \
                     `replace_all`.",
                    place.shown
                )));
            }
            _ => content.replace(&old, &new),
        };
        Ok(Change { place, old: Some(bytes), new: new.into_bytes() })
    }

    /// Models write `\n` for what a file has as `\r\n`.
    fn with_endings_of(&self, content: &str) -> (String, String) {
        let fits = content.contains(&self.old) || !content.contains("\r\n") || self.old.contains('\r');
        match fits {
            true => (self.old.clone(), self.new.clone()),
            false => (self.old.replace('\n', "\r\n"), self.new.replace("\r\n", "\n").replace('\n', "\r\n")),
        }
    }
}
