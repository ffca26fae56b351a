use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use sayso_domain::Time;

use crate::ask::{AskArgs, length};
use crate::demo::AnswerList;

/// Approve what your agents ask, from the terminal.
#[derive(Debug, Parser)]
#[command(name = "sayso", version, about, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The data folder; else $SAYSO_DATA_DIR, else the platform's own place.
    #[arg(long, global = true, value_name = "D")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print one JSON value a line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER_HELP: &str = "Exit codes: 0 done or ok; 1 refused or not ok; 2 usage; 3 no host runs, or the folder is in \
                          use; 4 still waiting; 5 not found, already decided or expired; 6 storage; 130 and 143 when Ctrl-C or SIGTERM ended `ask`.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch a demo agent that needs no key ask you four things, in a folder that goes away afterwards.
    Demo {
        /// Answers given in order, comma separated: approve, deny or deny:REASON. What they don't cover stays pending.
        #[arg(long, value_name = "LIST")]
        answers: Option<AnswerList>,
    },
    /// Run the host without a desktop; it prints its address when it is ready.
    Serve {
        /// The port on 127.0.0.1; 0 for any free one. Left out, the folder's own one is used.
        #[arg(long)]
        port: Option<u16>,
    },
    /// Print a link that signs a browser in; it works once, within a minute.
    Open,
    /// Set up who runs.
    Agent {
        #[command(subcommand)]
        what: AgentCommand,
    },
    /// Give an agent a task.
    Run {
        /// The agent's name.
        #[arg(long, value_name = "NAME")]
        agent: String,
        /// What it shall do.
        task: String,
        /// Wait until it has ended, also while it waits for a person.
        #[arg(long)]
        wait: bool,
    },
    /// See what agents do.
    Runs {
        #[command(subcommand)]
        what: Option<RunsCommand>,
    },
    /// Ask a person from a script, and wait for the answer: if sayso ask --wait "Deploy?"; then …
    Ask(Box<AskArgs>),
    /// Serve the tools that ask you to an MCP client, over standard input and output.
    Mcp {
        /// Ask as the sender whose token is in this file; else the one in $SAYSO_TOKEN, else as this computer.
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
    },
    /// List what waits for you.
    List,
    /// Show what waits, live: a line for each change, until Ctrl-C.
    Watch,
    /// Show a request with everything that you need to decide.
    Show {
        /// The request's key, or its beginning.
        key: String,
    },
    /// Say yes.
    Approve {
        /// The request's key, or its beginning.
        key: String,
        /// What you type or choose, where the request asks for it; `{"choice":ID}` for one of its own choices, where it has
        /// any; `{"arguments":{…}}` to change what runs, where it may be edited.
        #[arg(long, allow_hyphen_values = true, value_parser = json_text)]
        data: Option<String>,
    },
    /// Say yes, with what you type or choose.
    Answer {
        /// The request's key, or its beginning.
        key: String,
        /// The data, as JSON.
        #[arg(long, allow_hyphen_values = true, value_parser = json_text)]
        data: String,
    },
    /// Say no.
    Deny {
        /// The request's key, or its beginning.
        key: String,
        /// Why, in your own words: kept in the history only.
        #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// Put a request off: it can be decided all the same, and still expires.
    Snooze {
        /// The request's key, or its beginning.
        key: String,
        #[command(flatten)]
        when: SnoozeWhen,
    },
    /// Take a decision back, while its answer is still held.
    Undo {
        /// The decision's key, or its beginning.
        key: String,
    },
    /// Say who may ask over HTTP: bots and scripts, each with a token.
    Sender {
        #[command(subcommand)]
        what: SenderCommand,
    },
    /// Look back at decisions, newest first, also when no host runs.
    History {
        /// Read this copy of a sayso.db instead of the data folder's; nothing is written to it or beside it.
        #[arg(long, global = true, value_name = "FILE")]
        db: Option<PathBuf>,
        #[command(flatten)]
        filters: Filters,
        #[command(subcommand)]
        what: Option<HistoryCommand>,
    },
    /// Back up the database, also while it is in use, or put a backup in its place.
    Backup {
        #[command(subcommand)]
        what: BackupCommand,
    },
    /// See how much room decisions take, give back what is free, or remove now what need not be kept.
    Storage {
        #[command(subcommand)]
        what: Option<StorageCommand>,
    },
    /// Print what makes your shell complete commands and options.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print a man page: try sayso man ask | man -l -
    Man {
        /// The command to describe; left out, the whole.
        command: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct SnoozeWhen {
    /// Until a moment: 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Time>,
    /// For a while: 30s, 10m, 2h, 1d or 1h30m.
    #[arg(long = "for", value_name = "TIME", value_parser = length)]
    length: Option<Duration>,
    /// Wake it.
    #[arg(long)]
    wake: bool,
}

impl SnoozeWhen {
    /// Until when; none wakes it.
    pub(crate) fn until(&self, now: Time) -> Option<Time> {
        let after = |length: Duration| now.plus_millis(i64::try_from(length.as_millis()).unwrap_or(i64::MAX));
        self.until.or(self.length.map(after))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Add an agent, or replace the one of that name.
    Add {
        /// Its set-up as JSON; - reads standard input.
        file: PathBuf,
    },
    /// List the agents.
    List,
    /// Remove an agent; its runs and decisions are kept.
    Remove {
        /// Its name.
        name: String,
    },
    /// Ask the agent's model for a word and connect its MCP servers, to see whether they can be reached.
    Test {
        /// Its name.
        name: String,
    },
    /// Look at the commands that an agent's MCP servers would start, and allow them.
    Trust {
        /// Its name.
        name: String,
        /// Allow all of them without being asked.
        #[arg(long)]
        yes: bool,
    },
    /// Add the MCP servers of another program's file to an agent.
    ImportMcp {
        /// JSON with `mcpServers` or `servers`; - reads standard input.
        file: PathBuf,
        /// The agent's name.
        #[arg(long, value_name = "NAME")]
        agent: String,
        /// Replace servers whose names the agent has already.
        #[arg(long)]
        replace: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum SenderCommand {
    /// Add a sender and print its token, which is shown this once.
    Add {
        #[command(flatten)]
        new: NewSender,
        /// Write the token to this file, which only you can read, instead of printing it.
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
    },
    /// List the senders.
    List,
    /// Give a sender a new token; the old one opens nothing from then on.
    Rotate {
        /// Its name.
        name: String,
        /// Write the token to this file, which only you can read, instead of printing it.
        #[arg(long, value_name = "FILE")]
        token_file: Option<PathBuf>,
    },
    /// Post a sender's answers to its own server, signed, and print the signing secret, which is shown this once.
    Callback {
        /// Its name.
        name: String,
        /// Where to: https, or http to this machine.
        #[arg(required_unless_present = "off", conflicts_with = "off")]
        url: Option<String>,
        /// Keep the signing secret in a file of the data folder, which only you can read, instead of the keyring.
        #[arg(long)]
        in_file: bool,
        /// Post them nowhere: it fetches them.
        #[arg(long)]
        off: bool,
    },
    /// Post an answer to its sender's callback once more, now.
    Resend {
        /// The decision's key, as `sayso history --json` shows it.
        key: String,
    },
    /// Take a sender's right to ask; what it has open is cancelled.
    Revoke {
        /// Its name.
        name: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewSender {
    /// Its name: what its requests show as their source.
    pub(crate) name: String,
    /// blue, green, amber, red, violet, teal, pink or grey.
    #[arg(long)]
    pub(crate) colour: Option<String>,
    /// One or two letters that stand for it.
    #[arg(long)]
    pub(crate) initials: Option<String>,
    /// How many of its requests may wait at once.
    #[arg(long, value_name = "N")]
    pub(crate) max_open: Option<u32>,
    /// How many it may ask within a minute.
    #[arg(long, value_name = "N")]
    pub(crate) per_minute: Option<u32>,
    /// Let it declare requests whose arguments you may edit.
    #[arg(long)]
    pub(crate) may_edit: bool,
    /// Let it bring choices of its own beside yes and no.
    #[arg(long)]
    pub(crate) own_choices: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// Show a run with its messages and calls.
    Show {
        /// The run, or its beginning.
        run: String,
    },
    /// Stop a run; what it asked settles as cancelled.
    Stop {
        /// The run, or its beginning.
        run: String,
    },
    /// Say something to a run: it hears it with its next turn.
    Tell {
        /// The run, or its beginning.
        run: String,
        /// The message.
        text: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// Check that no decision was changed, removed or added since; or check a file that was exported as JSON Lines.
    Verify {
        /// The exported file; left out, the record itself.
        file: Option<PathBuf>,
        /// A head that you noted earlier: it must still be in the record.
        #[arg(long, value_name = "HASH")]
        head: Option<String>,
        /// The public key that the exported file must be signed with.
        #[arg(long, value_name = "KEY", requires = "file")]
        key: Option<String>,
    },
    /// Print the head of the record, to note it elsewhere: what comes later cannot change what came before it.
    Head,
    /// Write decisions to a file: JSON Lines that can be verified, CSV, or a page to read and print.
    Export {
        /// How they are written.
        #[arg(long, value_parser = ["jsonl", "csv", "html"], default_value = "jsonl")]
        format: String,
        /// Leave out what you wrote with a no.
        #[arg(long)]
        no_reasons: bool,
        #[command(flatten)]
        filters: Box<Filters>,
        /// A new file, or - for standard output.
        file: PathBuf,
    },
    /// Make a database of an exported record, of this or another machine, to look at it with --db.
    Import {
        /// JSON Lines of a whole record, with reasons.
        file: PathBuf,
        /// The new database.
        into: PathBuf,
    },
    /// Erase a text from the record: a secret that should not be in it. The record still verifies, and says what was erased.
    Redact {
        /// Where the text comes from: - for standard input, so that it does not stay in your shell's history.
        #[arg(long, value_name = "-", value_parser = ["-"])]
        text: String,
        /// Erase it; otherwise only what would be erased is told.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Make a backup and check it.
    Create {
        /// A new file; left out, one in the data folder's backups.
        file: Option<PathBuf>,
    },
    /// List the backups in the data folder, newest first.
    List,
    /// Put a backup in the place of the database; what was there is kept as a backup.
    Restore {
        /// The backup.
        file: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum StorageCommand {
    /// See how much room decisions take.
    Show,
    /// Write the database anew without what is free in it.
    Compact,
    /// Remove now what the settings say need not be kept.
    Prune,
}

#[derive(Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct Filters {
    /// Words in the prompt, the arguments or the reason.
    #[arg(long)]
    pub(crate) text: Option<String>,
    /// How it was decided.
    #[arg(long, value_parser = ["approved", "answered", "declined", "cancelled", "expired"])]
    pub(crate) outcome: Option<String>,
    /// Who asked.
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// The run that waited.
    #[arg(long)]
    pub(crate) run: Option<String>,
    /// Decided at or after: 2026-01-31 or 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Time>,
    /// At most so many; 100 unless told.
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) limit: Option<u32>,
    /// All of them.
    #[arg(long)]
    pub(crate) all: bool,
}

/// The text itself is kept, so that numbers keep every digit.
pub(crate) fn json_text(text: &str) -> Result<String, String> {
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        return Err(format!("it is not valid JSON: {error}"));
    }
    match sayso_domain::ambiguous_name(text) {
        None => Ok(text.to_owned()),
        Some(name) => Err(format!("it holds {name}")),
    }
}

fn time(text: &str) -> Result<Time, String> {
    let day = || format!("{text}T00:00:00Z").parse();
    text.parse().or_else(|_| day()).map_err(|_: sayso_domain::ParseTimeError| {
        "write a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z".to_owned()
    })
}
