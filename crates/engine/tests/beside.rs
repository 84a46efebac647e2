//! What stands beside a report: others of the same identifier or number, other deliveries of it,
//! and certificates that were used before and cannot ask just now.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod corrected;
mod house;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use client::{Evidence, Fault, Why};
use engine::{Clock as _, Formerly, Worker};
use exchange::Processing;
use fhir::Instant;
use house::{House, Willing, news};
use journal::{NewSubmission, Step};
use report::{Event, Group, Person, SubmissionId};
use tokio_util::sync::CancellationToken;

async fn turn(worker: &Worker<Willing>) {
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
}

async fn pass(house: &House, worker: &Worker<Willing>, seconds: i64) {
    for _ in 0..seconds / 10 {
        house.clock.pass(10);
        turn(worker).await;
    }
}

fn code(house: &House, id: SubmissionId) -> &'static str {
    house.journal.state(id).unwrap().code()
}

fn word(house: &House, id: SubmissionId, event: Event) {
    let step = Step::new(id, event, Person("anna".to_owned()), house.clock.now());
    house.journal.record(step).unwrap();
}

fn release(house: &House, id: SubmissionId) {
    word(house, id, Event::Released { reason: "x".to_owned(), due: house.clock.now() });
}

fn correct(house: &House, id: SubmissionId, number: u64) -> SubmissionId {
    let new = NewSubmission { corrects: Some(id), ..house.submission("ours", number) };
    house.journal.import(new).unwrap()
}

fn renewed(house: &House, before: Willing) -> Worker<Willing> {
    let (from, until) = (Instant(i64::MIN), house.clock.now());
    let former =
        Formerly { from, until, alone_until: until, through: None, authority: Some(before) };
    // Longer than a delivery with the old one may last.
    house.clock.pass(600);
    house.worker("renewed").with_former(vec![former])
}

fn timeline(house: &House, id: SubmissionId) -> Vec<&'static str> {
    house.journal.detail(id).unwrap().timeline.iter().map(|it| it.event.code()).collect()
}

const BOTH: &str = "urn:uuid:00000000-0000-4000-8000-00000000b074";

/// The answer to a report is lost, and the certificate is replaced by another laboratory's. With
/// that one another report is sent which has the same identifier, as at an endpoint that wants the
/// document's. What the authority shows of that one to the new certificate is no answer for the
/// former one, which alone is shown the first.
#[tokio::test]
async fn what_another_report_has_under_one_identifier_answers_for_no_former_certificate() {
    let mut ends = Vec::new();
    for beside in [false, true] {
        let house = House::new();
        let worker = house.worker("before");
        house.import("ours", 9);
        turn(&worker).await;
        house.authority.doubt.store(true, Ordering::SeqCst);
        let id = house.import_as("ours", 1, BOTH.to_owned());
        turn(&worker).await;
        let received = house.authority.evidence().server_date;
        house.authority.doubt.store(false, Ordering::SeqCst);
        assert_eq!(code(&house, id), "unknown");
        // The former certificate is shown both; the one in use nothing of what was sent before.
        let before = House::timed(house.journal.clone(), house.clock.clone()).authority;
        before.dates.lock().unwrap().insert("r-lost".to_owned(), received);
        before.shown.store(2, Ordering::SeqCst);
        // Its search is half a minute behind when the courier asks for the first time.
        *before.accepted.lock().unwrap() = house.authority.accepted.lock().unwrap().clone();
        house.authority.accepted.lock().unwrap().clear();
        house.authority.forgot.store(true, Ordering::SeqCst);
        house.authority.shown.store(1, Ordering::SeqCst);
        // Surely before the change.
        house.clock.pass(60);
        let worker = renewed(&house, before.clone());
        let other = match beside {
            true => house.import_as("ours", 2, BOTH.to_owned()),
            false => house.import("ours", 2),
        };
        turn(&worker).await;
        before.accepted.lock().unwrap().push((BOTH.to_owned(), "r-lost".to_owned()));
        for _ in 0..3 {
            pass(&house, &worker, 3_600).await;
        }
        let times = house.authority.sent.lock().unwrap().iter().filter(|it| *it == BOTH).count();
        let receipt = house.journal.row(id).unwrap().receipt;
        ends.push((beside, times, code(&house, id), receipt, code(&house, other)));
    }
    // Each once.
    assert_eq!((ends[0].1, ends[0].2), (1, "in-progress"), "{ends:?}");
    assert_eq!(ends[1].1, 2, "sent once more: {ends:?}");
    assert_eq!(ends[1].3.as_deref(), Some("r-lost"), "{ends:?}");
}

