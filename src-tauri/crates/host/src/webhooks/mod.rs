//! Answers that are posted to their senders' own servers, in the form of Standard Webhooks. The address is set by the
//! person and never by a request. An answer is posted until the server takes it, for a day; after that it can still be
//! fetched, or be sent again by hand. Whatever a server says or does, it decides nothing.

mod key;
mod post;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Client;
use sayso_agent::system_time as now;
use sayso_domain::{RequestKey, SourceId};
use sayso_store::deliveries::{self, DeliveryRow, DeliveryState};
use sayso_store::senders::{self, SenderRow};
use sayso_store::{StoreError, requests};
use tokio::sync::OnceCell;

pub(crate) use key::{KeyPlace, SigningKey};

use crate::host::Host;
use key::Secret;
use post::Failure;

/// How long after each failed try the next one follows; the last one goes on.
const WAITS: [u64; 8] = [5, 30, 2 * 60, 10 * 60, 30 * 60, 60 * 60, 2 * 60 * 60, 4 * 60 * 60];
/// For how long an answer is tried, and longer until it was tried once after each of the waits.
const DAY: i64 = 24 * 60 * 60 * 1000;
/// How many answers are under way to one sender, and to all: a server that stalls holds up no other.
const OF_ONE: usize = 4;
const OF_ALL: usize = 64;
/// How long a keyring may take.
const KEYRING: Duration = Duration::from_secs(60);

/// Answers on their way.
#[derive(Default)]
pub(crate) struct Webhooks {
    /// What is under way.
    taken: Arc<Mutex<HashMap<RequestKey, SourceId>>>,
    client: OnceCell<Client>,
}

/// What is needed to post an answer.
struct Post {
    key: RequestKey,
    sender: SenderRow,
    delivery: DeliveryRow,
    /// The sender's own id of its request.
    request: String,
}

/// Takes the place of one that is under way, until it is dropped.
struct UnderWay {
    taken: Arc<Mutex<HashMap<RequestKey, SourceId>>>,
    key: RequestKey,
}

