//! Newer versions that the order of numbers and one document identifier do not show: corrections
//! under another identifier, and content that is sent again.

use std::sync::atomic::Ordering;

use exchange::{IdentifierChoice, Processing};
use journal::NewSubmission;
use report::{Event, State, SubmissionId};

use super::beside::{SAME, lead_to};
use super::lagging::{HOUR, pass};
use super::newer::put_off;
use super::waiting::{code, correct, release, turn, version};
use super::word;
use crate::house::{House, news};

fn identifier(house: &House, id: SubmissionId) -> String {
    house.journal.row(id).unwrap().identifier
}

fn events(house: &House, id: SubmissionId) -> Vec<&'static str> {
    house.journal.detail(id).unwrap().timeline.iter().map(|it| it.event.code()).collect()
}

/// The newer version is on hold after a refusal, and its correction, under another identifier, is
/// in doubt when the older one falls due.
#[tokio::test]
async fn a_correction_in_doubt_of_a_newer_version_counts() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.shown.store(1, Ordering::SeqCst);
    let first = put_off(&house, &worker).await;
    let newer = version(&house, 2);
    *house.authority.refuses_one.lock().unwrap() = Some(identifier(&house, newer));
    turn(&worker).await;
    *house.authority.refuses_one.lock().unwrap() = None;
    word(&house, newer, Event::HeldBack);
    // A witness that was sent after it.
    house.import("ours", 9);
    turn(&worker).await;
    let next = correct(&house, newer, 3);
    for _ in 0..600 {
        house.clock.pass(10);
        // The answer to the correction alone is lost.
        let waits = matches!(house.journal.state(next).unwrap(), State::Queued { attempt: 0, .. });
        house.authority.doubt.store(waits, Ordering::SeqCst);
        turn(&worker).await;
        let sent = house.authority.sent.lock().unwrap().clone();
        let at = |id| sent.iter().rposition(|it| *it == identifier(&house, id));
        assert!(code(&house, next) != "unknown" || at(first) < at(next), "{sent:?}");
    }
    assert!(events(&house, next).contains(&"doubted"), "{:?}", events(&house, next));
}

/// The newer version was refused so often that it is on hold when a person releases the older one,
/// and is in doubt after its own release: that one was no word about it.
#[tokio::test]
async fn a_release_beside_a_newer_one_on_hold_is_no_word_about_its_next_request() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.shown.store(1, Ordering::SeqCst);
    let first = put_off(&house, &worker).await;
    word(&house, first, Event::HeldBack);
    let newer = version(&house, 2);
    *house.authority.refuses_one.lock().unwrap() = Some(identifier(&house, newer));
    for number in 10..200 {
        if code(&house, newer) == "held" {
            break;
        }
        house.import("ours", number);
        pass(&house, &worker, 120).await;
    }
    assert!(events(&house, newer).contains(&"held-after-refusals"));
    *house.authority.refuses_one.lock().unwrap() = None;
    release(&house, first, 0);
    turn(&worker).await;
    assert_eq!(events(&house, first).last(), Some(&"other-not-shown"));
    let sent = house.sent();
    house.authority.doubt.store(true, Ordering::SeqCst);
    release(&house, newer, 0);
    turn(&worker).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, newer), "unknown");
    let since = house.authority.sent.lock().unwrap()[sent..].to_vec();
    assert!(!since.contains(&identifier(&house, first)));
}

/// A correction under another identifier was put off by an outage, and a newer version with the
/// first identifier has gone meanwhile.
#[tokio::test]
async fn a_correction_under_another_identifier_does_not_follow_a_newer_version() {
    let house = House::new();
    let worker = house.worker("one");
    let first = version(&house, 1);
    turn(&worker).await;
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Failed, Vec::new());
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, first), "failed");
    house.authority.limits.store(true, Ordering::SeqCst);
    let next = correct(&house, first, 2);
    pass(&house, &worker, 600).await;
    house.authority.limits.store(false, Ordering::SeqCst);
    let newer = version(&house, 3);
    turn(&worker).await;
    assert_eq!([code(&house, newer), code(&house, next)], ["in-progress", "queued"]);
    pass(&house, &worker, HOUR).await;
    assert_eq!(code(&house, next), "held");
}

/// The second version came while the first was in progress, and is stored although its request was
/// refused. The first one fails, and goes once more.
#[tokio::test]
async fn what_failed_and_goes_again_asks_for_a_version_that_was_refused_since() {
    for is_stored in [true, false] {
        let house = House::new();
        let worker = house.worker("one");
        house.authority.shown.store(1, Ordering::SeqCst);
        let first = version(&house, 1);
        pass(&house, &worker, 30).await;
        assert_eq!(code(&house, first), "in-progress");
        let second = version(&house, 2);
        *house.authority.refuses_one.lock().unwrap() = Some(identifier(&house, second));
        pass(&house, &worker, 30).await;
        *house.authority.refuses_one.lock().unwrap() = None;
        word(&house, second, Event::HeldBack);
        if is_stored {
            let stored = (identifier(&house, second), "r-new".to_owned());
            house.authority.accepted.lock().unwrap().push(stored);
        }
        house.authority.accepted.lock().unwrap().retain(|it| it.1 != "r-1");
        *house.authority.changes.lock().unwrap() = news("r-1", Processing::Failed, Vec::new());
        pass(&house, &worker, 300).await;
        assert_eq!(code(&house, first), "failed");
        *house.authority.changes.lock().unwrap() = client::Changes::default();
        let mut once_more = house.submission("ours", 1);
        once_more.identifier = "urn:uuid:00000000-0000-4000-8000-000000000099".to_owned();
        once_more.summary.identifier = Some("d-1".to_owned());
        once_more.corrects = Some(first);
        let again = house.journal.import(once_more).unwrap();
        pass(&house, &worker, 300).await;
        let asked = house.authority.asked_for.lock().unwrap().contains(&identifier(&house, second));
        assert!(asked);
        let expected = if is_stored { "held" } else { "queued" };
        assert_eq!(code(&house, again), expected, "stored: {is_stored}");
    }
}

