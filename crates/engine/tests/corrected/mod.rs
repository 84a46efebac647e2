//! Corrections of what failed, as the duplicate of another delivery perhaps, which is asked for
//! before they go.

use std::sync::atomic::Ordering;
use std::time::Duration;

use client::{Evidence, Fault, Why};
use engine::Worker;
use exchange::{IdentifierChoice, Processing};
use journal::NewSubmission;
use report::SubmissionId;

use crate::house::{House, Willing, news};
use crate::{BOTH, code, correct, pass, renewed, turn};

/// A report that the authority says at once has failed.
async fn failed(house: &House, worker: &Worker<Willing>, number: u64) -> SubmissionId {
    house.authority.fails.store(true, Ordering::SeqCst);
    let id = house.import("ours", number);
    turn(worker).await;
    house.authority.fails.store(false, Ordering::SeqCst);
    assert_eq!(code(house, id), "failed");
    id
}

/// What failed was the duplicate of another delivery, which is shown by now.
fn repeats(authority: &Willing) {
    let deliveries = [("r-1", Processing::Failed), ("r-7", Processing::Completed)];
    *authority.deliveries.lock().unwrap() =
        deliveries.map(|(receipt, it)| (receipt.to_owned(), it)).to_vec();
}

/// A gateway repeats a request; the answer names the delivery that has failed as the duplicate, and
/// the other one is shown some seconds later. The one question before the correction is put off.
#[tokio::test]
async fn one_question_that_is_put_off_lets_no_correction_go_beside_another_delivery() {
    let mut ends = Vec::new();
    for heard in [true, false] {
        let house = House::new();
        let worker = house.worker("one");
        let id = failed(&house, &worker, 1).await;
        repeats(&house.authority);
        house.clock.pass(3_600);
        let evidence = heard.then(|| Box::new(Evidence { status: 429, ..Evidence::default() }));
        let why = match heard {
            true => Why::Unavailable { status: 429 },
            false => Why::Timeout,
        };
        let fault = Fault::Transient { why, retry_after: None, evidence };
        *house.authority.lost_find.lock().unwrap() = Some(fault);
        let sent = house.sent();
        let newer = correct(&house, id, 2);
        turn(&worker).await;
        *house.authority.lost_find.lock().unwrap() = None;
        pass(&house, &worker, 3_600).await;
        let notices = house.journal.notices().unwrap().len();
        ends.push((heard, house.sent() - sent, code(&house, newer), notices));
    }
    assert!(ends.iter().all(|it| it.1 == 0), "heard, sent, state, notices: {ends:?}");
}

/// A gateway repeats a request; the answer names the delivery that has failed as the duplicate. The
/// certificate is replaced by another laboratory's, and the former one, which alone is shown the
/// other delivery, cannot ask.
#[tokio::test]
async fn what_the_former_certificate_could_not_ask_lets_no_correction_go_in_silence() {
    let house = House::new();
    let worker = house.worker("one");
    let id = failed(&house, &worker, 1).await;
    let before = Willing::default();
    repeats(&before);
    let why = Why::Unavailable { status: 503 };
    let fault = Fault::Transient { why, retry_after: None, evidence: None };
    *before.lost_find.lock().unwrap() = Some(fault);
    house.authority.accepted.lock().unwrap().clear();
    house.authority.forgot.store(true, Ordering::SeqCst);
    let worker = renewed(&house, before);
    let sent = house.sent();
    let newer = correct(&house, id, 2);
    pass(&house, &worker, 3_600).await;
    let told =
        house.journal.messages(newer).unwrap().len() + house.journal.notices().unwrap().len();
    assert!(house.sent() == sent || told > 0, "{}", code(&house, newer));
}

/// A gateway repeats a request; the answer names the delivery that has failed as the duplicate, and
/// the other one is shown some seconds later. The endpoint wants the document's identifier, so that
/// the correction has the same one; it has not left, and what is shown cannot be its own.
#[tokio::test]
async fn a_correction_under_the_same_identifier_does_not_go_beside_another_delivery() {
    let mut ends = Vec::new();
    for same in [false, true] {
        let mut house = House::new();
        if same {
            house.identifier = IdentifierChoice::Document;
        }
        let worker = house.worker("one");
        let version = |number, corrects| {
            let mut new = NewSubmission { corrects, ..house.submission("ours", number) };
            new.summary.identifier = Some(BOTH.to_owned());
            let identifier = if same { BOTH.to_owned() } else { new.identifier.clone() };
            house.journal.import(NewSubmission { identifier, ..new }).unwrap()
        };
        house.authority.fails.store(true, Ordering::SeqCst);
        let id = version(1, None);
        turn(&worker).await;
        house.authority.fails.store(false, Ordering::SeqCst);
        assert_eq!(code(&house, id), "failed");
        repeats(&house.authority);
        house.clock.pass(3_600);
        let sent = house.sent();
        let newer = version(2, Some(id));
        turn(&worker).await;
        // The search for changes shows it too.
        let mut changes = news("r-7", Processing::Completed, Vec::new());
        let named = if same { BOTH.to_owned() } else { house.journal.row(id).unwrap().identifier };
        changes.answers[0].identifiers = vec![named];
        *house.authority.changes.lock().unwrap() = changes;
        pass(&house, &worker, 3_600).await;
        let told =
            house.journal.messages(newer).unwrap().len() + house.journal.notices().unwrap().len();
        ends.push((same, house.sent() - sent, code(&house, newer), told));
    }
    assert!(ends.iter().all(|it| it.1 == 0), "same, sent, state, told: {ends:?}");
}

