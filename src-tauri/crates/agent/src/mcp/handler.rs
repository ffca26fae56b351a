use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability,
    Implementation, ProtocolVersion, UrlElicitationCapability,
};
use rmcp::service::{RequestContext, RoleClient};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::elicitation::Current;

/// Whether a server may ask a person: only where there is one (contract 33).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Elicitation {
    /// Nobody can be asked, and servers are told so.
    #[default]
    NotOffered,
    /// Servers may ask.
    Offered,
}

/// Our side of a session: it answers what a server asks.
pub(super) struct Handler {
    pub(super) elicitation: Elicitation,
    pub(super) current: Current,
}

impl Handler {
    async fn ask(&self, params: &Value, withdrawn: &CancellationToken) -> Value {
        match self.current.get() {
            Some(asker) => asker.ask(params, withdrawn).await,
            // Without a call at work there is nothing that a person could judge it by.
            None => serde_json::json!({ "action": "cancel" }),
        }
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.elicitation == Elicitation::Offered {
            let mut elicitation = ElicitationCapability::default();
            elicitation.form = Some(FormElicitationCapability::default());
            elicitation.url = Some(UrlElicitationCapability::default());
            capabilities.elicitation = Some(elicitation);
        }
        ClientConfig::new(capabilities, Implementation::new("sayso", env!("CARGO_PKG_VERSION")))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(&request).unwrap_or_default();
        let answer = self.ask(&params, &context.ct).await;
        let action = match answer.get("action").and_then(Value::as_str) {
            Some("accept") => ElicitationAction::Accept,
            Some("decline") => ElicitationAction::Decline,
            Some(_) | None => ElicitationAction::Cancel,
        };
        let result = ElicitResult::new(action);
        Ok(match answer.get("content") {
            Some(content) => result.with_content(content.clone()),
            None => result,
        })
    }

    /// Questions whose form is none that the protocol knows come here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "elicitation/create" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Sayso does not do this.", None));
        }
        let params = request.params.unwrap_or_default();
        Ok(CustomResult::new(self.ask(&params, &context.ct).await))
    }
}
