//! The preflight: before its first report a worker sends a question, to see who answers.

#![allow(clippy::unwrap_used, reason = "a test ends where its ground is missing")]

mod house;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use client::{Evidence, Fault, Why};
use engine::{Clock as _, ConnectionState};
use house::House;
use tokio_util::sync::CancellationToken;

fn answered(why: Why) -> Fault {
    let evidence = Some(Box::new(Evidence { status: 503, ..Evidence::default() }));
    Fault::Transient { why, retry_after: None, evidence }
}

/// One turn with a report to send, to whoever opens the door like this.
async fn preflight(fault: Option<Fault>) -> House {
    let house = House::new();
    *house.authority.preflight_fault.lock().unwrap() = fault;
    house.import("ours", 1);
    house.worker("one").turn(&mut None, &CancellationToken::new()).await.unwrap();
    house
}

/// A redirect, a sign-in page, a proxy that asks for a password: no byte of a report goes there,
/// and a person must see to it.
#[tokio::test]
async fn an_intermediary_gets_no_report() {
    let intermediaries =
        [Why::Redirect { status: 302 }, Why::ProxyAuthentication, Why::Html { status: 200 }];
    for why in intermediaries {
        let house = preflight(Some(answered(why.clone()))).await;
        assert_eq!(house.sent(), 0, "{why:?}");
        let shown = house.connection.borrow().state.clone();
        assert!(matches!(shown, ConnectionState::Locked(_)), "{why:?}: {shown:?}");
    }
}

/// Nobody is there: nothing is sent, and it is tried again by itself.
#[tokio::test]
async fn without_an_answer_nothing_is_sent() {
    let fault = Fault::Transient { why: Why::ConnectRefused, retry_after: None, evidence: None };
    let house = preflight(Some(fault)).await;
    assert_eq!(house.sent(), 0);
    let shown = house.connection.borrow().state.clone();
    assert!(matches!(shown, ConnectionState::Unreachable(_)), "{shown:?}");
    assert!(house.journal.watermark("ours").unwrap().is_none());
}

/// It answers, whatever it says to the question: what it thinks of reports is its answer to a
/// report.
#[tokio::test]
async fn an_authority_that_does_not_tell_what_it_can_is_one() {
    for fault in [None, Some(answered(Why::Unavailable { status: 503 }))] {
        assert_eq!(preflight(fault).await.sent(), 1);
    }
}

#[tokio::test]
async fn one_preflight_is_enough() {
    let house = House::new();
    let (worker, mut held, cancel) = (house.worker("one"), None, CancellationToken::new());
    let preflights = || house.authority.preflights.load(Ordering::SeqCst);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(preflights(), 0, "nothing is to be sent");
    for number in 1..=5 {
        house.import("ours", number);
        worker.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(5);
    }
    assert_eq!((preflights(), house.sent()), (1, 5));
    // Nobody there: once more at each probe, and not before.
    let fault = Fault::Transient { why: Why::ConnectRefused, retry_after: None, evidence: None };
    *house.authority.preflight_fault.lock().unwrap() = Some(fault);
    let again = house.worker("two");
    house.import("ours", 6);
    house.clock.pass(60);
    let mut held = None;
    for _ in 0..60 {
        again.turn(&mut held, &cancel).await.unwrap();
        house.clock.pass(1);
    }
    assert_eq!(house.sent(), 5);
    assert!((2..=6).contains(&preflights()), "{} in a minute", preflights());
}

/// A person has the network back and does not want to wait until the next try: it is made now, and
/// what the outage had put off goes with it. Pressed while nobody is there, each press is one
/// question, and the next try by itself comes when it would have come.
#[tokio::test]
async fn a_person_need_not_wait_for_the_next_try() {
    let house = House::new();
    let wishes = Arc::new(AtomicU64::new(0));
    let (worker, mut held, cancel) =
        (house.worker("one").heeding(wishes.clone()), None, CancellationToken::new());
    let state = |id| house.journal.state(id).unwrap().code();
    let first = house.import("ours", 1);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(state(first), "in-progress");
    // It cannot be reached any more, and that shows at a report.
    house.authority.unreachable.store(true, Ordering::SeqCst);
    let put_off = house.import("ours", 2);
    worker.turn(&mut held, &cancel).await.unwrap();
    let (sent, questions) = (house.sent(), house.authority.questions.load(Ordering::SeqCst));
    assert_eq!((sent, state(put_off)), (2, "queued"));
    house.clock.pass(1);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!(house.sent(), sent, "nothing before its time");
    for press in 1..=4 {
        wishes.fetch_add(1, Ordering::SeqCst);
        for _ in 0..3 {
            worker.turn(&mut held, &cancel).await.unwrap();
        }
        assert_eq!(house.sent(), sent + press, "one request for each press");
    }
    let next = house.connection.borrow().next_try.unwrap();
    assert!(next <= house.clock.now().plus_seconds(30), "no later than after the first fault");
    assert_eq!(house.authority.questions.load(Ordering::SeqCst), questions, "and no search");
    // It is back.
    house.authority.unreachable.store(false, Ordering::SeqCst);
    let new = house.import("ours", 3);
    wishes.fetch_add(1, Ordering::SeqCst);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert_eq!([put_off, new].map(state), ["in-progress"; 2]);
    assert_eq!(house.connection.borrow().state, ConnectionState::Connected);
}

/// Nothing is owed that could show it: a question does.
#[tokio::test]
async fn where_nothing_is_owed_a_question_shows_whether_the_authority_is_back() {
    let house = House::new();
    let wishes = Arc::new(AtomicU64::new(0));
    let (worker, mut held, cancel) =
        (house.worker("one").heeding(wishes.clone()), None, CancellationToken::new());
    house.import("ours", 1);
    worker.turn(&mut held, &cancel).await.unwrap();
    let fault = Fault::Transient { why: Why::ConnectRefused, retry_after: None, evidence: None };
    *house.authority.lost_search.lock().unwrap() = Some(fault.clone());
    *house.authority.preflight_fault.lock().unwrap() = Some(fault);
    house.clock.pass(2);
    worker.turn(&mut held, &cancel).await.unwrap();
    let is_reached = || house.connection.borrow().state == ConnectionState::Connected;
    assert!(!is_reached());
    let preflights = || house.authority.preflights.load(Ordering::SeqCst);
    let before = preflights();
    wishes.fetch_add(1, Ordering::SeqCst);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert!(preflights() == before + 1 && !is_reached());
    *house.authority.lost_search.lock().unwrap() = None;
    *house.authority.preflight_fault.lock().unwrap() = None;
    worker.turn(&mut held, &cancel).await.unwrap();
    assert!(preflights() == before + 1 && !is_reached(), "nobody wanted it again");
    wishes.fetch_add(1, Ordering::SeqCst);
    worker.turn(&mut held, &cancel).await.unwrap();
    assert!(preflights() == before + 2 && is_reached());
}
