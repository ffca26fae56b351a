use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use sayso_domain::RunId;
use sayso_domain::text::{visible, visible_line};
use sayso_host::dto::{
    CallItem, Empty, RequestItem, RunDetail, RunItem, RunRef, RunStart, RunStarted, RunTell, TranscriptItem,
};
use serde_json::json;

use crate::args::RunsCommand;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::inbox::{capital, one_that_begins, waiting};
use crate::out::{Out, Style};
use crate::signals::asked_to_end;
use crate::way::{Changes, Way};
use crate::when::{now, relative};
use crate::wire;

/// How long to wait for a change before looking anyway.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn run(
    out: &Out,
    data_dir: &Path,
    agent: &str,
    task: &str,
    wait: bool,
) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let mut changes = if wait { Some(way.changes().await?) } else { None };
    let params = RunStart { agent: agent.to_owned(), task: task.to_owned() };
    let started: RunStarted = way.call("runs.start", params).await?;
    if out.is_json() {
        out.value(&json!({ "run": started.run }))?;
    }
    out.line(&started.run)?;
    match &mut changes {
        None => Ok(Exit::Done),
        Some(changes) => {
            tokio::select! {
                ended = wait_for_end(out, &way, &started.run, changes) => ended,
                () = asked_to_end() => {
                    let message = format!(
                        "The run goes on. `sayso runs show {}` shows it, `sayso runs stop {}` stops it.",
                        started.run, started.run
                    );
                    Err(Failure::new(Exit::Waiting, "still_running", message))
                }
            }
        }
    }
}

async fn wait_for_end(out: &Out, way: &Way, run: &str, changes: &mut Changes) -> Result<Exit, Failure> {
    let mut told = BTreeSet::new();
    loop {
        let detail: RunDetail = way.call("runs.show", RunRef { run: run.to_owned() }).await?;
        if is_ended(&detail.item) {
            return print_end(out, &detail);
        }
        if detail.item.waiting > 0 && !out.is_json() {
            for item in pending_of(way, run).await? {
                if told.insert(item.key.clone()) {
                    out.line(&format!("Waits for you: {}", visible_line(&item.prompt)))?;
                    out.line(&format!("  sayso show {}", item.key))?;
                }
            }
        }
        change_or_patience(changes).await?;
    }
}

/// Returns after the next change, or after a moment without one.
pub(crate) async fn change_or_patience(changes: &mut Changes) -> Result<(), Failure> {
    tokio::time::timeout(PATIENCE, changes.next()).await.unwrap_or(Ok(()))
}

/// What a run waits for.
pub(crate) async fn pending_of(way: &Way, run: &str) -> Result<Vec<RequestItem>, Failure> {
    let mut items = waiting(way, false).await?;
    items.retain(|item| item.run.as_deref() == Some(run));
    Ok(items)
}

pub(crate) fn is_ended(item: &RunItem) -> bool {
    !matches!(item.status.as_str(), "running" | "pending")
}

/// The last word of a run; ok only when it is done.
pub(crate) fn print_end(out: &Out, detail: &RunDetail) -> Result<Exit, Failure> {
    if out.is_json() {
        out.value(&wire::run_end(detail))?;
    } else {
        out.line(&out.styled(Style::Strong, &status_line(&detail.item)))?;
        let text = wire::last_words(detail);
        if !text.is_empty() {
            out.line(&visible(text))?;
        }
    }
    Ok(if detail.item.status == "done" { Exit::Done } else { Exit::Refused })
}

/// What a run used so far, and what it may use.
fn tokens(RunDetail { item, max_tokens, .. }: &RunDetail) -> String {
    let (read, written) = (item.usage.input_tokens, item.usage.output_tokens);
    let used = format!("{read} read, {written} written, {} in all", read.saturating_add(written));
    match max_tokens {
        Some(limit) => format!("{used}; it may use {limit} tokens"),
        None => used,
    }
}

fn status_line(item: &RunItem) -> String {
    match item.detail.as_deref() {
        Some("maxTurns") => {
            "Incomplete: it reached its limit of turns without a word from you. Tell it to go on.".to_owned()
        }
        Some("maxTokens") => {
            "Incomplete: it used all tokens that a run of this agent may use. Start a new run to go on."
                .to_owned()
        }
        Some(detail) => format!("{}: {}", capital(&item.status), visible(detail)),
        None => capital(&item.status),
    }
}

