//! What people are shown of the connection: the last answer, and when the next try is made.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use client::{Evidence, Fault, Why};
use engine::{Clock as _, ConnectionState, JournalRefusal};
use exchange::{Processing, Release};
use house::{House, news};
use report::State;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// An answer that a gateway gives to who has no access.
fn forbidden() -> Fault {
    let evidence = Some(Box::new(Evidence { status: 403, ..Default::default() }));
    Fault::Locked { why: Why::Forbidden { status: 403 }, evidence }
}

#[tokio::test]
async fn the_last_contact_is_the_last_answer_and_nothing_else() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let shown = || house.connection.borrow().clone();
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(shown().state, ConnectionState::Unchecked, "nothing was to be sent");
    house.import("ours", 1);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(shown().state, ConnectionState::Connected);
    let answered = house.clock.now();
    assert_eq!((shown().last_contact, shown().next_try), (Some(answered), None));
    house.clock.pass(1);
    house.authority.busy.store(300, Ordering::SeqCst);
    let waiting = house.import("ours", 2);
    let round = worker.turn(&mut held, &cancel).await.unwrap();
    let until = house.clock.now().plus_seconds(300);
    assert_eq!(round.next, Some(until), "the worker rests so long");
    let State::Queued { due, .. } = house.journal.state(waiting).unwrap() else { panic!() };
    assert_eq!(due, until);
    assert!(matches!(shown().state, ConnectionState::Unreachable(_)));
    assert_eq!(shown().last_contact, Some(answered), "a refusal for lack of time is no contact");
    assert_eq!(shown().next_try, Some(until));
    house.authority.busy.store(0, Ordering::SeqCst);
    house.clock.pass(301);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(shown().state, ConnectionState::Connected);
    assert_eq!((shown().last_contact, shown().next_try), (Some(house.clock.now()), None));
}

#[tokio::test]
async fn a_round_says_when_something_is_owed_next() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    assert_eq!(worker.turn(&mut held, &cancel).await.unwrap().next, None, "nothing is open");
    house.import("ours", 1);
    worker.turn(&mut held, &cancel).await.unwrap();
    house.clock.pass(2);
    let next = worker.turn(&mut held, &cancel).await.unwrap().next.unwrap();
    let rest = (next.0 - house.clock.now().0) / 1_000_000;
    assert!((1..=60).contains(&rest), "the next search in {rest} s");
}

/// Reports of another certificate, say, that this one may not read: that says nothing about the
/// others.
#[tokio::test]
async fn reports_that_cannot_be_read_hold_up_no_other() {
    let mut house = House::new();
    house.release = Release::R1_0_0Trialuse;
    for number in 1..=5 {
        house.import("ours", number);
    }
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.authority.forgot.store(true, Ordering::SeqCst);
    house.clock.pass(3_600);
    house.import("ours", 6);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!((house.authority.read.lock().unwrap().len(), house.sent()), (5, 6));
    assert_eq!(house.connection.borrow().state, ConnectionState::Connected);
    // Nor is what is refused taken for a way that is open again.
    house.authority.busy.store(3_600, Ordering::SeqCst);
    house.import("ours", 7);
    worker.turn(&mut held, &cancel).await.unwrap();
    let closed = house.connection.borrow().next_try;
    assert!(closed.is_some());
    house.clock.pass(60);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(house.connection.borrow().next_try, closed);
}

/// Reports are refused, and questions are answered: what became of those that were accepted before
/// is learned all the same, once for each try, and the way stays closed for reports.
#[tokio::test]
async fn what_is_in_progress_is_searched_for_while_reports_are_refused() {
    let house = House::new();
    let accepted = house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.clock.pass(600);
    house.authority.refuses.store(true, Ordering::SeqCst);
    house.import("ours", 2);
    house.import("ours", 3);
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::InProgress, Vec::new());
    let searches = || house.authority.questions.load(Ordering::SeqCst);
    let (mut before, mut sent) = (searches(), house.sent());
    for _ in 0..3_600 {
        worker.turn(&mut held, &cancel).await.unwrap();
        assert!(searches() - before <= u32::try_from(house.sent() - sent).unwrap());
        if house.sent() > sent {
            (before, sent) = (searches(), house.sent());
        }
        house.clock.pass(1);
    }
    assert!((3..=15).contains(&house.sent()), "{} requests in an hour", house.sent());
    assert!(matches!(house.connection.borrow().state, ConnectionState::Locked(_)));
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    for _ in 0..1_800 {
        house.clock.pass(1);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(house.journal.state(accepted).unwrap().code(), "completed");
    assert!(matches!(house.connection.borrow().state, ConnectionState::Locked(_)));
}

