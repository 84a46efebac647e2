//! More is owed than is looked at together.

use std::sync::atomic::Ordering;

use client::{Fault, Why};

use super::waiting::{code, correct, turn};
use crate::house::{self, House};

/// As many corrections of rejected reports wait as are looked at together, or more, and their
/// questions alone have no answer; every report is let in. How long does a new one wait?
#[tokio::test]
async fn questions_before_hundreds_of_corrections_keep_no_report_waiting_for_hours() {
    let mut failures = Vec::new();
    for corrections in [200_u64, 300] {
        let mut house = House::new();
        house.timing = engine::Timing::default();
        house.authority.shown.store(1, Ordering::SeqCst);
        let worker = house.worker("one");
        *house.authority.reasons.lock().unwrap() =
            vec![fhir::Issue { code: "business-rule".to_owned(), ..house::reason() }];
        house.authority.rejects.store(true, Ordering::SeqCst);
        let ids: Vec<_> = (1..=corrections).map(|number| house.import("ours", number)).collect();
        for _ in 0..10 {
            house.clock.pass(60);
            turn(&worker).await;
        }
        house.authority.rejects.store(false, Ordering::SeqCst);
        assert!(ids.iter().all(|id| code(&house, *id) == "rejected"));
        *house.authority.lost_find.lock().unwrap() =
            Some(Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None });
        for (id, number) in ids.into_iter().zip(2_000..) {
            correct(&house, id, number);
        }
        let (mut open, mut waits) = (Vec::new(), Vec::new());
        for minute in 0..12 * 60_u64 {
            if minute % 30 == 0 {
                open.push((house.import("ours", 10_000 + minute), minute));
            }
            house.clock.pass(60);
            turn(&worker).await;
            open.retain(|(id, since)| {
                let waits_on = code(&house, *id) == "queued";
                if !waits_on {
                    waits.push(minute - since);
                }
                waits_on
            });
        }
        let unsent = open.len();
        waits.extend(open.iter().map(|(_, since)| 12 * 60 - since));
        let longest = waits.iter().max().copied().unwrap_or(0);
        if longest > 60 {
            let shown = house.connection.borrow().state.clone();
            failures.push((corrections, longest, unsent, waits.len(), shown));
        }
    }
    let told = "corrections, longest in minutes, never sent in 12 hours, of, what is told";
    assert!(failures.is_empty(), "{told}: {failures:?}");
}
