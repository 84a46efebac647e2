//! A report that failed and is open again, because its correction was withdrawn: the authority has
//! it, and it is read by its number before it is sent.

use std::sync::atomic::Ordering;

use client::{Fault, Why};
use engine::{Clock as _, Formerly, Worker};
use exchange::Processing;
use fhir::Instant;
use report::{Event, State, SubmissionId};

use super::lagging::pass;
use super::waiting::{code, correct, release, turn};
use super::word;
use crate::house::{House, Willing, news};

/// Failed under r-1, corrected, and the correction withdrawn.
pub(super) async fn open_again(house: &House, worker: &Worker<Willing>) -> SubmissionId {
    let id = house.import("ours", 1);
    turn(worker).await;
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Failed, Vec::new());
    pass(house, worker, 300).await;
    assert_eq!(code(house, id), "failed");
    *house.authority.changes.lock().unwrap() = client::Changes::default();
    let newer = correct(house, id, 2);
    word(house, newer, Event::Withdrawn { reason: "slip".to_owned() });
    assert_eq!(house.journal.state(id).unwrap(), State::Held { attempt: 1 });
    id
}

/// In doubt after a lost answer; the empty answers are believed at last, while sending is paused.
pub(super) async fn believed_not_received(house: &House, worker: &Worker<Willing>) -> SubmissionId {
    house.authority.shown.store(1, Ordering::SeqCst);
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    turn(worker).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    assert_eq!(code(house, id), "unknown");
    for number in [7, 8, 9] {
        house.clock.pass(30);
        house.import("ours", number);
        turn(worker).await;
    }
    house.journal.set_paused(true).unwrap();
    for _ in 0..720 {
        house.clock.pass(10);
        turn(worker).await;
        if code(house, id) == "queued" {
            break;
        }
    }
    assert_eq!(code(house, id), "queued");
    id
}

/// The authority has told of it that it did not process it, under a number. Its correction is
/// withdrawn, so that it is open again, and a person releases it: the search does not show it yet,
/// and the authority has it all the same. Where it has forgotten it, and shows another of ours, it
/// is sent again.
#[tokio::test]
async fn what_failed_and_is_open_again_is_read_by_its_number_before_it_is_sent() {
    for is_forgotten in [false, true] {
        let house = House::new();
        let worker = house.worker("one");
        let id = open_again(&house, &worker).await;
        house.import("ours", 7);
        turn(&worker).await;
        house.clock.pass(600);
        *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
        house.authority.accepted.lock().unwrap().retain(|(_, receipt)| receipt != "r-1");
        house.authority.shown.store(1, Ordering::SeqCst);
        house.authority.forgot.store(is_forgotten, Ordering::SeqCst);
        release(&house, id, 0);
        turn(&worker).await;
        let told = (house.sent(), code(&house, id));
        assert_eq!(told, if is_forgotten { (3, "in-progress") } else { (2, "failed") });
    }
}

/// Believed not received after a doubt, held back, and the search shows later that it failed. Its
/// correction is withdrawn and it is released: the authority has it, and the search shows it.
#[tokio::test]
async fn what_failed_after_it_was_believed_not_received_is_asked_for() {
    let mut ends = Vec::new();
    for shows in [true, false] {
        let house = House::new();
        let worker = house.worker("one");
        let id = believed_not_received(&house, &worker).await;
        // It had arrived after all, and failed.
        let identifier = house.journal.row(id).unwrap().identifier;
        word(&house, id, Event::Failed { receipt: "r-late".to_owned() });
        assert_eq!(code(&house, id), "failed");
        house.journal.set_paused(false).unwrap();
        *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
        if shows {
            house
                .authority
                .accepted
                .lock()
                .unwrap()
                .push((identifier.clone(), "r-late".to_owned()));
        }
        let newer = correct(&house, id, 2);
        word(&house, newer, Event::Withdrawn { reason: "slip".to_owned() });
        assert_eq!(house.journal.state(id).unwrap(), State::Held { attempt: 1 });
        let asked = house.authority.asked_for.lock().unwrap().len();
        let times = |sent: &[String]| sent.iter().filter(|it| **it == identifier).count();
        let before = times(&house.authority.sent.lock().unwrap());
        release(&house, id, 0);
        turn(&worker).await;
        let sent = times(&house.authority.sent.lock().unwrap());
        let asked = house.authority.asked_for.lock().unwrap().len() - asked;
        ends.push((shows, before, sent, asked, code(&house, id)));
    }
    let once = ends.iter().all(|it| it.1 == it.2 && it.4 == "failed");
    assert!(once, "shown, sent before, sent after, asked, state: {ends:?}");
}

/// What failed was sent with a former certificate. The search lags, and the read with that
/// certificate is put off for a moment; to the one in use the number is not there.
#[tokio::test]
async fn a_number_that_the_former_certificate_could_not_read_is_no_proof() {
    let house = House::new();
    let worker = house.worker("one");
    let id = open_again(&house, &worker).await;
    // Another certificate is in use from now on: it is shown nothing.
    let until = house.clock.now();
    let formerly = client_of_before(&house);
    let why = Why::Unavailable { status: 503 };
    let fault = Fault::Transient { why, retry_after: None, evidence: None };
    *formerly.lost_read.lock().unwrap() = Some(fault);
    house.clock.pass(3_600);
    house.authority.forgot.store(true, Ordering::SeqCst);
    let from = Instant(i64::MIN);
    let former =
        Formerly { from, until, alone_until: until, through: None, authority: Some(formerly) };
    let worker = house.worker("two").with_former(vec![former]);
    release(&house, id, 0);
    turn(&worker).await;
    assert_eq!((house.sent(), code(&house, id)), (1, "unknown"));
    // That a former certificate could not ask says nothing about the way.
    let other = house.import("ours", 8);
    turn(&worker).await;
    assert_eq!((house.sent(), code(&house, other)), (2, "in-progress"));
}

fn client_of_before(house: &House) -> Willing {
    let mut before = house.authority.clone();
    (before.lost_read, before.forgot, before.read) = Default::default();
    before
}
