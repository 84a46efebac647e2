//! A certificate was replaced: what was sent with it is followed with it still. The one that took
//! its place may stand for another laboratory, which is shown nothing of what was sent before.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::atomic::Ordering;

use client::{Evidence, Fault, Why};
use engine::{Clock as _, ConnectionState, Formerly, Worker};
use exchange::Processing;
use fhir::Instant;
use house::{House, Willing};
use journal::{Home, Notice, Step};
use report::{Event, Group, Person, State, SubmissionId};
use tokio_util::sync::CancellationToken;

/// A worker with a new certificate, to which the authority shows nothing of what was sent until
/// now.
fn renewed(house: &House, before: Option<Willing>) -> Worker<Willing> {
    let (from, until) = (Instant(i64::MIN), house.clock.now());
    let former = Formerly { from, until, alone_until: until, through: None, authority: before };
    // Beyond the lease of the worker before it.
    house.clock.pass(60);
    house.worker("renewed").with_former(vec![former])
}

async fn turn(worker: &Worker<Willing>) {
    worker.turn(&mut None, &CancellationToken::new()).await.unwrap();
}

/// A report whose answer was lost while the certificate was the old one.
async fn doubted() -> (House, SubmissionId) {
    let house = House::new();
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    turn(&house.worker("before")).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
    // The new certificate is shown what was sent with it, so that an empty answer would be
    // believed.
    house.authority.shown.store(1, Ordering::SeqCst);
    (house, id)
}

async fn hour(house: &House, worker: &Worker<Willing>) {
    for _ in 0..360 {
        house.clock.pass(10);
        turn(worker).await;
    }
}

#[tokio::test]
async fn what_was_sent_with_a_replaced_certificate_is_read_with_it() {
    let (house, before) = (House::new(), Willing::default());
    let id = house.import("ours", 1);
    turn(&house.worker("before")).await;
    *before.processed.lock().unwrap() = Some(Processing::InProgress);
    house.authority.forgot.store(true, Ordering::SeqCst);
    let worker = renewed(&house, Some(before.clone()));
    for _ in 0..3 {
        house.clock.pass(60);
        turn(&worker).await;
    }
    assert!(!before.read.lock().unwrap().is_empty(), "within the pauses of a search");
    *before.processed.lock().unwrap() = Some(Processing::Completed);
    for _ in 0..3 {
        house.clock.pass(120);
        turn(&worker).await;
    }
    assert_eq!(house.journal.state(id).unwrap().code(), "completed");
}

#[tokio::test]
async fn a_doubt_is_asked_for_with_the_certificate_that_it_was_sent_with() {
    let (house, id) = doubted().await;
    let before = Willing::default();
    *before.finds.lock().unwrap() = vec!["r-9".to_owned()];
    *before.processed.lock().unwrap() = Some(Processing::Completed);
    house.authority.forgot.store(true, Ordering::SeqCst);
    let worker = renewed(&house, Some(before));
    house.import("ours", 2);
    for _ in 0..60 {
        house.clock.pass(10);
        turn(&worker).await;
    }
    let state = house.journal.state(id).unwrap();
    assert_eq!(state, State::Completed { receipt: "r-9".to_owned() });
    assert_eq!(house.sent(), 2, "each once");
}

/// A restore puts everything in doubt anew, from then on; a copied profile does the same. The
/// report was sent before the certificate was replaced all the same, and is shown to that one
/// alone.
#[tokio::test]
async fn a_restore_does_not_forget_the_certificates_that_reports_were_sent_with() {
    let (house, id) = doubted().await;
    let before = Willing::default();
    *before.finds.lock().unwrap() = vec!["r-9".to_owned()];
    *before.processed.lock().unwrap() = Some(Processing::Completed);
    house.authority.forgot.store(true, Ordering::SeqCst);
    let worker = renewed(&house, Some(before));
    // Longer than a delivery with the old one may last.
    house.clock.pass(600);
    for computer in ["first", "second"] {
        let home = Home { computer: Some(computer.to_owned()), file: None };
        let (by, now) = (Person("test".to_owned()), house.clock.now());
        house.journal.settle_on(&|_| Some(home.clone()), &by, now).unwrap();
    }
    for _ in 0..60 {
        house.clock.pass(10);
        turn(&worker).await;
    }
    let state = house.journal.state(id).unwrap();
    assert_eq!(state, State::Completed { receipt: "r-9".to_owned() });
    assert_eq!(house.sent(), 1, "once");
}

