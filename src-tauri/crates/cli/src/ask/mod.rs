//! Asking a person from a script: `sayso ask`. It has the rights of a sender, or of this computer, and never the owner's.

mod args;
mod deadline;
mod draft;
mod started;

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};

use sayso_domain::text::visible_line;
use sayso_domain::{Answer, Request};
use sayso_gateway::{AskError, Asker, Contact, Place, Posted, SenderToken};
use serde_json::json;

pub(crate) use args::AskArgs;
pub(crate) use deadline::length;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::out::Out;
use crate::signals::{Ending, told_to_end};
use crate::when::now;

/// How long after its deadline a request is given to be settled, or the host to come back and tell.
const GRACE: Duration = Duration::from_secs(5);
/// How long taking a request back may take before the command ends all the same.
const WITHDRAWING: Duration = Duration::from_secs(3);
const WITHDRAW_PAUSE: Duration = Duration::from_millis(100);

pub(crate) async fn ask(out: &Out, explicit: Option<PathBuf>, args: AskArgs) -> Result<Exit, Failure> {
    if args.start && url(explicit.as_deref()).is_some() {
        let message = "--start starts Sayso for a data folder, and $SAYSO_URL names another way to it. Nobody was \
                       asked. Use one of them.";
        return Err(Failure::usage(message));
    }
    let asker = asker(explicit.clone(), args.token_file.as_deref())?;
    let request = draft::draft(&args)?;
    // From here on Ctrl-C takes back what was asked.
    let mut ending = pin!(told_to_end());
    if args.start {
        let data_dir = sayso_host::data_dir(explicit);
        tokio::select! {
            started = started::ensure(&asker, &data_dir) => started?,
            ending = &mut ending => return Err(interrupted(ending, "Nobody was asked.")),
        }
    }
    let asking =
        Asking { out, asker: &asker, request: &request, args: &args, until: Until::of(&args, &request) };
    let mut posting = pin!(asking.post());
    let posted = tokio::select! {
        posted = &mut posting => posted?,
        ending = &mut ending => {
            // What is on its way must be there before it can be taken back.
            let _ = tokio::time::timeout(WITHDRAWING, posting).await;
            return Err(asking.take_back_or_hurry(ending).await);
        }
    };
    tokio::select! {
        done = asking.see_to_its_end(posted) => done,
        ending = &mut ending => Err(asking.take_back_or_hurry(ending).await),
    }
}

/// Asks through the socket, or where $SAYSO_URL says unless a data folder was named; as the sender whose token was
/// given, else as this computer.
pub(crate) fn asker(data_dir: Option<PathBuf>, token_file: Option<&Path>) -> Result<Asker, Failure> {
    let asker = match url(data_dir.as_deref()) {
        None => Asker::new(&sayso_host::data_dir(data_dir)),
        Some(url) => Asker::at(Place::from_url(&url)?),
    };
    let token = match (token_file, variable("SAYSO_TOKEN")) {
        (Some(file), _) => SenderToken::read(file)?,
        (None, Some(text)) => SenderToken::new(&text)?,
        (None, None) => return Ok(asker),
    };
    Ok(asker.with_token(token))
}

/// What $SAYSO_URL says, unless a data folder was named.
fn url(data_dir: Option<&Path>) -> Option<String> {
    if data_dir.is_some() { None } else { variable("SAYSO_URL") }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned())
}

/// One request on its way.
struct Asking<'a> {
    out: &'a Out,
    asker: &'a Asker,
    request: &'a Request,
    args: &'a AskArgs,
    until: Until,
}

/// How long to wait, by a clock that nobody sets.
struct Until {
    /// What the command line allows.
    limit: Option<Instant>,
    /// When the deadline has passed for sure.
    expired: Option<Instant>,
}

impl Until {
    fn of(args: &AskArgs, request: &Request) -> Self {
        let begins = Instant::now();
        let expired = request.expires_at.and_then(|at| {
            let left = u64::try_from(at.as_millis().saturating_sub(now().as_millis())).unwrap_or_default();
            begins.checked_add(Duration::from_millis(left) + GRACE)
        });
        Self { limit: args.wait_limit.and_then(|limit| begins.checked_add(limit)), expired }
    }

    fn first(&self) -> Option<Instant> {
        [self.limit, self.expired].into_iter().flatten().min()
    }
}

