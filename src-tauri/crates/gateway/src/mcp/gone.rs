//! Noticing at once that a client closed its end, also while nothing is sent to it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// Reads, and cancels a token at the end of what there is to read.
pub(super) struct Watched<R> {
    pub(super) inner: R,
    pub(super) left: CancellationToken,
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.inner).poll_read(context, buffer));
        let has_ended = buffer.filled().len() == before && buffer.remaining() > 0;
        if read.is_err() || has_ended {
            self.left.cancel();
        }
        Poll::Ready(read)
    }
}
