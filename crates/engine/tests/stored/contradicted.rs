//! What was believed, said or told of a report, and what the authority shows of it otherwise: under
//! another certificate, in another delivery, or later.

use std::sync::atomic::Ordering;

use client::{Evidence, Fault, Why};
use engine::{Clock as _, Formerly};
use exchange::{Answer, Processing};
use fhir::Instant;
use report::Event;

use super::lagging::pass;
use super::reopened::{believed_not_received, open_again};
use super::waiting::{code, correct, release, turn};
use super::word;
use crate::house::{House, Willing};

/// The authority as a former certificate is shown it: what it tells is set apart.
fn former_client(house: &House) -> Willing {
    let mut before = house.authority.clone();
    (before.lost_read, before.lost_find, before.forgot) = Default::default();
    (before.read, before.processed, before.deliveries) = Default::default();
    before
}

fn unavailable(heard: bool) -> Fault {
    let evidence = heard.then(|| Box::new(Evidence { status: 503, ..Evidence::default() }));
    Fault::Transient { why: Why::Unavailable { status: 503 }, retry_after: None, evidence }
}

/// A gateway has repeated the request: the delivery that is known fails as the duplicate of the
/// other one. The certificate was replaced since, and the question with the former one, which alone
/// is shown them, is put off once.
#[tokio::test]
async fn a_question_that_the_former_certificate_could_not_ask_is_no_answer() {
    let mut ends = Vec::new();
    for heard in [true, false] {
        let house = House::new();
        let worker = house.worker("one");
        let id = house.import("ours", 1);
        turn(&worker).await;
        assert_eq!(code(&house, id), "in-progress");
        let until = house.clock.now();
        let former = former_client(&house);
        *former.processed.lock().unwrap() = Some(Processing::Failed);
        let deliveries = [("r-1", Processing::Failed), ("r-7", Processing::InProgress)];
        *former.deliveries.lock().unwrap() =
            deliveries.map(|(receipt, it)| (receipt.to_owned(), it)).to_vec();
        *former.lost_find.lock().unwrap() = Some(unavailable(heard));
        house.clock.pass(3_600);
        // The one in use is another laboratory's: it is shown nothing.
        house.authority.forgot.store(true, Ordering::SeqCst);
        let formerly = Formerly {
            from: Instant(i64::MIN),
            until,
            alone_until: until,
            through: None,
            authority: Some(former.clone()),
        };
        let worker = house.worker("two").with_former(vec![formerly]);
        for _ in 0..60 {
            pass(&house, &worker, 10).await;
            if !former.read.lock().unwrap().is_empty() {
                break;
            }
        }
        let at_once = code(&house, id);
        *former.lost_find.lock().unwrap() = None;
        pass(&house, &worker, 1_800).await;
        let later = code(&house, id);
        former.deliveries.lock().unwrap()[1].1 = Processing::Completed;
        *former.processed.lock().unwrap() = Some(Processing::Failed);
        pass(&house, &worker, 3_600).await;
        let end = code(&house, id);
        // Who is told *failed* corrects.
        let mut beside = 0;
        if end == "failed" {
            let sent = house.sent();
            correct(&house, id, 2);
            pass(&house, &worker, 600).await;
            beside = house.sent() - sent;
        }
        ends.push((heard, at_once, later, end, beside));
    }
    assert!(
        ends.iter().all(|it| (it.1, it.2, it.3) == ("in-progress", "in-progress", "completed")),
        "heard, at once, later, in the end, corrections beside it: {ends:?}"
    );
}

