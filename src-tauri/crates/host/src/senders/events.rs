use sayso_domain::{Outcome, RequestState, SourceId, Time};
use sayso_store::request_events::{self, EventKind, EventRow};

use super::seats::Seat;
use super::{Asker, LOOK_AGAIN, SenderError};
use crate::host::Host;

/// So many are read at once.
const BATCH: u32 = 256;

/// Something that happened to one of an asker's requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestEvent {
    /// Its number among the asker's events, which begin at 1 and have no gap.
    pub seq: u64,
    /// The request's id.
    pub id: String,
    /// `asked`, `settled`, `delivered` or `undeliverable`.
    pub kind: &'static str,
    /// How it ended; none for `asked`. The cause of a cancellation is for the person alone.
    pub outcome: Option<Outcome>,
    /// When.
    pub at: Time,
}

/// An asker's events, in order, none twice and none left out.
pub struct RequestEvents {
    host: Host,
    asker: Asker,
    seat: Seat<SourceId>,
    seq: u64,
}

impl Host {
    /// What happens to the asker's requests after an event that it had, by number, also of an earlier host; from now on
    /// where it had none. A number that is not reached yet counts as the newest.
    ///
    /// # Errors
    /// The asker lost its right, or the database cannot be read.
    pub async fn request_events(
        &self,
        asker: &Asker,
        after: Option<u64>,
    ) -> Result<RequestEvents, SenderError> {
        let by = asker.clone();
        let newest = self.look(move |reader| {
            by.check(reader)?;
            Ok(request_events::newest(reader, by.source)?)
        });
        let newest = newest.await?;
        Ok(RequestEvents {
            host: self.clone(),
            asker: asker.clone(),
            seat: self.senders().sources.take(asker.source),
            seq: after.map_or(newest, |after| after.min(newest)),
        })
    }
}

impl RequestEvents {
    /// The number of the last event that was given out.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// What comes next, as soon as there is something; nothing once the host ends. Dropping the future loses nothing.
    ///
    /// # Errors
    /// The asker lost its right, or the database cannot be read.
    pub async fn next(&mut self) -> Result<Vec<RequestEvent>, SenderError> {
        loop {
            let news = self.seat.news();
            let (by, seq) = (self.asker.clone(), self.seq);
            let rows = self.host.look(move |reader| {
                by.check(reader)?;
                Ok(request_events::after(reader, by.source, seq, BATCH)?)
            });
            let rows = rows.await?;
            if let Some(last) = rows.last() {
                self.seq = last.seq;
                return Ok(rows.into_iter().map(RequestEvent::from).collect());
            }
            tokio::select! {
                () = self.host.stop_token().cancelled() => return Ok(Vec::new()),
                () = news => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }
}

impl From<EventRow> for RequestEvent {
    fn from(row: EventRow) -> Self {
        let outcome = match (row.kind, row.state) {
            (EventKind::Asked, _) | (_, RequestState::Pending) => None,
            (
                EventKind::Settled | EventKind::Delivered | EventKind::Undeliverable,
                RequestState::Settled(outcome),
            ) => Some(outcome),
        };
        Self { seq: row.seq, id: row.id, kind: row.kind.as_str(), outcome, at: row.at }
    }
}
