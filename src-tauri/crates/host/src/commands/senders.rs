use sayso_agent::system_time as now;
use sayso_domain::text::{is_hidden, look_alike};
use sayso_domain::{Cause, DecidedBy, Outcome};
use sayso_store::senders::{self, SenderRow};
use sayso_store::{Conn, StoreError, deliveries, requests, sources};

use super::storage;
use crate::dto::{SenderItem, SenderName, SenderSetup, SenderToken, Topic};
use crate::host::{Host, new_source_id};
use crate::senders::{MAX_OPEN, PER_MINUTE, SENDER_KIND, Token, is_anothers};
use crate::webhooks::{self, SigningKey};
use crate::{RpcError, code, view};

const COLOURS: [&str; 8] = ["blue", "green", "amber", "red", "violet", "teal", "pink", "grey"];
const LONGEST_NAME: usize = 64;
const HIGHEST_LIMIT: u32 = 100_000;

pub(crate) async fn list(host: &Host) -> Result<Vec<SenderItem>, RpcError> {
    let listed = host.store().read(|reader| senders::list(reader)).await.map_err(storage)?;
    Ok(listed
        .iter()
        .map(|listed| view::sender::item(listed, host.senders().last_seen(listed.row.source)))
        .collect())
}

/// Adds a sender, or gives one that was revoked a new life under its name.
pub(crate) async fn add(host: &Host, setup: SenderSetup) -> Result<SenderToken, RpcError> {
    check(&setup).map_err(problem)?;
    let token = Token::new().map_err(no_random)?;
    let hash = token.hash();
    let name = setup.name.clone();
    let added = host.store().try_write(move |tx| {
        refuse_taken(tx, &setup.name)?;
        let source = sources::ensure(tx, SENDER_KIND, &setup.name, now(), new_source_id())?;
        let mut row = SenderRow {
            source,
            name: setup.name.clone(),
            token_hash: hash,
            initials: initials(&setup.name),
            colour: colour(&setup.name).to_owned(),
            max_open: MAX_OPEN,
            per_minute: PER_MINUTE,
            may_edit: false,
            own_choices: false,
            callback_url: None,
            signing_key: None,
            created_at: now(),
            token_at: now(),
            last_seen_at: None,
            revoked_at: None,
        };
        change(&mut row, &setup);
        senders::put(tx, &row).map_err(Refusal::Storage)
    });
    added.await.map_err(RpcError::from)?;
    with_token(host, &name, token).await
}

/// Changes what a sender may and how it looks; its name and its token stay.
pub(crate) async fn update(host: &Host, setup: SenderSetup) -> Result<SenderItem, RpcError> {
    check(&setup).map_err(problem)?;
    let name = setup.name.clone();
    let updated = host.store().try_write(move |tx| {
        let mut row = active(tx, &setup.name)?;
        change(&mut row, &setup);
        senders::put(tx, &row).map_err(Refusal::Storage)
    });
    updated.await.map_err(RpcError::from)?;
    host.announce(Topic::Senders, None);
    item(host, &name).await
}

/// Gives a sender a new token; the old one opens nothing from then on.
pub(crate) async fn rotate(host: &Host, params: SenderName) -> Result<SenderToken, RpcError> {
    let token = Token::new().map_err(no_random)?;
    let hash = token.hash();
    let name = params.name.clone();
    let rotated = host.store().try_write(move |tx| {
        let mut row = active(tx, &params.name)?;
        row.token_hash = hash;
        row.token_at = now();
        senders::put(tx, &row).map_err(Refusal::Storage)?;
        Ok::<_, Refusal>(row.source)
    });
    let source = rotated.await.map_err(RpcError::from)?;
    host.senders().wake_source(source);
    with_token(host, &name, token).await
}

/// Takes a sender's right to ask: its open requests settle as cancelled, and what it did not fetch stays here.
pub(crate) async fn revoke(host: &Host, params: SenderName) -> Result<SenderItem, RpcError> {
    let (at_work, name) = (host.clone(), params.name.clone());
    let revoked = host.finish(async move { revoke_now(&at_work, params.name).await });
    revoked.await.map_err(storage)??;
    item(host, &name).await
}

async fn revoke_now(host: &Host, name: String) -> Result<(), RpcError> {
    const REVOKED: Cause = Cause::Revoked;
    let inbox = host.inbox().clone();
    let revoked = host.store().try_write(move |tx| {
        let mut row = active(tx, &name)?;
        let source = row.source;
        let key = row.signing_key.take();
        row.callback_url = None;
        senders::put(tx, &row)?;
        senders::revoke(tx, source, now())?;
        let mut cancelled = Vec::new();
        for key in requests::open_of_source(tx, source)? {
            if inbox.cancel_in(tx, key, REVOKED, DecidedBy::Person)? {
                cancelled.push(key);
            }
        }
        for key in deliveries::waiting_of_source(tx, source)? {
            inbox.undeliverable_in(tx, key, "Its sender was revoked.")?;
        }
        Ok::<_, Refusal>((source, cancelled, key))
    });
    let (source, cancelled, key) = revoked.await.map_err(RpcError::from)?;
    host.inbox().announce_settled(&cancelled, Outcome::Cancelled(REVOKED));
    host.senders().wake_source(source);
    host.announce(Topic::Senders, None);
    if let Some(unused) = key.as_deref().and_then(SigningKey::from_text) {
        webhooks::forget_secret(host, unused).await;
    }
    Ok(())
}

