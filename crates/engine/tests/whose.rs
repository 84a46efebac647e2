//! Whose an answer is: by the authority's number, by the identifier, and where neither is enough.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use engine::Clock as _;
use exchange::{IdentifierChoice, Processing};
use house::{House, news};
use report::{Event, State};
use tokio_util::sync::CancellationToken;

/// Where the document's own identifier is used for several reports, another one's receipt proves nothing.
#[tokio::test]
async fn the_receipt_of_another_report_is_not_taken_for_ours() {
    for identifier in [IdentifierChoice::Document, IdentifierChoice::Attempt] {
        let mut house = House::new();
        house.identifier = identifier;
        let first = house.import("ours", 1);
        let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
        worker.turn(&mut held, &cancel).await.unwrap();
        let State::InProgress { receipt, .. } = house.journal.state(first).unwrap() else {
            panic!()
        };
        house.authority.doubt.store(true, Ordering::SeqCst);
        let second = house.import("ours", 2);
        worker.turn(&mut held, &cancel).await.unwrap();
        *house.authority.finds.lock().unwrap() = vec![receipt];
        for _ in 0..4 {
            house.clock.pass(10);
            worker.turn(&mut held, &cancel).await.unwrap();
        }
        let state = house.journal.state(second).unwrap();
        match identifier {
            IdentifierChoice::Document => assert_eq!(state.code(), "unknown", "asked again"),
            // An identifier of this attempt alone: whoever has it has this report.
            IdentifierChoice::Attempt => assert_eq!(state.code(), "in-progress"),
        }
    }
}

/// Ready envelopes bring their own identifier, and two may bring the same. One was accepted; the answer to the other
/// is lost. What the authority shows under the identifier is the first one's.
#[tokio::test]
async fn a_report_with_anothers_identifier_does_not_take_its_receipt() {
    let shared = || "urn:uuid:both".to_owned();
    let house = House::new();
    house.import_as("ours", 1, shared());
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.authority.doubt.store(true, Ordering::SeqCst);
    let second = house.import_as("ours", 2, shared());
    worker.turn(&mut held, &cancel).await.unwrap();
    let finds = async |receipts: &[&str]| {
        let receipts = receipts.iter().map(|&receipt| receipt.to_owned()).collect();
        *house.authority.finds.lock().unwrap() = receipts;
        for _ in 0..4 {
            house.clock.pass(10);
            worker.turn(&mut None, &cancel).await.unwrap();
        }
        house.journal.state(second).unwrap()
    };
    assert_eq!(finds(&["r-1"]).await.code(), "unknown");
    let state = finds(&["r-1", "r-2"]).await;
    assert_eq!((state.code(), state.receipt()), ("in-progress", Some("r-2")));
}

/// Two with the same identifier are in doubt at once: which one the authority shows cannot be told, and neither is
/// believed to have arrived or not to have.
#[tokio::test]
async fn of_two_with_one_identifier_in_doubt_neither_takes_a_receipt() {
    let shared = "urn:uuid:both".to_owned();
    let house = House::new();
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.authority.shown.store(5, Ordering::SeqCst);
    let ids = [1, 2].map(|number| house.import_as("ours", number, shared.clone()));
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    *house.authority.finds.lock().unwrap() = vec!["r-1".to_owned()];
    let mut changes = news("r-1", Processing::Completed, Vec::new());
    changes.answers[0].identifiers = vec![shared];
    *house.authority.changes.lock().unwrap() = changes;
    for _ in 0..200 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(10);
    }
    for id in ids {
        assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
        let last = house.journal.detail(id).unwrap().timeline.pop().unwrap().event;
        assert!(matches!(&last, Event::NotAnswered { why, .. } if why == "shared-identifier"));
    }
    assert_eq!(house.sent(), 2, "never sent again");
}

