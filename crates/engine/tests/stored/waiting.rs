//! What waits because another report may be at the authority, beside everything else that happens.

use std::sync::atomic::Ordering;

use client::{Evidence, Fault};
use engine::{Clock as _, Formerly, Worker};
use exchange::{IdentifierChoice, Processing};
use fhir::{Instant, Issue};
use journal::NewSubmission;
use report::{Event, Group, State, SubmissionId};
use tokio_util::sync::CancellationToken;

use super::lagging::{HOUR, pass};
use super::{refused, word};
use crate::house::{House, Willing, news, reason};

pub(super) fn correct(house: &House, id: SubmissionId, number: u64) -> SubmissionId {
    let new = NewSubmission { corrects: Some(id), ..house.submission("ours", number) };
    house.journal.import(new).unwrap()
}

pub(super) fn version(house: &House, number: u64) -> SubmissionId {
    let mut report = house.submission("ours", number);
    report.summary.identifier = Some("d-1".to_owned());
    house.journal.import(report).unwrap()
}

pub(super) fn code(house: &House, id: SubmissionId) -> &'static str {
    house.journal.state(id).unwrap().code()
}

pub(super) async fn turn(worker: &Worker<Willing>) {
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
}

pub(super) fn release(house: &House, id: SubmissionId, after: i64) {
    let due = house.clock.now().plus_seconds(after);
    word(house, id, Event::Released { reason: "x".to_owned(), due });
}

/// Refuses every question by identifier.
fn refuse_questions(house: &House) {
    let answer = Box::new(exchange::Answer::default());
    let evidence = Box::new(Evidence { status: 400, ..Evidence::default() });
    *house.authority.lost_find.lock().unwrap() = Some(Fault::Refused { answer, evidence });
}

/// Rejected in words that are no verdict on the content, which is what business rules are.
async fn rejected(house: &House, worker: &Worker<Willing>, identifier: &str) -> SubmissionId {
    *house.authority.reasons.lock().unwrap() =
        vec![Issue { code: "business-rule".to_owned(), ..reason() }];
    house.authority.rejects.store(true, Ordering::SeqCst);
    let id = house.import_as("ours", 1, identifier.to_owned());
    turn(worker).await;
    house.authority.rejects.store(false, Ordering::SeqCst);
    assert_eq!(house.journal.state(id).unwrap(), State::Rejected);
    id
}

const ONE: &str = "urn:uuid:00000000-0000-4000-8000-000000000001";

// F1
/// The search does not show one of the newest reports, which the authority has by its number, so
/// that no empty answer is ever believed: a person is told, and a release counts.
#[tokio::test]
async fn a_correction_that_waits_for_hours_is_told() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.shown.store(1, Ordering::SeqCst);
    for number in [5, 6] {
        house.import("ours", number);
        turn(&worker).await;
        house.clock.pass(120);
    }
    *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
    // The search never shows the last one; the authority has it by its number.
    house.authority.accepted.lock().unwrap().pop();
    let id = rejected(&house, &worker, ONE).await;
    let newer = correct(&house, id, 2);
    let sent = house.sent();
    pass(&house, &worker, 3 * HOUR).await;
    let group = house.journal.state(newer).unwrap().group(house.clock.now());
    let is_told = group == Group::NeedsAttention || !house.journal.notices().unwrap().is_empty();
    if code(&house, newer) == "queued" {
        word(&house, newer, Event::HeldBack);
        release(&house, newer, 0);
        pass(&house, &worker, 3 * HOUR).await;
    }
    assert!(is_told || house.sent() > sent, "{:?}", house.journal.state(newer).unwrap());
}

