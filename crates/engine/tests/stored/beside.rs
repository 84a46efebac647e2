//! Two endpoints that lead to one authority, as two laboratories of a group have them, each with a
//! certificate of its own: the authority counts what comes by either.

use std::sync::atomic::Ordering;

use engine::{Clock as _, Worker};
use journal::{EndpointNote, Imported, NewSubmission, Unless};
use report::{Event, SubmissionId};

use super::lagging::{HOUR, pass};
use super::newer::put_off;
use super::waiting::{code, release, turn, version};
use super::word;
use crate::house::{House, Willing};

/// Both are noted with one address, or the second with another.
pub(super) fn lead_to(house: &House, theirs: &str) {
    for (id, base) in [("ours", "https://authority.example/v1/fhir"), ("theirs", theirs)] {
        let (name, environment) = (id.to_owned(), "integration".to_owned());
        let note = EndpointNote { name, base: base.to_owned(), environment };
        house.journal.note_endpoint(id, note).unwrap();
    }
}

/// The same address, written with a slash at its end.
pub(super) const SAME: &str = "https://authority.example/v1/fhir/";
const ANOTHER: &str = "https://another.example/v1/fhir";

/// The second version of the document, to the other endpoint.
fn newer_at_theirs(house: &House) -> SubmissionId {
    let mut report = house.submission("theirs", 2);
    report.summary.identifier = Some("d-1".to_owned());
    house.journal.import(report).unwrap()
}

/// A person puts it off for two hours.
fn put_aside(house: &House, id: SubmissionId) {
    word(house, id, Event::HeldBack);
    release(house, id, 2 * HOUR);
}

fn warnings(house: &House, id: SubmissionId) -> Vec<String> {
    house.journal.detail(id).unwrap().messages.into_iter().map(|it| it.code).collect()
}

/// The older version has been put off, and the newer one has gone by the other endpoint.
#[tokio::test]
async fn an_older_version_does_not_follow_a_newer_one_that_went_by_another_endpoint() {
    for (theirs, expected) in [(SAME, "held"), (ANOTHER, "in-progress")] {
        let house = House::new();
        lead_to(&house, theirs);
        let worker = house.worker("one");
        let first = put_off(&house, &worker).await;
        put_aside(&house, first);
        let newer = newer_at_theirs(&house);
        pass(&house, &house.worker_of("theirs", "two"), 300).await;
        assert_eq!(code(&house, newer), "in-progress");
        pass(&house, &worker, 3 * HOUR).await;
        assert_eq!(code(&house, first), expected, "{theirs}");
        if expected == "held" {
            assert!(warnings(&house, first).contains(&"newer-version-delivered".to_owned()));
            // A person who has read that sends it all the same.
            release(&house, first, 10);
            pass(&house, &worker, 60).await;
            assert_eq!(code(&house, first), "in-progress");
        }
    }
}

/// The newer version is in doubt at the other endpoint: the older one waits until that is over.
#[tokio::test]
async fn an_older_version_waits_for_the_doubt_of_another_endpoint() {
    let house = House::new();
    lead_to(&house, SAME);
    let worker = house.worker("one");
    let first = put_off(&house, &worker).await;
    put_aside(&house, first);
    let newer = newer_at_theirs(&house);
    house.authority.doubt.store(true, Ordering::SeqCst);
    pass(&house, &house.worker_of("theirs", "two"), 300).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    assert_eq!(code(&house, newer), "unknown");
    let sent = house.sent();
    pass(&house, &worker, 3 * HOUR).await;
    assert_eq!((house.sent(), code(&house, first)), (sent, "queued"));
}

/// The first version, whose request a gateway has refused.
async fn refused_at(house: &House, worker: &Worker<Willing>) -> SubmissionId {
    house.authority.refuses.store(true, Ordering::SeqCst);
    let id = version(house, 1);
    turn(worker).await;
    house.authority.refuses.store(false, Ordering::SeqCst);
    id
}

#[tokio::test]
async fn what_was_refused_at_one_endpoint_is_decided_by_a_person_before_another_version_goes() {
    let house = House::new();
    lead_to(&house, SAME);
    let worker = house.worker("one");
    let first = put_off(&house, &worker).await;
    put_aside(&house, first);
    let newer = newer_at_theirs(&house);
    house.authority.refuses.store(true, Ordering::SeqCst);
    pass(&house, &house.worker_of("theirs", "two"), 300).await;
    house.authority.refuses.store(false, Ordering::SeqCst);
    word(&house, newer, Event::HeldBack);
    let sent = house.sent();
    pass(&house, &worker, 3 * HOUR).await;
    assert_eq!((house.sent(), code(&house, first)), (sent, "held"));
    assert!(warnings(&house, first).contains(&"other-version-not-asked".to_owned()));
}

/// The same content once more.
fn once_more(house: &House, endpoint: &str) -> NewSubmission {
    let mut again = house.submission(endpoint, 1);
    again.identifier = "urn:uuid:00000000-0000-4000-8000-000000000009".to_owned();
    again.summary.identifier = Some("d-1".to_owned());
    again
}

fn hand_over(house: &House, new: NewSubmission, unless: Unless) -> Imported {
    house.journal.import_unless_async(new, unless).wait().unwrap()
}

#[tokio::test]
async fn content_that_one_endpoint_has_sent_is_known_at_the_other() {
    for (theirs, is_known) in [(SAME, true), (ANOTHER, false)] {
        let house = House::new();
        lead_to(&house, theirs);
        let id = version(&house, 1);
        turn(&house.worker("one")).await;
        assert_eq!(code(&house, id), "in-progress");
        for unless in [Unless::Known, Unless::Open] {
            let again = hand_over(&house, once_more(&house, "theirs"), unless);
            assert_eq!(again == Imported::Known(vec![id]), is_known, "{theirs} {unless:?}");
            if !is_known {
                break;
            }
        }
    }
}

/// It was withdrawn after a request that was refused, and goes by the other endpoint: whether the
/// authority has it cannot be asked there.
#[tokio::test]
async fn withdrawn_content_of_one_endpoint_is_decided_by_a_person_at_the_other() {
    let house = House::new();
    lead_to(&house, SAME);
    let id = refused_at(&house, &house.worker("one")).await;
    word(&house, id, Event::Withdrawn { reason: "sent by fax".to_owned() });
    let Imported::New(again) = hand_over(&house, once_more(&house, "theirs"), Unless::Open) else {
        panic!("it was withdrawn")
    };
    let (worker, sent) = (house.worker_of("theirs", "two"), house.sent());
    pass(&house, &worker, 600).await;
    assert_eq!((house.sent(), code(&house, again)), (sent, "held"));
    assert!(warnings(&house, again).contains(&"same-report-not-asked".to_owned()));
    word(&house, again, Event::Released { reason: "x".to_owned(), due: house.clock.now() });
    pass(&house, &worker, 60).await;
    assert_eq!(code(&house, again), "in-progress");
}