/// One report is refused for hours, and that concerns it alone: the others are followed as ever.
#[tokio::test]
async fn what_is_in_progress_is_followed_while_one_report_is_refused() {
    let house = House::new();
    let accepted = house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    let refused = house.import("ours", 2);
    let identifier = house.journal.row(refused).unwrap().identifier;
    *house.authority.refuses_one.lock().unwrap() = Some(identifier);
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::InProgress, Vec::new());
    for _ in 0..3 * 720 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    assert!(house.sent() <= 30, "{} requests in three hours", house.sent());
    *house.authority.changes.lock().unwrap() = news("r-1", Processing::Completed, Vec::new());
    for _ in 0..62 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    assert_eq!(house.journal.state(accepted).unwrap().code(), "completed", "in five minutes");
    assert!(matches!(house.connection.borrow().state, ConnectionState::Locked(_)));
}

/// It was turned away while others were let in. Then nothing else is sent, and another process has
/// the queue: questions are answered, and the report rests in the end.
#[tokio::test]
async fn a_report_that_alone_is_refused_is_put_on_hold_where_nothing_else_is_sent() {
    let house = House::new();
    let poisoned = house.import("ours", 1);
    let identifier = house.journal.row(poisoned).unwrap().identifier;
    *house.authority.refuses_one.lock().unwrap() = Some(identifier);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let last = || house.journal.detail(poisoned).unwrap().timeline.pop().unwrap().event;
    let mut number = 1;
    let times = || {
        let timeline = house.journal.detail(poisoned).unwrap().timeline;
        timeline.iter().filter(|entry| entry.event.code() == "turned-away").count()
    };
    while times() < 2 {
        number += 1;
        assert!(number < 100, "others are let in, and it is not");
        house.import("ours", number);
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    let (worker, mut held) = (house.worker("two"), None);
    for _ in 0..3 * 60 {
        house.clock.pass(60);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(last().code(), "held-after-refusals");
    let connection = house.connection.borrow().state.clone();
    assert!(matches!(connection, ConnectionState::Connected), "others may be sent: {connection:?}");
}

/// Questions are refused as well: it is not that report's fault, and nothing more is asked until
/// the way is tried again.
#[tokio::test]
async fn a_refused_question_clears_the_report_that_was_refused() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.clock.pass(120);
    *house.authority.lost_search.lock().unwrap() = Some(forbidden());
    house.authority.refuses.store(true, Ordering::SeqCst);
    house.import("ours", 2);
    let (sent, searches) = (house.sent(), house.authority.questions.load(Ordering::SeqCst));
    // Before the first read by id, which would open the way.
    for _ in 0..80 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    let searches = house.authority.questions.load(Ordering::SeqCst) - searches;
    let sent = u32::try_from(house.sent() - sent).unwrap();
    assert!(sent >= 3 && searches <= sent, "{searches} searches, {sent} reports");
}

/// A search that is lost on the way says nothing about a report that was refused: the others go on.
#[tokio::test]
async fn a_lost_search_clears_nobody() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    let refused = house.import("ours", 2);
    let identifier = house.journal.row(refused).unwrap().identifier;
    *house.authority.refuses_one.lock().unwrap() = Some(identifier);
    let (why, evidence) = (Why::Timeout, None);
    let lost = Fault::Transient { why, retry_after: None, evidence };
    *house.authority.lost_search.lock().unwrap() = Some(lost);
    for _ in 0..90 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    let next = house.import("ours", 3);
    for _ in 0..12 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    assert_eq!(house.journal.state(next).unwrap().code(), "in-progress");
}

/// Nobody answers: then nothing is searched for either until the way is tried again.
#[tokio::test]
async fn nothing_is_searched_for_while_nobody_answers() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.clock.pass(300);
    house.authority.busy.store(3_600, Ordering::SeqCst);
    house.import("ours", 2);
    let before = house.authority.questions.load(Ordering::SeqCst);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!((house.sent(), house.authority.questions.load(Ordering::SeqCst)), (2, before));
}

