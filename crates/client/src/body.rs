//! A request body that knows whether any of it was handed to the connection.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use thiserror::Error;

const KEPT: u8 = 0;
const TAKEN: u8 = 1;
const WITHDRAWN: u8 = 2;

/// Whether the connection took the body: from then on delivery cannot be ruled out.
#[derive(Clone, Default)]
pub(crate) struct Handed(Arc<AtomicU8>);

impl Handed {
    /// Whether it was handed over. If it was not, it never is from now on: a request that waits for
    /// its turn on a shared connection may outlive whoever made it.
    pub(crate) fn over(&self) -> bool {
        !self.becomes(WITHDRAWN) && self.0.load(Ordering::SeqCst) == TAKEN
    }

    /// Decides it, once.
    fn becomes(&self, state: u8) -> bool {
        self.0.compare_exchange(KEPT, state, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }
}

/// Nobody waits for the answer any more, and it counts as not sent.
#[derive(Debug, Error)]
#[error("the request was given up before its body was sent")]
pub(crate) struct GivenUp;

pub(crate) struct WatchedBody {
    bytes: Option<Bytes>,
    handed: Handed,
}

impl WatchedBody {
    pub(crate) fn new(bytes: Bytes, handed: Handed) -> Self {
        Self { bytes: Some(bytes), handed }
    }

    /// Of a question.
    pub(crate) fn empty() -> Self {
        Self { bytes: None, handed: Handed::default() }
    }
}

impl Body for WatchedBody {
    type Data = Bytes;
    type Error = GivenUp;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, GivenUp>>> {
        let bytes = self.bytes.take();
        let given_up = bytes.is_some() && !self.handed.becomes(TAKEN);
        Poll::Ready(bytes.map(|bytes| if given_up { Err(GivenUp) } else { Ok(Frame::data(bytes)) }))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_none()
    }

    /// Exact, so that the length is announced and the body is not sent in chunks.
    fn size_hint(&self) -> SizeHint {
        let length = self.bytes.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    async fn first(body: &mut WatchedBody) -> Option<Result<Frame<Bytes>, GivenUp>> {
        poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await
    }

    #[tokio::test]
    async fn a_body_that_counts_as_not_sent_never_is() {
        let handed = Handed::default();
        let mut body = WatchedBody::new(Bytes::from_static(b"{}"), handed.clone());
        assert!(first(&mut body).await.unwrap().is_ok());
        assert!(handed.over(), "delivery cannot be ruled out");
        let handed = Handed::default();
        let mut late = WatchedBody::new(Bytes::from_static(b"{}"), handed.clone());
        assert!(!handed.over());
        assert!(first(&mut late).await.unwrap().is_err(), "it waited for longer than its request");
        assert!(!handed.over());
    }
}
