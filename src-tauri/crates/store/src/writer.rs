use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tokio::sync::oneshot;

use crate::conn::{Conn, Tx};
use crate::{OpenError, StoreError};

/// So many closures share a commit at most, so that the first of them does not wait for a stream of others.
const GROUP: usize = 256;

/// What the writer's thread is sent.
enum Command {
    Write(Box<dyn Job>),
    Alone(Box<dyn FnOnce(&Conn) + Send>),
    Close(oneshot::Sender<Result<(), StoreError>>),
}

/// A closure with its answer's way back.
trait Job: Send {
    /// Runs it; whether what it wrote shall be kept.
    fn run(&mut self, tx: &Tx<'_>) -> bool;
    /// Sends its result, or what kept it from being committed.
    fn answer(self: Box<Self>, failed: Option<StoreError>);
}

struct Task<F, T, E> {
    work: Option<F>,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Job for Task<F, T, E>
where
    F: FnOnce(&Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn run(&mut self, tx: &Tx<'_>) -> bool {
        let Some(work) = self.work.take() else { return false };
        let result =
            catch_unwind(AssertUnwindSafe(|| work(tx))).unwrap_or_else(|_| Err(StoreError::Panicked.into()));
        self.result.insert(result).is_ok()
    }

    fn answer(self: Box<Self>, failed: Option<StoreError>) {
        let result = match (self.result, failed) {
            (Some(Err(own)), _) => Err(own),
            (Some(Ok(_)), Some(failed)) => Err(failed.into()),
            (Some(Ok(value)), None) => Ok(value),
            (None, failed) => Err(failed.unwrap_or(StoreError::Closed).into()),
        };
        // Nobody may be waiting any more; what was committed stays committed.
        let _ = self.reply.send(result);
    }
}

/// The one thread that writes.
pub(crate) struct Writer {
    commands: Sender<Command>,
}

impl Writer {
    pub(crate) fn start(conn: Conn) -> Result<Self, OpenError> {
        let (commands, queue) = channel();
        let path = conn.raw().path().map(std::path::PathBuf::from).unwrap_or_default();
        thread::Builder::new()
            .name("sayso-writer".to_owned())
            .spawn(move || serve(&conn, &queue))
            .map_err(|error| OpenError::Io { path, what: error.to_string() })?;
        Ok(Self { commands })
    }

    /// Hands a closure to the thread and waits until it is committed. The closure runs to its end even if nobody waits.
    pub(crate) async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        F: FnOnce(&Tx<'_>) -> Result<T, E> + Send + 'static,
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Command::Write(Box::new(Task { work: Some(work), result: None, reply }));
        self.commands.send(job).map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or_else(|_| Err(StoreError::Closed.into()))
    }

    /// Runs a closure on the thread outside of any transaction, once all that was handed over before is committed.
    pub(crate) async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Conn) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let work = move |conn: &Conn| {
            let result = catch_unwind(AssertUnwindSafe(|| work(conn))).unwrap_or(Err(StoreError::Panicked));
            // Nobody may be waiting any more.
            let _ = reply.send(result);
        };
        self.commands.send(Command::Alone(Box::new(work))).map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Waits until all that was handed over is committed, moves the log into the file and ends the thread.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        // A second close finds nobody: it is closed.
        if self.commands.send(Command::Close(reply)).is_err() {
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }
}

fn serve(conn: &Conn, queue: &Receiver<Command>) {
    while let Ok(first) = queue.recv() {
        let mut group = VecDeque::new();
        let mut closing = None;
        let mut alone = None;
        for command in std::iter::once(first).chain(queue.try_iter()) {
            match command {
                Command::Write(job) => group.push_back(job),
                Command::Alone(work) => alone = Some(work),
                Command::Close(reply) => closing = Some(reply),
            }
            if alone.is_some() || closing.is_some() || group.len() >= GROUP {
                break;
            }
        }
        commit_all(conn, group);
        if let Some(work) = alone {
            work(conn);
        }
        if let Some(reply) = closing {
            let _ = reply.send(checkpoint(conn));
            return;
        }
    }
}

/// Commits a group of closures, in as few transactions as can be.
fn commit_all(conn: &Conn, mut waiting: VecDeque<Box<dyn Job>>) {
    while !waiting.is_empty() {
        let mut ran = Vec::with_capacity(waiting.len());
        let outcome = commit_some(conn, &mut waiting, &mut ran);
        if outcome.is_err()
            && !conn.raw().is_autocommit()
            && let Err(error) = conn.batch("ROLLBACK")
        {
            tracing::error!(%error, "a failed transaction could not be rolled back");
        }
        if let Err(error) = &outcome {
            tracing::warn!(%error, closures = ran.len(), "a commit failed");
        }
        for job in ran {
            job.answer(outcome.clone().err());
        }
    }
}

fn commit_some(
    conn: &Conn,
    waiting: &mut VecDeque<Box<dyn Job>>,
    ran: &mut Vec<Box<dyn Job>>,
) -> Result<(), StoreError> {
    if let Err(error) = conn.step("BEGIN IMMEDIATE") {
        ran.extend(waiting.drain(..));
        return Err(error);
    }
    if waiting.len() == 1 {
        return run_alone(conn, waiting, ran);
    }
    while let Some(mut job) = waiting.pop_front() {
        let result = run_one(conn, job.as_mut());
        ran.push(job);
        result?;
    }
    conn.step("COMMIT")
}

/// Runs the only closure of a transaction: what it wrote is taken back with the transaction, so that no savepoint has to
/// keep what every page was before.
fn run_alone(
    conn: &Conn,
    waiting: &mut VecDeque<Box<dyn Job>>,
    ran: &mut Vec<Box<dyn Job>>,
) -> Result<(), StoreError> {
    let Some(mut job) = waiting.pop_front() else { return conn.step("ROLLBACK") };
    conn.take_failure();
    let keep = job.run(&Tx::new(conn));
    ran.push(job);
    if conn.raw().is_autocommit() {
        return Err(conn.take_failure().unwrap_or(StoreError::Full));
    }
    conn.step(if keep { "COMMIT" } else { "ROLLBACK" })
}

/// Runs one closure in a savepoint. An error means that the whole transaction is lost: SQLite itself rolls it back when
/// the disk is full or fails.
fn run_one(conn: &Conn, job: &mut dyn Job) -> Result<(), StoreError> {
    conn.step("SAVEPOINT closure")?;
    conn.take_failure();
    let keep = job.run(&Tx::new(conn));
    if conn.raw().is_autocommit() {
        return Err(conn.take_failure().unwrap_or(StoreError::Full));
    }
    if !keep {
        conn.step("ROLLBACK TO closure")?;
    }
    conn.step("RELEASE closure")
}

fn checkpoint(conn: &Conn) -> Result<(), StoreError> {
    // The answer is a row: whether readers were in the way, which harms nothing.
    conn.row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map(|_| ())
}
