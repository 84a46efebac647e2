//! A laboratory that sends little, and a search that stands still.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use engine::{Clock as _, Worker};
use exchange::Processing;
use house::{House, Willing, news};
use report::{Group, SubmissionId};
use tokio_util::sync::CancellationToken;

async fn pass(house: &House, worker: &Worker<Willing>, seconds: usize) {
    for _ in 0..seconds / 10 {
        house.clock.pass(10);
        worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    }
}

/// The last report was completed an hour ago, and is shown. The answer to a new one is lost.
async fn one_in_doubt(house: &House, worker: &Worker<Willing>) -> SubmissionId {
    house.import("ours", 1);
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    worker.once().await.unwrap();
    house.authority.shown.store(1, Ordering::SeqCst);
    house.clock.pass(3_600);
    house.authority.doubt.store(true, Ordering::SeqCst);
    let lost = house.import("ours", 2);
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    house.authority.doubt.store(false, Ordering::SeqCst);
    lost
}

/// The index of the search has stood still for twenty minutes, and the authority has stored the
/// report. Nothing else is sent. The old one bears witness for a time that it says nothing of.
#[tokio::test]
async fn what_was_sent_before_a_search_stood_still_is_no_witness_for_what_was_sent_after() {
    let house = House::new();
    let worker = house.worker("one");
    one_in_doubt(&house, &worker).await;
    let sent = house.sent();
    // Stored, and not shown for 25 minutes.
    pass(&house, &worker, 1_500).await;
    assert_eq!(house.sent(), sent, "sent a second time while the search stood still");
}

/// A doubt that ends by itself is nobody's work on the way there.
#[tokio::test]
async fn a_doubt_in_a_quiet_laboratory_ends_before_a_person_is_asked() {
    let house = House::new();
    let worker = house.worker("one");
    let lost = one_in_doubt(&house, &worker).await;
    let sent = house.sent();
    for minute in 1.. {
        pass(&house, &worker, 60).await;
        if house.sent() > sent {
            assert!((60..75).contains(&minute), "sent again after {minute} minutes");
            break;
        }
        let state = house.journal.state(lost).unwrap();
        let group = state.group(house.clock.now());
        assert_eq!(group, Group::InProgress, "after {minute} minutes: {state:?}");
    }
}
