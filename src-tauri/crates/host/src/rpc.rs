//! The one list of commands for every face. A command declares the surfaces that may call it; what it does is in
//! [`crate::commands`].

use sayso_domain::Surface;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::commands::{
    agents, backups, callbacks, decide, decide_many, history, inbox, jobs, keys, put_off, record, runs,
    senders, status, storage,
};
use crate::host::Host;
use crate::{RpcError, code};

/// Every command and whether the browser may call it. It may not set up agents, senders, keys or files. Who asks from
/// outside is no surface at all, so there is no command that it could call: see [`crate::senders`].
const COMMANDS: &[(&str, Browser)] = &[
    ("status", Browser::May),
    ("inbox.list", Browser::May),
    ("inbox.outline", Browser::May),
    ("inbox.show", Browser::May),
    ("inbox.items", Browser::May),
    ("inbox.decide", Browser::May),
    ("inbox.decide_many", Browser::May),
    ("inbox.snooze", Browser::May),
    ("inbox.undo", Browser::May),
    ("runs.list", Browser::May),
    ("runs.show", Browser::May),
    ("runs.live", Browser::May),
    ("runs.start", Browser::May),
    ("runs.stop", Browser::May),
    ("runs.tell", Browser::May),
    ("agents.list", Browser::May),
    ("agents.save", Browser::MayNot),
    ("agents.remove", Browser::MayNot),
    ("agents.test", Browser::MayNot),
    ("agents.trust", Browser::MayNot),
    ("demo.start", Browser::May),
    ("history.list", Browser::May),
    ("history.show", Browser::May),
    ("history.verify", Browser::May),
    ("history.verify_job", Browser::May),
    ("history.head", Browser::May),
    ("history.export", Browser::MayNot),
    ("history.redact", Browser::MayNot),
    ("jobs.list", Browser::May),
    ("jobs.show", Browser::May),
    ("jobs.cancel", Browser::MayNot),
    ("backups.list", Browser::MayNot),
    ("backups.create", Browser::MayNot),
    ("backups.restore", Browser::MayNot),
    ("storage.show", Browser::MayNot),
    ("storage.compact", Browser::MayNot),
    ("storage.prune", Browser::MayNot),
    ("senders.list", Browser::MayNot),
    ("senders.add", Browser::MayNot),
    ("senders.update", Browser::MayNot),
    ("senders.rotate", Browser::MayNot),
    ("senders.callback", Browser::MayNot),
    ("senders.resend", Browser::MayNot),
    ("senders.revoke", Browser::MayNot),
    ("keys.list", Browser::MayNot),
    ("keys.set", Browser::MayNot),
    ("keys.remove", Browser::MayNot),
    ("settings.get", Browser::May),
    ("settings.set", Browser::MayNot),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Browser {
    May,
    MayNot,
}

impl Host {
    /// Calls a command. `params` and the result are the types of [`crate::dto`], as JSON.
    /// It is carried out to its end even if whoever called goes away meanwhile.
    pub async fn call(&self, surface: Surface, command: &str, params: Value) -> Result<Value, RpcError> {
        check_surface(surface, command)?;
        let (host, command) = (self.clone(), command.to_owned());
        let carried_out = self.finish(async move {
            tokio::select! {
                done = host.carry_out(surface, &command, params) => done,
                () = host.stop_token().cancelled() => Err(ending()),
            }
        });
        carried_out.await.unwrap_or_else(|_| Err(ending()))
    }

    async fn carry_out(&self, surface: Surface, command: &str, params: Value) -> Result<Value, RpcError> {
        match command {
            "status" => answer(status::status(self).await),
            "inbox.list" => answer(inbox::list(self, read(params)?).await),
            "inbox.items" => answer(inbox::items(self, read(params)?).await),
            "inbox.outline" => answer(inbox::outline(self, read(params)?).await),
            "inbox.show" => answer(inbox::show(self, read(params)?).await),
            "inbox.decide" => answer(decide::decide(self, surface, read(params)?).await),
            "inbox.decide_many" => answer(decide_many::decide_many(self, surface, read(params)?).await),
            "inbox.snooze" => answer(put_off::snooze(self, read(params)?).await),
            "inbox.undo" => answer(put_off::undo(self, surface, read(params)?).await),
            "runs.list" => answer(runs::list(self).await),
            "runs.show" => answer(runs::show(self, read(params)?).await),
            "runs.live" => answer(runs::live(self, read(params)?).await),
            "runs.start" => answer(runs::start(self, read(params)?).await),
            "runs.stop" => answer(runs::stop(self, read(params)?).await),
            "runs.tell" => answer(runs::tell(self, read(params)?).await),
            "agents.list" => answer(agents::list(self).await),
            "agents.save" => answer(agents::save(self, read(params)?).await),
            "agents.remove" => answer(agents::remove(self, read(params)?).await),
            "agents.test" => answer(agents::test(self, read(params)?).await),
            "agents.trust" => answer(agents::trust(self, read(params)?).await),
            "demo.start" => answer(runs::start_demo(self).await),
            "history.list" => answer(history::list(self, read(params)?).await),
            "history.show" => answer(history::show(self, read(params)?).await),
            "history.verify" => answer(record::verify(self, read(params)?).await),
            "history.verify_job" => answer(record::verify_job(self, &read(params)?)),
            "history.head" => answer(record::head(self).await),
            "history.export" => answer(record::export(self, read(params)?)),
            "history.redact" => answer(record::redact(self, surface, read(params)?).await),
            "jobs.list" => answer(Ok(self.jobs().list())),
            "jobs.show" => answer(jobs::show(self, &read(params)?)),
            "jobs.cancel" => answer(jobs::cancel(self, &read(params)?)),
            "backups.list" => answer(Ok(backups::list(self))),
            "backups.create" => answer(backups::create(self, &read(params)?)),
            "backups.restore" => answer(backups::restore(self, read(params)?).await),
            "storage.show" => answer(storage::show(self).await),
            "storage.compact" => answer(Ok(storage::compact(self))),
            "storage.prune" => answer(Ok(storage::prune(self))),
            "senders.list" => answer(senders::list(self).await),
            "senders.add" => answer(senders::add(self, read(params)?).await),
            "senders.update" => answer(senders::update(self, read(params)?).await),
            "senders.callback" => answer(callbacks::set(self, read(params)?).await),
            "senders.resend" => answer(callbacks::resend(self, read(params)?).await),
            "senders.rotate" => answer(senders::rotate(self, read(params)?).await),
            "senders.revoke" => answer(senders::revoke(self, read(params)?).await),
            "keys.list" => answer(keys::list(self).await),
            "keys.set" => answer(keys::set(self, read_secretly(params)?).await),
            "keys.remove" => answer(keys::remove(self, read(params)?).await),
            "settings.get" => answer(status::settings(self).await),
            "settings.set" => answer(status::set_settings(self, read(params)?).await),
            unknown => Err(unknown_command(unknown)),
        }
    }
}

fn ending() -> RpcError {
    RpcError::new(
        code::STORAGE,
        "Sayso ends, or the command failed unexpectedly. What was done is kept. Look at it before you try again.",
    )
}

fn check_surface(surface: Surface, command: &str) -> Result<(), RpcError> {
    let (_, browser) =
        COMMANDS.iter().find(|(name, _)| *name == command).ok_or_else(|| unknown_command(command))?;
    if surface == Surface::Browser && *browser == Browser::MayNot {
        return Err(RpcError::new(
            code::FORBIDDEN_SURFACE,
            "The browser cannot change set-ups. Nothing was changed. Use the app's window or the sayso command.",
        ));
    }
    Ok(())
}

fn unknown_command(command: &str) -> RpcError {
    RpcError::new(code::UNKNOWN_COMMAND, format!("There is no command `{command}`."))
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    // Whoever has nothing to say may say nothing.
    let params = if params.is_null() { Value::Object(Map::new()) } else { params };
    serde_json::from_value(params)
        .map_err(|error| RpcError::new(code::BAD_REQUEST, format!("The parameters cannot be read: {error}.")))
}

/// As [`read`], for what holds a secret: an error repeats none of it.
fn read_secretly<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    serde_json::from_value(params)
        .map_err(|_| RpcError::new(code::BAD_REQUEST, "The parameters cannot be read. Nothing was changed."))
}

fn answer<T: Serialize>(result: Result<T, RpcError>) -> Result<Value, RpcError> {
    serde_json::to_value(result?)
        .map_err(|error| RpcError::new(code::STORAGE, format!("The answer cannot be written: {error}.")))
}
