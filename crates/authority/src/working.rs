//! A process that works the queue and answers no laboratory.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::AuthorityError;
use crate::admin::port::{self as admin, Desk};
use crate::process::rules::Rules;
use crate::process::worker::{not_shared, run};
use crate::store::Store;

/// A running worker. It runs until its token is cancelled.
#[derive(Debug)]
pub struct Working {
    /// The address of the admin port, where one was asked for.
    pub admin: Option<SocketAddr>,
    task: JoinHandle<()>,
}

impl Working {
    /// Waits until everything has ended.
    pub async fn finished(self) {
        // A panic has been logged by the runtime.
        let _ = self.task.await;
    }
}

/// Works the queue of a data folder's store, and serves nothing but, where asked for, the admin
/// port; ends when `shutdown` is cancelled. Any number of processes may do so beside those that
/// [serve](crate::serve).
pub async fn work(
    data: &Path,
    rules: Rules,
    admin: Option<SocketAddr>,
    shutdown: CancellationToken,
) -> Result<Working, AuthorityError> {
    let store = Arc::new(Store::open(data).await?);
    if !store.is_shared() {
        return Err(not_shared());
    }
    let (listener, admin) = admin::bind(admin).await?.unzip();
    let desk = Desk { store: Arc::clone(&store), ending: shutdown.clone(), service: None };
    let task = tokio::spawn(async move {
        let over = CancellationToken::new();
        let looked_after = listener
            .map(|listener| tokio::spawn(admin::run(listener, Arc::new(desk), over.clone())));
        run(store, Arc::new(rules), Arc::new(Notify::new()), shutdown).await;
        over.cancel();
        if let Some(looked_after) = looked_after {
            let _ = looked_after.await;
        }
    });
    Ok(Working { admin, task })
}
