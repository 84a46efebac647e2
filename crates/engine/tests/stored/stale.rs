//! What is remembered of questions that were refused once.

use std::sync::atomic::Ordering;

use client::{Evidence, Fault, Why};
use exchange::Processing;

use super::waiting::{code, turn};
use crate::house::{self, House};

/// A gateway has repeated a request whose answer was lost, and refuses questions by identifier for
/// some hours; a search for changes ends the doubt. Days later questions are answered again. Then
/// the delivery that is known fails as the duplicate while the other one is in progress, and one
/// question has no answer: that is the first one about deliveries.
#[tokio::test]
async fn questions_that_were_refused_during_a_doubt_do_not_count_for_its_deliveries() {
    let mut failures = Vec::new();
    for hours in [0, 4] {
        let house = House::new();
        house.authority.shown.store(1, Ordering::SeqCst);
        let worker = house.worker("one");
        house.authority.doubt.store(true, Ordering::SeqCst);
        let id = house.import("ours", 1);
        turn(&worker).await;
        house.authority.doubt.store(false, Ordering::SeqCst);
        assert_eq!(code(&house, id), "unknown");
        let evidence = || Some(Box::new(Evidence { status: 403, ..Evidence::default() }));
        if hours > 0 {
            *house.authority.lost_find.lock().unwrap() =
                Some(Fault::Locked { why: Why::Forbidden { status: 403 }, evidence: evidence() });
        }
        for minute in 0..hours * 60 {
            if minute % 10 == 0 {
                house.import("ours", 100 + minute);
            }
            house.clock.pass(60);
            turn(&worker).await;
        }
        assert_eq!(code(&house, id), "unknown");
        // Others are in progress, so that it is searched for changes.
        house.import("ours", 2);
        let mut changes = house::news("r-x", Processing::InProgress, Vec::new());
        changes.answers[0].identifiers = vec![house.journal.row(id).unwrap().identifier];
        *house.authority.changes.lock().unwrap() = changes;
        for _ in 0..20 {
            house.clock.pass(if hours > 0 { 30 } else { 1 });
            turn(&worker).await;
            if code(&house, id) == "in-progress" {
                break;
            }
        }
        assert_eq!(code(&house, id), "in-progress");
        // Questions are answered again, for two days.
        *house.authority.lost_find.lock().unwrap() = None;
        *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
        for number in 0..48 {
            house.import("ours", 10_000 + number);
            house.clock.pass(3_600);
            turn(&worker).await;
        }
        assert_eq!(code(&house, id), "in-progress");
        // The delivery that is known fails as the duplicate, and one question has no answer.
        house.authority.deliveries.lock().unwrap().extend([
            ("r-x".to_owned(), Processing::Failed),
            ("r-y".to_owned(), Processing::InProgress),
        ]);
        let mut changes = house::news("r-x", Processing::Failed, Vec::new());
        changes.answers[0].identifiers = vec![house.journal.row(id).unwrap().identifier];
        *house.authority.changes.lock().unwrap() = changes;
        *house.authority.lost_find.lock().unwrap() =
            Some(Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None });
        house.clock.pass(600);
        turn(&worker).await;
        if code(&house, id) != "in-progress" {
            failures.push((hours, code(&house, id)));
        }
    }
    assert!(failures.is_empty(), "hours in which questions were refused before: {failures:?}");
}
