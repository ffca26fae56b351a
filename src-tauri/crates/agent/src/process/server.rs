use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

use super::MARK;
use super::command::{environment, limit};
use super::end::{Family, end};

/// A program that stays and is spoken to.
pub(crate) struct ServerCommand<'a> {
    pub(crate) program: &'a str,
    pub(crate) args: &'a [String],
    /// What it gets beside the variables that every tool's process gets.
    pub(crate) env: &'a [(String, String)],
    pub(crate) folder: &'a Path,
    pub(crate) mark: &'a str,
}

/// Its process and all that it started: they end with this.
pub(crate) struct ServerProcess {
    family: Option<Family>,
    _child: Child,
}

/// Its streams.
pub(crate) struct ServerStreams {
    pub(crate) input: ChildStdin,
    pub(crate) output: ChildStdout,
    pub(crate) errors: ChildStderr,
}

impl ServerCommand<'_> {
    pub(crate) fn spawn(&self) -> io::Result<(ServerProcess, ServerStreams)> {
        let mut command = tokio::process::Command::new(self.program);
        command
            .args(self.args)
            .current_dir(self.folder)
            .env_clear()
            .envs(environment())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env(MARK, self.mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let family = Some(Family::new(child.id(), self.mark));
        limit(child.id());
        let missing = || io::Error::other("its streams cannot be reached");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        Ok((ServerProcess { family, _child: child }, ServerStreams { input, output, errors }))
    }
}

impl ServerProcess {
    /// Ends it and all that it started.
    pub(crate) async fn end(mut self) {
        if let Some(family) = self.family.take() {
            family.end().await;
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        if let Some(family) = &self.family {
            end(family);
        }
    }
}