/// A report is in progress; the certificate with which it was sent was replaced by another
/// laboratory's, and cannot be used for a day. That the one in use is shown nothing of it is not
/// what the authority says of the report.
#[tokio::test]
async fn what_the_former_certificate_could_not_read_is_not_called_not_found() {
    let house = House::new();
    let id = house.import("ours", 1);
    turn(&house.worker("before")).await;
    assert_eq!(code(&house, id), "in-progress");
    let before = Willing::default();
    before.shown.store(1, Ordering::SeqCst);
    *before.accepted.lock().unwrap() = house.authority.accepted.lock().unwrap().clone();
    let evidence = Some(Box::new(Evidence { status: 503, ..Evidence::default() }));
    let why = Why::Unavailable { status: 503 };
    let fault = Fault::Transient { why, retry_after: None, evidence };
    *before.lost_read.lock().unwrap() = Some(fault.clone());
    *before.lost_find.lock().unwrap() = Some(fault);
    house.authority.forgot.store(true, Ordering::SeqCst);
    house.authority.accepted.lock().unwrap().clear();
    let worker = renewed(&house, before);
    for _ in 0..25 * 12 {
        house.clock.pass(300);
        turn(&worker).await;
    }
    let told = timeline(&house, id);
    let state = house.journal.state(id).unwrap();
    let asks = state.group(house.clock.now()) == Group::NeedsAttention;
    let due = house.clock.now();
    word(&house, id, Event::SaidNotReceived { reason: "it is not found".to_owned(), due });
    pass(&house, &worker, 600).await;
    assert!(!told.contains(&"not-found"), "asks a person: {asks}, sent {}", house.sent());
}

/// Number r-1 was another report's in an earlier life of the authority. What failed has it now, and
/// the authority names its identifier with it; the search is behind.
#[tokio::test]
async fn a_number_that_another_report_had_is_read_of_what_failed() {
    let house = House::new();
    let worker = house.worker("one");
    let other = house.import("ours", 5);
    turn(&worker).await;
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, other), "completed");
    // It is set up again.
    *house.authority.changes.lock().unwrap() = client::Changes::default();
    house.authority.sent.lock().unwrap().clear();
    house.authority.accepted.lock().unwrap().clear();
    let id = house.import("ours", 1);
    turn(&worker).await;
    assert_eq!(house.journal.state(id).unwrap().receipt(), Some("r-1"));
    let identifier = house.journal.row(id).unwrap().identifier;
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    *house.authority.named.lock().unwrap() = vec![identifier];
    pass(&house, &worker, 1_800).await;
    assert_eq!(code(&house, id), "failed");
    let newer = correct(&house, id, 2);
    word(&house, newer, Event::Withdrawn { reason: "slip".to_owned() });
    // Others are shown, and not this one.
    house.import("ours", 7);
    house.authority.accepted.lock().unwrap().clear();
    turn(&worker).await;
    house.authority.shown.store(1, Ordering::SeqCst);
    let sent = house.sent();
    release(&house, id);
    turn(&worker).await;
    assert_eq!((house.sent() - sent, code(&house, id)), (0, "failed"));
}