/// Why a change was refused within its transaction.
pub(super) enum Refusal {
    Storage(StoreError),
    Told(RpcError),
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self::Storage(error)
    }
}

impl From<Refusal> for RpcError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Storage(error) => storage(error),
            Refusal::Told(error) => error,
        }
    }
}

/// Two that a person could take for one another do not both ask.
fn refuse_taken(conn: &Conn, name: &str) -> Result<(), Refusal> {
    let told = |message: String| Err(Refusal::Told(problem(message)));
    if is_anothers(conn, SENDER_KIND, name)? {
        return told(format!(
            "{name} is the name of something else that asks. Nothing was changed. Choose another name."
        ));
    }
    let known = senders::list(conn)?;
    let same = known.iter().find(|known| known.row.name == name);
    let same = same.or_else(|| known.iter().find(|known| look_alike(&known.row.name, name)));
    match same.map(|known| &known.row) {
        None => Ok(()),
        Some(row) if row.name == name && row.revoked_at.is_some() => Ok(()),
        Some(row) if row.name != name => told(format!(
            "There is a sender called {}, and the two names look alike. Nothing was changed. Choose another name.",
            row.name
        )),
        Some(row) => told(format!(
            "There is a sender called {} already. Nothing was changed. Choose another name, or rotate its token.",
            row.name
        )),
    }
}

pub(super) fn active(conn: &Conn, name: &str) -> Result<SenderRow, Refusal> {
    match senders::by_name(conn, name)? {
        None => Err(Refusal::Told(no_sender(name))),
        Some(row) if row.revoked_at.is_some() => Err(Refusal::Told(problem(format!(
            "{name} was revoked. Nothing was changed. Add it again to let it ask."
        )))),
        Some(row) => Ok(row),
    }
}

fn change(row: &mut SenderRow, setup: &SenderSetup) {
    let SenderSetup { name: _, initials, colour, max_open, per_minute, may_edit, own_choices } =
        setup.clone();
    if let Some(initials) = initials {
        row.initials = initials;
    }
    if let Some(colour) = colour {
        row.colour = colour;
    }
    row.max_open = max_open.unwrap_or(row.max_open);
    row.per_minute = per_minute.unwrap_or(row.per_minute);
    row.may_edit = may_edit.unwrap_or(row.may_edit);
    row.own_choices = own_choices.unwrap_or(row.own_choices);
}

fn check(setup: &SenderSetup) -> Result<(), String> {
    let is_plain = |text: &str, most: usize| {
        (1..=most).contains(&text.chars().count())
            && text.trim() == text
            && !text.chars().any(|c| c.is_control() || is_hidden(c))
    };
    if !is_plain(&setup.name, LONGEST_NAME) {
        return Err(format!(
            "A sender's name must be 1 to {LONGEST_NAME} characters, with no line breaks or invisible characters and no space around it."
        ));
    }
    if setup.initials.as_deref().is_some_and(|initials| !is_plain(initials, 2)) {
        return Err("A sender's initials must be one or two letters.".to_owned());
    }
    if let Some(colour) = setup.colour.as_deref().filter(|colour| !COLOURS.contains(colour)) {
        return Err(format!("There is no colour `{colour}`; the colours are {}.", COLOURS.join(", ")));
    }
    for (limit, name) in [(setup.max_open, "max_open"), (setup.per_minute, "per_minute")] {
        if limit.is_some_and(|limit| !(1..=HIGHEST_LIMIT).contains(&limit)) {
            return Err(format!("`{name}` must be from 1 to {HIGHEST_LIMIT}."));
        }
    }
    Ok(())
}

/// The first letters of its first two words.
fn initials(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric()).filter_map(|word| word.chars().next());
    let letters: String = words.take(2).flat_map(char::to_uppercase).take(2).collect();
    if letters.is_empty() { name.chars().take(1).collect() } else { letters }
}

fn colour(name: &str) -> &'static str {
    let sum: usize = name.bytes().map(usize::from).sum();
    COLOURS[sum % COLOURS.len()]
}

async fn with_token(host: &Host, name: &str, token: Token) -> Result<SenderToken, RpcError> {
    host.announce(Topic::Senders, None);
    Ok(SenderToken { sender: item(host, name).await?, token: token.reveal() })
}

pub(super) async fn item(host: &Host, name: &str) -> Result<SenderItem, RpcError> {
    let found = list(host).await?.into_iter().find(|item| item.name == name);
    found.ok_or_else(|| no_sender(name))
}

pub(super) fn problem(message: String) -> RpcError {
    RpcError::new(code::SENDER_PROBLEM, message)
}

fn no_sender(name: &str) -> RpcError {
    RpcError::new(
        code::NOT_FOUND,
        format!("There is no sender called {name}. `sayso sender list` shows all of them."),
    )
}

fn no_random(error: getrandom::Error) -> RpcError {
    tracing::error!(%error, "no random numbers");
    RpcError::new(
        code::STORAGE,
        "The system gave no random numbers for a token. Nothing was changed. Try again.",
    )
}
