//! The doors: a Unix socket for the owner's own clients, and a loopback port for the owner's browser.
//!
//! Both speak HTTP. `POST /rpc` takes `{"command","params"}` and gives `{"result"}`, or `{"error":{"code","message"}}`
//! with a status that fits. `GET /events` streams [`sayso_host::dto::UiEvent`]s as server-sent events. What differs is
//! who may come in:
//!
//! - The socket lets in processes of the same user, by the credentials that the kernel gives. Their surface is
//!   [`sayso_host::Surface::Cli`]. `POST /link` makes a one-time link for a browser.
//! - The loopback port lets in whoever shows a bearer token: the owner's (surface `Cli`), or a browser session's
//!   (surface `Browser`). `POST /session` exchanges a one-time code for a session's token. `Host` and `Origin` are
//!   checked on every request, so that no page of another site gets through, also by DNS rebinding.

mod access;
mod asker;
mod body;
mod caller;
mod client;
mod connection;
mod door;
mod error;
mod events;
mod folder;
mod gateway;
mod guard;
mod mcp;
mod page;
mod peer;
mod problem;
mod routes;
mod secret;
mod segment;
mod v1;
mod waits;

pub use asker::{AskError, Asker, Contact, Place, PlaceError, Posted, Refusal, SenderToken, TokenError};
pub use client::{Client, ClientError, Events};
pub use error::GatewayError;
pub use gateway::{Gateway, GatewayOptions};
pub use mcp::{McpError, McpServer};
