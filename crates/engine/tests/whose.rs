//! Whose an answer is: by the authority's number, by the identifier, and where neither is enough.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use client::Changes;
use engine::{Clock as _, Worker};
use exchange::{IdentifierChoice, Processing};
use house::{House, Willing, news};
use journal::Step;
use report::{Event, Person, State, SubmissionId};
use tokio_util::sync::CancellationToken;

/// Where the document's own identifier is used for several reports, another one's receipt proves
/// nothing.
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
        let second = match identifier {
            // Two versions of one document.
            IdentifierChoice::Document => {
                let shared = house.journal.row(first).unwrap().identifier;
                house.import_as("ours", 2, shared)
            }
            IdentifierChoice::Attempt => house.import("ours", 2),
        };
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

/// Ready envelopes bring their own identifier, and two may bring the same. One was accepted; the
/// answer to the other is lost. What the authority shows under the identifier is the first one's,
/// but for what it has received during the request of the other.
#[tokio::test]
async fn a_report_with_anothers_identifier_does_not_take_its_receipt() {
    let shared = || "urn:uuid:both".to_owned();
    let house = House::new();
    house.import_as("ours", 1, shared());
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.authority.doubt.store(true, Ordering::SeqCst);
    house.clock.pass(60);
    let second = house.import_as("ours", 2, shared());
    worker.turn(&mut held, &cancel).await.unwrap();
    let received = house.authority.evidence().server_date;
    house.authority.dates.lock().unwrap().insert("r-2".to_owned(), received);
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

/// A document went out once bare, under an identifier of its attempt, and once in a ready envelope
/// that is named as the document; the authority names both identifiers of a delivery. The number is
/// the first one's, so what is shown is its delivery where the identifier of the other is that of
/// the document alone.
#[tokio::test]
async fn a_delivery_that_names_its_document_is_not_taken_for_the_envelope_that_is_named_so() {
    for (first, second, taken) in [("urn:uuid:bare", "d-1", false), ("d-1", "urn:uuid:bare", true)]
    {
        let house = House::new();
        let (worker, cancel) = (house.worker("one"), CancellationToken::new());
        let import = |number, identifier: &str| {
            let mut report = house.submission("ours", number);
            report.identifier = identifier.to_owned();
            report.summary.identifier = Some("d-1".to_owned());
            house.journal.import(report).unwrap()
        };
        import(1, first);
        worker.turn(&mut None, &cancel).await.unwrap();
        house.authority.doubt.store(true, Ordering::SeqCst);
        let doubted = import(2, second);
        worker.turn(&mut None, &cancel).await.unwrap();
        *house.authority.finds.lock().unwrap() = vec!["r-1".to_owned()];
        *house.authority.also_named.lock().unwrap() = vec![first.to_owned()];
        for _ in 0..4 {
            house.clock.pass(10);
            worker.turn(&mut None, &cancel).await.unwrap();
        }
        let state = house.journal.state(doubted).unwrap();
        assert_eq!(state.receipt() == Some("r-1"), taken, "{state:?}");
    }
}

/// Two with the same identifier are in doubt at once: which one the authority shows cannot be told,
/// and neither is believed to have arrived or not to have.
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

/// Where an authority is set up again, its numbers begin anew: another report has the number of
/// ours.
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

/// Its answer was lost; a search for changes shows it by its identifier, sooner than it is asked
/// for. What proves it is its own entry of the page, and no other's.
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

/// A copy of this journal has sent what waits here: a search for changes shows it. Where an
/// endpoint wants the document's identifier, it may be another version of the document.
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

impl House {
    /// Two reports are in progress as number 1 and 2 when the authority restores a backup without
    /// them; a person says of both that they were not received. The first one has number 2 by now,
    /// and the other one has not left.
    async fn numbered_anew(&self, worker: &Worker<Willing>) -> [SubmissionId; 2] {
        let cancel = CancellationToken::new();
        let mut ids = [1, 2].map(SubmissionId);
        // One after the other: of two that leave together either may be number 1.
        for (number, id) in (1..).zip(&mut ids) {
            *id = self.import("ours", number);
            worker.turn(&mut None, &cancel).await.unwrap();
        }
        self.authority.sent.lock().unwrap().truncate(1);
        self.say_not_received(ids[0]);
        worker.turn(&mut None, &cancel).await.unwrap();
        assert_eq!(self.journal.state(ids[0]).unwrap().receipt(), Some("r-2"));
        ids
    }

    fn say_not_received(&self, id: SubmissionId) {
        let reason = "they have lost it".to_owned();
        self.record(id, Event::SaidNotReceived { reason, due: self.clock.now() });
    }

    fn record(&self, id: SubmissionId, event: Event) {
        let step = Step::new(id, event, Person("anna".to_owned()), self.clock.now());
        self.journal.record(step).unwrap();
    }

    /// What a search for changes shows under a number that this report has.
    fn completed(&self, receipt: &str, id: SubmissionId) -> Changes {
        let mut changes = news(receipt, Processing::Completed, Vec::new());
        for answer in &mut changes.answers {
            answer.identifiers = vec![self.journal.row(id).unwrap().identifier];
        }
        changes
    }
}

/// The authority has restored a backup and gives its numbers anew. What waits, is on hold or in
/// doubt is not completed by the number that it had before, which is another report's now.
#[tokio::test]
async fn a_number_that_is_given_again_completes_nothing_that_never_left() {
    for what in ["waits", "held", "in doubt"] {
        let house = House::new();
        let (worker, cancel) = (house.worker("one"), CancellationToken::new());
        let [one, two] = house.numbered_anew(&worker).await;
        // Completed, as a read by its id tells: no search is remembered that has shown it.
        *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
        *house.authority.named.lock().unwrap() = vec![house.journal.row(one).unwrap().identifier];
        house.clock.pass(3_600);
        worker.turn(&mut None, &cancel).await.unwrap();
        assert_eq!(house.journal.state(one).unwrap().code(), "completed");
        *house.authority.processed.lock().unwrap() = None;
        house.import("ours", 3);
        worker.turn(&mut None, &cancel).await.unwrap();
        house.say_not_received(two);
        match what {
            "held" => house.record(two, Event::HeldBack),
            "in doubt" => house.authority.doubt.store(true, Ordering::SeqCst),
            _ => house.authority.limits.store(true, Ordering::SeqCst),
        }
        *house.authority.changes.lock().unwrap() = house.completed("r-2", one);
        for _ in 0..10 {
            house.clock.pass(10);
            worker.turn(&mut None, &cancel).await.unwrap();
        }
        worker.once().await.unwrap();
        let state = house.journal.state(two).unwrap();
        assert!(["queued", "held", "unknown"].contains(&state.code()), "{what}: {state:?}");
    }
}

/// Two are in progress under one number, of which the authority knows one: each answer is for whom
/// it names.
#[tokio::test]
async fn of_two_in_progress_under_one_number_each_is_told_what_names_it() {
    for first in [0, 1] {
        let house = House::new();
        let worker = house.worker("one");
        let ids = house.numbered_anew(&worker).await;
        assert_eq!(house.journal.state(ids[1]).unwrap().receipt(), Some("r-2"));
        *house.authority.changes.lock().unwrap() = house.completed("r-2", ids[first]);
        worker.once().await.unwrap();
        assert_eq!(house.journal.state(ids[first]).unwrap().code(), "completed");
        assert_eq!(house.journal.state(ids[1 - first]).unwrap().code(), "in-progress");
        // The number of one that is settled here does not hide the other one.
        *house.authority.changes.lock().unwrap() = house.completed("r-2", ids[1 - first]);
        worker.once().await.unwrap();
        assert_eq!(house.journal.state(ids[1 - first]).unwrap().code(), "completed");
    }
}

/// A report in doubt has the number of one that is settled, or in progress, since a backup was
/// restored at the authority: a search shows it, and it is known by its identifier.
#[tokio::test]
async fn a_number_that_is_given_again_is_known_by_the_identifier_beside_it() {
    for settled in [true, false] {
        let house = House::new();
        let (worker, cancel) = (house.worker("one"), CancellationToken::new());
        let first = house.import("ours", 1);
        worker.turn(&mut None, &cancel).await.unwrap();
        if settled {
            *house.authority.changes.lock().unwrap() = house.completed("r-1", first);
            worker.once().await.unwrap();
            // Something is searched for.
            house.import("ours", 3);
            worker.turn(&mut None, &cancel).await.unwrap();
        }
        house.authority.doubt.store(true, Ordering::SeqCst);
        let second = house.import("ours", 2);
        worker.turn(&mut None, &cancel).await.unwrap();
        *house.authority.changes.lock().unwrap() = house.completed("r-1", second);
        worker.once().await.unwrap();
        let told = State::Completed { receipt: "r-1".to_owned() };
        assert_eq!(house.journal.state(second).unwrap(), told, "settled: {settled}");
    }
}
