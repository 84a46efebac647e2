//! Versions of one document reach the authority in the order in which they came.

use std::sync::atomic::Ordering;

use client::{Evidence, Fault, Why};
use exchange::Processing;

use super::waiting::{code, turn, version};
use crate::house::{House, news};

/// The authority limits how many requests it takes, or a gateway refuses, just once, while the
/// older version is sent and the newer one waits for it: nobody has to decide anything.
#[tokio::test]
async fn one_refusal_of_the_way_keeps_the_order_of_versions() {
    for limits in [true, false] {
        let house = House::new();
        let all = [1, 2].map(|number| version(&house, number));
        house.clock.pass(1);
        let worker = house.worker("one");
        let fault = if limits { &house.authority.limits } else { &house.authority.refuses };
        fault.store(true, Ordering::SeqCst);
        worker.once().await.unwrap();
        fault.store(false, Ordering::SeqCst);
        assert_eq!(house.sent(), 1);
        for _ in 0..20 {
            house.clock.pass(600);
            worker.once().await.unwrap();
        }
        assert_eq!(all.map(|id| code(&house, id)), ["in-progress"; 2], "limits: {limits}");
    }
}

/// The same of many documents, as after a night's export: one moment with 429, and nothing else.
#[tokio::test]
async fn one_rate_limit_puts_no_older_version_on_hold() {
    let mut house = House::new();
    house.timing = engine::Timing::default();
    let of = |document: u64, number: u64| {
        let mut report = house.submission("ours", number);
        report.summary.identifier = Some(format!("d-{document}"));
        house.journal.import(report).unwrap()
    };
    let all: Vec<_> = (1..=40).map(|it| (of(it, 2 * it), of(it, 2 * it + 1))).collect();
    house.clock.pass(1);
    let worker = house.worker("one");
    house.authority.limits.store(true, Ordering::SeqCst);
    worker.once().await.unwrap();
    house.authority.limits.store(false, Ordering::SeqCst);
    for _ in 0..30 {
        house.clock.pass(60);
        worker.once().await.unwrap();
    }
    let held = all.iter().filter(|(older, _)| code(&house, *older) == "held").count();
    assert_eq!(held, 0, "of {} older versions are on hold", all.len());
}

/// A gateway refuses everything for some minutes, with two versions of one document alone in the
/// queue: the older one tries the way, and the newer one not before it.
#[tokio::test]
async fn refusals_for_some_minutes_keep_the_order_of_versions() {
    for seconds in [20, 90, 300] {
        let house = House::new();
        let all = [1, 2].map(|number| version(&house, number));
        house.clock.pass(1);
        let worker = house.worker("one");
        house.authority.refuses.store(true, Ordering::SeqCst);
        for passed in (0..2 * 3_600).step_by(15) {
            house.authority.refuses.store(passed < seconds, Ordering::SeqCst);
            worker.once().await.unwrap();
            house.clock.pass(15);
        }
        assert_eq!(all.map(|id| code(&house, id)), ["in-progress"; 2], "{seconds} s");
    }
}

/// What a search by identifier may end in for hours, while all else is answered.
fn faults() -> [Fault; 3] {
    let evidence = |status| Some(Box::new(Evidence { status, ..Evidence::default() }));
    let transient = |why, evidence| Fault::Transient { why, retry_after: None, evidence };
    [
        transient(Why::Timeout, None),
        Fault::Locked { why: Why::Forbidden { status: 403 }, evidence: evidence(403) },
        transient(Why::Unavailable { status: 503 }, evidence(503)),
    ]
}

/// A report was rejected for its content, and a person has corrected it; whether the authority has
/// it is not answered. A newer version waits: the probe is made with others all the same.
#[tokio::test]
async fn a_question_without_an_answer_and_a_newer_version_stop_no_other_report() {
    for lost in faults() {
        let house = House::new();
        let worker = house.worker("one");
        let before = house.import("ours", 9);
        turn(&worker).await;
        house.clock.pass(1);
        let first = version(&house, 1);
        house.authority.rejects.store(true, Ordering::SeqCst);
        turn(&worker).await;
        house.authority.rejects.store(false, Ordering::SeqCst);
        assert_eq!(code(&house, first), "rejected");
        *house.authority.lost_find.lock().unwrap() = Some(lost.clone());
        let mut correction = house.submission("ours", 2);
        correction.summary.identifier = Some("d-1".to_owned());
        correction.corrects = Some(first);
        house.journal.import(correction).unwrap();
        version(&house, 3);
        turn(&worker).await;
        let others: Vec<_> = (5..8).map(|it| house.import("ours", it)).collect();
        *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
        *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
        for _ in 0..60 {
            house.clock.pass(60);
            turn(&worker).await;
        }
        assert!(others.iter().all(|id| code(&house, *id) != "queued"), "{lost:?}");
        assert_eq!(code(&house, before), "completed", "{lost:?}");
    }
}
