use sayso_agent::Incoming;
use sayso_agent::system_time as now;
use sayso_domain::RunId;
use sayso_domain::run::{Event, Run};
use sayso_store::agents::{self, AgentRow};
use sayso_store::history::{self, HistoryQuery};
use sayso_store::runs::{self as run_rows, RunRow};
use sayso_store::{Reader, calls, messages, requests, sources};

use super::{no_agent, no_run, run_id, storage};
use crate::agent_config::AgentConfig;
use crate::dto::{LiveText, RunDetail, RunItem, RunRef, RunStart, RunStarted, RunTell};
use crate::host::{Host, new_run_id, new_source_id};
use crate::senders::{AGENT_KIND, is_anothers};
use crate::{RpcError, code, demo, trust, view};

/// How many runs a list holds.
const LISTED: u32 = 500;

pub(crate) async fn list(host: &Host) -> Result<Vec<RunItem>, RpcError> {
    let read =
        |reader: &Reader<'_>| Ok((run_rows::list(reader, LISTED)?, requests::count_pending_of_runs(reader)?));
    let (rows, waiting) = host.store().read(read).await.map_err(storage)?;
    Ok(rows
        .iter()
        .map(|row| view::run::item(row, waiting.get(&row.id).copied().unwrap_or_default()))
        .collect())
}

pub(crate) async fn show(host: &Host, params: RunRef) -> Result<RunDetail, RpcError> {
    let id = run_id(&params.run)?;
    let servers = host.mcp().reports(id).into_iter().filter(|report| report.problem.is_some());
    let servers = servers.map(view::agent::server_report).collect();
    // Before the rows, so that a turn that is committed in between is shown once and not left out.
    let live = host.live().of(id);
    let found = host.store().read(move |reader| {
        let Some(row) = run_rows::get(reader, id)? else { return Ok(None) };
        let calls = calls::of_run(reader, id)?;
        let messages = messages::of_run(reader, id)?;
        let decisions = history::list(reader, &HistoryQuery { run: Some(id), ..HistoryQuery::default() })?;
        let now = view::run::Now { servers, live };
        Ok(Some(view::run::detail(&row, messages, &calls, &decisions, now)))
    });
    found.await.map_err(storage)?.ok_or_else(|| no_run(params.run))
}

/// What the model is writing right now, without the transcript around it.
pub(crate) async fn live(host: &Host, params: RunRef) -> Result<Option<LiveText>, RpcError> {
    Ok(host.live().of(run_id(&params.run)?))
}

pub(crate) async fn start(host: &Host, params: RunStart) -> Result<RunStarted, RpcError> {
    if params.task.trim().is_empty() {
        return Err(RpcError::new(code::BAD_REQUEST, "The task is empty. Say what the agent shall do."));
    }
    let name = params.agent.clone();
    let agent = host.store().look(move |reader| agents::get(reader, &name)).await.map_err(storage)?;
    let agent = agent.ok_or_else(|| no_agent(&params.agent))?;
    let problem = |problem: String| RpcError::new(code::AGENT_PROBLEM, problem);
    let config = AgentConfig::parse(&agent.config).map_err(problem)?;
    if let Some(refusal) = trust::refusal(&agent.name, &trust::refused(host, &agent.name, &config).await) {
        return Err(problem(refusal));
    }
    let pinned = config.pinned(&agent.config, host.data_dir()).await.map_err(problem)?;
    let id = new_run_id();
    let mut run = Run::new(id, config.max_turns);
    // The task is part of the first commit: whoever is told the run's id finds it at work, also after a crash.
    let told = run.handle(Event::Told(params.task.clone()));
    let row = RunRow {
        id,
        source: agent.source,
        agent: agent.name,
        task: params.task,
        config: pinned,
        run,
        created_at: now(),
        updated_at: now(),
    };
    let begun = host.store().write(move |tx| {
        run_rows::insert(tx, &row)?;
        told.messages.iter().try_for_each(|message| messages::append(tx, id, message, now()))
    });
    begun.await.map_err(storage)?;
    host.announce_run(id);
    post(host, id, Event::Recovered { unknown: Vec::new() }).await;
    Ok(RunStarted { run: id.to_string() })
}

