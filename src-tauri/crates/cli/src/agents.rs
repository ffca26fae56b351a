use std::io::Read as _;
use std::path::{Path, PathBuf};

use sayso_host::dto::{AgentItem, AgentName, AgentSave, AgentTest, Empty};
use serde_json::{Value, json};

use crate::args::AgentCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::servers::{self, Consent, Taken};
use crate::way::Way;
use crate::wire;

/// The largest set-up that is read.
const LARGEST: u64 = 1024 * 1024;

pub(crate) async fn agent(out: &Out, data_dir: &Path, command: AgentCommand) -> Result<Exit, Failure> {
    match command {
        AgentCommand::Add { file } => {
            let config = read(&file)?;
            let way = Way::to(data_dir).await?;
            let item: AgentItem = way.call("agents.save", AgentSave { config }).await?;
            if !out.is_json() {
                print_saved(out, &item)?;
            }
            let item = servers::ask_about(out, &way, item, Consent::Ask).await?;
            if out.is_json() {
                out.value(&wire::agent(&item))?;
            }
            Ok(Exit::Done)
        }
        AgentCommand::List => {
            let items: Vec<AgentItem> = Way::to(data_dir).await?.call("agents.list", Empty {}).await?;
            print_list(out, &items)?;
            Ok(Exit::Done)
        }
        AgentCommand::Remove { name } => {
            let params = AgentName { name: name.clone() };
            let Empty {} = Way::to(data_dir).await?.call("agents.remove", params).await?;
            if out.is_json() {
                out.value(&json!({ "name": name, "removed": true }))?;
            }
            out.line("Removed. Its runs and decisions are kept.")?;
            Ok(Exit::Done)
        }
        AgentCommand::Test { name } => {
            let test: AgentTest = Way::to(data_dir).await?.call("agents.test", AgentName { name }).await?;
            if out.is_json() {
                out.value(&json!(test))?;
            }
            out.line(&sayso_domain::text::visible(&test.message))?;
            for server in &test.servers {
                let name = sayso_domain::text::visible_line(&server.name);
                let problem = server.problem.as_deref().map(sayso_domain::text::visible_line);
                out.line(&match (server.tools, problem) {
                    (count, None) => format!("MCP server {name}: connected, {count} tools."),
                    (0, Some(problem)) => format!("MCP server {name}: {problem}"),
                    (count, Some(problem)) => {
                        format!("MCP server {name}: connected, {count} tools. {problem}")
                    }
                })?;
            }
            Ok(if test.ok { Exit::Done } else { Exit::Refused })
        }
        AgentCommand::Trust { name, yes } => {
            let consent = if yes { Consent::Given } else { Consent::Ask };
            servers::trust(out, data_dir, name, consent).await
        }
        AgentCommand::ImportMcp { file, agent, replace } => {
            let taken = if replace { Taken::Replace } else { Taken::Refuse };
            servers::import(out, data_dir, (&file, agent), taken).await
        }
    }
}

/// A set-up's text. Its folder is made whole here: the host does not know which folder we are in.
fn read(file: &Path) -> Result<String, Failure> {
    let text = read_text(file)?;
    let base = if file == Path::new("-") { Path::new("") } else { file.parent().unwrap_or(Path::new("")) };
    let here = |_| std::env::current_dir();
    let base = std::path::absolute(base).or_else(here).map_err(|error| unreadable(file, &error))?;
    Ok(with_whole_folder(text, &base))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("The file {} cannot be read: {error}. Nothing was changed.", file.display()))
}

/// A file's text, or that of standard input.
pub(crate) fn read_text(file: &Path) -> Result<String, Failure> {
    let is_stdin = file == Path::new("-");
    let unreadable = |error: std::io::Error| unreadable(file, &error);
    let mut text = String::new();
    let source: &mut dyn std::io::Read =
        if is_stdin { &mut std::io::stdin() } else { &mut std::fs::File::open(file).map_err(unreadable)? };
    source.take(LARGEST + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > LARGEST {
        let message = format!("The file {} is larger than 1 MiB. Nothing was changed.", file.display());
        return Err(Failure::usage(message));
    }
    Ok(text)
}

/// Leaves a text alone that is no JSON or names no folder relative to `base`; the host says what is wrong with it.
fn with_whole_folder(text: String, base: &Path) -> String {
    let Ok(mut config) = serde_json::from_str::<Value>(&text) else { return text };
    let relative = config.get("folder").and_then(Value::as_str).map(PathBuf::from);
    match relative.filter(|folder| folder.is_relative() && !folder.starts_with("~")) {
        Some(folder) => {
            config["folder"] = json!(base.join(folder).components().collect::<PathBuf>());
            config.to_string()
        }
        None => text,
    }
}

pub(crate) fn print_saved(out: &Out, item: &AgentItem) -> Result<(), Failure> {
    out.line("Saved.")?;
    out.field("name", Some(&item.name))?;
    out.field("model", Some(&item.model))?;
    out.field("at", Some(&item.base_url))?;
    out.field("folder", item.folder.as_deref())?;
    out.field("problem", item.problem.as_deref())?;
    Ok(())
}

fn print_list(out: &Out, items: &[AgentItem]) -> Result<(), Failure> {
    if out.is_json() {
        items.iter().try_for_each(|item| out.value(&wire::agent(item)))?;
        return Ok(());
    }
    if items.is_empty() {
        out.line("There are no agents yet. Add one with `sayso agent add FILE.json`, or try `sayso demo`.")?;
        return Ok(());
    }
    let row = |item: &AgentItem| {
        let folder = item.folder.clone().unwrap_or_default();
        [item.name.clone(), item.model.clone(), folder, item.problem.clone().unwrap_or_default()]
    };
    out.table(["NAME", "MODEL", "FOLDER", "PROBLEM"], &items.iter().map(row).collect::<Vec<_>>())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_whole_beside_its_file_and_nothing_else_changes() {
        let check = |config: &str, expected: &str| {
            assert_eq!(with_whole_folder(config.to_owned(), Path::new("/home/me/agents")), expected);
        };
        check(
            r#"{"folder":"./code","n":9007199254740993}"#,
            r#"{"folder":"/home/me/agents/code","n":9007199254740993}"#,
        );
        check(r#"{ "folder": "/srv/code" }"#, r#"{ "folder": "/srv/code" }"#);
        check(r#"{ "folder": "~/code" }"#, r#"{ "folder": "~/code" }"#);
        check(r#"{ "folder": null }"#, r#"{ "folder": null }"#);
        check("no json", "no json");
    }
}
