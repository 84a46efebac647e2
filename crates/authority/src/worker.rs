//! Works the queue: woken, looks up whose turn it is, does it. A missed wake costs latency only.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::judge::judge;
use crate::rules::Rules;
use crate::store::{Store, StoreError};

/// Documents judged between two commits.
const BATCH: u32 = 64;
/// After a failure of the database (a full disk) it is asked again this much later.
const PAUSE: Duration = Duration::from_secs(2);
/// Longest sleep: a clock that jumped is noticed.
const SLEEP_MAX: Duration = Duration::from_secs(60);

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
                tracing::error!(%error, "the queue cannot be worked");
                PAUSE
            }
        };
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = wake.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Judges what is due; how long there is nothing more to do.
async fn step(store: &Arc<Store>, rules: &Arc<Rules>) -> Result<Duration, StoreError> {
    let due = store.due(clock::now(), BATCH).await?;
    if due.is_empty() {
        let next = store.next_due().await?;
        let micros = next.map(|next| next.0.saturating_sub(clock::now().0).max(0));
        let wait = micros.and_then(|micros| u64::try_from(micros).ok()).map(Duration::from_micros);
        return Ok(wait.map_or(SLEEP_MAX, |wait| wait.min(SLEEP_MAX)));
    }
    let rules = Arc::clone(rules);
    let verdicts = tokio::task::spawn_blocking(move || {
        due.iter().map(|due| judge(due, &rules)).collect::<Vec<_>>()
    });
    let verdicts = verdicts.await.map_err(|_| StoreError::Closed)?;
    let count = verdicts.len();
    store.conclude(verdicts).await?;
    tracing::debug!(count, "processed");
    Ok(Duration::ZERO)
}
