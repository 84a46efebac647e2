//! Works the queue: woken, looks up whose turn it is, does it. A missed wake costs latency only.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::AuthorityError;
use crate::admin::port::{self as admin, Desk};
use crate::process::processor::judge;
use crate::process::rules::Rules;
use crate::store::{Store, StoreError};

/// Documents judged between two commits.
const BATCH: u32 = 64;
/// What arrives within this time is judged together. Without it, accepting and judging take turns
/// at commits that are each half empty.
const GATHER: Duration = Duration::from_millis(20);
/// After a failure of the database (a full disk) it is asked again this much later.
const PAUSE: Duration = Duration::from_secs(2);
/// Longest sleep: a clock that jumped is noticed.
const SLEEP_MAX: Duration = Duration::from_secs(60);

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

pub(crate) fn not_shared() -> AuthorityError {
    AuthorityError::StoreUrl("only one on PostgreSQL is shared by several processes".to_owned())
}

pub(crate) async fn run(
    store: Arc<Store>,
    rules: Arc<Rules>,
    wake: Arc<Notify>,
    shutdown: CancellationToken,
) {
    while !shutdown.is_cancelled() {
        let pause = match step(&store, &rules).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::error!(%error, reason = error.reason(), "the queue cannot be worked");
                PAUSE
            }
        };
        if pause.is_zero() {
            continue;
        }
        tokio::select! {
            () = shutdown.cancelled() => break,
            () = wake.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
        tokio::select! {
            () = shutdown.cancelled() => break,
            () = tokio::time::sleep(GATHER) => {}
        }
    }
}

/// Judges what is due; how long there is nothing more to do (zero: a whole batch was due, there may
/// be more).
async fn step(store: &Arc<Store>, rules: &Arc<Rules>) -> Result<Duration, StoreError> {
    let turn = store.take(BATCH).await?;
    if turn.due.is_empty() {
        store.conclude(turn, Vec::new()).await?;
        return Ok(store.pause().await?.map_or(SLEEP_MAX, |pause| pause.min(SLEEP_MAX)));
    }
    let rules = Arc::clone(rules);
    let judged = tokio::task::spawn_blocking(move || {
        let verdicts = turn.due.iter().map(|due| judge(due, &rules)).collect::<Vec<_>>();
        (turn, verdicts)
    });
    let (turn, verdicts) = judged.await.map_err(|_| StoreError::Closed)?;
    let count = verdicts.len();
    store.conclude(turn, verdicts).await?;
    tracing::debug!(count, "processed");
    Ok(if u32::try_from(count) == Ok(BATCH) { Duration::ZERO } else { GATHER })
}
