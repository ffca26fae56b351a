//! What this program says of itself to shells and to `man`.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;
use sayso_domain::text::visible_line;

use crate::args::Args;
use crate::exit::Exit;
use crate::failure::Failure;

const NAME: &str = "sayso";

/// Prints a script that makes a shell complete commands and options.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    // Into memory first: a reader that goes away is no reason to panic.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), NAME, &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(Exit::Done)
}

/// Prints the man page of the whole, or of one command.
pub(crate) fn man(command: Option<&str>) -> Result<Exit, Failure> {
    let mut whole = Args::command();
    // Gives every command its full name and the options that all of them take.
    whole.build();
    let described = match command {
        None => whole,
        Some(name) => match whole.find_subcommand(name) {
            Some(found) => {
                let display_name = format!("{NAME}-{}", found.get_name());
                found.clone().display_name(display_name)
            }
            None => {
                let message = format!("There is no command `{}`: try sayso --help.", visible_line(name));
                return Err(Failure::usage(message));
            }
        },
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(described).render(&mut page)?;
    std::io::stdout().write_all(&page)?;
    Ok(Exit::Done)
}
