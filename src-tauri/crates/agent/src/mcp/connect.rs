//! How a session with a server begins and ends.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use sayso_domain::text::cut;
use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::task::JoinSet;
use uuid::Uuid;

use super::config::{McpEntry, check_address};
use super::elicitation::Current;
use super::expand::{Expand, Hidden};
use super::handler::Handler;
use super::{McpServer, McpSetup};
use crate::cut::HeadTail;
use crate::folder::expand_home;
use crate::process::{ServerCommand, ServerProcess, ServerStreams};

/// The longest line of a server that is read; one that is longer is left out.
const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// How long a server may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// So much of what a server wrote to its error output is kept, to say why it failed.
const KEPT_ERRORS: usize = 2000;

/// A session with a server.
pub(super) struct Session {
    pub(super) service: RunningService<RoleClient, Handler>,
    pub(super) hidden: Hidden,
    pub(super) current: Current,
    /// Whether a call is at work, or was given up before it ended: what the server asks then may be of that call, so the
    /// session serves no other.
    pub(super) is_spoilt: bool,
    process: Option<Started>,
}

/// A server's process, and whoever reads what it writes to its error output.
struct Started {
    process: ServerProcess,
    errors: Arc<Mutex<HeadTail>>,
    reader: JoinSet<()>,
}

/// An entry with its references followed: full of secrets, and so without `Debug`.
enum Target {
    Stdio { program: String, args: Vec<String>, env: Vec<(String, String)>, folder: PathBuf },
    Http { url: String, headers: Vec<(HeaderName, HeaderValue)> },
}

impl Session {
    /// Begins a session. An error says why not, without secrets.
    pub(super) async fn begin(server: &McpServer, setup: &McpSetup) -> Result<Self, String> {
        let (target, hidden) = Target::of(server.entry(), setup)?;
        let newest = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        };
        match Self::connect(&target, setup, &hidden, newest).await {
            Ok(session) => Ok(session),
            // Some servers of the older generation end on the newer one's first word.
            Err(Failed { is_final: false, .. }) => {
                let older = Self::connect(&target, setup, &hidden, ClientLifecycleMode::Initialize).await;
                older.map_err(|failed| failed.reason)
            }
            Err(failed) => Err(failed.reason),
        }
    }

    async fn connect(
        target: &Target,
        setup: &McpSetup,
        hidden: &Hidden,
        lifecycle: ClientLifecycleMode,
    ) -> Result<Self, Failed> {
        let current = Current::default();
        let handler = Handler { elicitation: setup.elicitation, current: current.clone() };
        let (service, process) = match target {
            Target::Stdio { program, args, env, folder } => {
                let mark = format!("{}mcp-{}", setup.mark, Uuid::now_v7().simple());
                let command = ServerCommand { program, args, env, folder, mark: &mark };
                let (process, streams) = command.spawn().map_err(|error| {
                    Failed::finally(hidden, &format!("its program could not be started ({error})."))
                })?;
                let ServerStreams { input, output, errors } = streams;
                let started = Started::new(process, errors);
                let transport = AsyncRwTransport::new(output, input).with_max_line_length(LONGEST_LINE);
                let begun = serve_client_with_lifecycle(handler, transport, lifecycle);
                match tokio::time::timeout(setup.limits.connect_program, begun).await {
                    Ok(Ok(service)) => (service, Some(started)),
                    Ok(Err(error)) => return Err(started.failed(hidden, Some(&error)).await),
                    Err(_) => return Err(started.failed(hidden, None).await),
                }
            }
            Target::Http { url, headers } => {
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(headers.iter().cloned().collect());
                // Redirects are not followed: no other host shall get the headers.
                let client = reqwest::Client::builder()
                    .redirect(reqwest::redirect::Policy::none())
                    .pool_max_idle_per_host(0)
                    .connect_timeout(setup.limits.connect_address)
                    .build()
                    .map_err(|error| Failed::finally(hidden, &error.to_string()))?;
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let begun = serve_client_with_lifecycle(handler, transport, lifecycle);
                match tokio::time::timeout(setup.limits.connect_address, begun).await {
                    Ok(Ok(service)) => (service, None),
                    Ok(Err(error)) => {
                        let reason = format!("it could not be reached: {}.", words(&error));
                        return Err(Failed { reason: shown(hidden, &reason), is_final: false });
                    }
                    Err(_) => {
                        return Err(Failed::finally(
                            hidden,
                            "it did not answer in time. Is its address right?",
                        ));
                    }
                }
            }
        };
        Ok(Self { service, hidden: hidden.clone(), current, is_spoilt: false, process })
    }

    /// Whether another call may be made in it.
    pub(super) fn is_fit(&self) -> bool {
        !self.is_spoilt && !self.is_over()
    }

    pub(super) fn is_over(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Says goodbye, and ends the program and all that it started.
    pub(super) async fn end(self) {
        let Self { mut service, process, .. } = self;
        let _ = service.close_with_timeout(GOODBYE).await;
        if let Some(started) = process {
            started.process.end().await;
        }
    }

    /// What the program wrote to its error output last, to say why it failed; empty where there is nothing.
    pub(super) fn last_words(&self) -> String {
        self.process.as_ref().map(|started| started.said(&self.hidden)).unwrap_or_default()
    }
}