/// A search that fails closes the way; one that was made although reports are refused changes
/// nothing about it.
#[tokio::test]
async fn a_search_that_fails_is_told_unless_reports_are_refused_anyway() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    house.authority.refuses.store(true, Ordering::SeqCst);
    let fault = Fault::Transient { why: Why::Cut, retry_after: None, evidence: None };
    *house.authority.lost_search.lock().unwrap() = Some(fault.clone());
    house.clock.pass(300);
    house.import("ours", 2);
    let searches = || house.authority.questions.load(Ordering::SeqCst);
    let before = searches();
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(searches(), before + 1);
    assert!(matches!(house.connection.borrow().state, ConnectionState::Locked(_)));

    let house = House::new();
    *house.authority.lost_search.lock().unwrap() = Some(fault);
    house.import("ours", 1);
    let (worker, mut held) = (house.worker("one"), None);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert!(matches!(house.connection.borrow().state, ConnectionState::Unreachable(_)));
}

/// A search is refused for a while, and nothing is to be sent: once it is answered again, nobody is
/// alarmed any more.
#[tokio::test]
async fn a_refused_search_is_forgotten_when_searches_are_answered() {
    let house = House::new();
    house.import("ours", 1);
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    worker.turn(&mut held, &cancel).await.unwrap();
    *house.authority.lost_search.lock().unwrap() = Some(forbidden());
    house.clock.pass(60);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert!(matches!(house.connection.borrow().state, ConnectionState::Locked(_)));
    *house.authority.lost_search.lock().unwrap() = None;
    for _ in 0..24 {
        house.clock.pass(5);
        worker.turn(&mut held, &cancel).await.unwrap();
    }
    assert_eq!(house.connection.borrow().state, ConnectionState::Connected);
}

/// Beside this program a newer one has brought the journal on, as it may happen where locks do not
/// hold: this one sends nothing any more, and says why.
#[tokio::test]
async fn a_journal_that_a_newer_program_has_brought_on_ends_the_worker_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    let key = journal::Key::new(zeroize::Zeroizing::new([7; 32]));
    let house = House::on(journal::Journal::create(&path, &key).unwrap());
    let (worker, wake, cancel) =
        (house.worker("one"), Arc::<Notify>::default(), CancellationToken::new());
    house.import("ours", 1);
    let running = tokio::spawn(worker.run(wake.clone(), cancel.clone()));
    let mut shown = house.connection.subscribe();
    shown.wait_for(|it| it.state == ConnectionState::Connected).await.unwrap();
    let newer = rusqlite::Connection::open(&path).unwrap();
    let hex = "07".repeat(32);
    let brought_on = format!("PRAGMA key = \"x'{hex}'\"; PRAGMA user_version = 99");
    // Another one is to be sent in half a minute.
    let first = report::Event::Queued { due: house.clock.now().plus_seconds(30) };
    let waits = journal::NewSubmission { first, ..house.submission("ours", 2) };
    house.journal.import(waits).unwrap();
    newer.execute_batch(&brought_on).unwrap();
    let sent = house.sent();
    house.clock.pass(60);
    wake.notify_one();
    let is_newer = ConnectionState::JournalUnavailable(JournalRefusal::Newer);
    shown.wait_for(|it| it.state == is_newer).await.unwrap();
    assert_eq!(house.sent(), sent, "nothing is sent any more");
    cancel.cancel();
    running.await.unwrap();
}

/// Access is lost, comes back for one report, and is lost again, as behind a gateway that is being
/// changed over; questions are answered all the while. That concerns all reports, and none of them
/// alone: they wait under the banner, and go when access is back.
#[tokio::test]
async fn access_that_comes_back_for_a_moment_puts_no_report_on_hold() {
    let mut house = House::new();
    let refuses = house.authority.refuses.clone();
    let again = refuses.clone();
    house.authority.before_answer = Some(Arc::new(move |_| {
        again.store(true, Ordering::SeqCst);
        Box::pin(async {})
    }));
    let reports: Vec<_> = (1..=7).map(|number| house.import("ours", number)).collect();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    refuses.store(true, Ordering::SeqCst);
    for _ in 0..72 {
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    // For one report.
    refuses.store(false, Ordering::SeqCst);
    let mut banner = Vec::new();
    for minute in 0..60 {
        for _ in 0..12 {
            worker.turn(&mut held, &cancel).await.unwrap();
            house.clock.pass(5);
        }
        if minute % 5 == 4 {
            banner.push(matches!(house.connection.borrow().state, ConnectionState::Locked(_)));
        }
    }
    let code = |id| house.journal.state(id).unwrap().code();
    let mut codes: Vec<_> = reports.into_iter().map(code).collect();
    codes.sort_unstable();
    let waiting = codes.iter().filter(|code| **code == "queued").count();
    assert_eq!((codes[0], waiting), ("in-progress", 6), "{codes:?}, told: {banner:?}");
    assert!(banner.iter().skip(1).all(|is_told| *is_told), "{banner:?}");
}
