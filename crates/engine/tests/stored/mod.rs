//! What the authority has and what is told of it: stored and refused on the way back, stored twice,
//! answered in a form that nobody knows.

mod alike;
mod alone;
mod beside;
mod contradicted;
mod corrections;
mod deliveries;
mod erased;
mod lagging;
mod linked;
mod many;
mod newer;
mod order;
mod patience;
mod reopened;
mod stale;
mod standstill;
mod told;
mod unasked;
mod waiting;

use std::sync::atomic::Ordering;

use client::{Fault, Why};
use engine::{Clock as _, Worker};
use exchange::{Processing, Release};
use journal::{Reconciled, Step};
use report::{Event, Group, State, SubmissionId};
use tokio_util::sync::CancellationToken;

use lagging::{HOUR, pass};

use crate::house::{self, House, Willing};

/// A report whose request a gateway has refused; and the worker that has met it. Others are let in
/// from then on.
async fn refused(house: &House) -> (SubmissionId, Worker<Willing>) {
    let id = house.import("ours", 1);
    house.authority.refuses.store(true, Ordering::SeqCst);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    house.authority.refuses.store(false, Ordering::SeqCst);
    (id, worker)
}

/// A person's decision or word.
fn word(house: &House, id: SubmissionId, event: Event) {
    let by = report::Person("test".to_owned());
    house.journal.record(Step::new(id, event, by, house.clock.now())).unwrap();
}

/// A gateway that looks at answers refuses after the authority has stored: it is asked once before
/// anything is sent again.
#[tokio::test]
async fn what_was_stored_and_refused_on_the_way_back_is_not_sent_again() {
    for is_stored in [true, false] {
        let house = House::new();
        let (id, worker) = refused(&house).await;
        assert!(matches!(house.journal.state(id).unwrap(), State::Queued { attempt: 1, .. }));
        if is_stored {
            house.authority.finds.lock().unwrap().push("r-9".to_owned());
        }
        house.clock.pass(3_600);
        worker.once().await.unwrap();
        assert_eq!(house.sent(), if is_stored { 1 } else { 2 });
        let receipt = if is_stored { "r-9" } else { "r-2" };
        assert_eq!(house.journal.state(id).unwrap().receipt(), Some(receipt));
    }
}

/// The same report is put on hold by a person meanwhile: who releases it does not know better
/// whether it arrived.
#[tokio::test]
async fn what_was_refused_on_the_way_back_is_asked_for_after_a_release_too() {
    let house = House::new();
    let (id, worker) = refused(&house).await;
    word(&house, id, Event::HeldBack);
    house.authority.finds.lock().unwrap().push("r-9".to_owned());
    house.clock.pass(3_600);
    let released = Event::Released { reason: "mended".to_owned(), due: house.clock.now() };
    word(&house, id, released);
    worker.once().await.unwrap();
    assert_eq!(house.sent(), 1);
    assert_eq!(house.journal.state(id).unwrap().receipt(), Some("r-9"));
}

/// On hold it stays, and nothing else is open: what a search shows of it is learned all the same.
#[tokio::test]
async fn what_is_on_hold_after_a_request_is_searched_for() {
    let house = House::new();
    let (id, worker) = refused(&house).await;
    word(&house, id, Event::HeldBack);
    let mut changes = house::news("r-9", Processing::Completed, Vec::new());
    for answer in &mut changes.answers {
        answer.identifiers = vec![house.journal.row(id).unwrap().identifier];
    }
    *house.authority.changes.lock().unwrap() = changes;
    house.clock.pass(300);
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(id).unwrap().receipt(), Some("r-9"));
    assert_eq!(house.sent(), 1);
}