/// Our clock is set back by a month while a report is in progress: the authority's own clock says
/// that it takes too long.
#[tokio::test]
async fn a_clock_that_is_set_back_does_not_make_a_report_in_progress_younger() {
    let house = House::new();
    let id = house.import("ours", 1);
    let worker = house.worker("one");
    turn(&worker).await;
    *house.authority.processed.lock().unwrap() = Some(Processing::InProgress);
    *house.authority.changed.lock().unwrap() = Some(Instant::from_seconds(1_700_000_000));
    house.clock.set(-30 * 86_400);
    for _ in 0..5 {
        house.clock.pass(86_400);
        turn(&worker).await;
    }
    let state = house.journal.state(id).unwrap();
    assert!(matches!(state, State::InProgress { overdue: true, .. }), "{state:?}");
}

fn forbidden() -> Fault {
    let evidence = Some(Box::new(Evidence { status: 403, ..Evidence::default() }));
    Fault::Locked { why: Why::Forbidden { status: 403 }, evidence }
}

/// What the old certificate is told shows nothing about the new one: people learn that this is
/// refused, and reports are not sent with it as if the way were open.
#[tokio::test]
async fn an_answer_to_a_replaced_certificate_shows_nothing_about_the_one_in_use() {
    let (house, before) = (House::new(), Willing::default());
    house.import("ours", 1);
    turn(&house.worker("before")).await;
    *before.processed.lock().unwrap() = Some(Processing::InProgress);
    *house.authority.lost_search.lock().unwrap() = Some(forbidden());
    let worker = renewed(&house, Some(before.clone()));
    worker.once().await.unwrap();
    assert!(!before.read.lock().unwrap().is_empty(), "it was read with the old one");
    let shown = house.connection.borrow().state.clone();
    assert!(matches!(shown, ConnectionState::Locked(_)), "{shown:?}");
}

/// The same where a doubt ends with the old certificate, while the new one may not ask.
#[tokio::test]
async fn a_doubt_that_ends_with_a_replaced_certificate_tells_what_the_new_one_met() {
    let (house, id) = doubted().await;
    let before = Willing::default();
    *before.finds.lock().unwrap() = vec!["r-9".to_owned()];
    *house.authority.lost_find.lock().unwrap() = Some(forbidden());
    turn(&renewed(&house, Some(before))).await;
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
    let shown = house.connection.borrow().state.clone();
    assert!(matches!(shown, ConnectionState::Locked(_)), "{shown:?}");
}

/// It cannot be used any more: that the new one is shown nothing proves nothing.
#[tokio::test]
async fn an_empty_answer_to_another_certificate_is_not_believed() {
    let (house, id) = doubted().await;
    let worker = renewed(&house, None);
    house.import("ours", 2);
    hour(&house, &worker).await;
    hour(&house, &worker).await;
    assert_eq!(house.sent(), 2, "not sent again");
    let state = house.journal.state(id).unwrap();
    assert_eq!(state.code(), "unknown");
    assert_eq!(state.group(house.clock.now()), Group::NeedsAttention, "a person is asked");
}

/// The control: sent with the certificate in use, the same empty answers are believed.
#[tokio::test]
async fn an_empty_answer_to_the_same_certificate_is_believed() {
    let (house, id) = doubted().await;
    house.clock.pass(240);
    let worker = house.worker("the same");
    house.import("ours", 2);
    hour(&house, &worker).await;
    assert_eq!(house.sent(), 3, "sent again");
    assert_ne!(house.journal.state(id).unwrap().code(), "unknown");
}

