//! Questions that alone have no answer, and how long reports wait for them that would be let in.

use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Changes, Evidence, Fault, Why};
use engine::Worker;
use exchange::Processing;

use super::waiting::{code, turn};
use crate::house::{self, House, Willing};

fn evidence(status: u16) -> Option<Box<Evidence>> {
    Some(Box::new(Evidence { status, ..Evidence::default() }))
}

fn patience(status: u16, seconds: Option<u64>) -> Fault {
    let retry_after = seconds.map(Duration::from_secs);
    let why = Why::Unavailable { status };
    Fault::Transient { why, retry_after, evidence: evidence(status) }
}

fn forbidden() -> Fault {
    Fault::Locked { why: Why::Forbidden { status: 403 }, evidence: evidence(403) }
}

fn timeout() -> Fault {
    Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None }
}

/// With as many requests under way as by default.
fn house_of_default() -> House {
    let mut house = House::new();
    house.timing = engine::Timing::default();
    house
}

/// A report is taken in every ten minutes for so many hours: how many minutes each of them has
/// waited until it left, or until the end.
pub(super) async fn waits(house: &House, worker: &Worker<Willing>, hours: u64) -> Vec<u64> {
    let (mut open, mut waits) = (Vec::new(), Vec::new());
    for minute in 0..hours * 60 {
        if minute % 10 == 0 {
            open.push((house.import("ours", 1_000 + minute), minute));
        }
        house.clock.pass(60);
        turn(worker).await;
        open.retain(|(id, since)| {
            let waits_on = code(house, *id) == "queued";
            if !waits_on {
                waits.push(minute - since);
            }
            waits_on
        });
    }
    waits.extend(open.iter().map(|(_, since)| hours * 60 - since));
    waits
}

/// How many of these are half an hour or longer, and the longest.
fn long(waits: &[u64]) -> (usize, u64) {
    let long = waits.iter().filter(|minutes| **minutes >= 30).count();
    (long, waits.iter().max().copied().unwrap_or(0))
}

/// The authority is slow today, so that twenty reports are in progress for longer than ten minutes,
/// and it answers no read by id: in time, with 500, or a gateway refuses it. Every report that is
/// sent it takes, and every search for changes it answers. How long does a new report wait?
#[tokio::test]
async fn reads_by_id_that_alone_have_no_answer_keep_no_report_waiting_for_hours() {
    let mut failures = Vec::new();
    for (name, fault) in
        [("timeout", timeout()), ("500", patience(500, None)), ("403", forbidden())]
    {
        let house = house_of_default();
        let worker = house.worker("one");
        for number in 1..=20 {
            house.import("ours", number);
            house.clock.pass(20);
            turn(&worker).await;
        }
        assert_eq!(house.sent(), 20);
        *house.authority.lost_read.lock().unwrap() = Some(fault);
        let waits = waits(&house, &worker, 12).await;
        let (long, longest) = long(&waits);
        if longest > 60 {
            failures.push((name, long, waits.len(), longest));
        }
    }
    assert!(failures.is_empty(), "fault, half an hour or longer, of, longest: {failures:?}");
}

/// The same of a single report, which is in progress for a day while all others are completed: each
/// read of it is answered with 429 and an hour of `Retry-After`.
#[tokio::test]
async fn patience_that_the_reads_of_one_report_are_asked_for_keeps_the_others_waiting_once() {
    let house = House::new();
    let worker = house.worker("one");
    house.import("ours", 1);
    turn(&worker).await;
    *house.authority.lost_read.lock().unwrap() = Some(patience(429, Some(3_600)));
    let (mut open, mut waits) = (Vec::new(), Vec::new());
    for minute in 0..24 * 60_u64 {
        if minute % 10 == 0 {
            open.push((house.import("ours", 1_000 + minute), minute));
        }
        house.clock.pass(60);
        let mut all = Changes::default();
        for (_, receipt) in house.authority.accepted.lock().unwrap().iter().skip(1) {
            let mut one = house::news(receipt, Processing::Completed, Vec::new());
            all.answers.append(&mut one.answers);
            all.evidence.append(&mut one.evidence);
        }
        *house.authority.changes.lock().unwrap() = all;
        turn(&worker).await;
        turn(&worker).await;
        open.retain(|(id, since)| {
            let waits_on = code(&house, *id) == "queued";
            if !waits_on {
                waits.push(minute - since);
            }
            waits_on
        });
    }
    let (long, longest) = long(&waits);
    assert!(long <= 4, "{long} of {} half an hour or longer, {longest}", waits.len());
}