pub(crate) async fn runs(out: &Out, data_dir: &Path, command: Option<RunsCommand>) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    match command {
        None => print_list(out, &way.call::<Vec<RunItem>>("runs.list", Empty {}).await?)?,
        Some(RunsCommand::Show { run }) => {
            let run = whole(&way, run).await?;
            print_detail(out, &way.call("runs.show", RunRef { run }).await?)?;
        }
        Some(RunsCommand::Stop { run }) => {
            let run = whole(&way, run).await?;
            print_item(out, &way.call("runs.stop", RunRef { run }).await?)?;
        }
        Some(RunsCommand::Tell { run, text }) => {
            let run = whole(&way, run).await?;
            print_item(out, &way.call("runs.tell", RunTell { run, text }).await?)?;
        }
    }
    Ok(Exit::Done)
}

/// A run by its id or the beginning of it.
async fn whole(way: &Way, run: String) -> Result<String, Failure> {
    if run.parse::<RunId>().is_ok() {
        return Ok(run);
    }
    let items: Vec<RunItem> = way.call("runs.list", Empty {}).await?;
    one_that_begins(&run, items.into_iter().map(|item| item.run), "run", "sayso runs")
}

fn print_item(out: &Out, item: &RunItem) -> Result<(), Failure> {
    if out.is_json() {
        out.value(&wire::run(item))?;
    }
    out.line(&status_line(item))?;
    Ok(())
}

fn print_list(out: &Out, items: &[RunItem]) -> Result<(), Failure> {
    if out.is_json() {
        items.iter().try_for_each(|item| out.value(&wire::run(item)))?;
        return Ok(());
    }
    if items.is_empty() {
        out.line("Nothing has run yet. Start with `sayso run --agent NAME TASK`, or try `sayso demo`.")?;
        return Ok(());
    }
    let now = now();
    let row = |item: &RunItem| {
        let status = match item.waiting {
            0 => item.status.clone(),
            waiting => format!("{} ({waiting} waiting)", item.status),
        };
        [item.run.clone(), item.agent.clone(), status, relative(&item.started_at, now), item.title.clone()]
    };
    out.table(["RUN", "AGENT", "STATUS", "STARTED", "TASK"], &items.iter().map(row).collect::<Vec<_>>())?;
    Ok(())
}

fn print_detail(out: &Out, detail: &RunDetail) -> Result<(), Failure> {
    if out.is_json() {
        out.value(&wire::run_detail(detail))?;
        return Ok(());
    }
    let (item, now) = (&detail.item, now());
    let usage = tokens(detail);
    out.line(&out.styled(Style::Strong, &status_line(item)))?;
    out.field("run", Some(&item.run))?;
    out.field("agent", Some(&item.agent))?;
    out.field("model", Some(&detail.model))?;
    out.field("folder", detail.folder.as_deref())?;
    out.field("started", Some(&format!("{} ({})", relative(&item.started_at, now), item.started_at)))?;
    out.field("turns", Some(&item.turns.to_string()))?;
    out.field("tokens", Some(&usage))?;
    for message in &detail.messages {
        print_message(out, message)?;
        let of_turn = |call: &&CallItem| message.role == "assistant" && Some(call.turn) == message.turn;
        detail.calls.iter().filter(of_turn).try_for_each(|call| print_call(out, call))?;
    }
    detail.queued.iter().try_for_each(|text| out.block("waits for the next turn", text))?;
    for server in &detail.servers {
        let problem = server.problem.as_deref().unwrap_or_default();
        out.block("an MCP server cannot be used", &format!("{}: {problem}", server.name))?;
    }
    Ok(())
}

fn print_message(out: &Out, message: &TranscriptItem) -> Result<(), Failure> {
    if message.text.is_empty() {
        return Ok(());
    }
    out.block(if message.role == "user" { "you" } else { "agent" }, &message.text)?;
    Ok(())
}

fn print_call(out: &Out, call: &CallItem) -> Result<(), Failure> {
    let mut state = call.state.clone();
    if let Some(outcome) = &call.outcome {
        state += &format!(", {outcome}");
    }
    if let Some(by) = &call.decided_by {
        state += &format!(" by {by}");
    }
    if call.is_error {
        state += ", not ok";
    }
    out.block(&visible(&format!("{} ({state})", call.tool)), &call.arguments)?;
    if let Some(edited) = &call.edited {
        out.block("edited by a person, so it ran with", edited)?;
    }
    match &call.output {
        Some(output) => out.block("gave", output)?,
        None => out.field("request", call.request.as_deref())?,
    }
    Ok(())
}
