//! A delivery that has failed while it is not known whether another one counts.

use std::sync::atomic::Ordering;

use client::{Fault, Why};
use exchange::Processing;

use super::waiting::code;
use super::{refused, word};
use crate::house::{self, House};

/// A gateway has repeated a request and refused its answer, so that the report waits to be sent
/// again. A search shows the delivery that failed as the duplicate, the other one is in progress;
/// the one question whether there is another has no answer just then.
#[tokio::test]
async fn a_report_that_waits_is_not_failed_because_one_question_has_no_answer() {
    for held in [false, true] {
        let house = House::new();
        house.authority.shown.store(1, Ordering::SeqCst);
        let other = house.import("ours", 9);
        house.worker("one").once().await.unwrap();
        let (id, worker) = refused(&house).await;
        if held {
            word(&house, id, report::Event::HeldBack);
        }
        let identifier = house.journal.row(id).unwrap().identifier;
        let mut changes = house::news("r-7", Processing::Failed, Vec::new());
        changes.answers[0].identifiers = vec![identifier];
        *house.authority.changes.lock().unwrap() = changes;
        house.authority.deliveries.lock().unwrap().extend([
            ("r-7".to_owned(), Processing::Failed),
            ("r-8".to_owned(), Processing::InProgress),
        ]);
        let lost = Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None };
        *house.authority.lost_find.lock().unwrap() = Some(lost);
        house.clock.pass(5);
        worker.once().await.unwrap();
        assert_eq!(code(&house, other), "in-progress");
        assert_eq!(code(&house, id), "in-progress", "held: {held}");
    }
}
