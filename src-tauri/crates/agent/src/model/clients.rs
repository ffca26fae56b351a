use std::error::Error as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{ModelError, ModelOptions};

/// What makes two clients different.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kind {
    connect_timeout: Duration,
    timeout: Duration,
    to_this_machine: bool,
}

/// A client reads the system's certificates when it is made, which takes longer than many a call; and a run that resumes
/// finds its connection still open. A process uses one or two.
static CLIENTS: Mutex<Vec<(Kind, reqwest::Client)>> = Mutex::new(Vec::new());
const MOST: usize = 8;

pub(super) fn get(options: &ModelOptions, to_this_machine: bool) -> Result<reqwest::Client, ModelError> {
    let ModelOptions { connect_timeout, timeout, .. } = *options;
    let kind = Kind { connect_timeout, timeout, to_this_machine };
    let mut clients = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, client)) = clients.iter().find(|(other, _)| *other == kind) {
        return Ok(client.clone());
    }
    let client = build(kind)?;
    if clients.len() == MOST {
        clients.remove(0);
    }
    clients.push((kind, client.clone()));
    Ok(client)
}

fn build(kind: Kind) -> Result<reqwest::Client, ModelError> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(kind.connect_timeout)
        .timeout(kind.timeout)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("sayso/", env!("CARGO_PKG_VERSION")));
    // A proxy of the environment is for the way out, not for a model on this machine.
    if kind.to_this_machine {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| {
        ModelError::NoClient(error.source().map_or_else(|| error.to_string(), ToString::to_string))
    })
}
