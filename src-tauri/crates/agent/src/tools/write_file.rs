use std::sync::Arc;

use async_trait::async_trait;
use sayso_domain::ToolResult;
use serde_json::{Value, json};

use super::file::{self, Change, Made};
use super::{blocking, folder, spec, text};
use crate::{Arguments, Draft, Folder, Limits, Ran, Tool, ToolContext, ToolSpec};

/// Writes a whole file in the agent's folder.
pub(super) struct WriteFile {
    pub(super) limits: Limits,
}

#[async_trait]
impl Tool for WriteFile {
    fn spec(&self) -> ToolSpec {
        spec(
            "write_file",
            "Write a text file in the agent's folder: a new one, or all of one that is there. Missing folders are made.",
            json!({
                "path": { "type": "string", "description": "Relative to the agent's folder." },
                "content": { "type": "string", "description": "All that the file will hold." }
            }),
            &["path", "content"],
        )
    }

    fn is_editable(&self) -> bool {
        true
    }

    fn summary(&self, arguments: &Value) -> String {
        text(arguments, "path").to_owned()
    }

    async fn draft(&self, arguments: &Arguments, context: &ToolContext) -> Result<Draft, ToolResult> {
        let write = self.write(arguments, context)?;
        let change = blocking(move || write.work_out()).await??;
        if change.is_made() {
            return Err(ToolResult::error(format!(
                "{} already holds exactly this. Nothing was written.",
                change.place.shown
            )));
        }
        Ok(change.draft(verb(&change)))
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        let shown = context.file_hash.clone();
        let made = async {
            let write = self.write(arguments, context)?;
            blocking(move || file::make(&write.folder, shown.as_deref(), || write.work_out())).await?
        };
        match made.await {
            Ok(Made::Yes(change)) => Ran::Done(ToolResult::ok(format!(
                "{} is written: {} bytes.",
                change.place.shown,
                change.new.len()
            ))),
            Ok(Made::Stale(change)) => Ran::Stale(change.draft(verb(&change))),
            Err(error) => Ran::Done(error),
        }
    }
}

fn verb(change: &Change) -> &'static str {
    if change.old.is_some() { "Replace" } else { "Create" }
}

/// A write as it was asked for.
struct Write {
    folder: Arc<Folder>,
    path: String,
    content: String,
    limit: u64,
}

impl WriteFile {
    fn write(&self, arguments: &Arguments, context: &ToolContext) -> Result<Write, ToolResult> {
        Ok(Write {
            folder: folder(context)?,
            path: arguments.text_of("path")?.to_owned(),
            content: arguments.text_of("content")?.to_owned(),
            limit: self.limits.file,
        })
    }
}

impl Write {
    fn work_out(&self) -> Result<Change, ToolResult> {
        let place = file::place(&self.folder, &self.path)?;
        let old = file::read(&self.folder, &place.real, self.limit)?;
        Ok(Change { place, old, new: self.content.clone().into_bytes() })
    }
}
