use std::io;

use sayso_domain::run::{Asked, Event, Status};
use sayso_domain::{Act, Digest, Refused, RequestKey, RequestState, Time, settle};

use crate::client::Start;
use crate::{Checkpoint, Client, Decision, Incoming, RunResult, RunStream, Toolkit, form, system_time};

/// Why a checkpoint was not resumed. Nothing ran, and the checkpoint is not used up.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// It was resumed before (contract 27).
    #[error("This checkpoint was resumed before, so nothing was run. Go on with the result of that.")]
    AlreadyResumed,
    /// Whether it was resumed before cannot be told.
    #[error(
        "Whether this checkpoint was resumed before cannot be told ({0}), so nothing was run. Try again."
    )]
    Claims(#[source] io::Error),
    /// The run does not wait for answers.
    #[error("The run does not wait for an answer, so nothing was run.")]
    NotPending,
    /// No request that waits has this id (contract 12).
    #[error(
        "No request that waits has the id {0}, so nothing was run. Answer one of the checkpoint's requests."
    )]
    UnknownRequest(String),
    /// Several answers are for one request (contract 12).
    #[error("There are several answers to the request {0}, so nothing was run. Give one.")]
    AnsweredTwice(String),
    /// Several requests that wait have this id, and the answer does not say which it is for.
    #[error(
        "Several requests have the id {0}, so nothing was run. Give the digest of the one that is meant."
    )]
    Ambiguous(String),
    /// The answer is for something other than what waits (contract 12).
    #[error(
        "The answer to {0} is for something other than what waits, so nothing was run. Show it and ask again."
    )]
    WrongDigest(String),
    /// The deadline has passed (contract 13).
    #[error(
        "The deadline of {0} has passed, so nothing was run. Resume without this answer: it has expired."
    )]
    TooLate(String),
    /// The data does not fit the request's schema, or edited arguments their tool's (contract 12, 30).
    #[error("The data of the answer to {id} does not fit, so nothing was run: {why}.")]
    WrongData {
        /// The request's id.
        id: String,
        /// What does not fit.
        why: String,
    },
    /// Only arguments of a call whose tool is [editable](crate::Tool::is_editable) may be edited (contract 12).
    #[error("The call of {0} can only be approved or declined as it was shown, so nothing was run.")]
    NotEditable(String),
    /// It is for a model of another style, whose messages are of another shape.
    #[error(
        "This checkpoint is of a model of another style, so nothing was run. Use an endpoint of the same style."
    )]
    OtherStyle,
    /// It is not what was given back.
    #[error("This checkpoint is damaged, so nothing was run: {0}.")]
    Damaged(&'static str),
}

impl Client {
    /// Goes on with a run that waits, in this process or another (contract 26). The model is not asked again for the same
    /// turn and is told nothing new; each call gets exactly one result. Requests without an answer go on waiting, unless
    /// their deadline has passed: then they have expired (contract 13, 27); a client with a `wait_for` asks about them.
    ///
    /// An ok with `data.arguments` runs the call with these arguments in place of those that were shown, where its tool is
    /// [editable](crate::Tool::is_editable) and they fit its schema; the model is told of it (contract 12).
    ///
    /// All answers are checked first. If one cannot be taken, none is, and the checkpoint can still be resumed. Otherwise it
    /// is used up: its [`Claims`](crate::Claims) refuse a second try. By default they hold in this process alone; see
    /// [`Client::claims`] for those that hold across processes, and for what holds without.
    pub async fn resume<D: Into<Decision>>(
        &self,
        checkpoint: Checkpoint,
        answers: impl IntoIterator<Item = D>,
        toolkit: &Toolkit,
    ) -> Result<RunResult, ResumeError> {
        let answers = answers.into_iter().map(Into::into).collect();
        let start = self.reopen(checkpoint, answers).await?;
        Ok(self.go_on(start, toolkit).await)
    }

    /// Like [`Client::resume`], and shows what happens meanwhile.
    pub async fn resume_stream<D: Into<Decision>>(
        &self,
        checkpoint: Checkpoint,
        answers: impl IntoIterator<Item = D>,
        toolkit: &Toolkit,
    ) -> Result<RunStream, ResumeError> {
        let answers = answers.into_iter().map(Into::into).collect();
        let start = self.reopen(checkpoint, answers).await?;
        Ok(RunStream::of(self.clone(), start, toolkit.clone()))
    }

