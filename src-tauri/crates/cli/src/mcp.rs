//! `sayso mcp`: the tools that ask a person, for the MCP client that started this process. It has the rights of a sender, or
//! of this computer, and never the owner's.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;

use sayso_gateway::McpServer;
use tokio::fs::File;

use crate::ask::asker;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::signals::asked_to_end;

/// Standard output belongs to the protocol; whatever else is to be said goes to stderr.
pub(crate) async fn mcp(data_dir: Option<PathBuf>, token_file: Option<PathBuf>) -> Result<Exit, Failure> {
    let server = McpServer::new(asker(data_dir, token_file.as_deref())?);
    // From here on SIGTERM takes back what waits.
    let ending = asked_to_end();
    server.serve(stream(io::stdin())?, stream(io::stdout())?, ending).await?;
    Ok(Exit::Done)
}

/// The stream as it is, with none of the buffers that the standard library puts before it.
fn stream(standard: impl AsFd) -> io::Result<File> {
    Ok(File::from_std(std::fs::File::from(standard.as_fd().try_clone_to_owned()?)))
}