/// A gateway has repeated the request, and the search stands still for some minutes: the delivery
/// that is known fails, and the other one is shown later. Nothing else is sent.
#[tokio::test]
async fn a_search_that_stands_still_hides_no_other_delivery_for_ever() {
    let house = House::new();
    let worker = house.worker("one");
    let id = house.import("ours", 1);
    turn(&worker).await;
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    pass(&house, &worker, 900).await;
    let first = code(&house, id);
    let deliveries = [("r-1", Processing::Failed), ("r-7", Processing::Completed)];
    *house.authority.deliveries.lock().unwrap() =
        deliveries.map(|(receipt, it)| (receipt.to_owned(), it)).to_vec();
    pass(&house, &worker, 7_200).await;
    let later = code(&house, id);
    let sent = house.sent();
    let newer = correct(&house, id, 2);
    pass(&house, &worker, 600).await;
    let beside = (house.sent() - sent, code(&house, newer));
    assert_eq!(beside, (0, "held"), "first {first}, later {later}");
    // Nobody releases it: the other delivery counts once the slip is withdrawn.
    word(&house, newer, Event::Withdrawn { reason: "arrived".to_owned() });
    release(&house, id, 0);
    turn(&worker).await;
    assert_eq!((house.sent() - sent, code(&house, id)), (0, "completed"));
}

/// Two certificates may have been in use, because a clock was wrong at the change: the number is
/// looked for with both.
#[tokio::test]
async fn each_certificate_that_may_have_sent_it_must_answer() {
    let house = House::new();
    let worker = house.worker("one");
    let id = open_again(&house, &worker).await;
    let until = house.clock.now();
    let (one, other) = (former_client(&house), former_client(&house));
    one.forgot.store(true, Ordering::SeqCst);
    *other.lost_read.lock().unwrap() = Some(unavailable(false));
    house.clock.pass(3_600);
    house.authority.forgot.store(true, Ordering::SeqCst);
    let (from, alone_until) = (Instant(i64::MIN), Instant(i64::MIN));
    let former =
        |it: Willing| Formerly { from, until, alone_until, through: None, authority: Some(it) };
    let worker = house.worker("two").with_former(vec![former(one), former(other)]);
    release(&house, id, 0);
    turn(&worker).await;
    assert_eq!((house.sent(), code(&house, id)), (1, "unknown"));
}

/// Somebody has said that it was not received, and the authority has told since that it failed: the
/// word is older than that.
#[tokio::test]
async fn a_word_does_not_outlive_what_the_authority_has_told_since() {
    let house = House::new();
    let worker = house.worker("one");
    let id = house.import("ours", 1);
    turn(&worker).await;
    house.journal.set_paused(true).unwrap();
    let due = house.clock.now();
    word(&house, id, Event::SaidNotReceived { reason: "hotline".to_owned(), due });
    word(&house, id, Event::Failed { receipt: "r-1".to_owned() });
    let newer = correct(&house, id, 2);
    word(&house, newer, Event::Withdrawn { reason: "slip".to_owned() });
    house.journal.set_paused(false).unwrap();
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    *house.authority.lost_find.lock().unwrap() = Some(unavailable(true));
    release(&house, id, 0);
    turn(&worker).await;
    assert_eq!(house.sent(), 1, "{}", code(&house, id));
}

/// An authority that was restored from a backup has given the number of what failed to another
/// report of ours, and names no identifiers.
#[tokio::test]
async fn a_number_that_another_report_has_now_says_nothing_of_what_failed() {
    let house = House::new();
    let worker = house.worker("one");
    let id = open_again(&house, &worker).await;
    house.authority.sent.lock().unwrap().clear();
    house.authority.accepted.lock().unwrap().clear();
    let other = house.import("ours", 5);
    turn(&worker).await;
    assert_eq!(house.journal.state(other).unwrap().receipt(), Some("r-1"));
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    release(&house, id, 0);
    turn(&worker).await;
    assert_ne!(code(&house, id), "completed", "the other one is {}", code(&house, other));
}

/// The release of an authority that cannot search: the number can be read all the same.
#[tokio::test]
async fn where_nobody_can_search_the_number_is_read() {
    let house = House::new();
    let worker = house.worker("one");
    let id = open_again(&house, &worker).await;
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    let (retry_after, evidence) = (None, None);
    let fault = Fault::Transient { why: Why::SearchUnsupported, retry_after, evidence };
    *house.authority.lost_find.lock().unwrap() = Some(fault);
    release(&house, id, 0);
    turn(&worker).await;
    assert_eq!((house.sent(), code(&house, id)), (1, "failed"));
}

