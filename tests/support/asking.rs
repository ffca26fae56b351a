//! A program that asks and waits, and the person who answers it, each with a process of its own.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use tokio::process::Child;

use crate::process;
use crate::sayso::{Said, Sayso};
use crate::wait::{SOON, wait_value};

/// How long a program that was answered may take to end.
const ENDING: Duration = Duration::from_secs(60);

/// A running program that asks. It is killed when dropped.
#[derive(Debug)]
pub struct Asking {
    child: Child,
}

impl Asking {
    /// Starts it with no input and its output kept.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn start(command: Command) -> Self {
        let mut command = tokio::process::Command::from(command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Self { child: command.spawn().expect("the program that asks can be started") }
    }

    /// `sayso ask ARGUMENTS`.
    pub fn ask(sayso: &Sayso, arguments: &[&str]) -> Self {
        let all: Vec<&str> = ["ask"].iter().chain(arguments).copied().collect();
        Self::start(without_a_token(sayso.command(&all)))
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        process::signal(self.child.id().expect("it runs"), signal);
    }

    /// Closes the end of its output that this test holds.
    pub fn stop_reading(&mut self) {
        drop(self.child.stdout.take());
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// What it said, once it has ended.
    ///
    /// # Panics
    /// When it is still there after a minute.
    pub async fn end(self) -> Said {
        let output = tokio::time::timeout(ENDING, self.child.wait_with_output()).await;
        said(output.expect("the program that asks ends").expect("its output can be read"))
    }
}

/// The same command with no token of an outer environment.
pub fn without_a_token(mut command: Command) -> Command {
    command.env_remove("SAYSO_TOKEN").env_remove("SAYSO_URL");
    command
}

fn said(output: Output) -> Said {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it writes UTF-8");
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// The one request that waits, as `sayso list` shows it, once there is one.
///
/// # Panics
/// When there are several, or none comes.
pub async fn waiting(sayso: &Sayso) -> Value {
    wait_value("one request waits", SOON, async || {
        let mut list = sayso.json(&["list"]).await.exits(0).values();
        assert!(list.len() < 2, "more than one request waits: {list:?}");
        list.pop()
    })
    .await
}

/// Its key.
///
/// # Panics
/// As [`waiting`].
pub async fn waiting_key(sayso: &Sayso) -> String {
    waiting(sayso).await["key"].as_str().expect("a key").to_owned()
}

/// Adds a sender and gives its token.
///
/// # Panics
/// When it cannot be added.
pub async fn add_sender(sayso: &Sayso, name: &str) -> String {
    let said = sayso.run(&["sender", "add", name]).await.exits(0);
    said.stdout.trim().to_owned()
}
