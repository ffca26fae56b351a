//! The agent loop as a library: models over HTTP, the tools they may call, and a person in between.
//!
//! A model proposes calls; policy lets a call run, asks a person, or forbids it. A tool can also ask by itself, by
//! returning [`ToolResult::pending`](sayso_domain::ToolResult::pending): it runs once more with the answer. What is
//! decided is in [`sayso_domain::run`], which does nothing; the [`Engine`] does it and keeps nothing: a run is a value that
//! a [`Journal`] stores, so that it can wait for a person for as long as it takes and go on in another process.
//!
//! For one process and a run in memory there is the [`Client`]:
//!
//! ```no_run
//! use sayso_agent::{Client, Endpoint, NativeTool, Style, Toolkit};
//! use sayso_domain::{Answer, Kind, Request, ToolResult};
//! use serde_json::json;
//!
//! # async fn example() {
//! let schema = json!({ "type": "object", "properties": { "item": { "type": "string" } } });
//! let purchase = NativeTool::new("purchase", "Buys an item", schema, async |arguments, context| {
//!     let item = arguments.value["item"].as_str().unwrap_or("nothing");
//!     match context.answer {
//!         // Only an ok brings the call back.
//!         Some(_) => ToolResult::ok(format!("bought {item}")),
//!         None => ToolResult::pending(&Request::new("", Kind::Approval, format!("Approve purchase of {item}?"))),
//!     }
//! });
//! let endpoint = Endpoint {
//!     base_url: "http://localhost:11434/v1".to_owned(),
//!     style: Style::OpenAi,
//!     model: "qwen3".to_owned(),
//!     key: None,
//! };
//! let client = Client::new(endpoint).wait_for(async |request: Request| {
//!     println!("{}", request.prompt);
//!     Ok::<_, std::io::Error>(Answer::declined(request.id, "over budget"))
//! });
//! let result = client.run("buy a gpu", &Toolkit::new().with(purchase)).await;
//! // The model was told `declined/expired: Approve purchase of gpu?` and nothing of the budget.
//! println!("{}: {}", result.status.as_str(), result.text);
//! # }
//! ```
//!
//! Without a `wait_for`, a run that needs a person halts: its status is pending, and its [`Checkpoint`] is all that another
//! process needs to go on with [`Client::resume`] once there are answers.
//!
//! ```no_run
//! use sayso_agent::{Checkpoint, Client, FolderClaims, Toolkit};
//! use sayso_domain::Answer;
//!
//! # async fn example(client: Client, toolkit: Toolkit) -> Result<(), Box<dyn std::error::Error>> {
//! let client = client.claims(FolderClaims::new("claims"));
//! let halted = client.run("deploy the site", &toolkit).await;
//! std::fs::write("run.json", serde_json::to_string(&halted.checkpoint)?)?;
//!
//! // Later, elsewhere:
//! let checkpoint: Checkpoint = serde_json::from_str(&std::fs::read_to_string("run.json")?)?;
//! let answers: Vec<_> = checkpoint.requests().map(|(request, _)| Answer::ok(&request.id)).collect();
//! let result = client.resume(checkpoint, answers, &toolkit).await?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Client::stream`] shows a run as it goes on, in [`AgentEvent`]s; text comes in pieces where
//! [`ModelOptions::stream`] is on. [`NativeTool::typed`] makes a tool of a closure and a type. A [`Hook`] looks on before
//! and after model and tool calls, and can ask a person about a call that policy would let run. Where a tool is
//! [editable](Tool::is_editable), a person may change the arguments of a call and approve what they made of them. The
//! folder `examples` has programs that run without a model.
//!
//! Tools that start processes give them an allow-listed environment and end them with the call; file tools stay beneath
//! the agent's [`Folder`]. Linux is what this is made for and tested on.

mod arguments;
mod asking;
mod checkpoint;
mod claims;
mod client;
mod compact;
mod cut;
mod elicit;
mod engine;
mod folder;
mod form;
mod hook;
mod journal;
mod mcp;
mod model;
mod native_tool;
mod process;
mod resume;
mod run_stream;
mod tool;
mod toolkit;
mod tools;
mod typed_tool;
mod watch;

pub use arguments::Arguments;
pub use checkpoint::{Checkpoint, CheckpointId, Decision};
pub use claims::{Claims, FolderClaims, MemoryClaims};
pub use client::{Client, RunResult, ToolCallRecord, WaitError};
pub use elicit::{CallElicit, Elicit, ElicitAnswer, ElicitAsk};
pub use engine::{Clock, Engine, Incoming, system_time};
pub use folder::{Folder, FolderError, expand_home};
pub use hook::{Guard, Hook, HookedCall, Hooks};
pub use journal::{Journal, JournalError, MemoryJournal};
pub use mcp::{Elicitation, McpConfig, McpLimits, McpReport, McpServer, McpServers, McpSetup, Variable};
pub use model::{
    CallResult, Delta, Endpoint, Entry, Model, ModelCall, ModelError, ModelOptions, Reply, Retry, Said,
    Style, Wait, message_text,
};
pub use native_tool::NativeTool;
pub use process::{hide_memory, kill_marked, reaches_tools};
pub use resume::ResumeError;
pub use run_stream::RunStream;
pub use schemars::{self, JsonSchema};
pub use tool::{Draft, Ran, Tool, ToolContext, ToolSpec};
pub use toolkit::{Limits, ToolSetup, Toolkit};
pub use watch::{AgentEvent, Watch};
