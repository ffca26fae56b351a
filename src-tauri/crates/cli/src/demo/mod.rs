//! `sayso demo`: the whole path with no key. The host that runs for the folder is used, else one in this process.

mod answers;
mod terminal;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use sayso_gateway::{Client, ClientError};
use sayso_host::code;
use sayso_host::dto::{Decide, Empty, RequestDetail, RequestRef, RunDetail, RunRef, RunStarted};
use serde_json::json;
use tempfile::TempDir;

pub(crate) use answers::AnswerList;
use terminal::Terminal;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::running::Running;
use crate::signals::asked_to_end;
use crate::way::{Changes, Way};
use crate::{inbox, runs, wire};

pub(crate) async fn demo(
    out: &Out,
    data_dir: Option<PathBuf>,
    answers: Option<AnswerList>,
) -> Result<Exit, Failure> {
    sayso_host::Logs::Terminal.begin();
    let place = Place::new(data_dir)?;
    let end = asked_to_end();
    let (way, running) = match Client::connect(&place.data_dir).await {
        Ok(client) => (Way::Socket(client), None),
        Err(ClientError::NoHost(_)) => {
            let running = Running::start(&place.data_dir, Some(0)).await?;
            (Way::Inside(running.host.clone()), Some(running))
        }
        Err(error) => return Err(error.into()),
    };
    let done = tokio::select! {
        done = play(out, &way, &place, answers) => done,
        () = end => out.line("\nLeft as it is.").map(|()| Exit::Waiting).map_err(Failure::from),
    };
    if let Some(running) = running {
        running.shutdown().await;
    }
    let told = done.and_then(|exit| place.tell_what_is_left(out).map(|()| exit));
    drop(place);
    told
}

/// Where the demo's data is.
struct Place {
    data_dir: PathBuf,
    /// Removed with everything in it when the demo is over.
    temporary: Option<TempDir>,
}

impl Place {
    fn new(data_dir: Option<PathBuf>) -> Result<Self, Failure> {
        if let Some(data_dir) = data_dir {
            return Ok(Self { data_dir, temporary: None });
        }
        let temporary = TempDir::with_prefix("sayso-demo-").map_err(|error| {
            let message = format!("A temporary folder cannot be made: {error}. Nothing was done. Make room, or name a folder with --data-dir.");
            Failure::new(Exit::Storage, "io", message)
        })?;
        // The agent's own folder lies beside the data folder: neither may hold the other.
        Ok(Self { data_dir: temporary.path().join("data"), temporary: Some(temporary) })
    }

    fn tell_what_is_left(&self, out: &Out) -> Result<(), Failure> {
        let data_dir = self.data_dir.display();
        match &self.temporary {
            Some(folder) => {
                out.line(&format!("The demo ran in {}, which is removed now.", folder.path().display()))?
            }
            None => out.line(&format!("Look back with: sayso history --data-dir {data_dir}"))?,
        }
        Ok(())
    }
}

/// Who answers.
enum Answerer {
    List(AnswerList),
    Terminal(Terminal),
}

async fn play(out: &Out, way: &Way, place: &Place, answers: Option<AnswerList>) -> Result<Exit, Failure> {
    let mut answerer = match answers {
        Some(list) => Answerer::List(list),
        None => Answerer::Terminal(Terminal::read()?),
    };
    let mut changes = way.changes().await?;
    let RunStarted { run } = way.call("demo.start", Empty {}).await?;
    print_start(out, &run, &place.data_dir)?;
    let mut left_pending = BTreeSet::new();
    loop {
        let detail: RunDetail = way.call("runs.show", RunRef { run: run.clone() }).await?;
        if runs::is_ended(&detail.item) {
            return runs::print_end(out, &detail);
        }
        let mut waiting = runs::pending_of(way, &run).await?;
        waiting.retain(|item| !left_pending.contains(&item.key));
        let Some(item) = waiting.into_iter().next() else {
            if detail.item.status == "pending" && !left_pending.is_empty() {
                out.line("\nIt waits for you: no answer was given, and silence is never a yes.")?;
                return Ok(Exit::Waiting);
            }
            runs::change_or_patience(&mut changes).await?;
            continue;
        };
        let request: RequestDetail = way.call("inbox.show", RequestRef { key: item.key.clone() }).await?;
        print_request(out, &request)?;
        match answer(out, way, &mut changes, &mut answerer, &request).await? {
            Asked::Given(given) => decide(out, way, given).await?,
            Asked::Nothing => {
                left_pending.insert(item.key);
            }
            Asked::Elsewhere => out.line("\nIt was decided elsewhere meanwhile.")?,
        }
    }
}

/// What came of asking.
enum Asked {
    Given(Decide),
    Nothing,
    Elsewhere,
}

async fn answer(
    out: &Out,
    way: &Way,
    changes: &mut Changes,
    answerer: &mut Answerer,
    request: &RequestDetail,
) -> Result<Asked, Failure> {
    let terminal = match answerer {
        Answerer::List(list) => {
            let given = list.0.pop_front().map(|given| given.decide(request));
            return Ok(given.map_or(Asked::Nothing, Asked::Given));
        }
        Answerer::Terminal(terminal) => terminal,
    };
    tokio::select! {
        given = terminal.ask(out, request) => Ok(given?.map_or(Asked::Nothing, Asked::Given)),
        settled = until_settled(way, changes, &request.item.key) => settled.map(|()| Asked::Elsewhere),
    }
}

/// Returns when a request no longer waits: its deadline passed, or another surface was first.
async fn until_settled(way: &Way, changes: &mut Changes, key: &str) -> Result<(), Failure> {
    loop {
        runs::change_or_patience(changes).await?;
        let now: RequestDetail = way.call("inbox.show", RequestRef { key: key.to_owned() }).await?;
        if now.item.state != "pending" {
            return Ok(());
        }
    }
}

/// Sends a decision. That somebody else was first, or the deadline, is told, and the demo goes on.
async fn decide(out: &Out, way: &Way, given: Decide) -> Result<(), Failure> {
    match inbox::decide(out, way, given).await {
        Err(failure) if failure.has_code(code::ALREADY_DECIDED) || failure.has_code(code::EXPIRED) => {
            failure.print(out.is_json());
            Ok(())
        }
        other => other,
    }
}

fn print_start(out: &Out, run: &str, data_dir: &Path) -> Result<(), Failure> {
    if out.is_json() {
        out.value(&json!({ "run": run, "data_dir": data_dir }))?;
    }
    out.line("The demo agent asks you four things: a question, to write a file, and to run two commands.")?;
    out.line(&format!("Its data is in {}.", data_dir.display()))?;
    Ok(())
}

fn print_request(out: &Out, request: &RequestDetail) -> Result<(), Failure> {
    if out.is_json() {
        out.value(&wire::request(&request.item))?;
        return Ok(());
    }
    out.line("")?;
    inbox::print_detail(out, request)
}