/// As where one question is put off, and the searches are limited for five minutes.
#[tokio::test]
async fn searches_limited_for_minutes_let_no_correction_go_beside_another_delivery() {
    let mut ends = Vec::new();
    for (minutes, status, patience) in [(2, 503, None), (5, 429, Some(300)), (60, 429, Some(3600))]
    {
        let house = House::new();
        let worker = house.worker("one");
        let id = failed(&house, &worker, 1).await;
        repeats(&house.authority);
        house.clock.pass(3_600);
        let evidence = Some(Box::new(Evidence { status, ..Evidence::default() }));
        let why = Why::Unavailable { status };
        let retry_after = patience.map(Duration::from_secs);
        let fault = Fault::Transient { why, retry_after, evidence };
        *house.authority.lost_find.lock().unwrap() = Some(fault);
        let sent = house.sent();
        let newer = correct(&house, id, 2);
        pass(&house, &worker, minutes * 60).await;
        *house.authority.lost_find.lock().unwrap() = None;
        pass(&house, &worker, 3_600).await;
        let told =
            house.journal.messages(newer).unwrap().len() + house.journal.notices().unwrap().len();
        ends.push((minutes, house.sent() - sent, code(&house, newer), told));
    }
    assert!(ends.iter().all(|it| it.1 == 0), "minutes, sent, state, told: {ends:?}");
}

/// A certificate was renewed, at an authority that refuses to be searched by identifier. What was
/// sent before has failed: its correction goes, as it does without a renewal.
#[tokio::test]
async fn a_renewal_keeps_no_correction_waiting_where_nobody_can_search() {
    let mut ends = Vec::new();
    for renews in [false, true] {
        let house = House::new();
        let mut worker = house.worker("one");
        let id = failed(&house, &worker, 1).await;
        let fault =
            Fault::Transient { why: Why::SearchUnsupported, retry_after: None, evidence: None };
        *house.authority.lost_find.lock().unwrap() = Some(fault);
        if renews {
            worker = renewed(&house, house.authority.clone());
        }
        let sent = house.sent();
        let newer = correct(&house, id, 2);
        pass(&house, &worker, 3 * 3_600).await;
        ends.push((renews, house.sent() - sent, code(&house, newer)));
    }
    assert!(ends.iter().all(|it| it.1 == 1), "renews, sent, state: {ends:?}");
}

/// Nobody answers for an hour, and many corrections of what failed wait: they cost few questions.
#[tokio::test]
async fn an_outage_costs_few_questions_for_corrections_of_what_failed() {
    let house = House::new();
    let worker = house.worker("one");
    house.authority.fails.store(true, Ordering::SeqCst);
    let all: Vec<_> = (1..=40).map(|number| house.import("ours", number)).collect();
    for _ in 0..5 {
        turn(&worker).await;
    }
    house.authority.fails.store(false, Ordering::SeqCst);
    assert!(all.iter().all(|id| code(&house, *id) == "failed"));
    house.clock.pass(3_600);
    let fault = Fault::Transient { why: Why::ConnectTimeout, retry_after: None, evidence: None };
    *house.authority.lost_find.lock().unwrap() = Some(fault.clone());
    *house.authority.lost_search.lock().unwrap() = Some(fault.clone());
    *house.authority.preflight_fault.lock().unwrap() = Some(fault);
    house.authority.busy.store(30, Ordering::SeqCst);
    house.authority.asked_for.lock().unwrap().clear();
    let sent = house.sent();
    for (id, number) in all.iter().zip(100..) {
        correct(&house, *id, number);
    }
    pass(&house, &worker, 3_600).await;
    let questions = house.authority.asked_for.lock().unwrap().len();
    assert!(questions <= 40, "{questions} questions, sent {}", house.sent() - sent);
}

/// The endpoint wants the document's identifier, and access is lost for a while just when the
/// correction of what has failed leaves: it goes afterwards, and waits for nobody.
#[tokio::test]
async fn a_correction_that_was_refused_on_the_way_goes_when_access_is_back() {
    let mut house = House::new();
    house.identifier = IdentifierChoice::Document;
    let worker = house.worker("one");
    let version = |number, corrects| {
        let mut new = NewSubmission { corrects, ..house.submission("ours", number) };
        new.summary.identifier = Some(BOTH.to_owned());
        house.journal.import(NewSubmission { identifier: BOTH.to_owned(), ..new }).unwrap()
    };
    house.authority.fails.store(true, Ordering::SeqCst);
    let id = version(1, None);
    turn(&worker).await;
    assert_eq!(code(&house, id), "failed");
    house.authority.fails.store(false, Ordering::SeqCst);
    let shown = vec![("r-1".to_owned(), Processing::Failed)];
    *house.authority.deliveries.lock().unwrap() = shown;
    house.clock.pass(3_600);
    let newer = version(2, Some(id));
    house.authority.refuses.store(true, Ordering::SeqCst);
    turn(&worker).await;
    pass(&house, &worker, 600).await;
    assert_eq!((house.sent() > 1, code(&house, newer)), (true, "queued"));
    house.authority.refuses.store(false, Ordering::SeqCst);
    pass(&house, &worker, 7_200).await;
    let told = house.journal.messages(newer).unwrap().len();
    assert_eq!((code(&house, newer), told), ("in-progress", 0));
}
