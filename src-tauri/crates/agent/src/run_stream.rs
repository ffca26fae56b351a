use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, Stream, StreamExt};
use tokio::sync::mpsc;

use crate::client::Start;
use crate::{AgentEvent, Client, RunResult, Toolkit, Watch};

/// A run that is shown while it goes on (contract 34). It goes on while it is read, and ends where it is dropped: what is at
/// work then is ended.
#[must_use = "a run goes on only while it is read"]
pub struct RunStream {
    run: BoxFuture<'static, RunResult>,
    events: mpsc::UnboundedReceiver<AgentEvent>,
    result: Option<RunResult>,
}

impl RunStream {
    pub(crate) fn of(client: Client, start: Start, toolkit: Toolkit) -> Self {
        let (send, events) = mpsc::unbounded_channel();
        let before = client.watching().cloned();
        let client = client.watch(Watch::new(move |run, event: AgentEvent| {
            if let Some(before) = &before {
                before.tell(run, event.clone());
            }
            // Whoever dropped the stream dropped the run.
            let _ = send.send(event);
        }));
        let run = async move { client.go_on(start, &toolkit).await };
        Self { run: run.boxed(), events, result: None }
    }

    /// What happens next; nothing once the run was given back.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        StreamExt::next(self).await
    }

    /// Runs to the end, and returns what came of it.
    pub async fn result(mut self) -> RunResult {
        while self.next().await.is_some() {}
        match self.result {
            Some(result) => result,
            None => self.run.await,
        }
    }
}

impl Stream for RunStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        if let Poll::Ready(Some(event)) = self.events.poll_recv(context) {
            return Poll::Ready(Some(event));
        }
        if self.result.is_none()
            && let Poll::Ready(result) = self.run.poll_unpin(context)
        {
            self.result = Some(result);
        }
        match (self.events.poll_recv(context), &self.result) {
            (Poll::Ready(Some(event)), _) => Poll::Ready(Some(event)),
            (Poll::Ready(None) | Poll::Pending, Some(_)) | (Poll::Ready(None), None) => Poll::Ready(None),
            (Poll::Pending, None) => Poll::Pending,
        }
    }
}

impl std::fmt::Debug for RunStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunStream").field("result", &self.result).finish_non_exhaustive()
    }
}
