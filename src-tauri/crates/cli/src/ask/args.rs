use std::path::PathBuf;
use std::time::Duration;

use super::deadline::{Deadline, length};
use crate::args::json_text;

/// What is asked, of whom and for how long.
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    /// What the person reads; - reads standard input.
    pub(crate) prompt: String,
    /// Wait for the answer and print it; exit 0 only for a yes. Ctrl-C takes the request back.
    #[arg(long)]
    pub(crate) wait: bool,
    /// Wait no longer than this: 30s, 10m, 2h, 1d. The request goes on waiting without you.
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = length)]
    pub(crate) wait_limit: Option<Duration>,
    /// After this nobody can say yes any more: 30s, 10m, 2h, 1d, or a moment such as 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) expires: Option<Deadline>,
    /// An answer to choose; give one for each.
    #[arg(long = "option", value_name = "TEXT", conflicts_with = "schema")]
    pub(crate) options: Vec<String>,
    /// A JSON schema of what is to be filled in: a flat object.
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// What is asked for: approval, question, input, authorization, or a word of your own. [default: approval; question
    /// with --option, input with --schema]
    #[arg(long)]
    pub(crate) kind: Option<String>,
    /// What the person shall see beside the prompt, as JSON.
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, value_parser = json_text)]
    pub(crate) data: Option<String>,
    /// A page to go to: https, or http on this machine.
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Your own id for it: asking again with the same id and content asks nothing twice. [default: a new one]
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// Start Sayso in the tray where it does not run, or `sayso serve` where there is no desktop.
    #[arg(long)]
    pub(crate) start: bool,
    /// Ask as the sender whose token is in this file; else the one in $SAYSO_TOKEN, else as this computer.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}
