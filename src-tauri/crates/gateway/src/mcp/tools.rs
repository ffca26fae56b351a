use std::time::Duration;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio_util::task::TaskTracker;

use super::arguments::{self, Approval, Input, Question, Unusable};
use super::asking::{Ended, ask};
use super::call::{Call, Caller};
use super::catalogue::{self, ToolName};
use super::waiters::Waiters;
use super::{outcome, permission};
use sayso_domain::Request;

const INSTRUCTIONS: &str = "Sayso puts what you ask in front of a person and waits for the answer. A call may take minutes or \
                            hours. A no, an error and a timeout are never a yes.";

/// The tools, at both doors.
#[derive(Clone)]
pub(super) struct Tools {
    callers: Callers,
    /// How often whoever waits is told so.
    beat: Duration,
    waiters: Waiters,
    /// The calls under way.
    calls: TaskTracker,
}

/// Who calls.
#[derive(Clone)]
enum Callers {
    /// The one client at the other end.
    One(Caller),
    /// Whoever sent the message: the HTTP request that brought it says so.
    PerMessage,
}

impl Tools {
    /// For one client.
    pub(super) fn of(caller: Caller, beat: Duration) -> Self {
        Self::new(Callers::One(caller), beat)
    }

    /// For clients that say with each message who they are, as [`Caller`] in the extensions of the HTTP request.
    pub(super) fn of_all(beat: Duration) -> Self {
        Self::new(Callers::PerMessage, beat)
    }

    fn new(callers: Callers, beat: Duration) -> Self {
        Self { callers, beat, waiters: Waiters::default(), calls: TaskTracker::new() }
    }

    /// Until no call is under way, so that what nobody waits for any more is taken back.
    pub(super) async fn finish(&self, limit: Duration) {
        self.calls.close();
        if tokio::time::timeout(limit, self.calls.wait()).await.is_err() {
            tracing::warn!("calls of MCP clients were still under way at the end");
        }
    }

    fn call(&self, context: &RequestContext<RoleServer>) -> Result<Call, ErrorData> {
        let caller = match &self.callers {
            Callers::One(caller) => Some(caller),
            Callers::PerMessage => {
                context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Caller>())
            }
        };
        match caller {
            Some(caller) => Ok(Call::new(caller.clone(), context)),
            None => Err(ErrorData::internal_error("Nobody is known to call. Nobody was asked.", None)),
        }
    }

    async fn run(&self, tool: ToolName, request: CallToolRequestParams, call: Call) -> CallToolResult {
        let given = request.arguments.unwrap_or_default();
        match tool {
            ToolName::RequestApproval => {
                let asked = arguments::read::<Approval>(given).and_then(Approval::request);
                self.ask(&call, asked, outcome::approval).await
            }
            ToolName::AskQuestion => {
                let asked = arguments::read::<Question>(given).and_then(Question::request);
                self.ask(&call, asked, outcome::data).await
            }
            ToolName::RequestInput => {
                let asked = arguments::read::<Input>(given).map(Input::request);
                self.ask(&call, asked, outcome::data).await
            }
            ToolName::PermissionPrompt => match arguments::read(given) {
                Ok(asked) => permission::ask(&call, &self.waiters, asked, self.beat).await,
                Err(Unusable(message)) => permission::deny(&message),
            },
        }
    }

    async fn ask(
        &self,
        call: &Call,
        request: Result<Request, Unusable>,
        tell: fn(Ended) -> CallToolResult,
    ) -> CallToolResult {
        match request {
            Ok(request) => tell(ask(call, &request, self.beat).await),
            Err(Unusable(message)) => outcome::error(message),
        }
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let mut own = Implementation::new("sayso", env!("CARGO_PKG_VERSION"));
        own.title = Some("Sayso".to_owned());
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(own)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(catalogue::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        ToolName::of(name).map(ToolName::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = ToolName::of(&request.name) else {
            let name = sayso_domain::text::cut(&request.name, 100);
            return Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None));
        };
        let call = self.call(&context)?;
        let result = self.calls.track_future(self.run(tool, request, call)).await;
        Ok(result.into())
    }
}
