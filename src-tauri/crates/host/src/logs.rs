use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

/// From this size on, a log is set aside as `sayso.log.1` at the next start.
const LARGE: u64 = 8 * 1024 * 1024;

/// Where a host says how it is.
#[derive(Clone, Copy, Debug)]
pub enum Logs<'a> {
    /// Warnings on stderr, more in the data folder's `logs/sayso.log`.
    Folder(&'a Path),
    /// Errors on stderr alone: a person is busy at the terminal.
    Terminal,
}

impl Logs<'_> {
    /// Begins logging, once in a process. `$SAYSO_LOG` changes how much goes to stderr. A log that cannot be written keeps
    /// nothing from running.
    pub fn begin(self) {
        let (level, file) = match self {
            Self::Folder(data_dir) => ("warn", open(&data_dir.join("logs")).ok()),
            Self::Terminal => ("error", None),
        };
        let filter = std::env::var("SAYSO_LOG").ok().and_then(|filter| filter.parse().ok());
        let filter = without_messages(filter.unwrap_or_else(|| EnvFilter::new(level)));
        let stderr = fmt::layer().with_writer(io::stderr).with_ansi(false).with_filter(filter);
        let file = file.map(|file| {
            fmt::layer()
                .with_writer(Mutex::new(file))
                .with_ansi(false)
                .with_filter(without_messages(EnvFilter::new("info")))
        });
        let _ = tracing_subscriber::registry().with(stderr).with(file).try_init();
    }
}

/// MCP messages may hold what no log shall: addresses with keys in them, what a person answered.
fn without_messages(filter: EnvFilter) -> EnvFilter {
    match "rmcp=off".parse() {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    }
}

fn open(folder: &Path) -> io::Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let path = folder.join("sayso.log");
    if path.metadata().is_ok_and(|found| found.len() > LARGE) {
        std::fs::rename(&path, folder.join("sayso.log.1"))?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}