impl Asking<'_> {
    async fn post(&self) -> Result<Posted, Failure> {
        Ok(if self.args.wait {
            self.asker.post_surely(self.request, self.until.first(), tell).await?
        } else {
            self.asker.post(self.request).await?
        })
    }

    async fn see_to_its_end(&self, posted: Posted) -> Result<Exit, Failure> {
        let id = self.request.id.as_str();
        let answer = if self.args.wait {
            let waited = self.asker.wait(id, self.until.first(), tell).await;
            waited.map_err(|error| if error.is_passing() { gone(self.request) } else { error.into() })?
        } else if posted.is_new {
            None
        } else {
            // Asked before under the same id, it may have been decided by now.
            self.asker.answer(id, Duration::ZERO).await?
        };
        match answer {
            Some(answer) => self.print(&answer).await,
            None if !self.args.wait => {
                self.out.value(&posted.state).map_err(|error| unwritten(self.request, &error))?;
                Ok(Exit::Waiting)
            }
            None if self.until.expired.is_some_and(|expired| Instant::now() >= expired) => {
                let message =
                    "Nobody answered before the deadline, so the request has expired. It is no yes.";
                Err(Failure::new(Exit::Gone, "expired", message))
            }
            None => {
                let message = format!(
                    "Nobody has answered yet. The request goes on waiting; the same command with {} waits for it again.",
                    again(self.request)
                );
                Err(Failure::new(Exit::Waiting, "still_waiting", message))
            }
        }
    }

    /// The answer on standard output; only then is it acknowledged, so that one nobody could read stays to be read.
    async fn print(&self, answer: &Answer) -> Result<Exit, Failure> {
        self.out.value(&json!(answer)).map_err(|error| unwritten(self.request, &error))?;
        if let Err(error) = self.asker.ack(answer.id()).await {
            tracing::debug!(%error, "the answer was not acknowledged");
        }
        Ok(match answer.reason() {
            _ if answer.is_ok() => Exit::Done,
            // What the host says of a no is its class.
            Some("expired") => Exit::Gone,
            Some(_) | None => Exit::Refused,
        })
    }

    /// Told a second time, it ends at once.
    async fn take_back_or_hurry(&self, ending: Ending) -> Failure {
        tokio::select! {
            taken_back = self.take_back(ending) => taken_back,
            again = told_to_end() => interrupted(
                again,
                "Sayso had not confirmed that the request was taken back. It may still wait: `sayso list` shows it.",
            ),
        }
    }

    /// Takes the request back, also where it is not known whether it came through.
    async fn take_back(&self, ending: Ending) -> Failure {
        let latest = Instant::now() + WITHDRAWING;
        loop {
            let error = match self.asker.withdraw(&self.request.id).await {
                Ok(()) => {
                    return interrupted(
                        ending,
                        "The request was taken back: nobody can approve it any more.",
                    );
                }
                Err(error) => error,
            };
            if !error.is_passing() || Instant::now() >= latest {
                return interrupted(ending, &not_taken_back(&error));
            }
            tokio::time::sleep(WITHDRAW_PAUSE).await;
        }
    }
}

fn not_taken_back(error: &AskError) -> String {
    match error {
        AskError::Refused(refusal) if refusal.status == 404 => "Nobody was asked.".to_owned(),
        AskError::Down { .. } | AskError::Closed { .. } => {
            "Sayso cannot be reached, so the request was not taken back. It waits when Sayso is started again.".to_owned()
        }
        AskError::Refused(_) | AskError::Silent(_) | AskError::Cut(_) | AskError::Foreign(_) => {
            format!("The request was not taken back. {error}")
        }
    }
}

/// It went away while it was waited for, and was not back in time.
/// What makes the same command again ask for the same request: a deadline in words would be another one by then.
fn again(request: &Request) -> String {
    let id = visible_line(&request.id);
    match request.expires_at {
        Some(at) => format!("--id {id} --expires {at}"),
        None => format!("--id {id}"),
    }
}

fn gone(request: &Request) -> Failure {
    let message = format!(
        "Sayso went away and was not back in time. What was asked is kept, and this is no yes. When Sayso runs again, the \
         same command with {} tells what became of it.",
        again(request)
    );
    Failure::new(Exit::NoHost, "no_host", message)
}

fn interrupted(ending: Ending, message: &str) -> Failure {
    Failure::new(ending.exit(), "interrupted", message)
}

/// Never ok: whoever reads the answer has not read it.
fn unwritten(request: &Request, error: &std::io::Error) -> Failure {
    let message = format!(
        "The answer cannot be written: {error}. It was not taken as read: the same command with {} prints it again.",
        again(request)
    );
    Failure::new(Exit::Refused, "output", message)
}

/// On stderr, because stdout is for the answer.
fn tell(contact: Contact) {
    use std::io::Write as _;
    let line = match contact {
        Contact::Lost => {
            "Sayso cannot be reached or is too busy right now. What was asked is kept; waiting for it to come back."
        }
        Contact::Back => "Sayso is back.",
    };
    let _ = writeln!(std::io::stderr(), "{line}");
}
