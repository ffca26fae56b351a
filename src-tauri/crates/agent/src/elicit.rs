use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sayso_domain::run::{Asked, SlotId};
use sayso_domain::{ElicitAction, Request, RequestKey, RunId, Shown};
use serde_json::Value;
use uuid::Uuid;

use crate::Clock;

/// A question that comes up while a call is at work, such as an MCP server's elicitation. Unlike a suspension, the call
/// waits for it: what asks holds a connection that would be lost otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitAsk {
    /// The run.
    pub run: RunId,
    /// The call that waits.
    pub slot: SlotId,
    /// The request and all that is shown with it.
    pub asked: Asked,
}

/// What came of it (contract 32).
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitAnswer {
    /// What the asker is told.
    pub action: ElicitAction,
    /// What the person gave, with an accept.
    pub data: Option<Value>,
}

impl ElicitAnswer {
    /// Nobody answered.
    pub fn cancelled() -> Self {
        Self { action: ElicitAction::Cancel, data: None }
    }
}

/// Asks a person while a call waits. If the future is dropped, nobody waits for the answer any more.
#[derive(Clone)]
pub struct Elicit(Arc<dyn Fn(ElicitAsk) -> BoxFuture<'static, ElicitAnswer> + Send + Sync>);

impl Elicit {
    /// From whoever can ask.
    pub fn new<F, R>(ask: F) -> Self
    where
        F: Fn(ElicitAsk) -> R + Send + Sync + 'static,
        R: Future<Output = ElicitAnswer> + Send + 'static,
    {
        Self(Arc::new(move |asked| Box::pin(ask(asked))))
    }
}

impl fmt::Debug for Elicit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Elicit")
    }
}

/// The same for one call.
#[derive(Clone, Debug)]
pub struct CallElicit {
    pub(crate) elicit: Elicit,
    pub(crate) run: RunId,
    pub(crate) slot: SlotId,
    /// What is shown beside the request.
    pub(crate) beside: Shown,
    pub(crate) timeout: Option<Duration>,
    pub(crate) clock: Clock,
}

impl CallElicit {
    /// Asks, and waits for as long as it takes, or until the request's deadline. A request without an id gets one.
    pub async fn ask(&self, mut request: Request) -> ElicitAnswer {
        let key = RequestKey::new(Uuid::now_v7());
        if request.id.is_empty() {
            request.id = key.to_string();
        }
        let after = |timeout: Duration| {
            (self.clock)().plus_millis(i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX))
        };
        request.expires_at = request.expires_at.or_else(|| self.timeout.map(after));
        let shown = Shown { request, ..self.beside.clone() };
        (self.elicit.0)(ElicitAsk { run: self.run, slot: self.slot, asked: Asked { key, shown } }).await
    }
}
