//! A gateway repeats a request, so that the authority has one report twice: which of them counts.

use std::sync::atomic::Ordering;

use client::{Fault, Why};
use exchange::Processing;

use crate::house::{self, House};

/// A gateway repeated the request: the authority has it twice, and calls one a duplicate of the
/// other.
#[tokio::test]
async fn a_delivery_that_failed_beside_a_completed_one_is_no_failure() {
    for completed_first in [true, false] {
        let house = House::new();
        let id = house.import("ours", 1);
        let worker = house.worker("one");
        worker.once().await.unwrap();
        assert_eq!(house.journal.state(id).unwrap().receipt(), Some("r-1"));
        let ours = house.journal.row(id).unwrap().identifier;
        let mut told = [
            house::news("r-1", Processing::Failed, Vec::new()),
            house::news("r-7", Processing::Completed, Vec::new()),
        ];
        if completed_first {
            told.reverse();
        }
        let mut changes = client::Changes::default();
        for mut one in told {
            one.answers[0].identifiers = vec![ours.clone()];
            changes.answers.append(&mut one.answers);
            changes.evidence.append(&mut one.evidence);
        }
        *house.authority.changes.lock().unwrap() = changes;
        house.clock.pass(3_600);
        worker.once().await.unwrap();
        let state = house.journal.state(id).unwrap();
        assert_eq!((state.code(), state.receipt()), ("completed", Some("r-7")));
        let proof = house.journal.detail(id).unwrap();
        assert!(proof.timeline.last().unwrap().evidence.is_some());
    }
}

/// How *failed* is learned.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Learned {
    AtOnce,
    BySearch,
    ByRead,
}

/// A gateway repeated the request, and the one that we know of fails as the duplicate while the
/// other is still in progress: who is told *failed* corrects and sends again.
#[tokio::test]
async fn a_delivery_that_failed_beside_one_in_progress_is_no_failure() {
    for learned in [Learned::AtOnce, Learned::BySearch, Learned::ByRead] {
        let house = House::new();
        let id = house.import("ours", 1);
        let worker = house.worker("one");
        let other = |processing| vec![("r-7".to_owned(), processing)];
        *house.authority.deliveries.lock().unwrap() = other(Processing::InProgress);
        house.authority.fails.store(learned == Learned::AtOnce, Ordering::SeqCst);
        worker.once().await.unwrap();
        match learned {
            Learned::AtOnce => {}
            Learned::BySearch => {
                let failed = house::news("r-1", Processing::Failed, Vec::new());
                *house.authority.changes.lock().unwrap() = failed;
            }
            Learned::ByRead => {
                *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
            }
        }
        house.clock.pass(86_000);
        worker.once().await.unwrap();
        assert_eq!(house.journal.state(id).unwrap().code(), "in-progress", "{learned:?}");
        *house.authority.deliveries.lock().unwrap() = other(Processing::Completed);
        *house.authority.processed.lock().unwrap() = match learned {
            Learned::AtOnce => Some(Processing::Completed),
            _ => Some(Processing::Failed),
        };
        house.clock.pass(86_000);
        worker.once().await.unwrap();
        let state = house.journal.state(id).unwrap();
        assert_eq!((state.code(), state.receipt()), ("completed", Some("r-7")), "{learned:?}");
    }
}

/// The same, of a report in doubt: a search for changes shows the duplicate that has failed, and
/// the question whether there is another delivery has no answer. Nobody is told *failed* then.
#[tokio::test]
async fn a_report_in_doubt_is_not_failed_before_its_other_delivery_is_known() {
    let house = House::new();
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    house.authority.doubt.store(false, Ordering::SeqCst);
    assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
    // Another one is in progress, so that it is searched for changes.
    house.import("ours", 2);
    worker.once().await.unwrap();
    let evidence = Some(Box::new(client::Evidence { status: 403, ..Default::default() }));
    let fault = Fault::Locked { why: Why::Forbidden { status: 403 }, evidence };
    *house.authority.lost_find.lock().unwrap() = Some(fault);
    let mut failed = house::news("r-1", Processing::Failed, Vec::new());
    failed.answers[0].identifiers = vec![house.journal.row(id).unwrap().identifier];
    *house.authority.changes.lock().unwrap() = failed;
    let state = || house.journal.state(id).unwrap();
    let (mut held, cancel) = (None, tokio_util::sync::CancellationToken::new());
    for _ in 0..100 {
        house.clock.pass(60);
        worker.turn(&mut held, &cancel).await.unwrap();
        if state().code() != "unknown" {
            break;
        }
    }
    assert_eq!((state().code(), state().receipt()), ("in-progress", Some("r-1")));

    *house.authority.lost_find.lock().unwrap() = None;
    *house.authority.deliveries.lock().unwrap() = vec![("r-7".to_owned(), Processing::Completed)];
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    house.clock.pass(86_000);
    worker.once().await.unwrap();
    assert_eq!((state().code(), state().receipt()), ("completed", Some("r-7")));
}
