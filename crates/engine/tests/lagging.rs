//! A search that lags for longer than a doubt lasts, and shows all the while what was stored
//! before.

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

async fn accept(house: &House, worker: &Worker<Willing>, number: u64) {
    let id = house.import("ours", number);
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
}

/// The answer to a report is lost.
async fn lose(house: &House, worker: &Worker<Willing>, number: u64) -> SubmissionId {
    house.authority.doubt.store(true, Ordering::SeqCst);
    let lost = house.import("ours", number);
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    assert_eq!(house.journal.state(lost).unwrap().code(), "unknown");
    house.authority.doubt.store(false, Ordering::SeqCst);
    lost
}

/// An old report is completed and shown.
async fn begin(house: &House, worker: &Worker<Willing>) {
    accept(house, worker, 1).await;
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    worker.once().await.unwrap();
    house.authority.shown.store(1, Ordering::SeqCst);
    house.clock.pass(3_600);
}

/// An old report is completed and shown. The answer to a new one is lost, `late` seconds after or
/// before another one was accepted; gives the one in doubt.
async fn one_in_doubt(house: &House, worker: &Worker<Willing>, late: i64) -> SubmissionId {
    begin(house, worker).await;
    if late < 0 {
        accept(house, worker, 3).await;
        house.clock.pass(-late);
    }
    let lost = lose(house, worker, 2).await;
    if late > 0 {
        // The circuit breaker is closed again before.
        house.clock.pass(late);
        accept(house, worker, 3).await;
    }
    lost
}

/// The search stands still, and has shown an earlier report in doubt after the next one was
/// accepted. That one is no newer by that: when a report was sent counts, not when it was found.
#[tokio::test]
async fn what_was_found_late_is_no_witness_for_what_was_sent_after_it() {
    let house = House::new();
    let worker = house.worker("one");
    begin(&house, &worker).await;
    let early = lose(&house, &worker, 4).await;
    house.clock.pass(60);
    accept(&house, &worker, 3).await;
    *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
    let all = house.authority.accepted.lock().unwrap().clone();
    let stored = ("urn:uuid:00000000-0000-4000-8000-000000000004".to_owned(), "r-2".to_owned());
    *house.authority.accepted.lock().unwrap() = vec![all[0].clone(), stored.clone()];
    pass(&house, &worker, 300).await;
    assert_eq!(house.journal.state(early).unwrap().code(), "in-progress");
    let lost = lose(&house, &worker, 2).await;
    let sent = house.sent();
    pass(&house, &worker, 4_800).await;
    assert_eq!(house.sent(), sent, "sent a second time");
    let state = house.journal.state(lost).unwrap();
    assert_eq!(state.group(house.clock.now()), Group::NeedsAttention, "{state:?}");
    // The search has caught up: now it is believed.
    house.authority.accepted.lock().unwrap().extend(all.into_iter().skip(1));
    pass(&house, &worker, 1_300).await;
    assert_eq!(house.sent(), sent + 1);
}

/// What was accepted beside the doubt is read by its id and not shown by the search: that shows
/// nothing of that time yet, and its empty answer is not believed. A person is asked in the end.
#[tokio::test]
async fn a_search_that_does_not_show_what_was_accepted_beside_a_doubt_is_not_believed() {
    for late in [60, -60] {
        let house = House::new();
        let worker = house.worker("one");
        let lost = one_in_doubt(&house, &worker, late).await;
        *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
        let accepted = house.authority.accepted.lock().unwrap().clone();
        house.authority.accepted.lock().unwrap().truncate(1);
        let sent = house.sent();
        pass(&house, &worker, 4_800).await;
        assert_eq!(house.sent(), sent, "{late}: sent a second time");
        let state = house.journal.state(lost).unwrap();
        assert_eq!(state.group(house.clock.now()), Group::NeedsAttention, "{late}: {state:?}");
        // The search has caught up, and shows that one: now it is believed.
        *house.authority.accepted.lock().unwrap() = accepted;
        pass(&house, &worker, 1_300).await;
        assert_eq!(house.sent(), sent + 1, "{late}");
    }
}

