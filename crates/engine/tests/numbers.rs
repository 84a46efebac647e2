//! An authority that was restored from a backup gives its numbers anew: what it has stored is found
//! all the same, and not sent a second time.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use engine::Worker;
use exchange::{IdentifierChoice, Processing};
use house::{House, Willing, news};
use report::SubmissionId;
use tokio_util::sync::CancellationToken;

const CHOICES: [IdentifierChoice; 2] = [IdentifierChoice::Attempt, IdentifierChoice::Document];

/// One report was completed under number 1; another was accepted after that, so that this
/// certificate is shown ours.
async fn one_is_completed(house: &House, worker: &Worker<Willing>) -> SubmissionId {
    let cancel = CancellationToken::new();
    let first = house.import("ours", 1);
    worker.turn(&mut None, &cancel).await.unwrap();
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(first).unwrap().code(), "completed");
    house.import("ours", 5);
    worker.turn(&mut None, &cancel).await.unwrap();
    first
}

async fn pass(house: &House, worker: &Worker<Willing>, turns: usize) {
    for _ in 0..turns {
        house.clock.pass(10);
        worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    }
}

#[tokio::test]
async fn a_report_in_doubt_is_found_under_a_number_that_is_given_again() {
    for identifier in CHOICES {
        let mut house = House::new();
        house.identifier = identifier;
        let worker = house.worker("one");
        one_is_completed(&house, &worker).await;
        house.authority.doubt.store(true, Ordering::SeqCst);
        let second = house.import("ours", 2);
        pass(&house, &worker, 1).await;
        assert_eq!(house.journal.state(second).unwrap().code(), "unknown");
        house.authority.doubt.store(false, Ordering::SeqCst);
        *house.authority.finds.lock().unwrap() = vec!["r-1".to_owned()];
        let sent = house.sent();
        pass(&house, &worker, 400).await;
        assert_eq!(house.sent(), sent, "{identifier:?}: sent a second time");
        assert_eq!(house.journal.state(second).unwrap().receipt(), Some("r-1"), "{identifier:?}");
    }
}

/// The same before a further request of what was stored and refused on the way back.
#[tokio::test]
async fn what_was_refused_on_the_way_back_is_found_under_a_number_that_is_given_again() {
    for identifier in CHOICES {
        let mut house = House::new();
        house.identifier = identifier;
        let worker = house.worker("one");
        one_is_completed(&house, &worker).await;
        house.authority.refuses.store(true, Ordering::SeqCst);
        let second = house.import("ours", 2);
        pass(&house, &worker, 1).await;
        assert_eq!(house.journal.state(second).unwrap().code(), "queued");
        house.authority.refuses.store(false, Ordering::SeqCst);
        *house.authority.finds.lock().unwrap() = vec!["r-1".to_owned()];
        let sent = house.sent();
        pass(&house, &worker, 60).await;
        assert_eq!(house.sent(), sent, "{identifier:?}: sent a second time");
        assert_eq!(house.journal.state(second).unwrap().receipt(), Some("r-1"), "{identifier:?}");
    }
}
