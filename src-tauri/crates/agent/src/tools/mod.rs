//! The standard tools.

mod address;
mod edit_file;
mod file;
mod list_files;
mod question;
mod read_file;
mod search_files;
mod shell;
mod walk;
mod web_fetch;
mod write_file;

use std::sync::Arc;

use sayso_domain::ToolResult;
use serde_json::{Value, json};

use crate::{Folder, Ran, Tool, ToolContext, ToolSetup, ToolSpec};

pub(crate) fn standard(setup: &ToolSetup) -> Vec<Arc<dyn Tool>> {
    let limits = setup.limits;
    vec![
        Arc::new(shell::Shell { limits }),
        Arc::new(read_file::ReadFile { limits }),
        Arc::new(write_file::WriteFile { limits }),
        Arc::new(edit_file::EditFile { limits }),
        Arc::new(list_files::ListFiles { limits }),
        Arc::new(search_files::SearchFiles { limits }),
        Arc::new(web_fetch::WebFetch::new(setup)),
        Arc::new(question::Question),
    ]
}

/// A specification whose arguments are an object with these properties.
fn spec(name: &str, description: &str, properties: Value, required: &[&str]) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: json!({ "type": "object", "properties": properties, "required": required }),
    }
}

/// The agent's folder, if it has one and it is still there.
fn folder(context: &ToolContext) -> Result<Arc<Folder>, ToolResult> {
    let folder = context.folder.clone().ok_or_else(|| {
        ToolResult::error(
            "This agent has no folder to work in: none is set up, or it is no longer where it was when the run began. Nothing \
             was run. Only the person can give it one, in the agent's set-up.",
        )
    })?;
    folder.is_there()?;
    Ok(folder)
}

/// Blocking work on a thread of its own. A panic in it goes on here.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolResult> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => Ok(done),
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(ToolResult::error("The app is shutting down. Nothing was run.")),
        },
    }
}

/// A result, whichever way it came.
fn done(result: Result<ToolResult, ToolResult>) -> Ran {
    Ran::Done(result.unwrap_or_else(|error| error))
}

/// A text argument for a summary.
fn text<'a>(arguments: &'a Value, key: &str) -> &'a str {
    arguments.get(key).and_then(Value::as_str).unwrap_or_default()
}
