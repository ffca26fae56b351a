use std::path::PathBuf;

use sayso_agent::system_time as now;
use sayso_domain::text::visible_line;
use sayso_domain::{Request, Shown, SourceId};
use sayso_store::senders::{self, SenderRow};
use sayso_store::{Conn, sources};

use super::offer::Offer;
use super::{LOCAL_KIND, LOCAL_NAME, SenderError, token};
use crate::host::{Host, new_source_id};

/// The limits of a sender that was given none, and of programs of this machine.
pub(crate) const MAX_OPEN: u32 = 1000;
/// The same for requests a minute.
pub(crate) const PER_MINUTE: u32 = 600;

/// Whoever asks: one source, and what it may. It is checked again with every call, so that one who loses the right to ask
/// loses it at once.
#[derive(Clone, Debug)]
pub struct Asker {
    pub(crate) source: SourceId,
    pub(super) max_open: u32,
    pub(super) per_minute: u32,
    who: Who,
}

#[derive(Clone, Debug)]
enum Who {
    Sender { name: String, token_hash: [u8; 32] },
    Local(Program),
}

/// A program of this machine, as the kernel names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The process that calls.
    pub pid: Option<i32>,
    /// What it runs.
    pub program: Option<PathBuf>,
    /// What the process that started it runs.
    pub started_by: Option<PathBuf>,
    /// Its working folder.
    pub folder: Option<PathBuf>,
}

impl Host {
    /// Whose token this is.
    ///
    /// # Errors
    /// [`SenderError::Unauthorized`], [`SenderError::Revoked`], or the database cannot be read.
    pub async fn sender(&self, token: &str) -> Result<Asker, SenderError> {
        let hash = token::hash(token);
        let row = self.store().read(move |reader| senders::by_token_hash(reader, &hash)).await?;
        let row =
            row.filter(|row| token::is_same(&row.token_hash, &hash)).ok_or(SenderError::Unauthorized)?;
        if row.revoked_at.is_some() {
            return Err(SenderError::Revoked);
        }
        self.note_seen(row.source);
        Ok(Asker {
            source: row.source,
            max_open: row.max_open,
            per_minute: row.per_minute,
            who: Who::Sender { name: row.name, token_hash: row.token_hash },
        })
    }

    /// A program of this machine, which asks as the source `this computer` and has none of its owner's rights.
    ///
    /// # Errors
    /// The database cannot be read or written.
    pub async fn local_asker(&self, program: Program) -> Result<Asker, SenderError> {
        let source = self.senders().local.get_or_try_init(|| self.local_source()).await?;
        let who = Who::Local(program);
        Ok(Asker { source: *source, max_open: MAX_OPEN, per_minute: PER_MINUTE, who })
    }

    async fn local_source(&self) -> Result<SourceId, SenderError> {
        let ensured =
            self.store().write(|tx| sources::ensure(tx, LOCAL_KIND, LOCAL_NAME, now(), new_source_id()));
        Ok(ensured.await?)
    }

    /// A try that fails is made up for by the next one.
    fn note_seen(&self, source: SourceId) {
        let at = now();
        if !self.senders().note_seen(source, at) {
            return;
        }
        let host = self.clone();
        self.spawn(async move {
            if let Err(error) = host.store().write(move |tx| senders::seen(tx, source, at)).await {
                tracing::debug!(%error, "when a sender was last seen was not written down");
            }
        });
    }
}

impl Asker {
    /// Its source.
    pub fn source(&self) -> SourceId {
        self.source
    }

    /// Whether it still may ask, with its row where it is a sender.
    pub(super) fn check(&self, conn: &Conn) -> Result<Option<SenderRow>, SenderError> {
        let Who::Sender { token_hash, .. } = &self.who else { return Ok(None) };
        let row = senders::get(conn, self.source)?.ok_or(SenderError::Unauthorized)?;
        if !token::is_same(&row.token_hash, token_hash) {
            return Err(SenderError::Unauthorized);
        }
        if row.revoked_at.is_some() {
            return Err(SenderError::Revoked);
        }
        Ok(Some(row))
    }

    /// What the person sees of a request: under the name that the person gave, and for a program of this machine with
    /// what the kernel says of it. What a request says of itself stays in the request, but for what it may offer.
    pub(super) fn shown(&self, request: Request, offer: Offer) -> Shown {
        let mut shown = match &self.who {
            Who::Sender { name, .. } => Shown::new(request, name.clone()),
            Who::Local(program) => {
                let mut shown = Shown::new(request, LOCAL_NAME);
                shown.folder = program.folder.as_ref().map(|folder| folder.display().to_string());
                shown.notes = vec![program.in_words()];
                shown
            }
        };
        offer.put_into(&mut shown);
        shown
    }
}

impl Program {
    fn in_words(&self) -> String {
        let name = |path: &PathBuf| visible_line(&path.display().to_string());
        let program = match (&self.program, self.pid) {
            (Some(program), Some(pid)) => format!("{} (process {pid})", name(program)),
            (Some(program), None) => name(program),
            (None, Some(pid)) => format!("process {pid}, which ended or hides what it runs"),
            (None, None) => "a program that the system does not name".to_owned(),
        };
        match &self.started_by {
            Some(parent) => format!("Asked by {program}, started by {}.", name(parent)),
            None => format!("Asked by {program}."),
        }
    }
}
