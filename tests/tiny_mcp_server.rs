//! The MCP server of the end-to-end tests; see `sayso_tests::mcp_server`.

use sayso_tests::mcp_server::McpServer;

fn main() {
    let like = std::env::var("MCP_LIKE").unwrap_or_default();
    McpServer::new(std::io::stdin().lock(), std::io::stdout(), &like).serve();
}
