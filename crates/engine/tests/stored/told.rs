//! What people are told of a correction beside what the authority has in progress.

use std::sync::atomic::Ordering;

use exchange::Processing;

use super::waiting::{code, correct, turn};
use crate::house::{self, House};

/// A gateway has repeated a request and refused it on the way back; the report is stopped and
/// corrected. Before the correction asks again, searches show one delivery, which fails as the
/// duplicate while the other one is in progress, and every question is answered: the correction is
/// on hold soon, and says that the authority has what it corrects.
#[tokio::test]
async fn a_correction_says_that_another_delivery_is_in_progress() {
    for repeated in [false, true] {
        let house = House::new();
        house.authority.shown.store(1, Ordering::SeqCst);
        house.import("ours", 9);
        house.worker("one").once().await.unwrap();
        let (id, worker) = super::refused(&house).await;
        super::word(&house, id, report::Event::HeldBack);
        let correction = correct(&house, id, 2);
        turn(&worker).await;
        assert_eq!(code(&house, correction), "queued");
        let identifier = house.journal.row(id).unwrap().identifier;
        let shown = |processing| {
            let mut changes = house::news("r-7", processing, Vec::new());
            changes.answers[0].identifiers = vec![identifier.clone()];
            *house.authority.changes.lock().unwrap() = changes;
        };
        shown(Processing::InProgress);
        house.clock.pass(1);
        turn(&worker).await;
        assert_eq!((code(&house, id), code(&house, correction)), ("in-progress", "queued"));
        *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
        if repeated {
            shown(Processing::Failed);
            *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
            house.authority.deliveries.lock().unwrap().extend([
                ("r-7".to_owned(), Processing::Failed),
                ("r-8".to_owned(), Processing::InProgress),
            ]);
            house.clock.pass(1);
            turn(&worker).await;
            assert_eq!((code(&house, id), code(&house, correction)), ("in-progress", "queued"));
        }
        let mut minutes = 0;
        while code(&house, correction) == "queued" && minutes < 600 {
            minutes += 1;
            house.clock.pass(60);
            turn(&worker).await;
        }
        let told = house.journal.messages(correction).unwrap();
        let codes: Vec<_> = told.iter().map(|it| it.code.as_str()).collect();
        assert_eq!(
            (code(&house, correction), &*codes),
            ("held", &["corrected-report-delivered"][..]),
            "repeated: {repeated}, after {minutes} minutes"
        );
        assert!(minutes <= 30, "after {minutes} minutes");
    }
}