impl Started {
    fn new(process: ServerProcess, from: ChildStderr) -> Self {
        let errors = Arc::new(Mutex::new(HeadTail::new(KEPT_ERRORS)));
        let mut reader = JoinSet::new();
        reader.spawn(keep(from, Arc::clone(&errors)));
        Self { process, errors, reader }
    }

    async fn failed(mut self, hidden: &Hidden, error: Option<&ClientInitializeError>) -> Failed {
        self.process.end().await;
        // What it said is all there once its end of the pipe is closed.
        let _ = tokio::time::timeout(GOODBYE, self.reader.join_next()).await;
        let errors = std::mem::replace(&mut self.errors, Arc::new(Mutex::new(HeadTail::new(0))));
        let said = said(&errors, hidden);
        let reason = match error {
            Some(error) => format!("it did not begin a session: {}.{said}", words(error)),
            None => format!("it did not answer in time.{said}"),
        };
        Failed { reason: shown(hidden, &reason), is_final: error.is_none() }
    }

    fn said(&self, hidden: &Hidden) -> String {
        said(&self.errors, hidden)
    }
}

fn said(errors: &Mutex<HeadTail>, hidden: &Hidden) -> String {
    let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
    let text = std::mem::replace(&mut *errors, HeadTail::new(KEPT_ERRORS)).into_text();
    match text.trim() {
        "" => String::new(),
        text => format!(" It said: {}", hidden.in_words(text)),
    }
}

async fn keep(mut from: ChildStderr, errors: Arc<Mutex<HeadTail>>) {
    let mut buffer = vec![0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        errors.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..count]);
    }
}

struct Failed {
    reason: String,
    /// Whether trying in another way is of no use.
    is_final: bool,
}

impl Failed {
    fn finally(hidden: &Hidden, reason: &str) -> Self {
        Self { reason: shown(hidden, reason), is_final: true }
    }
}

/// What went wrong, without the names of types that a transport's own words begin with.
fn words(error: &ClientInitializeError) -> String {
    if let ClientInitializeError::LegacyFallbackFailed { fallback, .. } = error {
        return words(fallback);
    }
    let mut source: Option<&dyn std::error::Error> =
        if let ClientInitializeError::TransportError { error, .. } = error {
            Some(&*error.error)
        } else {
            Some(error)
        };
    let mut words = String::new();
    while let Some(inner) = source {
        let text = inner.to_string();
        if !words.contains(&text) {
            words = if words.is_empty() { text } else { format!("{words}: {text}") };
        }
        source = inner.source();
    }
    words.trim_end_matches('.').to_owned()
}

pub(super) fn shown(hidden: &Hidden, text: &str) -> String {
    cut(&hidden.in_words(text), 1000)
}

impl Target {
    fn of(entry: &McpEntry, setup: &McpSetup) -> Result<(Self, Hidden), String> {
        let mut expand = Expand { variable: &*setup.variable, hidden: Hidden::default() };
        let target = Self::expanded(entry, setup, &mut expand)?;
        Ok((target, expand.hidden))
    }

    fn expanded(entry: &McpEntry, setup: &McpSetup, expand: &mut Expand<'_>) -> Result<Self, String> {
        match entry {
            McpEntry::Stdio { command, args, env, cwd } => {
                let folder = match cwd {
                    Some(cwd) => expand_home(&expand.text(cwd)?),
                    None => setup.folder.clone().unwrap_or_else(|| PathBuf::from("/")),
                };
                let folder = match &setup.folder {
                    Some(own) => own.join(folder),
                    None => folder,
                };
                if !folder.is_dir() {
                    return Err("the folder that it would run in is not there.".to_owned());
                }
                Ok(Self::Stdio {
                    program: program(&expand.text(command)?, &folder),
                    args: args.iter().map(|arg| expand.text(arg)).collect::<Result<_, _>>()?,
                    env: expand.pairs(env)?,
                    folder,
                })
            }
            McpEntry::Http { url, headers } => {
                let url = expand.text(url)?;
                expand.hidden.add_address(&check_address(&url)?, &url);
                Ok(Self::Http { url, headers: parsed(&expand.pairs(headers)?)? })
            }
        }
    }
}

/// A path leads from the folder that the program runs in; a bare name is looked for in `PATH`.
fn program(command: &str, folder: &Path) -> String {
    let path = expand_home(command);
    match path.components().count() {
        0 | 1 => command.to_owned(),
        _ => folder.join(path).to_string_lossy().into_owned(),
    }
}

fn parsed(headers: &[(String, String)]) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    headers
        .iter()
        .map(|(name, value)| {
            let wrong = || format!("the header `{name}` cannot be sent: its name or value has characters that are not allowed.");
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
            value.set_sensitive(true);
            Ok((header, value))
        })
        .collect()
}
