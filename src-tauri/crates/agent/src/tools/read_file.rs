use async_trait::async_trait;
use sayso_domain::{Policy, ToolResult};
use serde_json::{Value, json};

use super::{blocking, done, file, folder, spec, text};
use crate::{Arguments, Folder, Limits, Ran, Tool, ToolContext, ToolSpec, cut};

/// Reads a text file in the agent's folder.
pub(super) struct ReadFile {
    pub(super) limits: Limits,
}

#[async_trait]
impl Tool for ReadFile {
    fn spec(&self) -> ToolSpec {
        spec(
            "read_file",
            "Read a text file in the agent's folder. What is too long is cut and says how to read on.",
            json!({
                "path": { "type": "string", "description": "Relative to the agent's folder." },
                "offset": { "type": "integer", "minimum": 1, "description": "The first line to read, from 1." },
                "limit": { "type": "integer", "minimum": 1, "description": "How many lines to read." }
            }),
            &["path"],
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
        text(arguments, "path").to_owned()
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        let read = async {
            let folder = folder(context)?;
            let path = arguments.text_of("path")?.to_owned();
            let first = arguments.optional_count("offset")?.unwrap_or(1).max(1);
            let count = arguments.optional_count("limit")?.unwrap_or(u64::MAX);
            let limits = self.limits;
            blocking(move || lines(&folder, &path, first, count, limits)).await?
        };
        done(read.await)
    }
}

fn lines(
    folder: &Folder,
    path: &str,
    first: u64,
    count: u64,
    limits: Limits,
) -> Result<ToolResult, ToolResult> {
    let place = file::place(folder, path)?;
    let bytes = file::read(folder, &place.real, limits.file)?
        .ok_or_else(|| ToolResult::error(format!("{} does not exist.", place.shown)))?;
    let content = file::as_text(&place.real, bytes)?;
    let skip = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let mut output = String::new();
    let mut shown = 0_u64;
    let mut rest = content.split_inclusive('\n').skip(skip);
    for line in rest.by_ref().take(usize::try_from(count).unwrap_or(usize::MAX)) {
        if output.len() + line.len() > limits.output {
            // A line that is longer than all that may be shown has no end to read on from.
            if shown == 0 {
                output = cut::head(line, limits.output, " of this line");
                output.push('\n');
                shown = 1;
            }
            break;
        }
        output.push_str(line);
        shown += 1;
    }
    let total = content.split_inclusive('\n').count() as u64;
    let last = (first - 1).saturating_add(shown);
    if total == 0 {
        return Ok(ToolResult::ok(format!("[{} is empty]", place.shown)));
    }
    if first > total {
        return Err(ToolResult::error(format!("{} has only {total} lines.", place.shown)));
    }
    if last < total {
        if !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(&format!(
            "[lines {first} to {last} of {total}; read on with offset {}]",
            last.saturating_add(1)
        ));
    }
    Ok(ToolResult::ok(output))
}