// F1, by a clock
/// By our clock the request is still to come, and every start begins anew to count by the steady
/// one: the questions count too.
#[tokio::test]
async fn a_clock_that_is_set_back_and_restarts_hold_no_correction_for_ever() {
    let house = House::new();
    let (id, worker) = refused(&house).await;
    word(&house, id, Event::HeldBack);
    let newer = correct(&house, id, 2);
    pass(&house, &worker, 600).await;
    drop(worker);
    house.clock.set(-86_400);
    for _ in 0..10 {
        house.clock.pass(60);
        pass(&house, &house.worker("one"), 1_800).await;
    }
    let group = house.journal.state(newer).unwrap().group(house.clock.now());
    assert!(house.sent() > 1 || group == Group::NeedsAttention);
}

// F2
/// A gateway repeated a request: one delivery was rejected and the other one was stored. The
/// correction goes under the same identifier and does not arrive: what is shown is not told of it.
#[tokio::test]
async fn what_was_stored_of_a_rejected_report_is_not_told_of_its_correction() {
    for is_lost in [true, false] {
        let mut house = House::new();
        house.identifier = IdentifierChoice::Document;
        let worker = house.worker("one");
        let id = rejected(&house, &worker, ONE).await;
        let mut new = NewSubmission { corrects: Some(id), ..house.submission("ours", 2) };
        new.identifier = ONE.to_owned();
        let newer = house.journal.import(new).unwrap();
        // The other delivery of the first one is there.
        house.authority.finds.lock().unwrap().push("r-9".to_owned());
        *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
        house.clock.pass(60);
        turn(&worker).await;
        assert_eq!(code(&house, newer), "held");
        // The correction is released, and nothing of it arrives.
        let fault = if is_lost { &house.authority.doubt } else { &house.authority.refuses };
        fault.store(true, Ordering::SeqCst);
        release(&house, newer, 0);
        turn(&worker).await;
        if !is_lost {
            fault.store(false, Ordering::SeqCst);
        }
        pass(&house, &worker, 1_200).await;
        assert_ne!(code(&house, newer), "completed", "lost: {is_lost}");
    }
}

// F3
/// An outage has put the first version off, and the answer about the newer one is lost just before
/// the first one falls due: what goes out last is what the authority goes by.
#[tokio::test]
async fn an_older_version_does_not_go_while_the_newer_one_is_in_doubt() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.limits.store(true, Ordering::SeqCst);
    let first = version(&house, 1);
    pass(&house, &worker, 600).await;
    house.authority.limits.store(false, Ordering::SeqCst);
    let soon = |house: &House| house.clock.now().plus_seconds(1);
    while house.journal.next_due_at("ours").unwrap().unwrap() > soon(&house) {
        house.clock.pass(1);
    }
    house.authority.doubt.store(true, Ordering::SeqCst);
    let newer = version(&house, 2);
    turn(&worker).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    assert_eq!(code(&house, newer), "unknown");
    // It is stored, and the search shows it at once.
    let identifier = house.journal.row(newer).unwrap().identifier;
    house.authority.accepted.lock().unwrap().push((identifier, "r-new".to_owned()));
    house.authority.shown.store(1, Ordering::SeqCst);
    for _ in 0..600 {
        house.clock.pass(1);
        turn(&worker).await;
    }
    assert_eq!([code(&house, first), code(&house, newer)], ["held", "in-progress"]);
}

// F4
/// Another delivery of what was rejected is stored. Its correction is withdrawn, so that it is open
/// again, and a person releases it: it is asked for first.
#[tokio::test]
async fn what_was_rejected_and_is_open_again_is_asked_for_before_it_is_sent() {
    let house = House::new();
    let worker = house.worker("one");
    let id = rejected(&house, &worker, ONE).await;
    let newer = correct(&house, id, 2);
    word(&house, newer, Event::Withdrawn { reason: "slip".to_owned() });
    assert_eq!(house.journal.state(id).unwrap(), State::Held { attempt: 1 });
    house.authority.finds.lock().unwrap().push("r-9".to_owned());
    house.clock.pass(3_600);
    release(&house, id, 0);
    turn(&worker).await;
    assert_eq!(house.sent(), 1);
}

