//! A request body that knows whether any of it was handed to the connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// Set once the connection took the body: from then on delivery cannot be ruled out.
#[derive(Clone, Default)]
pub(crate) struct Handed(Arc<AtomicBool>);

impl Handed {
    pub(crate) fn over(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

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
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.bytes.take();
        if bytes.is_some() {
            self.handed.0.store(true, Ordering::SeqCst);
        }
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
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
