//! The agents that a person set up. Keys are not in here: a setup names where its key is.

use rusqlite::{Row, params};
use sayso_domain::{SourceId, Time};

use crate::{Conn, StoreError, Tx, column};

pub(crate) const SCHEMA: &str = "
CREATE TABLE agents (
    name       TEXT PRIMARY KEY CHECK (name <> ''),
    source     TEXT NOT NULL REFERENCES sources (id),
    config     TEXT NOT NULL CHECK (json_valid(config)),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
";

/// An agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentRow {
    /// Its name.
    pub name: String,
    /// What it asks as.
    pub source: SourceId,
    /// Its setup: JSON text.
    pub config: String,
    /// When it was added; kept when it is put again.
    pub created_at: Time,
    /// When it was last put.
    pub updated_at: Time,
}

/// Adds an agent, or replaces the one of that name.
pub fn put(tx: &Tx<'_>, agent: &AgentRow) -> Result<(), StoreError> {
    column::check_json(&agent.config, "an agent's setup")?;
    tx.run(
        "INSERT INTO agents (name, source, config, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (name) DO UPDATE
         SET source = excluded.source, config = excluded.config, updated_at = excluded.updated_at",
        params![
            agent.name,
            agent.source.to_string(),
            agent.config,
            agent.created_at.as_millis(),
            agent.updated_at.as_millis()
        ],
    )?;
    Ok(())
}

/// An agent by its name.
pub fn get(conn: &Conn, name: &str) -> Result<Option<AgentRow>, StoreError> {
    conn.row("SELECT * FROM agents WHERE name = ?1", [name], of_row)
}

/// All agents, by name.
pub fn list(conn: &Conn) -> Result<Vec<AgentRow>, StoreError> {
    conn.rows("SELECT * FROM agents ORDER BY name", [], of_row)
}

/// Removes an agent; whether it was there. What it did stays.
pub fn remove(tx: &Tx<'_>, name: &str) -> Result<bool, StoreError> {
    tx.run_one("DELETE FROM agents WHERE name = ?1", [name])
}

fn of_row(row: &Row<'_>) -> Result<AgentRow, StoreError> {
    Ok(AgentRow {
        name: row.get("name")?,
        source: column::parsed(row, "source")?,
        config: row.get("config")?,
        created_at: column::time(row, "created_at")?,
        updated_at: column::time(row, "updated_at")?,
    })
}
