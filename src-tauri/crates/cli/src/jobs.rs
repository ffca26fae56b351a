use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use sayso_host::dto::{Job, JobRef, JobState};
use serde_json::json;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::signals::told_to_end;
use crate::way::Way;

/// How often a job is looked at.
const LOOK: Duration = Duration::from_millis(150);

/// Waits for a job to end, shows how far it is, and calls it off with Ctrl-C.
pub(crate) async fn follow(out: &Out, way: &Way, mut job: Job) -> Result<Exit, Failure> {
    let shows = !out.is_json() && io::stderr().is_terminal();
    let end = told_to_end();
    tokio::pin!(end);
    let mut ended = None;
    while job.state == JobState::Running {
        if shows {
            let total = job.total.map(|total| format!(" of {total}")).unwrap_or_default();
            let _ = write!(io::stderr(), "\r{} {}{total}", job.what, job.done);
        }
        let params = JobRef { job: job.id.clone() };
        job = tokio::select! {
            how = &mut end, if ended.is_none() => {
                ended = Some(how);
                way.call("jobs.cancel", params).await?
            }
            () = tokio::time::sleep(LOOK) => way.call("jobs.show", params).await?,
        };
    }
    if shows {
        let _ = writeln!(io::stderr());
    }
    let message = job.message.clone().unwrap_or_default();
    match (job.state, ended) {
        (JobState::Done, _) => {
            if out.is_json() {
                out.value(&json!(job))?;
            } else {
                out.line(&message)?;
                out.field("file", job.path.as_deref())?;
            }
            Ok(Exit::Done)
        }
        (JobState::Cancelled, Some(how)) => {
            Err(Failure::new(how.exit(), "cancelled", "It was called off. No file was left behind."))
        }
        (JobState::Cancelled, None) => Err(Failure::new(Exit::Refused, "cancelled", message)),
        (JobState::Failed | JobState::Running, _) => Err(Failure::new(Exit::Storage, "storage", message)),
    }
}