impl Webhooks {
    fn take(&self, key: RequestKey, sender: SourceId) -> Option<UnderWay> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = taken.values().filter(|other| **other == sender).count();
        if taken.contains_key(&key) || of_one >= OF_ONE || taken.len() >= OF_ALL {
            return None;
        }
        taken.insert(key, sender);
        Some(UnderWay { taken: Arc::clone(&self.taken), key })
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

/// Posts an answer that is due, beside the others, and then what else is due of its sender. What there is no room for now
/// is due again.
pub(crate) fn deliver(host: &Host, key: RequestKey, sender: SourceId) {
    let Some(under_way) = host.webhooks().take(key, sender) else { return };
    let at_work = host.clone();
    host.spawn(async move {
        tokio::select! {
            () = at_work.stop_token().cancelled() => {}
            done = deliver_all(&at_work, under_way, sender) => if let Err(error) = done {
                tracing::warn!(%error, "what became of an answer that was posted could not be stored; it is posted again");
            }
        }
    });
}

async fn deliver_all(host: &Host, first: UnderWay, sender: SourceId) -> Result<(), StoreError> {
    let mut next = Some(first);
    while let Some(under_way) = next {
        deliver_now(host, under_way.key).await?;
        drop(under_way);
        let due = host.store().read(move |reader| deliveries::due_of_source(reader, sender, now())).await?;
        next = due.into_iter().find_map(|row| host.webhooks().take(row.request, sender));
    }
    Ok(())
}

async fn deliver_now(host: &Host, key: RequestKey) -> Result<(), StoreError> {
    let Some(post) = look(host, key).await? else { return Ok(()) };
    // What was due when the list was read may have been taken, or have failed, since.
    if post.delivery.state != DeliveryState::Waiting || post.delivery.next_at > now() {
        return Ok(());
    }
    let result = send(host, &post).await;
    note(host, &post, &result).await
}

/// Posts an answer once, now, also one that was delivered: a server may have lost it. The error says why it was not
/// taken, for a person.
pub(crate) async fn send_again(host: &Host, key: RequestKey) -> Result<(), String> {
    let found = look(host, key).await.map_err(|error| error.to_string())?;
    let post = found.ok_or(
        "This request has no answer to post: it waits, or its sender has no callback. Nothing was sent.",
    )?;
    let _under_way = host
        .webhooks()
        .take(key, post.sender.source)
        .ok_or("Answers to this sender are on their way right now. Try again in a moment.")?;
    let result = send(host, &post).await;
    note(host, &post, &result).await.map_err(|error| error.to_string())?;
    result.map_err(|failure| failure.why)
}

async fn look(host: &Host, key: RequestKey) -> Result<Option<Post>, StoreError> {
    let read = host.store().read(move |reader| {
        let sender = senders::of_request(reader, key)?;
        let found = (sender, deliveries::get(reader, key)?, requests::get(reader, key)?);
        let (Some(sender), Some(delivery), Some(row)) = found else { return Ok(None) };
        let may_go = sender.callback_url.is_some()
            && sender.revoked_at.is_none()
            && delivery.state != DeliveryState::Undeliverable
            && delivery.claimed_at.is_some();
        Ok(may_go.then(|| Post { key, sender, delivery, request: row.shown.request.id }))
    });
    read.await
}

async fn send(host: &Host, post: &Post) -> Result<(), Failure> {
    let Some(url) = &post.sender.callback_url else { return Err(Failure::new("It has no callback.")) };
    let secret = read_secret(host, &post.sender).await.map_err(Failure::new)?;
    let client = host.webhooks().client.get_or_try_init(async || post::client()).await;
    let body = post::message(&post.request, &post.delivery.answer, post.delivery.deliver_after);
    post::post(client.map_err(Failure::new)?, url, &secret, (post.key, body), now()).await
}

/// Writes down what came of a try.
async fn note(host: &Host, post: &Post, result: &Result<(), Failure>) -> Result<(), StoreError> {
    let (inbox, key) = (host.inbox(), post.key);
    match result {
        Ok(()) => {
            inbox.delivered(key).await?;
        }
        Err(failure) => {
            tracing::info!(request = %key, why = failure.why, "an answer was not taken by its sender's server");
            let now = now();
            let is_old = now.as_millis() - post.delivery.deliver_after.as_millis() >= DAY;
            // This machine may have been off for most of the day.
            let was_tried = usize::try_from(post.delivery.attempts).is_ok_and(|tries| tries >= WAITS.len());
            if is_old && was_tried {
                let why = failure.why.clone();
                host.store().write(move |tx| deliveries::given_up(tx, key, &why)).await?;
            } else {
                let next = now.plus_millis(wait(post.delivery.attempts, failure.wait));
                inbox.delivery_failed(key, failure.why.clone(), next).await?;
            }
        }
    }
    host.announce(crate::dto::Topic::Senders, None);
    Ok(())
}

/// Milliseconds until the next try. A tenth of it is by chance, so that many do not come back at once.
fn wait(attempts: u32, asked: Option<Duration>) -> i64 {
    let at = usize::try_from(attempts).unwrap_or(usize::MAX).min(WAITS.len() - 1);
    let seconds = WAITS[at].max(asked.map_or(0, |asked| asked.as_secs()));
    let chance = getrandom::u32().map_or(0, |random| u64::from(random % 1000));
    i64::try_from(seconds * 900 + seconds * chance / 5).unwrap_or(i64::MAX)
}

async fn read_secret(host: &Host, sender: &SenderRow) -> Result<Secret, String> {
    let key = sender.signing_key.as_deref().and_then(SigningKey::from_text);
    let key = key.ok_or("It has no signing secret. Set the callback again to make one.")?;
    let data_dir = host.data_dir().to_owned();
    blocking(move || key.read(&data_dir)).await
}

/// Makes a new signing secret and keeps it: where, and its text, to be shown once.
pub(crate) async fn new_secret(host: &Host, place: KeyPlace) -> Result<(SigningKey, String), String> {
    let secret = Secret::new().map_err(|_| "The system gave no random numbers. Nothing was changed.")?;
    let (key, text) = (SigningKey::new(place), secret.reveal());
    let (data_dir, kept) = (host.data_dir().to_owned(), key.clone());
    blocking(move || kept.keep(&data_dir, &secret)).await?;
    Ok((key, text))
}

/// Erases a secret that is no longer used.
pub(crate) async fn forget_secret(host: &Host, key: SigningKey) {
    let data_dir = host.data_dir().to_owned();
    let forgot = blocking(move || {
        key.forget(&data_dir);
        Ok(())
    });
    if let Err(error) = forgot.await {
        tracing::warn!(%error, "a signing secret that is no longer used could not be erased");
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::time::timeout(KEYRING, tokio::task::spawn_blocking(work)).await;
    done.map_err(|_| "The keyring did not answer within a minute. Unlock it, or keep the secret in a file.")?
        .map_err(|error| error.to_string())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_grow_and_a_server_can_ask_for_longer_ones() {
        for attempts in 0..40 {
            let usual = i64::try_from(WAITS[usize::try_from(attempts).unwrap().min(7)]).unwrap() * 1000;
            let found = wait(attempts, None);
            assert!((usual * 9 / 10..=usual * 11 / 10).contains(&found), "{attempts}: {found}");
        }
        assert!(wait(0, Some(Duration::from_secs(600))) >= 540_000);
    }

    #[test]
    fn a_sender_that_stalls_takes_no_more_than_its_share() {
        let webhooks = Webhooks::default();
        let (slow, other) = (SourceId::new(uuid::Uuid::now_v7()), SourceId::new(uuid::Uuid::now_v7()));
        let key = || RequestKey::new(uuid::Uuid::now_v7());
        let held: Vec<_> = (0..OF_ONE).map(|_| webhooks.take(key(), slow).unwrap()).collect();
        assert!(webhooks.take(key(), slow).is_none());
        assert!(webhooks.take(key(), other).is_some());
        let twice = key();
        let first = webhooks.take(twice, other);
        assert!(webhooks.take(twice, other).is_none(), "one post of an answer at a time");
        drop((held, first));
        assert!(webhooks.take(twice, slow).is_some());
    }
}
