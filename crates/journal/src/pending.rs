//! A reply on its way: await it, or block on it.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use futures_channel::oneshot;

use crate::JournalError;

/// Reply of the writing thread; comes after the commit. Dropping it does not undo anything.
#[must_use = "the outcome is known only when awaited"]
pub struct Pending<T, E = JournalError>(oneshot::Receiver<Result<T, E>>);

impl<T, E> Pending<T, E> {
    pub(crate) fn new() -> (oneshot::Sender<Result<T, E>>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self(receiver))
    }

    /// A reply that is known already.
    pub(crate) fn ready(outcome: Result<T, E>) -> Self {
        let (sender, pending) = Self::new();
        // The receiver is right here; sending cannot fail.
        let _ = sender.send(outcome);
        pending
    }
}

impl<T, E: From<JournalError>> Pending<T, E> {
    /// Blocks this thread until the reply is there. Not inside an async task: await it there.
    pub fn wait(self) -> Result<T, E> {
        let waker = Waker::from(Arc::new(Parked(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut this = pin!(self);
        loop {
            match this.as_mut().poll(&mut context) {
                Poll::Ready(outcome) => return outcome,
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

impl<T, E: From<JournalError>> Future for Pending<T, E> {
    type Output = Result<T, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0)
            .poll(context)
            .map(|reply| reply.unwrap_or_else(|_| Err(JournalError::Closed.into())))
    }
}

struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
