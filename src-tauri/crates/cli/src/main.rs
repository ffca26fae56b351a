//! `sayso`: the host without a desktop, and the owner's way to it from a terminal or a script. What it prints with
//! `--json` and the codes it exits with are promised in docs/interfaces.md.

mod agents;
mod args;
mod ask;
mod backups;
mod demo;
mod exit;
mod failure;
mod history;
mod inbox;
mod jobs;
mod manual;
mod mcp;
mod out;
mod put_off;
mod questions;
mod record;
mod running;
mod runs;
mod senders;
mod serve;
mod servers;
mod signals;
mod storage;
mod watch;
mod way;
mod when;
mod wire;

use std::process::ExitCode;
use std::time::Duration;

use args::{Args, Command};
use clap::Parser as _;
use clap::error::ErrorKind;
use exit::Exit;
use failure::Failure;
use out::Out;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return unreadable(&error),
    };
    let out = Out::new(args.json);
    let exit = match run(args, &out) {
        Ok(exit) => exit,
        Err(failure) => {
            failure.print(out.is_json());
            failure.exit()
        }
    };
    ExitCode::from(exit)
}

fn run(args: Args, out: &Out) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let done = runtime.block_on(dispatch(args, out));
    // A thread that still reads the terminal must not hold up the end.
    runtime.shutdown_timeout(Duration::from_millis(100));
    done
}

async fn dispatch(args: Args, out: &Out) -> Result<Exit, Failure> {
    let explicit = args.data_dir;
    let data_dir = sayso_host::data_dir(explicit.clone());
    match args.command {
        Command::Demo { answers } => demo::demo(out, explicit, answers).await,
        Command::Serve { port } => serve::serve(out, &data_dir, port).await,
        Command::Open => serve::open(out, &data_dir).await,
        Command::Agent { what } => agents::agent(out, &data_dir, what).await,
        Command::Sender { what } => senders::sender(out, &data_dir, what).await,
        Command::Run { agent, task, wait } => runs::run(out, &data_dir, &agent, &task, wait).await,
        Command::Runs { what } => runs::runs(out, &data_dir, what).await,
        Command::Ask(args) => ask::ask(out, explicit, *args).await,
        Command::Mcp { token_file } => mcp::mcp(explicit, token_file).await,
        Command::Watch => watch::watch(out, &data_dir).await,
        Command::List => inbox::list(out, &data_dir).await,
        Command::Show { key } => inbox::show(out, &data_dir, &key).await,
        Command::Approve { key, data } => inbox::accept(out, &data_dir, &key, data).await,
        Command::Answer { key, data } => inbox::answer(out, &data_dir, &key, data).await,
        Command::Snooze { key, when } => put_off::snooze(out, &data_dir, &key, when.until(when::now())).await,
        Command::Undo { key } => put_off::undo(out, &data_dir, &key).await,
        Command::Deny { key, reason } => inbox::deny(out, &data_dir, &key, reason).await,
        Command::History { db, filters, what } => {
            history::history(out, &data_dir, db.as_deref(), filters, what).await
        }
        Command::Backup { what } => backups::backup(out, &data_dir, what).await,
        Command::Storage { what } => storage::storage(out, &data_dir, what).await,
        Command::Completions { shell } => manual::completions(shell),
        Command::Man { command } => manual::man(command.as_deref()),
    }
}

/// What clap says of a command line that it cannot read, and of `--help`, which it treats alike.
fn unreadable(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return ExitCode::from(Exit::Done);
    }
    if std::env::args_os().any(|arg| arg == "--json") {
        let text = error.render().to_string();
        let first = text.lines().next().unwrap_or_default();
        failure::print_json("usage", first.strip_prefix("error: ").unwrap_or(first));
    }
    ExitCode::from(Exit::Usage)
}
