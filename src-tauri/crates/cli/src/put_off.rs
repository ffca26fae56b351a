//! Putting a request off, and taking a decision back.

use std::path::Path;

use sayso_domain::{RequestKey, Time};
use sayso_host::dto::{HistoryFilter, HistoryPage, RequestDetail, RequestItem, RequestRef, Snooze};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::inbox::{DECIDED, detail, one_that_begins};
use crate::out::{Out, Style};
use crate::way::Way;
use crate::wire;

/// Puts a request off, or wakes it.
pub(crate) async fn snooze(
    out: &Out,
    data_dir: &Path,
    key: &str,
    until: Option<Time>,
) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let key = detail(&way, key).await?.item.key;
    let until = until.map(|at| at.to_string());
    let item: RequestItem = way.call("inbox.snooze", Snooze { key, until }).await?;
    print_waiting(out, &way, &item).await
}

/// Takes a decision back whose answer is still held.
pub(crate) async fn undo(out: &Out, data_dir: &Path, key: &str) -> Result<Exit, Failure> {
    let way = Way::to(data_dir).await?;
    let key = if key.parse::<RequestKey>().is_ok() {
        key.to_owned()
    } else {
        let filter = HistoryFilter { limit: Some(DECIDED), ..HistoryFilter::default() };
        let decided: HistoryPage = way.call("history.list", filter).await?;
        one_that_begins(key, decided.items.into_iter().map(|item| item.key), "decision", "sayso history")?
    };
    let item: RequestItem = way.call("inbox.undo", RequestRef { key }).await?;
    print_waiting(out, &way, &item).await
}

async fn print_waiting(out: &Out, way: &Way, item: &RequestItem) -> Result<Exit, Failure> {
    if out.is_json() {
        let detail: RequestDetail = way.call("inbox.show", RequestRef { key: item.key.clone() }).await?;
        out.value(&wire::request_detail(&detail))?;
        return Ok(Exit::Done);
    }
    let line = match &item.snoozed_until {
        Some(at) => format!("Put off until {at}. It can be decided all the same."),
        None => "It waits for you.".to_owned(),
    };
    out.line(&out.styled(Style::Strong, &line))?;
    Ok(Exit::Done)
}