    /// Goes on with a conversation: says something more to a run that was given back, ended or not. While calls wait, it
    /// is queued for the next turn (contract 17). The checkpoint is used up like by [`Client::resume`].
    pub async fn tell(
        &self,
        checkpoint: Checkpoint,
        text: &str,
        toolkit: &Toolkit,
    ) -> Result<RunResult, ResumeError> {
        let id = checkpoint.id();
        let (run, memory, asked) = checkpoint.open(self.style())?;
        self.claim(id).await?;
        let incoming = vec![Event::Told(text.to_owned()).into()];
        Ok(self.go_on(Start { run, memory, asked, incoming }, toolkit).await)
    }

    async fn reopen(&self, checkpoint: Checkpoint, answers: Vec<Decision>) -> Result<Start, ResumeError> {
        let id = checkpoint.id();
        let (run, memory, asked) = checkpoint.open(self.style())?;
        if run.status != Status::Pending {
            return Err(ResumeError::NotPending);
        }
        let incoming = settled(&asked, answers, system_time())?;
        self.claim(id).await?;
        Ok(Start { run, memory, asked, incoming })
    }
}

/// What the answers and the deadlines settle, in the order in which they were given.
fn settled(asked: &[Asked], answers: Vec<Decision>, now: Time) -> Result<Vec<Incoming>, ResumeError> {
    let mut settled: Vec<Incoming> = Vec::new();
    let is_settled = |settled: &[Incoming], key| settled.iter().any(|other| other.delivered == Some(key));
    for decision in answers {
        let asked = find(asked, &decision)?;
        if is_settled(&settled, asked.key) {
            return Err(ResumeError::AnsweredTwice(decision.answer.id().to_owned()));
        }
        settled.push(settle_one(asked, decision, now)?);
    }
    for asked in asked.iter().filter(|asked| asked.shown.request.is_expired(now)) {
        if !is_settled(&settled, asked.key) {
            let digest = Digest::of(&asked.shown.to_text());
            if let Ok(expired) = settle(&asked.shown, RequestState::Pending, &digest, &Act::Expire, now) {
                settled.push(incoming(asked.key, expired.delivered()));
            }
        }
    }
    Ok(settled)
}

/// The request that an answer is for.
fn find<'a>(asked: &'a [Asked], decision: &Decision) -> Result<&'a Asked, ResumeError> {
    let id = decision.answer.id();
    let digest = |asked: &Asked| Digest::of(&asked.shown.to_text());
    let of_id: Vec<_> = asked.iter().filter(|asked| asked.shown.request.id == id).collect();
    match (of_id.as_slice(), decision.digest) {
        ([], _) => Err(ResumeError::UnknownRequest(id.to_owned())),
        ([one], None) => Ok(one),
        ([_, ..], None) => Err(ResumeError::Ambiguous(id.to_owned())),
        (several, Some(shown)) => several
            .iter()
            .find(|asked| digest(asked) == shown)
            .copied()
            .ok_or_else(|| ResumeError::WrongDigest(id.to_owned())),
    }
}

fn settle_one(asked: &Asked, decision: Decision, now: Time) -> Result<Incoming, ResumeError> {
    let request = &asked.shown.request;
    let id = || request.id.clone();
    form::check(&asked.shown, &decision.answer)
        .map_err(|misfit| ResumeError::WrongData { id: id(), why: misfit.to_string() })?;
    let act = Act::Answer { answer: decision.answer, digest: decision.digest };
    let stored = Digest::of(&asked.shown.to_text());
    match settle(&asked.shown, RequestState::Pending, &stored, &act, now) {
        Ok(settlement) => Ok(incoming(asked.key, settlement.delivered())),
        Err(Refused::TooLate) => Err(ResumeError::TooLate(id())),
        Err(Refused::NotEditable) => Err(ResumeError::NotEditable(id())),
        Err(Refused::WrongDigest) => Err(ResumeError::WrongDigest(id())),
        Err(Refused::WrongId | Refused::NotDue | Refused::AlreadySettled(_)) => {
            Err(ResumeError::UnknownRequest(id()))
        }
    }
}

fn incoming(request: RequestKey, answer: sayso_domain::Answer) -> Incoming {
    Incoming { event: Event::Settled { request, answer }, delivered: Some(request) }
}
