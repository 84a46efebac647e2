//! Works the queue: woken, looks up whose turn it is, does it. A missed wake costs latency only.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::AuthorityError;
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
