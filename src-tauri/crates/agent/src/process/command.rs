use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio_util::sync::CancellationToken;

use super::MARK;
use super::end::{Family, end};
use crate::cut::HeadTail;

/// What of our environment a command gets: nothing that is a key or leads to one, and no way to the session bus, the
/// display or an agent that signs.
const ALLOWED: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TERM", "TMPDIR"];

/// How long what a command left behind may still write.
const GRACE: Duration = Duration::from_millis(300);

/// A command line for the system's shell.
pub(crate) struct Command<'a> {
    pub(crate) line: &'a str,
    pub(crate) folder: &'a Path,
    pub(crate) mark: &'a str,
    pub(crate) timeout: Duration,
    /// Of the output, in bytes.
    pub(crate) limit: usize,
    pub(crate) stop: &'a CancellationToken,
}

/// How a command ended.
pub(crate) enum Ended {
    Exited(ExitStatus),
    TimedOut,
    Stopped,
}

impl Command<'_> {
    /// Runs it to its end. When this returns, no process of it is left; neither is any if it is dropped.
    pub(crate) async fn run(&self) -> io::Result<(Ended, HeadTail)> {
        // Both streams through one pipe, so that their order is kept.
        let (reader, writer) = std::io::pipe()?;
        let mut reader = Receiver::from_owned_fd(reader.into())?;
        let mut child = self.spawn(writer)?;
        let family = Family::new(child.id(), self.mark);
        let mut end_on_drop = EndOnDrop(Some(&family));
        limit(child.id());

        let mut output = HeadTail::new(self.limit);
        let mut open = true;
        let ended = {
            let timeout = tokio::time::sleep(self.timeout);
            tokio::pin!(timeout);
            loop {
                tokio::select! {
                    read = read(&mut reader, &mut output), if open => open = read,
                    status = child.wait() => break Ended::Exited(status?),
                    () = &mut timeout => break Ended::TimedOut,
                    () = self.stop.cancelled() => break Ended::Stopped,
                }
            }
        };
        if open && matches!(ended, Ended::Exited(_)) {
            let _ = tokio::time::timeout(GRACE, drain(&mut reader, &mut output)).await;
        }
        family.end().await;
        end_on_drop.0 = None;
        // Only a process that could not be ended still holds the pipe.
        let _ = tokio::time::timeout(GRACE, drain(&mut reader, &mut output)).await;
        let _ = child.wait().await;
        Ok((ended, output))
    }

    fn spawn(&self, writer: io::PipeWriter) -> io::Result<tokio::process::Child> {
        let shell = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|shell| Path::new(shell).exists());
        let mut command = tokio::process::Command::new(shell.unwrap_or("/bin/sh"));
        command
            .args(["-c", "--"])
            .arg(self.line)
            .current_dir(self.folder)
            .env_clear()
            .envs(environment())
            .env(MARK, self.mark)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0)
            .kill_on_drop(true);
        // The command holds our ends of the pipe; they close here, so that the pipe ends with the processes.
        command.spawn()
    }
}

/// Ends the processes of a call that was given up.
struct EndOnDrop<'a>(Option<&'a Family>);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(family) = self.0 {
            end(family);
        }
    }
}

async fn read(reader: &mut Receiver, output: &mut HeadTail) -> bool {
    let mut buffer = [0; 16 * 1024];
    match reader.read(&mut buffer).await {
        Ok(count @ 1..) => {
            output.push(&buffer[..count]);
            true
        }
        Ok(0) | Err(_) => false,
    }
}

async fn drain(reader: &mut Receiver, output: &mut HeadTail) {
    while read(reader, output).await {}
}

/// Whether the processes that tools start get this variable of our environment: then no key may be in it.
pub fn reaches_tools(variable: &str) -> bool {
    ALLOWED.contains(&variable) || variable.starts_with("LC_")
}

pub(super) fn environment() -> Vec<(OsString, OsString)> {
    let is_allowed = |name: &OsString| name.to_str().is_some_and(reaches_tools);
    let mut environment: Vec<_> = std::env::vars_os().filter(|(name, _)| is_allowed(name)).collect();
    if !environment.iter().any(|(name, _)| name == "PATH") {
        environment.push(("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()));
    }
    environment
}

/// A command that crashes writes no image of its memory.
pub(super) fn limit(child: Option<u32>) {
    let pid = child.and_then(|child| Pid::from_raw(i32::try_from(child).ok()?));
    if let Some(pid) = pid {
        // A process that is gone already needs no limit.
        let _ = prlimit(Some(pid), Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
}
