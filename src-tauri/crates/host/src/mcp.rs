//! Sessions with the MCP servers of runs. They are begun when a run first needs them, kept while it is at work and a little
//! longer while it waits, and ended when it ends. A run that waits for long, or is one of many, holds none.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sayso_agent::{Elicitation, McpReport, McpServers, McpSetup};
use sayso_domain::RunId;
use sayso_store::runs::RunRow;

use crate::agent_config::AgentConfig;
use crate::host::Host;
use crate::trust;

/// How long the sessions of a run that waits are kept.
const IDLE: Duration = Duration::from_secs(5 * 60);
/// So many runs that wait keep their sessions: those that began to wait last.
const MOST_IDLE: usize = 8;
/// How often idle sessions are looked at.
const LOOK: Duration = Duration::from_secs(20);
/// Of so many runs it is known which servers failed.
const REMEMBERED: usize = 500;

/// The sessions of this process.
#[derive(Clone, Default)]
pub(crate) struct McpPool(Arc<Mutex<Pool>>);

#[derive(Default)]
struct Pool {
    sessions: HashMap<RunId, Kept>,
    reports: HashMap<RunId, Vec<McpReport>>,
}

struct Kept {
    servers: Arc<McpServers>,
    /// Since when nothing is at work with it; none while something is.
    idle: Option<Instant>,
}

/// The servers of a run that is at work. It is given back when this is dropped.
pub(crate) struct Lease {
    pool: McpPool,
    host: Host,
    run: RunId,
    servers: Arc<McpServers>,
}

impl Lease {
    pub(crate) fn servers(&self) -> &McpServers {
        &self.servers
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(kept) = self.pool.lock().sessions.get_mut(&self.run) {
            kept.idle = Some(Instant::now());
        }
        self.pool.close_idle(&self.host, IDLE);
    }
}

impl McpPool {
    /// The servers of a run, connected; none if its set-up names none. If this is dropped, what was begun ends.
    pub(crate) async fn lease(&self, host: &Host, row: &RunRow, config: &AgentConfig) -> Option<Lease> {
        if config.mcp.servers().is_empty() {
            return None;
        }
        let run = row.id;
        let lease = |servers| Lease { pool: self.clone(), host: host.clone(), run, servers };
        if let Some(kept) = self.lock().sessions.get_mut(&run) {
            kept.idle = None;
            return Some(lease(Arc::clone(&kept.servers)));
        }
        let setup = McpSetup {
            folder: config.folder.clone(),
            mark: format!("{}{run}-", host.mark()),
            elicitation: Elicitation::Offered,
            ..McpSetup::default()
        };
        let (servers, reports) = connect(host, &row.agent, config, setup).await;
        let mut pool = self.lock();
        if pool.reports.len() >= REMEMBERED {
            pool.reports.clear();
        }
        pool.reports.insert(run, reports);
        let servers = Arc::new(servers);
        pool.sessions.insert(run, Kept { servers: Arc::clone(&servers), idle: None });
        drop(pool);
        host.announce_run(run);
        Some(lease(servers))
    }

    /// What came of connecting a run's servers; empty if that is not known.
    pub(crate) fn reports(&self, run: RunId) -> Vec<McpReport> {
        self.lock().reports.get(&run).cloned().unwrap_or_default()
    }

    /// The run is over.
    pub(crate) async fn close(&self, run: RunId) {
        let kept = self.lock().sessions.remove(&run);
        if let Some(kept) = kept {
            kept.servers.close().await;
        }
    }

    /// The host ends.
    pub(crate) async fn close_all(&self) {
        let sessions: Vec<_> = self.lock().sessions.drain().map(|(_, kept)| kept.servers).collect();
        futures_util::future::join_all(sessions.iter().map(|servers| servers.close())).await;
    }

    /// Ends sessions that were idle for too long, and the oldest of too many.
    fn close_idle(&self, host: &Host, limit: Duration) {
        let mut pool = self.lock();
        let idle = pool.sessions.iter().filter_map(|(run, kept)| Some((kept.idle?, *run)));
        let mut idle: Vec<_> = idle.collect();
        idle.sort_unstable();
        let spare = idle.len().saturating_sub(MOST_IDLE);
        let over: Vec<_> = idle
            .into_iter()
            .enumerate()
            .filter(|(place, (since, _))| *place < spare || since.elapsed() >= limit)
            .filter_map(|(_, (_, run))| pool.sessions.remove(&run))
            .collect();
        drop(pool);
        for kept in over {
            host.spawn(async move { kept.servers.close().await });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends what is idle, for as long as the host runs.
pub(crate) async fn run(host: Host) {
    loop {
        tokio::select! {
            () = host.stop_token().cancelled() => return,
            () = tokio::time::sleep(LOOK) => host.mcp().close_idle(&host, IDLE),
        }
    }
}

/// Connects what may be started; what may not is reported like what failed.
pub(crate) async fn connect(
    host: &Host,
    agent: &str,
    config: &AgentConfig,
    setup: McpSetup,
) -> (McpServers, Vec<McpReport>) {
    let refused = trust::refused(host, agent, config).await.into_iter();
    let refused = refused.map(|(server, command)| {
        (server, format!("you have not allowed the command that it would start: {command}."))
    });
    let servers = McpServers::connect(&config.mcp, &McpSetup { refused: refused.collect(), ..setup }).await;
    let reports = servers.reports().to_vec();
    (servers, reports)
}
