//! The host's commands over its loopback door, as any program of the owner's may call them.

use std::path::Path;

use serde_json::{Value, json};

use crate::sayso::{Host, Sayso};
use crate::wait::SOON;

/// A caller with the owner's token.
#[derive(Clone, Debug)]
pub struct Rpc {
    http: reqwest::Client,
    url: String,
    token: String,
}

impl Rpc {
    /// To a host that runs.
    pub fn to(host: &Host, sayso: &Sayso) -> Self {
        Self::at(&host.url, sayso.data_dir())
    }

    /// To the host that owns this data folder and listens at this address.
    pub fn at(url: &str, data_dir: &Path) -> Self {
        let http = reqwest::Client::builder().no_proxy().timeout(SOON).build().expect("a client");
        let token = std::fs::read_to_string(data_dir.join("owner-token")).expect("the owner's token");
        Self { http, url: format!("{url}/rpc"), token: token.trim().to_owned() }
    }

    /// The result of a command, or the code of its error.
    pub async fn call(&self, command: &str, params: Value) -> Result<Value, String> {
        let body = json!({ "command": command, "params": params });
        let answer = self.http.post(&self.url).bearer_auth(&self.token).json(&body).send().await;
        let answer: Value = answer.expect("the host answers").json().await.expect("it answers in JSON");
        match answer["error"]["code"].as_str() {
            Some(code) => Err(code.to_owned()),
            None => Ok(answer["result"].clone()),
        }
    }

    /// The same, where an error fails the test.
    pub async fn ok(&self, command: &str, params: Value) -> Value {
        let result = self.call(command, params.clone()).await;
        result.unwrap_or_else(|code| panic!("{command} {params} was refused: {code}"))
    }

    /// `runs.show`
    pub async fn run(&self, run: &str) -> Value {
        self.ok("runs.show", json!({ "run": run })).await
    }
}