/// The read by id is refused with the certificate that it was sent with: the second way is asked
/// with that one too.
#[tokio::test]
async fn the_second_way_is_asked_with_the_certificate_that_it_was_sent_with() {
    let house = House::new();
    let worker = house.worker("one");
    let id = house.import("ours", 1);
    turn(&worker).await;
    let until = house.clock.now();
    let former = former_client(&house);
    let answer = Box::new(Answer::default());
    *former.lost_read.lock().unwrap() = Some(Fault::Refused {
        answer,
        evidence: Box::new(Evidence { status: 400, ..Evidence::default() }),
    });
    *former.deliveries.lock().unwrap() = vec![("r-1".to_owned(), Processing::Completed)];
    house.clock.pass(3_600);
    house.authority.forgot.store(true, Ordering::SeqCst);
    let (from, authority) = (Instant(i64::MIN), Some(former));
    let formerly = Formerly { from, until, alone_until: until, through: None, authority };
    let worker = house.worker("two").with_former(vec![formerly]);
    pass(&house, &worker, 7_200).await;
    assert_eq!(code(&house, id), "completed");
}

/// Believed not received, told to be in progress after all, and a person says wrongly that it was
/// not received: what the authority has told since leaves the request open, and it is asked for.
#[tokio::test]
async fn what_was_accepted_after_it_was_believed_not_received_is_asked_for() {
    let house = House::new();
    let worker = house.worker("one");
    let id = believed_not_received(&house, &worker).await;
    let identifier = house.journal.row(id).unwrap().identifier;
    let (receipt, now) = ("r-late".to_owned(), house.clock.now());
    word(&house, id, Event::Accepted { receipt: receipt.clone(), since: now, due: now });
    word(&house, id, Event::SaidNotReceived { reason: "hotline".to_owned(), due: now });
    house.authority.accepted.lock().unwrap().push((identifier.clone(), receipt));
    house.journal.set_paused(false).unwrap();
    let times =
        || house.authority.sent.lock().unwrap().iter().filter(|it| **it == identifier).count();
    let before = times();
    turn(&worker).await;
    assert_eq!((times() - before, code(&house, id)), (0, "in-progress"));
}

/// The same where the doubt had ended as rejected, because the last request was refused.
#[tokio::test]
async fn what_was_accepted_after_a_doubt_ended_as_rejected_is_asked_for() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.shown.store(1, Ordering::SeqCst);
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    turn(&worker).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    assert_eq!(code(&house, id), "unknown");
    let (now, identifier) = (house.clock.now(), house.journal.row(id).unwrap().identifier);
    let refused = Event::WHY_REFUSED.to_owned();
    word(&house, id, Event::Doubted { since: now, due: now, why: refused });
    word(&house, id, Event::Rejected);
    word(&house, id, Event::Accepted { receipt: "r-9".to_owned(), since: now, due: now });
    word(&house, id, Event::SaidNotReceived { reason: "hotline".to_owned(), due: now });
    house.authority.accepted.lock().unwrap().push((identifier.clone(), "r-9".to_owned()));
    pass(&house, &worker, 600).await;
    assert_eq!((house.sent(), code(&house, id)), (1, "in-progress"));
}

/// The certificate has lost its access for a while: neither the search nor the number shows
/// anything, as to anybody without access.
#[tokio::test]
async fn who_is_shown_nothing_at_all_does_not_believe_that_a_number_is_gone() {
    let house = House::new();
    let worker = house.worker("one");
    let id = open_again(&house, &worker).await;
    house.import("ours", 7);
    turn(&worker).await;
    house.clock.pass(600);
    house.authority.forgot.store(true, Ordering::SeqCst);
    release(&house, id, 0);
    turn(&worker).await;
    assert_eq!((house.sent(), code(&house, id)), (2, "unknown"));
    // Nor is the way closed because one number is not there.
    let other = house.import("ours", 8);
    turn(&worker).await;
    assert_eq!((house.sent(), code(&house, other)), (3, "in-progress"));
    // A person says that it was not received.
    let due = house.clock.now();
    word(&house, id, Event::SaidNotReceived { reason: "hotline".to_owned(), due });
    turn(&worker).await;
    assert_eq!((house.sent(), code(&house, id)), (4, "in-progress"));
}