/// The authority shows nothing of what it has accepted from us, only another laboratory's report:
/// that a report in doubt is not found says nothing, however long it lasts.
#[tokio::test]
async fn what_cannot_be_read_any_more_proves_that_sight_is_lost() {
    let house = House::new();
    let first = house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.authority.accepted.lock().unwrap().clear();
    house.authority.shown.store(1, Ordering::SeqCst);
    house.authority.forgot.store(true, Ordering::SeqCst);
    house.authority.doubt.store(true, Ordering::SeqCst);
    let second = house.import("ours", 2);
    for _ in 0..40 {
        house.clock.pass(600);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    let State::InProgress { not_found_since: Some(_), .. } = house.journal.state(first).unwrap()
    else {
        panic!("it was read in vain");
    };
    assert_eq!(house.journal.state(second).unwrap().code(), "unknown");
    assert_eq!(house.sent(), 2);
}

/// It is withdrawn, and its file is handed over again: the authority is asked for the first one
/// before the second leaves, and a person decides where it has that.
#[tokio::test]
async fn what_was_withdrawn_after_a_request_is_asked_for_before_its_file_goes_again() {
    for is_stored in [true, false] {
        let house = House::new();
        let (id, worker) = refused(&house).await;
        word(&house, id, Event::Withdrawn { reason: "slip".to_owned() });
        let again = house.import_as("ours", 1, "urn:uuid:again".to_owned());
        if is_stored {
            house.authority.finds.lock().unwrap().push("r-9".to_owned());
        }
        house.clock.pass(3_600);
        worker.once().await.unwrap();
        let asked = house.authority.asked_for.lock().unwrap().clone();
        assert_eq!(asked, [house.journal.row(id).unwrap().identifier]);
        assert_eq!(house.sent(), 1);
        if is_stored {
            let messages = house.journal.detail(again).unwrap().messages;
            assert_eq!(messages[0].code, "same-report-delivered");
            let due = house.clock.now();
            word(&house, again, Event::Released { reason: "both".to_owned(), due });
            worker.once().await.unwrap();
            assert_eq!(house.sent(), 2, "who releases it has decided");
        } else {
            pass(&house, &worker, HOUR + 600).await;
            assert_eq!(house.sent(), 2);
        }
    }
}

/// A gateway refuses the answer about one report, and every answer to the question for it: it is
/// not sent again and again, and a person is told in the end. Others go on.
#[tokio::test]
async fn what_cannot_be_asked_for_is_not_sent_again() {
    for heard in [true, false] {
        let house = House::new();
        let id = house.import("ours", 1);
        let identifier = house.journal.row(id).unwrap().identifier;
        *house.authority.refuses_one.lock().unwrap() = Some(identifier.clone());
        let worker = house.worker("one");
        worker.once().await.unwrap();
        let evidence = heard.then(|| Box::new(client::Evidence::default()));
        let why = Why::Forbidden { status: 403 };
        let fault = match heard {
            true => Fault::Locked { why, evidence },
            false => Fault::Transient { why: Why::Cut, retry_after: None, evidence },
        };
        *house.authority.lost_find.lock().unwrap() = Some(fault);
        for other in 2..20 {
            house.clock.pass(1_900);
            house.import("ours", other);
            worker.once().await.unwrap();
        }
        let sent = house.authority.sent.lock().unwrap().clone();
        assert_eq!(sent.iter().filter(|sent| **sent == identifier).count(), 1, "{sent:?}");
        assert!(sent.len() >= 18, "others go on: {}", sent.len());
        let state = house.journal.state(id).unwrap();
        assert_eq!(state.code(), "unknown");
        assert_eq!(state.group(house.clock.now()), Group::NeedsAttention);
    }
}

/// The question is refused with reasons for a while: nobody has refused the report.
#[tokio::test]
async fn a_refused_question_is_no_refusal_of_the_report() {
    let house = House::new();
    house.import("ours", 1);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    house.authority.shown.store(1, Ordering::SeqCst);
    let id = house.import("ours", 2);
    house.authority.refuses.store(true, Ordering::SeqCst);
    worker.once().await.unwrap();
    house.authority.refuses.store(false, Ordering::SeqCst);
    let answer = Box::new(exchange::Answer { issues: vec![house::reason()], ..Default::default() });
    let evidence = Box::new(client::Evidence { status: 400, ..Default::default() });
    *house.authority.lost_find.lock().unwrap() = Some(Fault::Refused { answer, evidence });
    house.clock.pass(1_900);
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
    *house.authority.lost_find.lock().unwrap() = None;
    let (mut held, cancel) = (None, tokio_util::sync::CancellationToken::new());
    for _ in 0..120 {
        house.clock.pass(60);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress", "it was sent again");
}

/// Two reports under one identifier, as an endpoint has them that wants that of the document: what
/// the authority has of the first one says nothing of the second.
#[tokio::test]
async fn what_another_report_of_one_identifier_has_holds_nothing_up() {
    let mut house = House::new();
    house.identifier = exchange::IdentifierChoice::Document;
    let identifier = "urn:uuid:00000000-0000-4000-8000-000000000077";
    house.import_as("ours", 1, identifier.to_owned());
    let worker = house.worker("one");
    worker.once().await.unwrap();
    house.authority.finds.lock().unwrap().push("r-1".to_owned());
    *house.authority.processed.lock().unwrap() = Some(Processing::Completed);
    house.clock.pass(1_900);
    worker.once().await.unwrap();
    let newer = house.import_as("ours", 2, identifier.to_owned());
    house.authority.refuses.store(true, Ordering::SeqCst);
    worker.once().await.unwrap();
    house.authority.refuses.store(false, Ordering::SeqCst);
    house.clock.pass(1_900);
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(newer).unwrap().receipt(), Some("r-3"));
}

/// A rate limit speaks of the sender: no report is put on hold for it, however many others are let
/// in.
#[tokio::test]
async fn a_rate_limit_puts_no_report_on_hold() {
    let house = House::new();
    let id = house.import("ours", 1);
    let worker = house.worker("one");
    for other in 2..20 {
        house.authority.limits.store(true, Ordering::SeqCst);
        worker.once().await.unwrap();
        house.authority.limits.store(false, Ordering::SeqCst);
        assert_eq!(house.journal.state(id).unwrap().code(), "queued");
        house.import("theirs", other);
        house.worker_of("theirs", "two").once().await.unwrap();
        house.clock.pass(3_600);
    }
    worker.once().await.unwrap();
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
}

/// The authority speaks in a form that nobody here knows, for days: a person is told.
#[tokio::test]
async fn what_is_answered_and_never_understood_needs_a_person() {
    let mut house = House::new();
    house.release = Release::R1_0_0Trialuse;
    let id = house.import("ours", 1);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    let why = Why::NotFhir { status: 200, found: "DocumentReference".to_owned() };
    let fault = Fault::Transient { why, retry_after: None, evidence: None };
    *house.authority.lost_read.lock().unwrap() = Some(fault);
    let group = |house: &House| house.journal.state(id).unwrap().group(house.clock.now());
    for _ in 0..2 {
        house.clock.pass(86_400);
        worker.once().await.unwrap();
        assert_eq!(group(&house), Group::InProgress);
    }
    house.clock.pass(86_400);
    worker.once().await.unwrap();
    assert_eq!(group(&house), Group::NeedsAttention);
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
}

/// The search by identifier is refused, and all else is answered: reports that have failed are told
/// in the end, and keep nobody else waiting meanwhile.
#[tokio::test]
async fn questions_that_alone_are_refused_keep_no_report_waiting() {
    let house = House::new();
    let ids: Vec<_> = (1..=4).map(|number| house.import("ours", number)).collect();
    let worker = house.worker("one");
    worker.once().await.unwrap();
    house.authority.doubt.store(true, Ordering::SeqCst);
    let doubted = house.import("ours", 5);
    worker.once().await.unwrap();
    house.authority.doubt.store(false, Ordering::SeqCst);
    let evidence = Some(Box::new(client::Evidence { status: 403, ..Default::default() }));
    let fault = Fault::Locked { why: Why::Forbidden { status: 403 }, evidence };
    *house.authority.lost_find.lock().unwrap() = Some(fault);
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    let (mut held, cancel) = (None, tokio_util::sync::CancellationToken::new());
    let mut waited = 0;
    for minute in 0..240 {
        let fresh = house.import("ours", 100 + minute);
        for _ in 0..6 {
            house.clock.pass(10);
            worker.turn(&mut held, &cancel).await.unwrap();
        }
        let is_sent = house.journal.state(fresh).unwrap().code() != "queued";
        waited = if is_sent { 0 } else { waited + 1 };
        assert!(waited <= 3, "minute {minute}");
    }
    for id in ids {
        assert_eq!(house.journal.state(id).unwrap().code(), "failed");
    }
    let state = house.journal.state(doubted).unwrap();
    assert_eq!((state.code(), state.group(house.clock.now())), ("unknown", Group::NeedsAttention));
}

/// The same, and the clock of the computer is set back by days: what was put off is looked at, and
/// not again and again.
#[tokio::test]
async fn a_failed_report_that_cannot_be_asked_about_makes_no_storm() {
    let house = House::new();
    let id = house.import("ours", 1);
    let worker = house.worker("one");
    worker.once().await.unwrap();
    let evidence = Some(Box::new(client::Evidence { status: 403, ..Default::default() }));
    let fault = Fault::Locked { why: Why::Forbidden { status: 403 }, evidence };
    *house.authority.lost_find.lock().unwrap() = Some(fault);
    *house.authority.processed.lock().unwrap() = Some(Processing::Failed);
    let (mut held, cancel) = (None, tokio_util::sync::CancellationToken::new());
    house.clock.pass(3_600);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
    house.clock.set(-3 * 86_400);
    for _ in 0..60 {
        house.clock.pass(60);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    let reads = house.authority.read.lock().unwrap().len();
    assert!((2..=60).contains(&reads), "{reads} reads in an hour");
}

/// A report that a restore has found at the authority has no document here: a person who says that
/// the authority does not have it stops nobody else.
#[tokio::test]
async fn a_report_without_its_document_holds_up_no_other() {
    let house = House::new();
    let event = Event::Accepted {
        receipt: "r-9".to_owned(),
        since: house.clock.now(),
        due: house.clock.now(),
    };
    let found = journal::FoundReport {
        known_as: None,
        identifier: "urn:uuid:00000000-0000-4000-8000-000000000099".to_owned(),
        endpoint: "ours".to_owned(),
        event,
        issues: Vec::new(),
        last_updated: None,
        evidence: journal::Evidence {
            kind: journal::EvidenceKind::Search,
            at: house.clock.now(),
            http_status: Some(200),
            content_type: None,
            body: b"{}".to_vec(),
            fault: None,
        },
        by: report::Person("test".to_owned()),
        at: house.clock.now(),
    };
    let other = house.import("ours", 2);
    let Reconciled::Added(lost) = house.journal.reconcile(found).unwrap() else { panic!() };
    let said = Event::SaidNotReceived { reason: "hotline".to_owned(), due: house.clock.now() };
    let step = Step::new(lost, said, report::Person("test".to_owned()), house.clock.now());
    house.journal.record(step).unwrap();
    house.worker("one").once().await.unwrap();
    assert_eq!(house.journal.state(lost).unwrap().code(), "held");
    assert_eq!(house.journal.state(other).unwrap().code(), "in-progress");
}
