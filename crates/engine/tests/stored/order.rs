//! Versions of one document reach the authority in the order in which they came.

use std::sync::atomic::Ordering;

use super::waiting::{code, version};
use crate::house::House;

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
