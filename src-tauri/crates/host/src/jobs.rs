//! Long work with progress, which a person may call off: a small table in memory, so that every face can look at it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sayso_store::Progress;
use uuid::Uuid;

use crate::RpcError;
use crate::dto::{Job, JobState, Topic, Verification};
use crate::host::Host;

/// So many are remembered.
const KEPT: usize = 50;
/// How often progress is announced.
const TELL: Duration = Duration::from_millis(250);

/// The host's jobs, oldest first.
#[derive(Default)]
pub(crate) struct Jobs(Mutex<VecDeque<Entry>>);

struct Entry {
    job: Job,
    progress: Progress,
}

/// What came of a job.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// In words.
    pub(crate) message: Option<String>,
    /// What a verification found.
    pub(crate) verification: Option<Verification>,
}

impl Jobs {
    fn table(&self) -> MutexGuard<'_, VecDeque<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that are remembered, newest first.
    pub(crate) fn list(&self) -> Vec<Job> {
        self.table().iter().rev().map(Entry::now).collect()
    }

    /// One of them.
    pub(crate) fn show(&self, id: &str) -> Option<Job> {
        self.table().iter().find(|entry| entry.job.id == id).map(Entry::now)
    }

    /// Calls one off; it ends at its next step.
    pub(crate) fn cancel(&self, id: &str) -> Option<Job> {
        self.table().iter().find(|entry| entry.job.id == id).map(|entry| {
            entry.progress.stop();
            entry.now()
        })
    }

    fn add(&self, entry: Entry) {
        let mut table = self.table();
        table.push_back(entry);
        while table.len() > KEPT {
            let Some(oldest) = table.iter().position(|entry| entry.job.state != JobState::Running) else {
                return;
            };
            table.remove(oldest);
        }
    }

    fn end(&self, id: &str, result: Result<Done, RpcError>) {
        let mut table = self.table();
        let Some(entry) = table.iter_mut().find(|entry| entry.job.id == id) else { return };
        entry.job = entry.now();
        match result {
            Ok(done) => {
                entry.job.state = JobState::Done;
                entry.job.message = done.message;
                entry.job.verification = done.verification;
            }
            Err(error) => {
                let stopped = entry.progress.is_stopped();
                entry.job.state = if stopped { JobState::Cancelled } else { JobState::Failed };
                entry.job.message = Some(error.message);
            }
        }
    }
}

impl Entry {
    fn now(&self) -> Job {
        let mut job = self.job.clone();
        if job.state == JobState::Running {
            job.done = self.progress.done();
            job.total = self.progress.total().map(|total| total.max(job.done));
        }
        job
    }
}

/// Begins work that goes on after the call that asked for it, and announces how far it is.
pub(crate) fn start<F>(
    host: &Host,
    what: &str,
    path: Option<PathBuf>,
    work: impl FnOnce(Progress) -> F,
) -> Job
where
    F: Future<Output = Result<Done, RpcError>> + Send + 'static,
{
    let progress = Progress::default();
    let job = Job {
        id: Uuid::now_v7().to_string(),
        what: what.to_owned(),
        done: 0,
        total: None,
        state: JobState::Running,
        message: None,
        path: path.as_deref().map(Path::display).map(|path| path.to_string()),
        verification: None,
    };
    host.jobs().add(Entry { job: job.clone(), progress: progress.clone() });
    host.announce(Topic::Jobs, Some(job.id.clone()));
    host.spawn(carry_out(host.clone(), job.id.clone(), progress.clone(), work(progress)));
    job
}

async fn carry_out(
    host: Host,
    id: String,
    progress: Progress,
    work: impl Future<Output = Result<Done, RpcError>>,
) {
    tokio::pin!(work);
    let mut told = 0;
    let result = loop {
        tokio::select! {
            result = &mut work => break result,
            () = host.stop_token().cancelled(), if !progress.is_stopped() => progress.stop(),
            () = tokio::time::sleep(TELL) => {
                if progress.done() != told {
                    told = progress.done();
                    host.announce(Topic::Jobs, Some(id.clone()));
                }
            }
        }
    };
    host.jobs().end(&id, result);
    host.announce(Topic::Jobs, Some(id));
}