/// Our clock was set back after the last report was accepted: by the clock it was sent after the
/// doubt began, or after now. The order of the journal tells that it was sent before, so it must be
/// shown all the same.
#[tokio::test]
async fn a_clock_that_is_set_back_does_not_hide_what_the_search_must_show() {
    for back in [300, 900, 7_200] {
        let house = House::new();
        let worker = house.worker("one");
        begin(&house, &worker).await;
        accept(&house, &worker, 3).await;
        house.clock.pass(60);
        house.clock.set(-back);
        let lost = lose(&house, &worker, 2).await;
        *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
        let accepted = house.authority.accepted.lock().unwrap().clone();
        house.authority.accepted.lock().unwrap().truncate(1);
        let sent = house.sent();
        pass(&house, &worker, 4_800).await;
        assert_eq!(house.sent(), sent, "{back}: sent a second time");
        let state = house.journal.state(lost).unwrap();
        assert_eq!(state.code(), "unknown", "{back}: {state:?}");
        *house.authority.accepted.lock().unwrap() = accepted;
        pass(&house, &worker, 1_300).await;
        assert_eq!(house.sent(), sent + 1, "{back}");
    }
}

/// The authority says that it does not have what it accepted beside the doubt, and shows what is
/// older: it may have lost that, or answer from an old copy of what it stores, on which the report
/// in doubt is missing too. A person is asked; what is sent later and is shown ends the doubt.
#[tokio::test]
async fn a_copy_that_lacks_what_was_accepted_beside_a_doubt_is_not_believed() {
    for late in [60, -60] {
        let house = House::new();
        let worker = house.worker("one");
        let lost = one_in_doubt(&house, &worker, late).await;
        house.authority.forgot.store(true, Ordering::SeqCst);
        house.authority.accepted.lock().unwrap().truncate(1);
        let sent = house.sent();
        pass(&house, &worker, 5_400).await;
        assert_eq!(house.sent(), sent, "{late}: sent a second time");
        let state = house.journal.state(lost).unwrap();
        assert_eq!(state.group(house.clock.now()), Group::NeedsAttention, "{late}: {state:?}");
        // Hours after the doubt began, and shown: the other two were lost.
        house.import("ours", 4);
        pass(&house, &worker, 1_300).await;
        assert_eq!(house.sent(), sent + 2, "{late}");
    }
}

/// Where the newest of what was accepted before the doubt is shown, what the authority has lost of
/// older reports says nothing.
#[tokio::test]
async fn what_the_authority_has_forgotten_does_not_keep_a_doubt_open() {
    let house = House::new();
    let worker = house.worker("one");
    begin(&house, &worker).await;
    accept(&house, &worker, 5).await;
    house.clock.pass(60);
    accept(&house, &worker, 3).await;
    house.clock.pass(60);
    lose(&house, &worker, 2).await;
    house.authority.forgot.store(true, Ordering::SeqCst);
    house.authority.accepted.lock().unwrap().remove(1);
    let sent = house.sent();
    pass(&house, &worker, 5_400).await;
    assert_eq!(house.sent(), sent + 1);
}

/// What was accepted long after a doubt began need not be shown: where the search always lags by a
/// minute or two, and reports come all the time, a doubt ends all the same.
#[tokio::test]
async fn a_search_that_always_lags_a_little_ends_a_doubt() {
    let house = House::new();
    let worker = house.worker("one");
    one_in_doubt(&house, &worker, 60).await;
    *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
    let shown = house.authority.accepted.lock().unwrap().clone();
    let sent = house.sent();
    for number in 0..200 {
        house.import("ours", 100 + number);
        pass(&house, &worker, 10).await;
        // Everything is shown that was accepted until ten minutes after the doubt began, and
        // nothing of what came after.
        if house.sent() > sent + 70 {
            let mut accepted = house.authority.accepted.lock().unwrap();
            accepted.truncate(shown.len() + 60);
        }
    }
    assert_eq!(house.sent(), sent + 201);
}
