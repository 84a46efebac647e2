//! Versions of one document that go in another order than they were taken in: what goes out last is
//! what the authority goes by, so that an older version does not follow a newer one in silence.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use engine::{Clock as _, Worker};
use house::{House, Willing};
use journal::Step;
use report::{Event, Person, SubmissionId};
use tokio_util::sync::CancellationToken;

const NEWER: &str = "newer-version-delivered";

/// A version of one document, ready to be sent.
fn version(house: &House, number: u64) -> SubmissionId {
    let mut report = house.submission("ours", number);
    report.summary.identifier = Some("d-1".to_owned());
    house.journal.import(report).unwrap()
}

async fn pass(house: &House, worker: &Worker<Willing>, seconds: usize) {
    for _ in 0..seconds / 10 {
        house.clock.pass(10);
        worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    }
}

fn state(house: &House, id: SubmissionId) -> &'static str {
    house.journal.state(id).unwrap().code()
}

/// What was sent last under the identifier of a report.
fn was_sent_last(house: &House, id: SubmissionId) -> bool {
    house.authority.sent.lock().unwrap().last() == Some(&house.journal.row(id).unwrap().identifier)
}

fn is_told(house: &House, id: SubmissionId) -> bool {
    house.journal.detail(id).unwrap().messages.iter().any(|it| it.code == NEWER)
}

/// An outage has put the first version off. The authority is back when the newer one comes, which
/// is sent at once.
async fn outdated(house: &House, worker: &Worker<Willing>) -> [SubmissionId; 2] {
    house.authority.limits.store(true, Ordering::SeqCst);
    let first = version(house, 1);
    pass(house, worker, 600).await;
    house.authority.limits.store(false, Ordering::SeqCst);
    let newer = version(house, 2);
    pass(house, worker, 1_800).await;
    [first, newer]
}

#[tokio::test]
async fn what_an_outage_has_put_off_waits_where_a_newer_version_has_arrived() {
    let house = House::new();
    let worker = house.worker("one");
    let [first, newer] = outdated(&house, &worker).await;
    assert_eq!(state(&house, newer), "in-progress");
    assert_eq!(state(&house, first), "held");
    assert!(is_told(&house, first) && was_sent_last(&house, newer));
}

#[tokio::test]
async fn a_person_who_releases_it_all_the_same_is_asked_once() {
    let house = House::new();
    let worker = house.worker("one");
    let [first, _] = outdated(&house, &worker).await;
    let (now, person) = (house.clock.now(), Person("Ada".to_owned()));
    let step =
        Step::new(first, Event::Released { reason: "both".to_owned(), due: now }, person, now);
    house.journal.record(step).unwrap();
    pass(&house, &worker, 60).await;
    assert_eq!(state(&house, first), "in-progress");
}

/// A connection ended before the first version had arrived. While it is in doubt the newer one is
/// sent and accepted. The doubt ends: the first one had not arrived.
#[tokio::test]
async fn what_was_in_doubt_waits_where_a_newer_version_has_arrived() {
    let house = House::new();
    let worker = house.worker("one");
    house.import("ours", 9);
    pass(&house, &worker, 120).await;
    house.authority.shown.store(1, Ordering::SeqCst);
    house.authority.doubt.store(true, Ordering::SeqCst);
    let first = version(&house, 1);
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    assert_eq!(state(&house, first), "unknown");
    house.authority.doubt.store(false, Ordering::SeqCst);
    house.clock.pass(60);
    let newer = version(&house, 2);
    pass(&house, &worker, 1_200).await;
    assert_eq!(state(&house, newer), "in-progress");
    assert_eq!(state(&house, first), "held");
    assert!(is_told(&house, first) && was_sent_last(&house, newer));
}

/// A person releases the first version, to go in fifty minutes. The answer about the newer one is
/// lost meanwhile, and somebody says that the authority has it: that was not known at the release.
#[tokio::test]
async fn what_was_released_before_a_newer_version_was_said_to_be_received_waits() {
    let house = House::new();
    let worker = house.worker("one");
    let first = version(&house, 1);
    let word = |id, event| {
        let step = Step::new(id, event, Person("Ada".to_owned()), house.clock.now());
        house.journal.record(step).unwrap();
    };
    word(first, Event::HeldBack);
    let due = house.clock.now().plus_seconds(3_000);
    word(first, Event::Released { reason: "later".to_owned(), due });
    house.authority.doubt.store(true, Ordering::SeqCst);
    let newer = version(&house, 2);
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
    house.authority.doubt.store(false, Ordering::SeqCst);
    assert_eq!(state(&house, newer), "unknown");
    word(newer, Event::SaidReceived { reason: "hotline".to_owned() });
    pass(&house, &worker, 3_300).await;
    assert_eq!(state(&house, first), "held");
    assert!(is_told(&house, first) && was_sent_last(&house, newer));
    word(first, Event::Released { reason: "both".to_owned(), due: house.clock.now() });
    pass(&house, &worker, 60).await;
    assert_eq!(state(&house, first), "in-progress", "who releases it now has decided");
}

/// In the order in which they were taken in all versions go.
#[tokio::test]
async fn versions_that_go_in_their_order_wait_for_nobody() {
    let house = House::new();
    let worker = house.worker("one");
    let [first, newer] = [version(&house, 1), version(&house, 2)];
    pass(&house, &worker, 60).await;
    assert_eq!([state(&house, first), state(&house, newer)], ["in-progress"; 2]);
    assert!(was_sent_last(&house, newer));
}