/// A version that goes under the identifier of its document.
fn named_as_document(house: &House, endpoint: &str, number: u64) -> SubmissionId {
    let mut report = house.submission(endpoint, number);
    report.summary.identifier = Some("d-1".to_owned());
    house.journal.import(NewSubmission { identifier: "d-1".to_owned(), ..report }).unwrap()
}

/// Two endpoints of one authority want the document's identifier. What the first one has completed
/// under it says nothing of the version that the other one has sent in vain.
#[tokio::test]
async fn what_one_endpoint_has_completed_is_not_told_of_another_version_at_the_other() {
    let mut house = House::new();
    house.identifier = IdentifierChoice::Document;
    lead_to(&house, SAME);
    house.authority.shown.store(1, Ordering::SeqCst);
    let first = named_as_document(&house, "ours", 1);
    let worker = house.worker("one");
    turn(&worker).await;
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, first), "completed");
    let newer = named_as_document(&house, "theirs", 2);
    let other = house.worker_of("theirs", "two");
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    house.authority.doubt.store(true, Ordering::SeqCst);
    while code(&house, newer) == "queued" {
        pass(&house, &other, 10).await;
    }
    house.authority.doubt.store(false, Ordering::SeqCst);
    pass(&house, &other, 2 * HOUR).await;
    let receipt = house.journal.state(newer).unwrap().receipt().map(str::to_owned);
    assert_ne!(receipt.as_deref(), Some("r-1"), "that is the first one's");
    assert_eq!(house.authority.accepted.lock().unwrap().len(), 2, "it was sent again");
}

/// The second version came while the first was in progress, and is on hold when the first fails.
/// Both are released, and the second one goes first.
#[tokio::test]
async fn what_failed_and_goes_again_does_not_follow_a_version_that_has_arrived_since() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.shown.store(1, Ordering::SeqCst);
    let first = version(&house, 1);
    pass(&house, &worker, 30).await;
    assert_eq!(code(&house, first), "in-progress");
    let second = version(&house, 2);
    word(&house, second, Event::HeldBack);
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Failed, Vec::new());
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, first), "failed");
    house.authority.limits.store(true, Ordering::SeqCst);
    let mut once_more = house.submission("ours", 1);
    once_more.identifier = "urn:uuid:00000000-0000-4000-8000-000000000099".to_owned();
    once_more.summary.identifier = Some("d-1".to_owned());
    once_more.corrects = Some(first);
    let again = house.journal.import(once_more).unwrap();
    pass(&house, &worker, 60).await;
    assert_eq!(code(&house, again), "queued");
    house.authority.limits.store(false, Ordering::SeqCst);
    release(&house, second, 0);
    pass(&house, &worker, HOUR).await;
    let sent = house.authority.sent.lock().unwrap().clone();
    let at = |id| sent.iter().rposition(|it| *it == identifier(&house, id));
    assert!(at(again) < at(second), "{sent:?}");
    assert_eq!([code(&house, second), code(&house, again)], ["in-progress", "held"]);
}

/// A correction under another identifier is in progress when a version of what it corrects comes,
/// which is on hold when the correction fails. Both are released, and the version goes first.
#[tokio::test]
async fn a_correction_that_goes_again_does_not_follow_a_version_that_has_arrived_since() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.shown.store(1, Ordering::SeqCst);
    let first = version(&house, 1);
    pass(&house, &worker, 30).await;
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Failed, Vec::new());
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, first), "failed");
    let next = correct(&house, first, 2);
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, next), "in-progress");
    let newer = version(&house, 3);
    word(&house, newer, Event::HeldBack);
    *house.authority.changes.lock().unwrap() = news("r-2", Processing::Failed, Vec::new());
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, next), "failed");
    house.authority.limits.store(true, Ordering::SeqCst);
    let mut once_more = house.submission("ours", 2);
    once_more.identifier = "urn:uuid:00000000-0000-4000-8000-000000000099".to_owned();
    once_more.corrects = Some(next);
    let again = house.journal.import(once_more).unwrap();
    pass(&house, &worker, 60).await;
    assert_eq!(code(&house, again), "queued");
    house.authority.limits.store(false, Ordering::SeqCst);
    release(&house, newer, 0);
    pass(&house, &worker, HOUR).await;
    let sent = house.authority.sent.lock().unwrap().clone();
    let at = |id| sent.iter().rposition(|it| *it == identifier(&house, id));
    assert!(at(again) < at(newer), "{sent:?}");
    assert_eq!([code(&house, newer), code(&house, again)], ["in-progress", "held"]);
}
