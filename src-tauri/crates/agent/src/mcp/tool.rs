use std::sync::Arc;

use async_trait::async_trait;
use sayso_domain::ToolResult;
use sayso_domain::text::{cut, visible_line};
use serde_json::{Value, json};

use super::expand::Hidden;
use super::server::Server;
use crate::{Arguments, Draft, Ran, Tool, ToolContext, ToolSpec};

/// So much of a description reaches the model.
const LONGEST_DESCRIPTION: usize = 2000;

/// What a server says of a tool.
pub(super) struct Described {
    original: String,
    spec: ToolSpec,
    /// What the server claims of its harmlessness.
    claim: Option<&'static str>,
}

impl Described {
    pub(super) fn of(name: String, tool: &rmcp::model::Tool, hidden: &Hidden) -> Self {
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let mut schema = hidden.in_json(&Value::Object((*tool.input_schema).clone()));
        if schema.get("type").is_none() {
            schema["type"] = "object".into();
        }
        let annotations = tool.annotations.as_ref();
        let says = |hint: fn(&rmcp::model::ToolAnnotations) -> Option<bool>, what: bool| {
            annotations.and_then(hint) == Some(what)
        };
        let claim = if says(|hints| hints.read_only_hint, true) {
            Some("The server says that this tool changes nothing. Sayso does not rely on it.")
        } else if says(|hints| hints.destructive_hint, true) {
            Some("The server says that this tool may delete or overwrite things.")
        } else {
            None
        };
        let description = cut(&hidden.from(description), LONGEST_DESCRIPTION);
        Self { original: tool.name.to_string(), spec: ToolSpec { name, description, schema }, claim }
    }
}

/// A tool of an MCP server. It asks by default, whatever its server says of it.
pub(super) struct McpTool {
    server: Arc<Server>,
    described: Described,
}

impl McpTool {
    pub(super) fn new(server: Arc<Server>, described: Described) -> Self {
        Self { server, described }
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.described.spec.clone()
    }

    /// A person may change what the server is asked to do.
    fn is_editable(&self) -> bool {
        true
    }

    async fn draft(&self, arguments: &Arguments, _: &ToolContext) -> Result<Draft, ToolResult> {
        let (server, original) = (self.server.config.name(), &self.described.original);
        let tool = cut(&visible_line(original), 80);
        let summary = self.summary(&arguments.value);
        let mut draft = Draft::approval(format!("Run {tool} of the MCP server {server}? {summary}"));
        draft.data = Some(json!({
            "tool": self.described.spec.name,
            "arguments": arguments.value,
            "server": server,
            "server_tool": original,
        }));
        draft.notes = self.described.claim.map(str::to_owned).into_iter().collect();
        Ok(draft)
    }

    async fn run(&self, arguments: &Arguments, context: &ToolContext) -> Ran {
        let Value::Object(arguments) = arguments.value.clone() else {
            return Ran::Done(ToolResult::error("The arguments are not a JSON object. Nothing was run."));
        };
        Ran::Done(self.server.call(&self.described.original, arguments, context).await)
    }
}

/// Stands for a tool whose server is not there, so that a call of it says so.
pub(super) struct Absent {
    pub(super) name: String,
    pub(super) server: String,
    pub(super) reason: String,
}

#[async_trait]
impl Tool for Absent {
    fn spec(&self) -> ToolSpec {
        let schema = json!({ "type": "object" });
        ToolSpec { name: self.name.clone(), description: "Not there at the moment.".to_owned(), schema }
    }

    async fn draft(&self, _: &Arguments, _: &ToolContext) -> Result<Draft, ToolResult> {
        Err(self.error())
    }

    async fn run(&self, _: &Arguments, _: &ToolContext) -> Ran {
        Ran::Done(self.error())
    }
}

impl Absent {
    fn error(&self) -> ToolResult {
        ToolResult::error(format!(
            "The MCP server {} cannot be used: {} Nothing was run.",
            self.server, self.reason
        ))
    }
}
