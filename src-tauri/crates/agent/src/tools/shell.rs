use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use async_trait::async_trait;
use sayso_domain::ToolResult;
use sayso_domain::text::cut;
use serde_json::{Value, json};

use super::{done, folder, spec, text};
use crate::process::{Command, Ended};
use crate::{Arguments, Draft, Limits, Ran, Tool, ToolContext, ToolSpec};

/// The longest command that a prompt shows whole; all of it is shown beside it.
const PROMPT: usize = 200;

/// Runs a command in the agent's folder.
pub(super) struct Shell {
    pub(super) limits: Limits,
}

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> ToolSpec {
        let limits = &self.limits;
        spec(
            "shell",
            &format!(
                "Run a command with the system's shell in the agent's folder and get its output and exit code. There is \
                 no input and no terminal. It is ended after {} seconds unless `timeout_seconds` says otherwise (at most \
                 {}). Output beyond {} KiB is cut in the middle. Processes that it leaves in the background are ended \
                 with it.",
                limits.command.as_secs(),
                limits.longest_command.as_secs(),
                limits.output / 1024,
            ),
            json!({
                "command": { "type": "string" },
                "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": limits.longest_command.as_secs() }
            }),
            &["command"],
        )
    }

    fn is_editable(&self) -> bool {
        true
    }

    fn summary(&self, arguments: &Value) -> String {
        cut(text(arguments, "command"), PROMPT)
    }

    async fn draft(&self, arguments: &Arguments, context: &ToolContext) -> Result<Draft, ToolResult> {
        let command = self.command(arguments)?;
        self.timeout(arguments)?;
        folder(context)?;
        Ok(Draft::approval(format!("Run `{}`?", cut(command, PROMPT))))
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        done(self.execute(arguments, context).await)
    }
}

impl Shell {
    fn command<'a>(&self, arguments: &'a Arguments) -> Result<&'a str, ToolResult> {
        let command = arguments.text_of("command")?;
        if command.trim().is_empty() {
            return Err(ToolResult::error("`command` is empty. Nothing was run."));
        }
        if command.contains('\0') {
            return Err(ToolResult::error("`command` holds a NUL character. Nothing was run."));
        }
        Ok(command)
    }

    fn timeout(&self, arguments: &Arguments) -> Result<Duration, ToolResult> {
        let longest = self.limits.longest_command;
        match arguments.optional_count("timeout_seconds")? {
            None => Ok(self.limits.command),
            Some(0) => Err(ToolResult::error("`timeout_seconds` must be at least 1. Nothing was run.")),
            Some(seconds) => Ok(Duration::from_secs(seconds).min(longest)),
        }
    }

    async fn execute(&self, arguments: &Arguments, context: &ToolContext) -> Result<ToolResult, ToolResult> {
        let folder = folder(context)?;
        let timeout = self.timeout(arguments)?;
        let command = Command {
            line: self.command(arguments)?,
            folder: folder.path(),
            mark: &context.call,
            timeout,
            limit: self.limits.output,
            stop: &context.stop,
        };
        let (ended, output) = command.run().await.map_err(|error| {
            ToolResult::error(format!("The command could not be started ({error}). Nothing was run."))
        })?;
        let nothing = if output.is_empty() { "no output, " } else { "" };
        let mut text = output.into_text();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let (end, is_error) = match ended {
            Ended::Exited(status) => (exit(status), !status.success()),
            Ended::TimedOut => {
                let seconds = timeout.as_secs();
                (format!("ended after {seconds} seconds, its time limit; it may have partly happened"), true)
            }
            Ended::Stopped => ("stopped by the person; it may have partly happened".to_owned(), true),
        };
        let output = format!("{text}[{nothing}{end}]");
        Ok(ToolResult { is_error, ..ToolResult::ok(output) })
    }
}

fn exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
