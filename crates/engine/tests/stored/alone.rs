//! One kind of request alone is refused, put off or has no answer, and all others are answered.

use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Changes, Evidence, Fault, Why};
use exchange::Processing;

use super::standstill::waits;
use super::waiting::{code, turn};
use crate::house::{self, House};

fn evidence(status: u16) -> Option<Box<Evidence>> {
    Some(Box::new(Evidence { status, ..Evidence::default() }))
}

fn patience(status: u16, seconds: u64) -> Fault {
    let why = Why::Unavailable { status };
    let retry_after = Some(Duration::from_secs(seconds));
    Fault::Transient { why, retry_after, evidence: evidence(status) }
}

fn timeout() -> Fault {
    Fault::Transient { why: Why::Timeout, retry_after: None, evidence: None }
}

/// A gateway has repeated a request and refused its answer. A search shows the delivery that failed
/// as the duplicate, the other one is in progress; the one question whether there is another is
/// refused once, as a gateway does that answers in its own name, or with reasons.
#[tokio::test]
async fn a_report_is_not_failed_because_one_question_was_refused_once() {
    let unexplained = Why::Unexplained { status: 400 };
    let by_gateway = Fault::Locked { why: unexplained, evidence: evidence(400) };
    let with_reasons = Fault::Refused {
        answer: Box::new(exchange::Answer { issues: vec![house::reason()], ..Default::default() }),
        evidence: Box::new(Evidence { status: 400, ..Evidence::default() }),
    };
    let mut failures = Vec::new();
    for (name, fault) in
        [("timeout", timeout()), ("gateway", by_gateway), ("with reasons", with_reasons)]
    {
        let house = House::new();
        house.authority.shown.store(1, Ordering::SeqCst);
        house.import("ours", 9);
        house.worker("one").once().await.unwrap();
        let (id, worker) = super::refused(&house).await;
        let identifier = house.journal.row(id).unwrap().identifier;
        let mut changes = house::news("r-7", Processing::Failed, Vec::new());
        changes.answers[0].identifiers = vec![identifier];
        *house.authority.changes.lock().unwrap() = changes;
        house.authority.deliveries.lock().unwrap().extend([
            ("r-7".to_owned(), Processing::Failed),
            ("r-8".to_owned(), Processing::InProgress),
        ]);
        *house.authority.lost_find.lock().unwrap() = Some(fault);
        house.clock.pass(5);
        worker.once().await.unwrap();
        if code(&house, id) != "in-progress" {
            failures.push((name, code(&house, id)));
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

/// What follows from that: a person corrects what is called failed, the correction goes at once,
/// and the authority has both once it has completed the other delivery.
#[tokio::test]
async fn no_correction_goes_beside_a_delivery_in_progress_because_one_question_was_refused_once() {
    let house = House::new();
    house.authority.shown.store(1, Ordering::SeqCst);
    let worker = house.worker("one");
    let id = house.import("ours", 1);
    turn(&worker).await;
    assert_eq!((code(&house, id), house.sent()), ("in-progress", 1));
    // A gateway has repeated the request: the delivery that is known fails as the duplicate.
    house.authority.shown.store(0, Ordering::SeqCst);
    house.authority.deliveries.lock().unwrap().extend([
        ("r-1".to_owned(), Processing::Failed),
        ("r-8".to_owned(), Processing::InProgress),
    ]);
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    let why = Why::Unexplained { status: 400 };
    *house.authority.lost_find.lock().unwrap() =
        Some(Fault::Locked { why, evidence: evidence(400) });
    for _ in 0..15 {
        house.clock.pass(60);
        turn(&worker).await;
        if !house.authority.read.lock().unwrap().is_empty() {
            *house.authority.lost_find.lock().unwrap() = None;
        }
    }
    let told = code(&house, id);
    if told == "failed" {
        super::waiting::correct(&house, id, 2);
        house.clock.pass(60);
        turn(&worker).await;
    }
    assert_eq!((told, house.sent()), ("in-progress", 1));
}

/// The authority has rejected so many reports for a reason that is no verdict on the content, and a
/// person has corrected all of them at once. Questions by identifier alone have no answer; every
/// report is let in. How long does a new one wait?
#[tokio::test]
async fn questions_before_many_corrections_keep_no_report_waiting_for_hours() {
    let mut failures = Vec::new();
    let forbidden =
        || Fault::Locked { why: Why::Forbidden { status: 403 }, evidence: evidence(403) };
    for (corrections, in_flight, fault) in [
        (20_u64, 64, timeout()),
        (20, 3, timeout()),
        (100, 64, timeout()),
        (100, 64, forbidden()),
        (100, 64, patience(429, 3_600)),
    ] {
        let name = fault.why().unwrap().code();
        let mut house = House::new();
        house.timing = engine::Timing { in_flight_max: in_flight, ..engine::Timing::default() };
        house.authority.shown.store(1, Ordering::SeqCst);
        let worker = house.worker("one");
        *house.authority.reasons.lock().unwrap() =
            vec![fhir::Issue { code: "business-rule".to_owned(), ..house::reason() }];
        house.authority.rejects.store(true, Ordering::SeqCst);
        let ids: Vec<_> = (1..=corrections).map(|number| house.import("ours", number)).collect();
        for _ in 0..10 {
            house.clock.pass(60);
            turn(&worker).await;
        }
        house.authority.rejects.store(false, Ordering::SeqCst);
        assert!(ids.iter().all(|id| code(&house, *id) == "rejected"));
        *house.authority.lost_find.lock().unwrap() = Some(fault);
        for (id, number) in ids.into_iter().zip(500..) {
            super::waiting::correct(&house, id, number);
        }
        let waits = waits(&house, &worker, 12).await;
        let long = waits.iter().filter(|minutes| **minutes >= 30).count();
        let longest = waits.iter().max().copied().unwrap_or(0);
        if longest > 60 {
            failures.push((name, corrections, in_flight, long, waits.len(), longest));
        }
    }
    let told = "fault, corrections, at once, half an hour or longer, of, longest";
    assert!(failures.is_empty(), "{told}: {failures:?}");
}

/// Friday evening: so many reports are in progress, and nothing else is sent. Reads by id alone
/// have no answer in time; every search for changes is answered, and tells after five hours that
/// all are completed. How many minutes later is that known of the last one?
async fn news_after(reports: u64) -> Option<u64> {
    let mut house = House::new();
    house.timing = engine::Timing::default();
    let worker = house.worker("one");
    let mut ids = Vec::new();
    for number in 1..=reports {
        ids.push(house.import("ours", number));
        house.clock.pass(60);
        turn(&worker).await;
    }
    *house.authority.lost_read.lock().unwrap() = Some(timeout());
    for _ in 0..5 * 60 {
        house.clock.pass(60);
        turn(&worker).await;
    }
    let mut all = Changes::default();
    for (_, receipt) in house.authority.accepted.lock().unwrap().iter() {
        let mut one = house::news(receipt, Processing::Completed, Vec::new());
        all.answers.append(&mut one.answers);
        all.evidence.append(&mut one.evidence);
    }
    *house.authority.changes.lock().unwrap() = all;
    for minute in 0..48 * 60 {
        house.clock.pass(60);
        turn(&worker).await;
        if ids.iter().all(|id| code(&house, *id) == "completed") {
            return Some(minute);
        }
    }
    None
}

#[tokio::test]
async fn news_do_not_wait_for_reads_by_id_that_alone_have_no_answer() {
    let mut failures = Vec::new();
    for reports in [5, 20, 40, 100] {
        let known = news_after(reports).await;
        if known.is_none_or(|minutes| minutes > 120) {
            failures.push((reports, known));
        }
    }
    assert!(failures.is_empty(), "reports, minutes until known: {failures:?}");
}

/// Everything is answered with 429 and an hour of `Retry-After` for an hour.
async fn maintenance(house: &House, worker: &engine::Worker<house::Willing>) {
    let authority = &house.authority;
    let set = |fault: Option<Fault>| {
        *authority.lost_find.lock().unwrap() = fault.clone();
        *authority.lost_read.lock().unwrap() = fault.clone();
        *authority.lost_search.lock().unwrap() = fault;
    };
    set(Some(patience(429, 3_600)));
    authority.limits.store(true, Ordering::SeqCst);
    for _ in 0..60 {
        house.clock.pass(60);
        turn(worker).await;
    }
    set(None);
    authority.limits.store(false, Ordering::SeqCst);
}

/// The authority asks everybody for an hour of patience, weeks after it did so once before. A
/// correction whose question meets that waits until it is over, as it would the first time, and is
/// not on hold for a person.
#[tokio::test]
async fn a_second_maintenance_puts_no_correction_on_hold() {
    for before in [false, true] {
        let house = House::new();
        house.authority.shown.store(1, Ordering::SeqCst);
        let worker = house.worker("one");
        house.import("ours", 50);
        turn(&worker).await;
        if before {
            // Something is in progress, so that a question is asked during the first one.
            house.clock.pass(900);
            house.import("ours", 51);
            maintenance(&house, &worker).await;
        }
        for day in 0..20 {
            house.clock.pass(86_400);
            house.import("ours", 100 + day);
            for _ in 0..30 {
                house.clock.pass(60);
                turn(&worker).await;
            }
        }
        let (id, worker2) = {
            let id = house.import("ours", 1);
            house.authority.refuses.store(true, Ordering::SeqCst);
            turn(&worker).await;
            house.authority.refuses.store(false, Ordering::SeqCst);
            (id, &worker)
        };
        super::word(&house, id, report::Event::HeldBack);
        let correction = super::waiting::correct(&house, id, 2);
        maintenance(&house, worker2).await;
        let told: Vec<_> = house.journal.messages(correction).unwrap();
        let told: Vec<_> = told.iter().map(|it| it.code.as_str()).collect();
        assert_ne!(code(&house, correction), "held", "a maintenance before: {before}, {told:?}");
    }
}

/// A search shows that the one delivery of a report on hold has failed, and the question whether
/// there is another has no answer just then. The program is started again: its correction goes all
/// the same.
#[tokio::test]
async fn a_correction_goes_after_a_restart_although_one_question_for_a_failed_one_was_lost() {
    // Whether it is started again, and whether the first read after that has no answer.
    for (restarts, read_is_lost) in [(false, false), (true, false), (true, true)] {
        let house = House::new();
        house.authority.shown.store(1, Ordering::SeqCst);
        house.import("ours", 9);
        house.worker("one").once().await.unwrap();
        let (id, mut worker) = super::refused(&house).await;
        super::word(&house, id, report::Event::HeldBack);
        let correction = super::waiting::correct(&house, id, 2);
        turn(&worker).await;
        let mut changes = house::news("r-7", Processing::Failed, Vec::new());
        changes.answers[0].identifiers = vec![house.journal.row(id).unwrap().identifier];
        *house.authority.changes.lock().unwrap() = changes;
        let failed = ("r-7".to_owned(), Processing::Failed);
        house.authority.deliveries.lock().unwrap().push(failed);
        *house.authority.lost_find.lock().unwrap() = Some(timeout());
        house.clock.pass(5);
        worker.once().await.unwrap();
        assert_eq!((code(&house, id), code(&house, correction)), ("in-progress", "queued"));
        *house.authority.lost_find.lock().unwrap() = None;
        *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
        if restarts {
            worker = house.worker("one");
        }
        if read_is_lost {
            *house.authority.lost_read.lock().unwrap() = Some(timeout());
        }
        for minute in 0..180 {
            house.clock.pass(60);
            turn(&worker).await;
            if minute == 0 {
                *house.authority.lost_read.lock().unwrap() = None;
            }
        }
        let told = house.journal.messages(correction).unwrap();
        let codes: Vec<_> = told.iter().map(|it| it.code.as_str()).collect();
        let states = (code(&house, id), code(&house, correction));
        let case = (restarts, read_is_lost);
        assert_ne!(states.1, "held", "{case:?}, {states:?}, {codes:?}");
    }
}

/// One report is answered with 429 and an hour of `Retry-After` whenever it is sent; all else is
/// let in. How long do the others wait?
#[tokio::test]
async fn patience_that_one_delivery_is_asked_for_keeps_the_others_waiting_once() {
    let house = House::new();
    let worker = house.worker("one");
    let poison = house.import("ours", 1);
    let identifier = house.journal.row(poison).unwrap().identifier;
    house.authority.limits_these.lock().unwrap().insert(identifier);
    let waits = waits(&house, &worker, 24).await;
    let long = waits.iter().filter(|minutes| **minutes >= 30).count();
    let longest = waits.iter().max();
    let state = house.journal.state(poison).unwrap();
    assert!(long <= 6, "{long} of {} half an hour or longer, {longest:?}; {state:?}", waits.len());
}

/// A release without a search for changes: reads by id are answered with 429 and an hour of
/// `Retry-After`, everything else is let in. How often is one report read in six hours?
#[tokio::test]
async fn patience_that_reads_are_asked_for_is_kept_where_nothing_is_searched_for() {
    let mut house = House::new();
    house.release = exchange::Release::R1_0_0Trialuse;
    let worker = house.worker("one");
    house.import("ours", 1);
    turn(&worker).await;
    *house.authority.lost_read.lock().unwrap() = Some(patience(429, 3_600));
    for minute in 0..6 * 60 {
        if minute % 30 == 0 {
            house.import("ours", 1_000 + minute);
        }
        house.clock.pass(60);
        turn(&worker).await;
    }
    let read = house.authority.read.lock().unwrap().iter().filter(|it| *it == "r-1").count();
    // The first time nobody can tell of whom patience is asked; then every five minutes.
    assert!(read <= 1 + 6 * 12, "the first report was read {read} times in six hours");
}
