//! Child processes that end with the test that started them.

use rustix::process::{Pid, Signal};
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A child process that is killed and reaped when dropped.
#[derive(Debug)]
pub struct OwnedChild {
    child: Child,
    name: String,
}

impl OwnedChild {
    /// Starts `command` with no input.
    ///
    /// # Panics
    /// When the program cannot be started; the message names it.
    pub fn start(command: &mut Command) -> Self {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::null()).spawn();
        let child = child.unwrap_or_else(|error| panic!("cannot start {name}: {error}"));
        Self { child, name }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it with SIGKILL, as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end (SIGTERM) and waits for its exit status.
    ///
    /// # Panics
    /// When it is still there after `limit`.
    pub async fn terminate(&mut self, limit: Duration) -> ExitStatus {
        signal(self.pid(), Signal::TERM);
        self.wait(limit).await
    }

    /// Waits for its exit status.
    ///
    /// # Panics
    /// When it is still there after `limit`.
    pub async fn wait(&mut self, limit: Duration) -> ExitStatus {
        let what = format!("{} ends", self.name);
        crate::wait_value(&what, limit, async || self.child.try_wait().ok().flatten()).await
    }

    /// Reads its standard output (which must be piped) line by line until `pick` accepts one, then goes on
    /// reading on a thread of its own so that the child never blocks on a full pipe.
    ///
    /// # Panics
    /// When the output ends or `limit` passes before a line was accepted; the message holds what was read.
    pub fn read_line<T: Send + 'static>(
        &mut self,
        limit: Duration,
        pick: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> T {
        let output = self.child.stdout.take().expect("standard output is piped and not yet read");
        let (found, answer) = mpsc::channel();
        std::thread::spawn(move || {
            let mut seen = String::new();
            let mut lines = BufReader::new(output).lines();
            for line in lines.by_ref().map_while(Result::ok) {
                if let Some(value) = pick(&line) {
                    let _ = found.send(Ok(value));
                    break;
                }
                seen.push_str(&line);
                seen.push('\n');
            }
            let _ = found.send(Err(seen));
            lines.for_each(drop);
        });
        match answer.recv_timeout(limit) {
            Ok(Ok(value)) => value,
            Ok(Err(seen)) => panic!("{} ended its output without the awaited line: {seen:?}", self.name),
            Err(_) => panic!("{} did not print the awaited line within {limit:?}", self.name),
        }
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends `signal` to the process `pid`; one that is already gone is fine.
pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The processes whose environment holds exactly `name=value`, with their command names. A test that
/// gives its programs a HOME of their own finds all of them by it, children and orphans included.
pub fn with_environment(name: &str, value: &str) -> BTreeMap<u32, String> {
    let wanted = format!("{name}={value}");
    let entries = fs::read_dir("/proc").expect("/proc can be listed");
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| {
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()).then_some(())?;
        let command = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some((pid, command.trim_end().to_owned()))
    })
    .collect()
}

/// Ends every process that was started with this home folder.
pub fn end_all_of_home(home: &Path) {
    for pid in with_environment("HOME", &home.to_string_lossy()).into_keys() {
        signal(pid, Signal::KILL);
    }
}

/// The proportional set size of a process in bytes: its private memory and its share of what it shares.
pub fn proportional_set_size(pid: u32) -> Option<u64> {
    let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Looks `name` up in the PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A command for `program` whose standard error goes to `log`, so that a failing test can show it.
pub fn logged(program: impl AsRef<std::ffi::OsStr>, log: &Path) -> Command {
    let file = fs::File::create(log).expect("the log file can be made");
    let mut command = Command::new(program);
    command.stdout(Stdio::null()).stderr(file);
    command
}