/// The answer to a report was lost just after a change: it was sent with the new certificate, which
/// is shown nothing. That the former one is shown others proves nothing of it, also once a clock
/// that was set back has come to the time of the change.
#[tokio::test]
async fn what_was_sent_just_after_a_change_is_not_judged_by_the_former_certificate_alone() {
    for (changed, after, set_back) in [(90, 60, 0), (0, 300, -7_200)] {
        let (house, before) = (House::new(), Willing::default());
        house.import("ours", 1);
        turn(&house.worker("before")).await;
        before.shown.store(1, Ordering::SeqCst);
        *before.accepted.lock().unwrap() = house.authority.accepted.lock().unwrap().clone();
        let until = house.clock.now().plus_seconds(changed);
        let (from, authority) = (Instant(i64::MIN), Some(before));
        let through = house.journal.events().unwrap().try_into().ok();
        let former = Formerly { from, until, alone_until: until, through, authority };
        house.clock.pass(after);
        house.clock.set(set_back);
        let worker = house.worker("renewed").with_former(vec![former]);
        // The lease of the one before is watched until it has run out, whatever the clock says.
        turn(&worker).await;
        house.clock.pass(40);
        house.authority.doubt.store(true, Ordering::SeqCst);
        let id = house.import("ours", 2);
        turn(&worker).await;
        assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
        house.authority.doubt.store(false, Ordering::SeqCst);
        hour(&house, &worker).await;
        hour(&house, &worker).await;
        assert_eq!(house.sent(), 2, "{set_back}: sent a second time");
    }
}

/// A new endpoint has the only certificate there is until its own is imported, a minute before the
/// request. That the first one is refused there says nothing of what began after the change.
#[tokio::test]
async fn what_began_after_a_change_is_not_asked_for_with_a_certificate_of_before() {
    let (house, before) = (House::new(), Willing::default());
    *before.lost_find.lock().unwrap() = Some(forbidden());
    let (from, until) = (Instant(i64::MIN), house.clock.now());
    let former = Formerly {
        from,
        until,
        alone_until: until,
        through: None,
        authority: Some(before.clone()),
    };
    house.clock.pass(30);
    let worker = house.worker("renewed").with_former(vec![former]);
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 1);
    turn(&worker).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
    house.authority.shown.store(1, Ordering::SeqCst);
    house.import("ours", 2);
    hour(&house, &worker).await;
    hour(&house, &worker).await;
    assert_eq!((house.sent(), house.journal.state(id).unwrap().code()), (3, "in-progress"));
    assert!(before.asked_for.lock().unwrap().is_empty());
}

/// The settings are changed in the last moment before a request begins: it is made by the courier
/// that goes by those of now.
#[tokio::test]
async fn what_is_changed_just_before_a_request_begins_holds() {
    let house = House::new();
    let looks = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let seen = looks.clone();
    let in_force = move || seen.fetch_add(1, Ordering::SeqCst) < 1;
    let worker = house.worker("before").while_in_force(in_force);
    let id = house.import("ours", 1);
    turn(&worker).await;
    assert_eq!(house.sent(), 0, "after {} looks", looks.load(Ordering::SeqCst));
    assert_eq!(house.journal.state(id).unwrap().code(), "queued");
}

