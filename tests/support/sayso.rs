//! The built binaries: where they are, a running host, and the command line with its JSON.

use crate::process::OwnedChild;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The folder the build puts its binaries in: this test's own executable lies in `deps` below it.
pub fn build_folder() -> PathBuf {
    let own = std::env::current_exe().expect("a test knows its own file");
    let deps = own.parent().expect("a file has a folder");
    let folder =
        if deps.ends_with("deps") { deps.parent().expect("deps lies in the build folder") } else { deps };
    folder.to_owned()
}

/// The command line program: `$SAYSO_BIN`, else the one of this build.
pub fn sayso_bin() -> PathBuf {
    binary("SAYSO_BIN", "sayso")
}

/// The desktop app: `$SAYSO_DESKTOP_BIN`, else the one of this build.
pub fn desktop_bin() -> PathBuf {
    binary("SAYSO_DESKTOP_BIN", "sayso-desktop")
}

fn binary(variable: &str, name: &str) -> PathBuf {
    let file = std::env::var_os(variable).map_or_else(|| build_folder().join(name), PathBuf::from);
    assert!(file.is_file(), "no {name} at {}: build it first (`make test` does)", file.display());
    file
}

/// `sayso` with a data folder and an environment of the test's own.
#[derive(Clone, Debug)]
pub struct Sayso {
    data_dir: PathBuf,
    environment: Vec<(String, String)>,
}

/// What one command said.
#[derive(Clone, Debug)]
pub struct Said {
    /// The exit code, -1 when a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Said {
    /// Standard output as one JSON value a line.
    ///
    /// # Panics
    /// When a line is not JSON.
    pub fn values(&self) -> Vec<Value> {
        let lines = self.stdout.lines().filter(|line| !line.trim().is_empty());
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line:?} in {self:?}"));
        lines.map(parse).collect()
    }

    /// The one value it printed.
    ///
    /// # Panics
    /// When it printed none or several.
    pub fn value(&self) -> Value {
        let mut values = self.values();
        assert_eq!(values.len(), 1, "one JSON value was awaited: {self:?}");
        values.remove(0)
    }

    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "unexpected exit code: {self:?}");
        self
    }
}

impl Sayso {
    /// For the data folder `data_dir`, which need not exist yet.
    pub fn new(data_dir: &Path) -> Self {
        Self { data_dir: data_dir.to_owned(), environment: Vec::new() }
    }

    /// Sets a variable for everything started through this value.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The data folder.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The command `sayso ARGUMENTS --data-dir …`, not yet started. No session bus is in its environment, so that no
    /// keyring of the person's is reached.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(sayso_bin());
        command.args(arguments).arg("--data-dir").arg(&self.data_dir);
        command.env_remove("DBUS_SESSION_BUS_ADDRESS").env_remove("SAYSO_DATA_DIR");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command to its end.
    pub async fn run(&self, arguments: &[&str]) -> Said {
        let mut command = tokio::process::Command::from(self.command(arguments));
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
        let output = tokio::time::timeout(Duration::from_secs(120), output).await;
        let output = output.unwrap_or_else(|_| panic!("sayso {arguments:?} did not end within two minutes"));
        let output = output.expect("sayso can be started");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("sayso writes UTF-8");
        let code = output.status.code().unwrap_or(-1);
        Said { code, stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Runs a command with `--json`.
    pub async fn json(&self, arguments: &[&str]) -> Said {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        self.run(&arguments).await
    }

    /// Starts `sayso serve` on an ephemeral port and waits for its ready line.
    pub fn serve(&self) -> Host {
        self.serve_with(&["--port", "0"])
    }

    /// Starts `sayso serve` with these arguments and waits for its ready line.
    pub fn serve_with(&self, arguments: &[&str]) -> Host {
        let mut all = vec!["serve"];
        all.extend(arguments);
        let mut command = self.command(&all);
        command.stdout(Stdio::piped());
        let mut process = OwnedChild::start(&mut command);
        let url = process.read_line(Duration::from_secs(30), |line| {
            let ready: Value = serde_json::from_str(line).ok()?;
            ready.get("url")?.as_str().map(str::to_owned)
        });
        Host { process, url }
    }
}

/// A running `sayso serve`. Dropping it is `kill -9`.
#[derive(Debug)]
pub struct Host {
    /// The process, for signals and its end.
    pub process: OwnedChild,
    /// `http://127.0.0.1:PORT`
    pub url: String,
}

impl Host {
    /// `kill -9`, then waits until the process is gone.
    pub fn kill(mut self) {
        self.process.kill();
    }

    /// Asks it to end and asserts that it ended well.
    pub async fn stop(mut self) {
        let status = self.process.terminate(Duration::from_secs(20)).await;
        assert!(status.success(), "the host ended with {status}");
    }
}
