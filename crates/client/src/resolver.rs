//! The name service of the operating system; its failure is told from that of a connection.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::Name;
use thiserror::Error;
use tokio::net::lookup_host;
use tower_service::Service;

/// Looks up names; cheap to clone.
#[derive(Clone)]
pub(crate) struct Names;

#[derive(Debug, Error)]
#[error("the name is not known")]
pub(crate) struct UnknownName;

impl Service<Name> for Names {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = UnknownName;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, UnknownName>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), UnknownName>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(async move {
            let found: io::Result<Vec<_>> =
                lookup_host((name.as_str(), 0)).await.map(Iterator::collect);
            match found {
                Ok(addresses) if !addresses.is_empty() => Ok(addresses.into_iter()),
                _ => Err(UnknownName),
            }
        })
    }
}