/// A refused request left open whether the report arrived; the certificate that it was sent with is
/// refused for good, so that nobody can ask with it: a person's word that it was not received is
/// enough to send it.
#[tokio::test]
async fn a_word_that_it_was_not_received_counts_where_a_replaced_certificate_cannot_ask() {
    let house = House::new();
    let id = house.import("ours", 1);
    house.authority.refuses.store(true, Ordering::SeqCst);
    turn(&house.worker("before")).await;
    house.authority.refuses.store(false, Ordering::SeqCst);
    assert_eq!(house.journal.state(id).unwrap().code(), "queued");
    let before = Willing::default();
    let why = Why::TlsClientRefused { alert: "certificate-expired".to_owned() };
    *before.lost_find.lock().unwrap() = Some(Fault::Locked { why, evidence: None });
    let worker = renewed(&house, Some(before));
    hour(&house, &worker).await;
    assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
    assert_eq!(house.sent(), 1);
    let reason = "hotline".to_owned();
    let said = Event::SaidNotReceived { reason, due: house.clock.now() };
    let step = Step::new(id, said, Person("test".to_owned()), house.clock.now());
    house.journal.record(step).unwrap();
    turn(&worker).await;
    assert_eq!(house.sent(), 2);
    assert_eq!(house.journal.state(id).unwrap().code(), "in-progress");
}

/// The profile was copied while a report waited. The other copy may send it at any time, until a
/// person has read that this is a copy and has ended the other one; and the authority shows late
/// what was sent just then.
#[tokio::test]
async fn what_waited_when_a_profile_was_copied_is_not_sent_before_a_person_has_read_of_it() {
    let house = House::new();
    house.import("ours", 1);
    turn(&house.worker("before")).await;
    house.authority.shown.store(1, Ordering::SeqCst);
    let settle = |computer: &str| {
        let home = Home { computer: Some(computer.to_owned()), file: None };
        let (by, now) = (Person("test".to_owned()), house.clock.now());
        house.journal.settle_on(&|_| Some(home.clone()), &by, now).unwrap()
    };
    settle("first");
    let id = house.import("ours", 2);
    assert_eq!(settle("second"), Some(1));
    let (code, params) = ("journal-copied".to_owned(), std::collections::BTreeMap::new());
    let notice = Notice { code, about: None, params, at: house.clock.now() };
    house.journal.put_notice(notice).unwrap();
    house.clock.pass(60);
    let worker = house.worker("copy");
    for _ in 0..3 {
        hour(&house, &worker).await;
    }
    assert_eq!((house.sent(), house.journal.state(id).unwrap().code()), (1, "unknown"));
    assert_eq!(house.journal.state(id).unwrap().group(house.clock.now()), Group::NeedsAttention);
    house.journal.remove_notice("journal-copied").unwrap();
    turn(&worker).await;
    assert_eq!(house.sent(), 1, "what was sent just now is shown late");
    hour(&house, &worker).await;
    assert_eq!((house.sent(), house.journal.state(id).unwrap().code()), (2, "in-progress"));
}

/// The search stands still, and shows nothing of what was sent last with the former certificate.
/// The one in use has sent nothing that was accepted: an empty answer to it is not believed, as it
/// would not be to the former one.
#[tokio::test]
async fn a_renewal_hides_no_search_that_stands_still() {
    let house = House::new();
    let worker = house.worker("before");
    for number in [1, 2] {
        house.import("ours", number);
        turn(&worker).await;
        house.clock.pass(300);
    }
    *house.authority.changes.lock().unwrap() =
        house::news("r-2", Processing::Completed, Vec::new());
    hour(&house, &worker).await;
    *house.authority.changes.lock().unwrap() = client::Changes::default();
    // It shows the first one, and not the second, which it has.
    house.authority.accepted.lock().unwrap().retain(|(_, receipt)| receipt == "r-1");
    house.authority.shown.store(1, Ordering::SeqCst);
    let worker = renewed(&house, Some(house.authority.clone()));
    house.clock.pass(900);
    house.authority.doubt.store(true, Ordering::SeqCst);
    let id = house.import("ours", 3);
    turn(&worker).await;
    house.authority.doubt.store(false, Ordering::SeqCst);
    house.authority.accepted.lock().unwrap().retain(|(_, receipt)| receipt == "r-1");
    assert_eq!(house.journal.state(id).unwrap().code(), "unknown");
    for _ in 0..3 {
        hour(&house, &worker).await;
    }
    assert_eq!((house.sent(), house.journal.state(id).unwrap().code()), (3, "unknown"));
}
