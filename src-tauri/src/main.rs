//! The desktop shell: the window, the tray, notifications, one instance. It translates between the desktop and the host
//! and presents what the host says; it decides nothing.

mod app;
mod args;
mod attempt;
mod autostart;
mod call;
#[cfg(test)]
mod capabilities;
mod commands;
mod context;
mod glance;
mod habits;
mod identity;
mod notifier;
mod place;
mod pulse;
mod quiet;
mod screen;
mod shortcut;
mod start;
mod subscribers;
mod token;
mod tray;
mod window;

use std::io::Write as _;
use std::process::ExitCode;

use args::Asked;

/// A command line that cannot be read.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let mut out = std::io::stdout();
    match Asked::read(std::env::args_os().skip(1)) {
        Ok(Asked::Run(args)) => app::run(args),
        Ok(Asked::Help) => printed(write!(out, "{}", args::HELP)),
        Ok(Asked::Version) => printed(writeln!(out, "sayso-desktop {}", env!("CARGO_PKG_VERSION"))),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::from(USAGE)
        }
    }
}

fn printed(result: std::io::Result<()>) -> ExitCode {
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