/// The same with a release without a search for changes, where what is in progress is read by its
/// id every few minutes: one report is enough.
#[tokio::test]
async fn reads_by_id_that_have_no_answer_keep_no_report_waiting_where_nothing_is_searched_for() {
    let mut failures = Vec::new();
    for (name, fault) in
        [("timeout", timeout()), ("503", patience(503, None)), ("403", forbidden())]
    {
        let mut house = house_of_default();
        house.release = exchange::Release::R1_0_0Trialuse;
        let worker = house.worker("one");
        house.import("ours", 1);
        turn(&worker).await;
        assert_eq!(house.sent(), 1);
        *house.authority.lost_read.lock().unwrap() = Some(fault);
        let waits = waits(&house, &worker, 12).await;
        let (long, longest) = long(&waits);
        if longest > 60 {
            failures.push((name, long, waits.len(), longest));
        }
    }
    assert!(failures.is_empty(), "fault, half an hour or longer, of, longest: {failures:?}");
}

/// The authority breaks off in the middle of ninety deliveries; from then on it takes every report,
/// and answers every search for changes, but no question by identifier. How long does a new report
/// wait for the ninety questions?
#[tokio::test]
async fn questions_for_ninety_doubts_that_alone_have_no_answer_keep_no_report_waiting_for_hours() {
    let mut failures = Vec::new();
    for (name, fault) in
        [("timeout", timeout()), ("403", forbidden()), ("429", patience(429, Some(3_600)))]
    {
        let house = house_of_default();
        let worker = house.worker("one");
        house.authority.shown.store(1, Ordering::SeqCst);
        house.authority.doubt.store(true, Ordering::SeqCst);
        for number in 1..=90 {
            house.import("ours", number);
            house.clock.pass(2);
            turn(&worker).await;
        }
        house.authority.doubt.store(false, Ordering::SeqCst);
        *house.authority.lost_find.lock().unwrap() = Some(fault);
        let waits = waits(&house, &worker, 12).await;
        let (long, longest) = long(&waits);
        if longest > 90 {
            failures.push((name, long, waits.len(), longest));
        }
    }
    assert!(failures.is_empty(), "fault, half an hour or longer, of, longest: {failures:?}");
}

/// With three requests under way at most, because with the default of 64 so few do not show it: a
/// gateway has refused several reports within half an hour, and answers the question for each of
/// them with 429 and an hour of `Retry-After`; all else it lets in. The others wait for an hour
/// once, and not once for each of those.
#[tokio::test]
async fn patience_that_the_questions_of_several_are_asked_for_keeps_the_others_waiting_once() {
    let house = House::new();
    let worker = house.worker("one");
    let ids: Vec<_> = (1..=12).map(|number| house.import("ours", number)).collect();
    house.authority.refuses.store(true, Ordering::SeqCst);
    for _ in 0..30 {
        house.clock.pass(60);
        turn(&worker).await;
    }
    house.authority.refuses.store(false, Ordering::SeqCst);
    let tried = ids.iter().filter(|id| house.journal.row(**id).unwrap().attempts > 0).count();
    *house.authority.lost_find.lock().unwrap() = Some(patience(429, Some(3_600)));
    let waits = waits(&house, &worker, 24).await;
    let (long, longest) = long(&waits);
    let of = waits.len();
    assert!(long <= 6, "{tried} were tried; {long} of {of} half an hour or longer, {longest}");
}

/// A gateway has refused a report on the way back, a person has put it on hold and corrected it.
/// The search shows that its one delivery has failed, and the question whether there is another has
/// no answer just then. Nothing of it is at the authority: its correction goes.
#[tokio::test]
async fn a_correction_does_not_wait_for_a_person_because_one_question_for_a_failed_one_was_lost() {
    for lost in [false, true] {
        let house = House::new();
        house.authority.shown.store(1, Ordering::SeqCst);
        house.import("ours", 9);
        house.worker("one").once().await.unwrap();
        let (id, worker) = super::refused(&house).await;
        super::word(&house, id, report::Event::HeldBack);
        let correction = super::waiting::correct(&house, id, 2);
        turn(&worker).await;
        assert_eq!((code(&house, id), code(&house, correction)), ("held", "queued"));
        let mut changes = house::news("r-7", Processing::Failed, Vec::new());
        changes.answers[0].identifiers = vec![house.journal.row(id).unwrap().identifier];
        *house.authority.changes.lock().unwrap() = changes;
        let failed = ("r-7".to_owned(), Processing::Failed);
        house.authority.deliveries.lock().unwrap().push(failed);
        *house.authority.lost_find.lock().unwrap() = lost.then(timeout);
        house.clock.pass(5);
        worker.once().await.unwrap();
        *house.authority.lost_find.lock().unwrap() = None;
        *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
        for _ in 0..180 {
            house.clock.pass(60);
            turn(&worker).await;
        }
        let told = house.journal.messages(correction).unwrap();
        let codes: Vec<_> = told.iter().map(|it| it.code.as_str()).collect();
        let states = (code(&house, id), code(&house, correction));
        assert_ne!(states.1, "held", "question lost: {lost}, {states:?}, {codes:?}");
    }
}