/// What failed is open again. Another report has its identifier, as at an endpoint that wants the
/// document's, and the search, which is behind, shows that one alone. The number is read all the
/// same.
#[tokio::test]
async fn what_another_report_has_under_one_identifier_hides_no_number_of_what_failed() {
    let house = House::new();
    let worker = house.worker("one");
    let other = house.import_as("ours", 5, BOTH.to_owned());
    turn(&worker).await;
    let mut completed = news("r-1", Processing::Completed, Vec::new());
    completed.answers[0].identifiers = vec![BOTH.to_owned()];
    *house.authority.changes.lock().unwrap() = completed;
    pass(&house, &worker, 300).await;
    assert_eq!(code(&house, other), "completed");
    *house.authority.changes.lock().unwrap() = client::Changes::default();
    let id = house.import_as("ours", 1, BOTH.to_owned());
    turn(&worker).await;
    assert_eq!(house.journal.state(id).unwrap().receipt(), Some("r-2"));
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    *house.authority.named.lock().unwrap() = vec![BOTH.to_owned()];
    pass(&house, &worker, 1_800).await;
    assert_eq!(code(&house, id), "failed");
    let newer = correct(&house, id, 2);
    word(&house, newer, Event::Withdrawn { reason: "slip".to_owned() });
    // The search shows the other one alone.
    house.authority.accepted.lock().unwrap().retain(|(_, receipt)| receipt == "r-1");
    house.authority.shown.store(1, Ordering::SeqCst);
    let sent = house.sent();
    release(&house, id);
    turn(&worker).await;
    assert_eq!((house.sent() - sent, code(&house, id)), (0, "failed"));
}

/// A gateway refused a request on the way back, and the certificate is replaced by another
/// laboratory's: the question with the former one finds it in progress. What becomes of it is
/// learned as soon as of others.
#[tokio::test]
async fn what_the_question_before_a_request_finds_is_followed_with_the_former_certificate() {
    let house = House::new();
    house.authority.refuses.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    turn(&house.worker("before")).await;
    house.authority.refuses.store(false, Ordering::SeqCst);
    let before = Willing::default();
    before.shown.store(1, Ordering::SeqCst);
    let identifier = house.journal.row(id).unwrap().identifier;
    *before.accepted.lock().unwrap() = vec![(identifier.clone(), "r-9".to_owned())];
    *before.processed.lock().unwrap() = Some(Processing::InProgress);
    *before.named.lock().unwrap() = vec![identifier];
    house.authority.forgot.store(true, Ordering::SeqCst);
    let worker = renewed(&house, before.clone());
    pass(&house, &worker, 60).await;
    assert_eq!((house.sent(), code(&house, id)), (1, "in-progress"));
    pass(&house, &worker, 7_200).await;
    *before.processed.lock().unwrap() = Some(Processing::Completed);
    let mut waited = 0;
    while code(&house, id) == "in-progress" && waited < 86_400 {
        pass(&house, &worker, 60).await;
        waited += 60;
    }
    assert!(waited <= 360, "learned after {waited} s");
}

/// The computer sleeps while a request is under way, and the certificate is replaced by another
/// laboratory's before anybody notices that no answer came. The doubt begins late; the request did
/// not.
#[tokio::test]
async fn a_doubt_that_is_noticed_after_a_change_asks_with_the_certificate_of_the_request() {
    let mut house = House::new();
    let clock = house.clock.clone();
    house.authority.before_answer = Some(Arc::new(move |_| {
        clock.pass(1_800);
        Box::pin(async {})
    }));
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    let changed = house.clock.now().plus_seconds(600);
    turn(&house.worker("before")).await;
    assert_eq!(code(&house, id), "unknown");
    house.authority.before_answer = None;
    house.authority.doubt.store(false, Ordering::SeqCst);
    let before = Willing::default();
    before.shown.store(1, Ordering::SeqCst);
    let identifier = house.journal.row(id).unwrap().identifier;
    *before.accepted.lock().unwrap() = vec![(identifier.clone(), "r-9".to_owned())];
    before.named.lock().unwrap().push(identifier);
    let (from, authority) = (Instant(i64::MIN), Some(before));
    let former = Formerly { from, until: changed, alone_until: changed, through: None, authority };
    let worker = house.worker("renewed").with_former(vec![former]);
    // What is sent with the new one is shown to it.
    house.authority.accepted.lock().unwrap().clear();
    house.import("ours", 2);
    house.authority.shown.store(1, Ordering::SeqCst);
    for _ in 0..4 {
        pass(&house, &worker, 3_600).await;
    }
    assert_eq!((house.sent(), house.journal.state(id).unwrap().receipt()), (2, Some("r-9")));
}
