//! Who may ask over HTTP: `sayso sender`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sayso_domain::text::visible_line;
use sayso_host::dto::{Empty, SenderItem, SenderName, SenderSetup, SenderToken};
use serde_json::json;

use crate::args::{NewSender, SenderCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::way::Way;
use crate::when::{now, relative};

pub(crate) async fn sender(out: &Out, data_dir: &Path, command: SenderCommand) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    match command {
        SenderCommand::Add { new, token_file } => {
            let keep = Keep::at(token_file)?;
            let made = way.call("senders.add", setup(new)).await;
            keep.keep(out, made)?;
        }
        SenderCommand::List => {
            print_list(out, &way.call::<Vec<SenderItem>>("senders.list", Empty {}).await?)?
        }
        SenderCommand::Rotate { name, token_file } => {
            let keep = Keep::at(token_file)?;
            let made = way.call("senders.rotate", SenderName { name }).await;
            keep.keep(out, made)?;
        }
        SenderCommand::Revoke { name } => {
            let item: SenderItem = way.call("senders.revoke", SenderName { name }).await?;
            if out.is_json() {
                out.value(&json!(item))?;
            }
            let line =
                format!("{} cannot ask any more; what it had open was cancelled.", visible_line(&item.name));
            out.line(&line)?;
        }
    }
    Ok(Exit::Done)
}

fn setup(new: NewSender) -> SenderSetup {
    let NewSender { name, colour, initials, max_open, per_minute, may_edit, own_choices } = new;
    SenderSetup {
        name,
        initials,
        colour,
        max_open,
        per_minute,
        may_edit: may_edit.then_some(true),
        own_choices: own_choices.then_some(true),
    }
}

/// Where a new token goes: it is shown once, and cannot be had again.
enum Keep {
    /// On standard output.
    Shown,
    /// In a file that is made before the token is, so that none is lost for a file that cannot be made.
    In { path: PathBuf, new: PathBuf, file: File },
}

impl Keep {
    fn at(path: Option<PathBuf>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::Shown) };
        let mut new = path.clone().into_os_string();
        new.push(".new");
        let new = PathBuf::from(new);
        let opened = if path.is_dir() {
            Err(io::Error::from(io::ErrorKind::IsADirectory))
        } else {
            let _ = std::fs::remove_file(&new);
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)
        };
        match opened {
            Ok(file) => Ok(Self::In { path, new, file }),
            Err(error) => {
                let message = format!(
                    "The file {} cannot be made: {error}. Nothing was changed. Name another one.",
                    path.display()
                );
                Err(Failure::new(Exit::Storage, "io", message))
            }
        }
    }

    fn keep(self, out: &Out, made: Result<SenderToken, Failure>) -> Result<(), Failure> {
        let made = match (made, &self) {
            (Ok(made), _) => made,
            (Err(failure), Self::Shown) => return Err(failure),
            (Err(failure), Self::In { new, .. }) => {
                let _ = std::fs::remove_file(new);
                return Err(failure);
            }
        };
        let name = visible_line(&made.sender.name);
        match self {
            Self::Shown => {
                let shown = if out.is_json() {
                    out.value(&json!({ "sender": made.sender, "token": made.token }))
                } else {
                    out.line(&made.token)
                };
                shown.map_err(|error| lost(&name, "shown", &error))?;
                tell(&format!(
                    "This is the token of {name}. It is not shown again. Give it to the bot as SAYSO_TOKEN, or as \
                     `Authorization: Bearer TOKEN` over HTTP."
                ));
            }
            Self::In { path, new, mut file } => {
                let written = writeln!(file, "{}", made.token)
                    .and_then(|()| file.sync_all())
                    .and_then(|()| std::fs::rename(&new, &path));
                written.map_err(|error| lost(&name, "written", &error))?;
                if out.is_json() {
                    out.value(&json!({ "sender": made.sender }))?;
                }
                tell(&format!(
                    "The token of {name} is in {file}, which only you can read. Ask with `sayso ask --token-file {file}`.",
                    file = path.display()
                ));
            }
        }
        Ok(())
    }
}

fn lost(name: &str, what: &str, error: &io::Error) -> Failure {
    let message = format!(
        "The token of {name} could not be {what}: {error}. Nobody has it. `sayso sender rotate` makes another one."
    );
    Failure::new(Exit::Storage, "io", message)
}

/// On stderr, so that stdout holds the token alone.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

fn print_list(out: &Out, items: &[SenderItem]) -> Result<(), Failure> {
    if out.is_json() {
        items.iter().try_for_each(|item| out.value(&json!(item)))?;
        return Ok(());
    }
    if items.is_empty() {
        out.line("No bot or script has a token. `sayso sender add NAME` gives it one.")?;
        return Ok(());
    }
    let now = now();
    let row = |item: &SenderItem| {
        let seen = match (&item.revoked_at, &item.last_seen_at) {
            (Some(at), _) => format!("revoked {}", relative(at, now)),
            (None, Some(at)) => relative(at, now),
            (None, None) => "never".to_owned(),
        };
        let limits = format!("{} open, {} a minute", item.max_open, item.per_minute);
        [item.name.clone(), item.colour.clone(), item.open.to_string(), item.total.to_string(), limits, seen]
    };
    let head = ["NAME", "COLOUR", "OPEN", "ASKED", "LIMITS", "SEEN"];
    out.table(head, &items.iter().map(row).collect::<Vec<_>>())?;
    Ok(())
}