// F5
/// The first version is stored, and nobody could be asked for it when the second one left, which
/// was rejected. The third one waits: now the question is answered.
#[tokio::test]
async fn what_was_never_asked_for_is_asked_for_before_the_next_correction() {
    let house = House::new();
    let (id, worker) = refused(&house).await;
    word(&house, id, Event::HeldBack);
    let second = correct(&house, id, 2);
    refuse_questions(&house);
    pass(&house, &worker, 120).await;
    assert_eq!(code(&house, second), "held");
    house.authority.rejects.store(true, Ordering::SeqCst);
    release(&house, second, 0);
    pass(&house, &worker, 1_900).await;
    assert_eq!(house.journal.state(second).unwrap(), State::Rejected);
    assert_eq!(house.journal.state(id).unwrap(), State::Superseded { by: second });
    house.authority.rejects.store(false, Ordering::SeqCst);
    *house.authority.lost_find.lock().unwrap() = None;
    house.authority.shown.store(1, Ordering::SeqCst);
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    let identifier = house.journal.row(id).unwrap().identifier;
    house.authority.accepted.lock().unwrap().push((identifier, "r-9".to_owned()));
    let third = correct(&house, second, 3);
    let sent = house.sent();
    pass(&house, &worker, 600).await;
    assert_eq!((house.sent(), code(&house, third)), (sent, "held"));
}

