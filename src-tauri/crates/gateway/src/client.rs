use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use sayso_host::RpcError;
use sayso_host::dto::UiEvent;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::task::JoinSet;

use crate::door::is_same_user;
use crate::folder::{self, Reachable};

/// How long a host may take to answer a call; testing an agent waits for its model.
const SLOWEST: Duration = Duration::from_secs(120);
/// The largest answer that is taken.
const LARGEST: usize = 256 * 1024 * 1024;
/// The longest line of a stream of events.
const LONGEST_EVENT: usize = 64 * 1024;

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No host runs for the data folder.
    #[error(
        "Sayso does not run with the data folder {}. Nothing was changed. Start it with `sayso serve` or the desktop app, \
         or name another folder with --data-dir.",
        .0.display()
    )]
    NoHost(PathBuf),
    /// The host refused.
    #[error(transparent)]
    Refused(RpcError),
    /// The host cannot be talked to.
    #[error("Sayso's socket {} cannot be used: {error}. Check that it is yours, or start Sayso again.", path.display())]
    Io {
        /// The socket.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The host ended during a call, or said something that cannot be read.
    #[error(
        "Sayso stopped answering in the middle: {0}. What it had confirmed is kept. Look with `sayso list` and `sayso \
         history` before you try again."
    )]
    Broken(String),
}

/// The owner's way in: calls a host through its Unix socket.
#[derive(Clone, Debug)]
pub struct Client {
    data_dir: PathBuf,
}

impl Client {
    /// Finds the host of a data folder.
    ///
    /// # Errors
    /// [`ClientError::NoHost`] when none runs, [`ClientError::Io`] when its socket is not ours to use.
    pub async fn connect(data_dir: &Path) -> Result<Self, ClientError> {
        let client = Self { data_dir: data_dir.to_owned() };
        client.dial().await?;
        Ok(client)
    }

    /// Calls a command of the host.
    ///
    /// # Errors
    /// What the host refuses, or [`ClientError::Broken`] when it ends meanwhile: then the command may have been done.
    pub async fn call(&self, command: &str, params: Value) -> Result<Value, ClientError> {
        let mut answer = self.post("/rpc", &json!({ "command": command, "params": params })).await?;
        Ok(answer["result"].take())
    }

    /// A link that signs a browser in: it works once, within 60 seconds.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn link(&self) -> Result<String, ClientError> {
        let answer = self.post("/link", &json!({})).await?;
        let url = answer["url"].as_str().map(str::to_owned);
        url.ok_or_else(|| ClientError::Broken("it gave no link".to_owned()))
    }

    /// What changes from now on.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub async fn events(&self) -> Result<Events, ClientError> {
        let request = Request::get("/events").header(header::HOST, "sayso").body(Body::empty());
        let mut tasks = JoinSet::new();
        let response =
            tokio::time::timeout(SLOWEST, self.send(request, &mut tasks)).await.map_err(|_| slow())??;
        if response.status() != StatusCode::OK {
            return Err(ClientError::Broken(format!("it answered {}", response.status())));
        }
        Ok(Events { body: response.into_body(), read: Vec::new(), _tasks: tasks })
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(header::HOST, "sayso")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_string()));
        tokio::time::timeout(SLOWEST, async {
            let mut tasks = JoinSet::new();
            let response = self.send(request, &mut tasks).await?;
            let status = response.status();
            let bytes =
                axum::body::to_bytes(Body::new(response.into_body()), LARGEST).await.map_err(broken)?;
            let mut answer: Value = serde_json::from_slice(&bytes).map_err(broken)?;
            if status == StatusCode::OK {
                return Ok(answer);
            }
            let error = serde_json::from_value(answer["error"].take()).map_err(broken)?;
            Err(ClientError::Refused(error))
        })
        .await
        .map_err(|_| slow())?
    }

    async fn send(
        &self,
        request: Result<Request<Body>, axum::http::Error>,
        tasks: &mut JoinSet<()>,
    ) -> Result<hyper::Response<Incoming>, ClientError> {
        let stream = self.dial().await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        tasks.spawn(async move {
            // What breaks it is told to whoever waits for the response.
            let _ = connection.await;
        });
        sender.send_request(request.map_err(broken)?).await.map_err(broken)
    }

    async fn dial(&self) -> Result<UnixStream, ClientError> {
        use io::ErrorKind::{ConnectionRefused, NotADirectory, NotFound};
        let failed = |error: io::Error| {
            if matches!(error.kind(), NotFound | ConnectionRefused | NotADirectory) {
                ClientError::NoHost(self.data_dir.clone())
            } else {
                ClientError::Io { path: folder::socket(&self.data_dir), error }
            }
        };
        let socket = Reachable::socket(&self.data_dir).map_err(failed)?;
        let stream = UnixStream::connect(socket.path()).await.map_err(failed)?;
        if !is_same_user(&stream).map_err(failed)? {
            return Err(failed(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "it belongs to another user",
            )));
        }
        Ok(stream)
    }
}

/// A host's changes, as they happen.
pub struct Events {
    body: Incoming,
    read: Vec<u8>,
    _tasks: JoinSet<()>,
}

impl Events {
    /// The next change; none once the host has ended.
    pub async fn next(&mut self) -> Option<UiEvent> {
        loop {
            while let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                let event = line.strip_prefix(b"data: ").and_then(|json| serde_json::from_slice(json).ok());
                if event.is_some() {
                    return event;
                }
            }
            if self.read.len() > LONGEST_EVENT {
                return None;
            }
            let frame = self.body.frame().await?.ok()?;
            if let Ok(bytes) = frame.into_data() {
                self.read.extend_from_slice(&bytes);
            }
        }
    }
}

fn broken(error: impl std::fmt::Display) -> ClientError {
    ClientError::Broken(error.to_string())
}

fn slow() -> ClientError {
    ClientError::Broken(format!("no answer within {} seconds", SLOWEST.as_secs()))
}
