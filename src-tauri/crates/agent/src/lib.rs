//! The agent loop as a library: models over HTTP and the tools they may call.
