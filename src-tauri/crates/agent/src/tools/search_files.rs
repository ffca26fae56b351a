use std::time::{Duration, Instant};

use async_trait::async_trait;
use regex::{Regex, RegexBuilder};
use sayso_domain::text::cut;
use sayso_domain::{Policy, ToolResult};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::walk::{LOOKED_AT, relative, walk};
use super::{blocking, done, file, folder, spec, text};
use crate::{Arguments, Folder, Limits, Ran, Tool, ToolContext, ToolSpec};

/// The most lines that one call finds.
const FOUND: usize = 300;
/// The longest piece of a line that is shown, in characters.
const LINE: usize = 300;
/// The largest file that is searched, in bytes.
const FILE: u64 = 4 * 1024 * 1024;
/// How long one call may search.
const TIME: Duration = Duration::from_secs(20);

/// Searches the text files in the agent's folder.
pub(super) struct SearchFiles {
    pub(super) limits: Limits,
}

#[async_trait]
impl Tool for SearchFiles {
    fn spec(&self) -> ToolSpec {
        spec(
            "search_files",
            "Search the text files in the agent's folder for a regular expression, line by line. Gives `path:line: text`. \
             What the folder's ignore files name is left out unless `include_ignored` is set.",
            json!({
                "pattern": { "type": "string", "description": "A regular expression (Rust syntax)." },
                "path": { "type": "string", "description": "A file or folder, relative to the agent's folder; all if absent." },
                "ignore_case": { "type": "boolean" },
                "include_ignored": { "type": "boolean" }
            }),
            &["pattern"],
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
        let place = if path.is_empty() { String::new() } else { format!(" in {path}") };
        cut(&format!("{}{place}", text(arguments, "pattern")), 200)
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        let search = async {
            let folder = folder(context)?;
            let pattern = RegexBuilder::new(arguments.text_of("pattern")?)
                .case_insensitive(arguments.flag("ignore_case")?)
                .size_limit(4 * 1024 * 1024)
                .build()
                .map_err(|error| ToolResult::error(format!("`pattern` is no regular expression: {error}")))?;
            let path = arguments.optional_text("path")?.unwrap_or(".").to_owned();
            let ignored_too = arguments.flag("include_ignored")?;
            let search = Search { pattern, limit: self.limits.output, stop: context.stop.clone() };
            blocking(move || search.run(&folder, &path, ignored_too)).await?
        };
        done(search.await)
    }
}

struct Search {
    pattern: Regex,
    limit: usize,
    stop: CancellationToken,
}

/// Why a search ended early.
enum End {
    Lines,
    Time,
}

impl Search {
    fn run(&self, folder: &Folder, path: &str, ignored_too: bool) -> Result<ToolResult, ToolResult> {
        let started = Instant::now();
        let mut output = String::new();
        let (mut found, mut skipped, mut end) = (0, 0_usize, None);
        for entry in walk(folder, path, ignored_too, None)?.take(LOOKED_AT) {
            if self.stop.is_cancelled() {
                return Err(ToolResult::error("Stopped by the person."));
            }
            if started.elapsed() > TIME {
                end = Some(End::Time);
                break;
            }
            let Ok(entry) = entry else { continue };
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            let Some(relative) = relative(folder, entry.path()).filter(|_| is_file) else { continue };
            let Ok(Some(bytes)) = file::read(folder, &relative, FILE) else {
                skipped += 1;
                continue;
            };
            // A file that holds a NUL is no text.
            if bytes.contains(&0) {
                continue;
            }
            let content = String::from_utf8_lossy(&bytes);
            for (number, line) in (1..).zip(content.lines()).filter(|(_, line)| self.pattern.is_match(line)) {
                let line = format!("{}:{number}: {}\n", relative.display(), cut(line.trim_end(), LINE));
                if found >= FOUND || output.len() + line.len() > self.limit {
                    end = Some(End::Lines);
                    break;
                }
                output.push_str(&line);
                found += 1;
            }
            if end.is_some() {
                break;
            }
        }
        match end {
            Some(End::Lines) => output.push_str(&format!(
                "[stopped after {found} lines; there are more: take a narrower pattern or path]"
            )),
            Some(End::Time) => output.push_str(&format!(
                "[stopped after {} seconds; not all was searched: take a narrower path]",
                TIME.as_secs()
            )),
            None if found == 0 => output.push_str("[no line matches]"),
            None => {}
        }
        if skipped > 0 {
            output.push_str(&format!("\n[{skipped} files were too large or could not be read]"));
        }
        Ok(ToolResult::ok(output))
    }
}