// F6
/// The newer version had failed, or somebody had said that it was not received, when a person
/// released the older one. It counts again meanwhile: nobody has decided about that.
#[tokio::test]
async fn a_newer_version_that_counts_again_was_not_decided_about() {
    let mut failures = Vec::new();
    for by_word in [false, true] {
        let house = House::new();
        let worker = house.worker("one");
        let first = version(&house, 1);
        word(&house, first, Event::HeldBack);
        let newer = version(&house, 2);
        turn(&worker).await;
        if by_word {
            let due = house.clock.now();
            word(&house, newer, Event::SaidNotReceived { reason: "hotline".to_owned(), due });
            release(&house, first, 3_000);
        } else {
            *house.authority.changes.lock().unwrap() = news("r-1", Processing::Failed, Vec::new());
            pass(&house, &worker, 300).await;
            assert_eq!(code(&house, newer), "failed");
            release(&house, first, 3_000);
            // Another delivery of it is completed.
            let mut changes = news("r-7", Processing::Completed, Vec::new());
            changes.answers[0].identifiers = vec![house.journal.row(newer).unwrap().identifier];
            *house.authority.changes.lock().unwrap() = changes;
            house.import("ours", 9);
        }
        pass(&house, &worker, 3_600).await;
        if code(&house, first) != "held" {
            failures.push((by_word, code(&house, newer), code(&house, first)));
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

// F7
/// Somebody says that a report was not received, and the next answer is lost too. The authority's
/// clock leaps: this doubt is young by ours all the same.
#[tokio::test]
async fn a_doubt_after_a_word_is_no_older_than_its_request() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    pass(&house, &worker, 3_400).await;
    let due = house.clock.now();
    word(&house, id, Event::SaidNotReceived { reason: "hotline".to_owned(), due });
    turn(&worker).await;
    let sent = house.sent();
    pass(&house, &worker, 60).await;
    house.authority.leaps.store(7_200, Ordering::SeqCst);
    pass(&house, &worker, 900).await;
    assert_eq!(house.sent(), sent, "sixteen minutes after its request");
}

// F8
/// The question was refused, and a person has released the correction. It is answered meanwhile,
/// and empty: that is no reason to wait.
#[tokio::test]
async fn a_release_after_a_question_in_vain_sends_the_correction() {
    let house = House::new();
    let (id, worker) = refused(&house).await;
    word(&house, id, Event::HeldBack);
    let newer = correct(&house, id, 2);
    refuse_questions(&house);
    pass(&house, &worker, 120).await;
    assert_eq!(code(&house, newer), "held");
    *house.authority.lost_find.lock().unwrap() = None;
    release(&house, newer, 0);
    pass(&house, &worker, 1_800).await;
    assert_eq!(house.sent(), 2, "who releases it has decided");
}

// F9
/// Of two that a correction takes the place of nothing is shown of the later one, and the earlier
/// one is there: a person is told at once, and not after an hour.
#[tokio::test]
async fn what_the_authority_has_of_a_chain_is_told_at_once() {
    let house = House::new();
    let (id, worker) = refused(&house).await;
    word(&house, id, Event::HeldBack);
    let second = correct(&house, id, 2);
    refuse_questions(&house);
    pass(&house, &worker, 60).await;
    house.authority.refuses.store(true, Ordering::SeqCst);
    release(&house, second, 0);
    pass(&house, &worker, 1_900).await;
    house.authority.refuses.store(false, Ordering::SeqCst);
    *house.authority.lost_find.lock().unwrap() = None;
    assert_eq!(house.sent(), 2);
    word(&house, second, Event::HeldBack);
    let third = correct(&house, second, 3);
    // The first is shown from now on, and nothing else.
    house.authority.shown.store(1, Ordering::SeqCst);
    let identifier = house.journal.row(id).unwrap().identifier;
    house.authority.accepted.lock().unwrap().push((identifier, "r-9".to_owned()));
    pass(&house, &worker, 1_800).await;
    assert_eq!(code(&house, third), "held");
}

// F10
/// What has failed, or was rejected for its content, was not stored: what takes its place does not
/// wait, also where the certificate of then is gone.
#[tokio::test]
async fn what_the_authority_has_judged_delays_nothing() {
    // Failed, as the authority says, and not shown any more.
    let house = House::new();
    let worker = house.worker("one");
    let id = house.import("ours", 1);
    turn(&worker).await;
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Failed, Vec::new());
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, id), "failed");
    word(&house, id, Event::Withdrawn { reason: "x".to_owned() });
    house.import_as("ours", 1, "urn:uuid:again".to_owned());
    pass(&house, &worker, 300).await;
    let failed_goes = house.sent() == 2;
    // Rejected for its content; the certificate of then is gone.
    let house = House::new();
    house.authority.rejects.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    house.worker("one").once().await.unwrap();
    house.authority.rejects.store(false, Ordering::SeqCst);
    house.clock.pass(3_600);
    let until = house.clock.now();
    house.clock.pass(3_600);
    correct(&house, id, 2);
    let (from, authority) = (Instant(0), None::<Willing>);
    let former = Formerly { from, until, alone_until: until, through: None, authority };
    pass(&house, &house.worker("one").with_former(vec![former]), 300).await;
    assert_eq!([failed_goes, house.sent() == 2], [true; 2]);
}

// F12

/// A gateway refused what the authority had stored, and the next request met a rate limit: that
/// one says nothing of the first, which is asked for before the report or its correction goes.
#[tokio::test]
async fn a_request_that_reached_nobody_closes_no_earlier_one() {
    for corrected in [true, false] {
        let house = House::new();
        let (id, worker) = refused(&house).await;
        house.authority.limits.store(true, Ordering::SeqCst);
        pass(&house, &worker, 600).await;
        house.authority.limits.store(false, Ordering::SeqCst);
        let sent = house.sent();
        assert!(sent >= 2, "it was tried again");
        let identifier = house.journal.row(id).unwrap().identifier;
        house.authority.accepted.lock().unwrap().push((identifier, "r-9".to_owned()));
        house.authority.shown.store(1, Ordering::SeqCst);
        if corrected {
            word(&house, id, Event::HeldBack);
            let newer = correct(&house, id, 2);
            pass(&house, &worker, HOUR).await;
            assert_eq!(code(&house, newer), "held");
        } else {
            pass(&house, &worker, HOUR).await;
            assert_eq!(house.journal.state(id).unwrap().receipt(), Some("r-9"));
        }
        assert_eq!(house.sent(), sent, "corrected: {corrected}");
    }
}