/// Makes the demo agent as it should be, and starts it. An agent of the person's own that has its name is left alone.
pub(crate) async fn start_demo(host: &Host) -> Result<RunStarted, RpcError> {
    let problem = |why: String| RpcError::new(code::AGENT_PROBLEM, why);
    let folder = demo::folder(host.data_dir());
    tokio::fs::create_dir_all(&folder).await.map_err(|error| {
        problem(format!("The demo's folder {} cannot be made: {error}.", folder.display()))
    })?;
    let config = demo::config(&folder);
    let put = host.store().write(move |tx| {
        let is_taken =
            |agent: AgentRow| AgentConfig::parse(&agent.config).is_ok_and(|set_up| !set_up.is_demo());
        if agents::get(tx, demo::NAME)?.is_some_and(is_taken) {
            return Ok(false);
        }
        if is_anothers(tx, AGENT_KIND, demo::NAME)? {
            return Ok(false);
        }
        let source = sources::ensure(tx, AGENT_KIND, demo::NAME, now(), new_source_id())?;
        agents::put(
            tx,
            &AgentRow {
                name: demo::NAME.to_owned(),
                source,
                config: config.clone(),
                created_at: now(),
                updated_at: now(),
            },
        )?;
        Ok(true)
    });
    if !put.await.map_err(storage)? {
        return Err(problem(format!(
            "Another agent or a sender is called {}, as the demo would be. Nothing was changed. Give it another name to see \
             the demo.",
            demo::NAME
        )));
    }
    host.announce(crate::dto::Topic::Agents, None);
    start(host, RunStart { agent: demo::NAME.to_owned(), task: demo::TASK.to_owned() }).await
}

pub(crate) async fn stop(host: &Host, params: RunRef) -> Result<RunItem, RpcError> {
    let id = existing(host, &params.run).await?;
    post(host, id, Event::Stopped).await;
    changed(host, id, Change::Ended).await
}

pub(crate) async fn tell(host: &Host, params: RunTell) -> Result<RunItem, RpcError> {
    if params.text.trim().is_empty() {
        return Err(RpcError::new(code::BAD_REQUEST, "The message is empty."));
    }
    let id = existing(host, &params.run).await?;
    let before = told(host, id).await?;
    post(host, id, Event::Told(params.text)).await;
    changed(host, id, Change::ToldMoreThan(before)).await
}

async fn post(host: &Host, run: RunId, event: Event) {
    host.runs().post(host, run, Incoming { event, delivered: None }).await;
}

/// How often the person spoke in a run; what waits for its next turn counts.
async fn told(host: &Host, id: RunId) -> Result<u32, RpcError> {
    let counted = host.store().read(move |reader| {
        let queued = run_rows::get(reader, id)?.map_or(0, |row| row.run.queued.len());
        Ok(messages::count_of_person(reader, id)?.saturating_add(u32::try_from(queued).unwrap_or(u32::MAX)))
    });
    counted.await.map_err(storage)
}

async fn existing(host: &Host, run: &str) -> Result<RunId, RpcError> {
    let id = run_id(run)?;
    row(host, id).await.map(|row| row.id)
}

async fn row(host: &Host, id: RunId) -> Result<RunRow, RpcError> {
    let found = host.store().read(move |reader| run_rows::get(reader, id)).await.map_err(storage)?;
    found.ok_or_else(|| no_run(id))
}

/// What a run's commit shall have changed.
enum Change {
    Ended,
    /// The person's words, of which there were so many.
    ToldMoreThan(u32),
}

/// Waits for the run's own commit, so that whoever asked sees what came of it; not for ever, since a full disk or a locked
/// keyring may hold it up. Who has waited in vain is told so.
async fn changed(host: &Host, id: RunId, change: Change) -> Result<RunItem, RpcError> {
    let mut events = host.events();
    let limit = tokio::time::Instant::now() + std::time::Duration::from_secs(5);
    loop {
        let row = row(host, id).await?;
        let is_done = match change {
            Change::Ended => row.run.status.is_ended(),
            Change::ToldMoreThan(before) => told(host, id).await? > before,
        };
        if is_done {
            return Ok(view::run::item(&row, view::run::waiting(&row)));
        }
        if tokio::time::Instant::now() >= limit {
            return Err(RpcError::new(
                code::STORAGE,
                "The run has not taken this yet: something holds it up, such as a full disk or a locked keyring. Nothing \
                 is lost while Sayso runs, and it is done as soon as it can be. Look at the run before you do it again.",
            ));
        }
        // Also looks without an event: it may have come before the subscription.
        let _ = tokio::time::timeout(std::time::Duration::from_millis(100), events.recv()).await;
    }
}