/// Where an authority is set up again, its numbers begin anew: another report has the number of ours.
#[tokio::test]
async fn a_number_with_anothers_identifier_says_nothing_of_ours() {
    let house = House::new();
    let id = house.import("ours", 1);
    let identifier = house.journal.row(id).unwrap().identifier;
    let worker = house.worker("one");
    worker.once().await.unwrap();
    let completed = |identifier: &str| {
        let mut changes = news("r-1", Processing::Completed, Vec::new());
        changes.answers[0].identifiers = vec![identifier.to_owned()];
        changes
    };
    *house.authority.changes.lock().unwrap() = completed("urn:uuid:strange");
    assert_eq!(worker.once().await.unwrap(), Some(0));
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    *house.authority.named.lock().unwrap() = vec!["urn:uuid:strange".to_owned()];
    house.clock.pass(1_000);
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    assert_eq!(house.authority.read.lock().unwrap().len(), 1, "read by id");
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
    *house.authority.changes.lock().unwrap() = completed(&identifier.to_uppercase());
    house.clock.pass(1_000);
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(id).unwrap().code(), "completed");
}

/// Two authorities give the same number. What one says of its report says nothing of the other's.
#[tokio::test]
async fn a_number_means_a_report_of_this_authority_alone() {
    let house = House::new();
    let others = house.import("elsewhere", 1);
    house.worker_of("elsewhere", "one").once().await.unwrap();
    let ours = house.import("ours", 2);
    let worker = house.worker("two");
    worker.once().await.unwrap();
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    assert_eq!(worker.once().await.unwrap(), Some(0));
    // The same by the number and the identifier of a report that went there.
    let theirs = house.journal.row(others).unwrap().identifier;
    let mut changes = news("r-7", Processing::Completed, Vec::new());
    changes.answers[0].identifiers = vec![theirs];
    *house.authority.changes.lock().unwrap() = changes;
    assert_eq!(worker.once().await.unwrap(), Some(0));
    for id in [others, ours] {
        assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
    }
}

/// Its answer was lost; a search for changes shows it by its identifier, sooner than it is asked for. What proves it
/// is its own entry of the page, and no other's.
#[tokio::test]
async fn a_report_in_doubt_is_known_by_its_identifier() {
    let house = House::new();
    house.import("ours", 1);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    house.authority.doubt.store(true, Ordering::SeqCst);
    let doubted = house.import("ours", 2);
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(doubted).unwrap().code(), "unknown");
    let mut changes = news("r-9", Processing::Completed, Vec::new());
    changes.answers[0].identifiers = vec![house.journal.row(doubted).unwrap().identifier];
    *house.authority.changes.lock().unwrap() = changes;
    assert_eq!(worker.once().await.unwrap(), Some(1));
    assert_eq!(house.journal.state(doubted).unwrap().code(), "completed");
    let proof = house.journal.evidence(doubted).unwrap().pop().unwrap().evidence;
    assert_eq!(proof.http_status, Some(200));
    let body = String::from_utf8(proof.body).unwrap();
    assert!(body.starts_with(r#"{"resourceType":"DocumentReference","id":"r-9","#), "{body}");
}

/// A copy of this journal has sent what waits here: a search for changes shows it. Where an endpoint wants the document's
/// identifier, it may be another version of the document.
#[tokio::test]
async fn what_a_search_shows_of_a_report_that_waits_is_not_sent_again() {
    for (identifier, sent) in [(IdentifierChoice::Attempt, 1), (IdentifierChoice::Document, 2)] {
        let mut house = House::new();
        house.identifier = identifier;
        house.import("ours", 1);
        let worker = house.worker("one");
        worker.once().await.unwrap();
        let mut waits = house.submission("ours", 2);
        waits.first = Event::Queued { due: house.clock.now().plus_seconds(3_600) };
        let known_as = waits.identifier.clone();
        let waits = house.journal.import(waits).unwrap();
        let mut changes = news("r-9", Processing::Completed, Vec::new());
        for answer in &mut changes.answers {
            answer.identifiers = vec![known_as.clone()];
        }
        *house.authority.changes.lock().unwrap() = changes;
        worker.once().await.unwrap();
        house.clock.pass(3_600);
        worker.once().await.unwrap();
        assert_eq!(house.journal.state(waits).unwrap().receipt(), Some("r-9"));
        assert_eq!(house.sent(), sent, "{identifier:?}");
    }
}
