//! A laboratory that sends little, and a search that stands still.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use engine::Worker;
use exchange::Processing;
use house::{House, Willing, news};
use tokio_util::sync::CancellationToken;

async fn pass(house: &House, worker: &Worker<Willing>, seconds: usize) {
    for _ in 0..seconds / 10 {
        house.clock.pass(10);
        worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    }
}

/// The last report was completed an hour ago, and is shown. The index of the search has stood still
/// for twenty minutes; the answer to a new report is lost, which the authority has stored. Nothing
/// else is sent. The old one bears witness for a time that it says nothing of.
#[tokio::test]
async fn what_was_sent_before_a_search_stood_still_is_no_witness_for_what_was_sent_after() {
    let house = House::new();
    let worker = house.worker("one");
    house.import("ours", 1);
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    worker.once().await.unwrap();
    house.authority.shown.store(1, Ordering::SeqCst);
    house.clock.pass(3_600);
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.import("ours", 2);
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    house.authority.doubt.store(false, Ordering::SeqCst);
    let sent = house.sent();
    // Stored, and not shown for 25 minutes.
    pass(&house, &worker, 1_500).await;
    assert_eq!(house.sent(), sent, "sent a second time while the search stood still");
}
