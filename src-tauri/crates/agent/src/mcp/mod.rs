//! MCP servers as sources of tools, over a program's input and output or over streamable HTTP, in both generations of the
//! protocol.

mod config;
mod connect;
mod elicitation;
mod expand;
mod handler;
mod name;
mod result;
mod server;
mod tool;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use config::{McpConfig, McpServer};
pub use handler::Elicitation;

use crate::{Tool, ToolSetup, Toolkit};
use server::Server;
use tool::{Absent, McpTool};

/// Looks up an environment variable.
pub type Variable = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What sessions with servers need to know.
#[derive(Clone)]
pub struct McpSetup {
    /// Where programs run whose entry names no place: the agent's folder.
    pub folder: Option<PathBuf>,
    /// What the mark of every process begins with; see [`Engine::mark`](crate::Engine::mark).
    pub mark: String,
    /// Whether servers may ask a person.
    pub elicitation: Elicitation,
    /// Looks up an environment variable that an entry refers to.
    pub variable: Variable,
    /// How long things may take, and how much they may give.
    pub limits: McpLimits,
    /// Servers that are not to be connected, by name, and why not, for their reports. Their tools' names stay theirs: no
    /// other server's tool gets one.
    pub refused: BTreeMap<String, String>,
}

/// How long things may take, and how much they may give.
#[derive(Clone, Copy, Debug)]
pub struct McpLimits {
    /// Until a program has begun its session. It may have to be fetched first.
    pub connect_program: Duration,
    /// Until a session with an address has begun.
    pub connect_address: Duration,
    /// For one call; it stands still while the server waits for a person (contract 33).
    pub call: Duration,
    /// The most that one call gives back to the model, in bytes; what is cut is marked.
    pub output: usize,
}

impl Default for McpLimits {
    fn default() -> Self {
        Self {
            connect_program: Duration::from_secs(60),
            connect_address: Duration::from_secs(30),
            call: Duration::from_secs(120),
            output: 64 * 1024,
        }
    }
}

impl Default for McpSetup {
    fn default() -> Self {
        Self {
            folder: None,
            mark: String::new(),
            elicitation: Elicitation::default(),
            variable: Arc::new(|name| std::env::var(name).ok()),
            limits: McpLimits::default(),
            refused: BTreeMap::new(),
        }
    }
}

impl fmt::Debug for McpSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpSetup").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// Servers that were connected. Their sessions end with [`McpServers::close`], or when the last tool of them is dropped.
pub struct McpServers {
    servers: Vec<Arc<Server>>,
    tools: Vec<Arc<dyn Tool>>,
    reports: Vec<McpReport>,
    config: McpConfig,
}

/// What came of connecting a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpReport {
    /// Its name.
    pub server: String,
    /// How many tools it has.
    pub tools: usize,
    /// Why it cannot be used, or what of it cannot; none if all is well. It holds no secret.
    pub problem: Option<String>,
}

impl McpServers {
    /// Connects all servers of a set-up that are neither switched off nor refused, side by side. One that fails is reported,
    /// like one that is refused, and the others work.
    pub async fn connect(config: &McpConfig, setup: &McpSetup) -> Self {
        let prefixes: Vec<_> = config.servers().iter().map(|server| server.prefix().to_owned()).collect();
        let standard = Toolkit::standard(&ToolSetup::default());
        let taken: BTreeSet<_> = standard.specs().map(|spec| spec.name.clone()).collect();
        let connecting = config.servers().iter().filter(|server| !server.is_disabled()).map(|config| {
            let server = Arc::new(Server::new(config.clone(), setup.clone()));
            let (prefixes, taken) = (&prefixes, &taken);
            async move {
                let listed = match setup.refused.get(config.name()) {
                    Some(why) => Err(why.clone()),
                    None => server.tools(prefixes, taken).await,
                };
                (server, listed)
            }
        });
        let mut connected =
            Self { servers: Vec::new(), tools: Vec::new(), reports: Vec::new(), config: config.clone() };
        for (server, listed) in futures_util::future::join_all(connecting).await {
            let name = server.config.name().to_owned();
            match listed {
                Ok((tools, problem)) => {
                    connected.reports.push(McpReport { server: name, tools: tools.len(), problem });
                    let tools = tools.into_iter().map(|tool| McpTool::new(Arc::clone(&server), tool));
                    connected.tools.extend(tools.map(|tool| Arc::new(tool) as Arc<dyn Tool>));
                    connected.servers.push(server);
                }
                Err(reason) => {
                    tracing::warn!(server = name, "an MCP server cannot be used");
                    connected.reports.push(McpReport { server: name, tools: 0, problem: Some(reason) });
                }
            }
        }
        connected
    }

    /// What came of each server.
    pub fn reports(&self) -> &[McpReport] {
        &self.reports
    }

    /// A toolkit with the servers' tools too. They replace none.
    #[must_use]
    pub fn add_to(&self, toolkit: Toolkit) -> Toolkit {
        self.tools.iter().fold(toolkit, |toolkit, tool| match toolkit.get(&tool.spec().name) {
            Some(_) => toolkit,
            None => toolkit.with_shared(Arc::clone(tool)),
        })
    }

    /// For a call that was begun with a server that is not there now: a tool that says why it cannot run.
    pub fn absent(&self, tool: &str) -> Option<Arc<dyn Tool>> {
        let server = self.config.server_of(tool)?;
        let report = self.reports.iter().find(|report| report.server == server.name());
        let reason = match report {
            Some(McpReport { problem: Some(reason), .. }) => reason.clone(),
            Some(McpReport { problem: None, .. }) => "it no longer has this tool.".to_owned(),
            None => "it is switched off.".to_owned(),
        };
        Some(Arc::new(Absent { name: tool.to_owned(), server: server.name().to_owned(), reason }))
    }

    /// Ends all sessions, and the programs that were started for them.
    pub async fn close(&self) {
        futures_util::future::join_all(self.servers.iter().map(|server| server.close())).await;
    }
}

impl fmt::Debug for McpServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.reports).finish()
    }
}
