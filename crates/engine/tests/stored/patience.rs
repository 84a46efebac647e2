//! Patience that is asked for at the question for one report, again and again.

use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Evidence, Fault, Why};

use super::standstill::waits;
use super::waiting::{code, turn};
use crate::house::House;

/// Every question by identifier is answered with this, and an hour of `Retry-After`.
fn wants_patience(house: &House, status: u16) {
    let evidence = Some(Box::new(Evidence { status, ..Evidence::default() }));
    let retry_after = Some(Duration::from_secs(3_600));
    let why = Why::Unavailable { status };
    let fault = Fault::Transient { why, retry_after, evidence };
    *house.authority.lost_find.lock().unwrap() = Some(fault);
}

/// A gateway has refused one report, and answers the question for it with 503 or 429 and an hour of
/// `Retry-After`, again and again; all else it lets in. How long do the others wait?
#[tokio::test]
async fn patience_that_one_question_is_asked_for_keeps_the_others_waiting_once() {
    let mut failures = Vec::new();
    for status in [429, 503] {
        let house = House::new();
        let (_, worker) = super::refused(&house).await;
        wants_patience(&house, status);
        let waits = waits(&house, &worker, 12).await;
        let long = waits.iter().filter(|minutes| **minutes >= 30).count();
        if long > 4 {
            failures.push((status, long, waits.len()));
        }
    }
    assert!(failures.is_empty(), "status, waited half an hour or longer, of: {failures:?}");
}

/// The gateway has refused three reports within one moment: they are in doubt, of which a person is
/// told, within some hours, and the others wait no longer for that.
#[tokio::test]
async fn patience_that_three_questions_are_asked_for_is_told_within_hours() {
    let house = House::new();
    let worker = house.worker("one");
    let ids = [1, 2, 3].map(|number| house.import("ours", number));
    house.authority.refuses.store(true, Ordering::SeqCst);
    turn(&worker).await;
    house.authority.refuses.store(false, Ordering::SeqCst);
    assert_eq!(house.sent(), 3);
    wants_patience(&house, 429);
    let mut told = None;
    for minute in 0..48 * 60 {
        if minute % 10 == 0 {
            house.import("ours", 100 + minute);
        }
        house.clock.pass(60);
        turn(&worker).await;
        if told.is_none() && ids.iter().all(|id| code(&house, *id) == "unknown") {
            told = Some(minute / 60);
        }
    }
    assert!(told.is_some_and(|hours| hours <= 8), "in doubt after {told:?} hours");
}

/// The same of the question before a correction of it: that is on hold for a person after the
/// second time, and the others go on.
#[tokio::test]
async fn patience_that_the_question_of_a_correction_is_asked_for_holds_that_alone() {
    let house = House::new();
    let (id, worker) = super::refused(&house).await;
    super::word(&house, id, report::Event::HeldBack);
    let correction = super::waiting::correct(&house, id, 2);
    wants_patience(&house, 429);
    let mut held = None;
    for minute in 0..6 * 60 {
        if minute % 10 == 0 {
            house.import("ours", 100 + minute);
        }
        house.clock.pass(60);
        turn(&worker).await;
        if held.is_none() && code(&house, correction) == "held" {
            held = Some(minute);
        }
    }
    assert!(held.is_some_and(|minute| minute <= 2 * 60), "{held:?}");
    let told = house.journal.messages(correction).unwrap();
    assert!(told.iter().any(|it| it.code == "corrected-report-not-asked"));
}

/// The authority takes two reports an hour, and asks for an hour of patience then; four are added
/// in each. Everybody keeps that, also where most of what waits has met it before, and nothing is
/// put on hold for it.
#[tokio::test]
async fn patience_that_everybody_is_asked_for_again_and_again_is_kept_by_everybody() {
    let house = House::new();
    let worker = house.worker("one");
    let mut ids = Vec::new();
    let mut most = 0;
    for minute in 0..24 * 60_u64 {
        if minute % 60 == 0 {
            *house.authority.takes.lock().unwrap() = Some(2);
        }
        if minute % 15 == 0 {
            ids.push(house.import("ours", 100 + minute));
        }
        let sent = house.sent();
        house.clock.pass(60);
        turn(&worker).await;
        most = most.max(house.sent() - sent);
    }
    // Two are taken, and as many as go at once (three) are refused: of those that have met it
    // before, and then of those that are under way.
    assert!(most <= 2 + 2 * 3, "{most} requests at once");
    assert!(house.sent() <= 24 * 9, "{} requests in a day", house.sent());
    *house.authority.takes.lock().unwrap() = None;
    for _ in 0..180 {
        house.clock.pass(60);
        turn(&worker).await;
    }
    let open: Vec<_> = ids.iter().map(|id| code(&house, *id)).collect();
    assert!(open.iter().all(|code| *code == "in-progress"), "{open:?}");
}

/// Six reports of one kind, taken in one after the other, are each answered with 429 and an hour of
/// `Retry-After`; all others are let in. How long do these wait?
#[tokio::test]
async fn patience_that_a_kind_of_reports_is_asked_for_keeps_the_others_waiting_two_hours() {
    let house = House::new();
    let worker = house.worker("one");
    for number in 1..=6 {
        let id = house.import("ours", number);
        let identifier = house.journal.row(id).unwrap().identifier;
        house.authority.limits_these.lock().unwrap().insert(identifier);
    }
    let waits = waits(&house, &worker, 12).await;
    assert!(waits.iter().all(|minutes| *minutes <= 125), "{waits:?}");
}
